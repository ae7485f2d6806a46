"""Starts the programs of a self-test, as fast as can be or afresh, and watches what they take."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .supervisor import (
    Child,
    Limits,
    PlainStarter,
    PreloadFailed,
    Supervisor,
    base_environment,
)

Imports = Literal["server", "agent"]
"""What a program is about to import: the MCP SDK's server, or the openai client."""

# With what is else imported only when a server starts: the event loop's backend, the SDK's logging.
PRELOADS: dict[Imports, tuple[str, ...]] = {
    "server": (
        "mcp.server",
        "mcp.server.stdio",
        "anyio._backends._asyncio",
        "rich.logging",
        "shared.shop",
    ),
    "agent": ("shared.processes.preload_agent",),
}

WATCH_SECONDS = 0.2

OURS = {
    "labs",
    "solutions",
}  # packages of this checkout, which a stage has its own copy of


@dataclass(frozen=True)
class Program:
    """A command line, the folder it runs in, and what is added to its environment."""

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)
    imports: Imports = "server"


class Cancelled(Exception):
    """A program was to be started after its run had been cancelled (`Launcher.cancel`)."""


class Launcher:
    """All the processes of one run. A context manager: leaving it ends everything.

    Warm, Python programs are forked from a process that has their imports; cold, each is a fresh
    interpreter. The verdicts are the same.
    """

    def __init__(self, *, cold: bool = False) -> None:
        self.cold = cold
        self._env = base_environment()
        self._children: set[Child] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._cancelled = threading.Event()
        self._starters: dict[str, Supervisor | PlainStarter] = {}
        if not (hasattr(os, "fork") and hasattr(socket, "send_fds")):
            self.cold = True
            self._starters["cold"] = PlainStarter()
        elif cold:
            self._starters["cold"] = Supervisor("cold", (), self._env)
        else:
            for name, modules in PRELOADS.items():  # both import at the same time, on two cores
                self._starters[name] = Supervisor(name, modules, self._env)
        self._watch = threading.Thread(target=self._watch_limits, name="limits", daemon=True)
        self._watch.start()

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(
        self, program: Program, streams: tuple[int, int, int], limits: Limits | None = None
    ) -> Child:
        """Start a program with these file descriptors as stdin, stdout and stderr.

        A command that does not exist shows as exit code 127. Raises SupervisorDied, Cancelled.
        """
        if self._cancelled.is_set():
            raise Cancelled
        limits = limits or Limits()
        env = {**self._env, **program.env}
        argv = list(program.argv)
        starter, warm = self._starters.get("cold") or self._starters[program.imports], False
        settings = any(
            name.startswith("PYTHON") for name in program.env
        )  # of an interpreter's start
        own_way = settings or _shadows(argv[1:], program.cwd)
        if not self.cold and _is_this_python(argv[0]) and not own_way:
            warm = True
            try:
                starter.wait_ready() if isinstance(starter, Supervisor) else None
            except PreloadFailed:
                warm = False  # the program will then say itself what it cannot import
        if warm:
            argv = argv[1:]
        elif found := shutil.which(argv[0], path=env.get("PATH")):
            argv[0] = found
        child = self._start(starter, argv, warm, program, env, streams, limits)
        with self._lock:
            self._children.add(child)
        if self._cancelled.is_set():  # since the first look: nobody else has seen this child
            child.kill()
            raise Cancelled
        return child

    def _start(
        self,
        starter: Supervisor | PlainStarter,
        argv: list[str],
        warm: bool,
        program: Program,
        env: dict[str, str],
        streams: tuple[int, int, int],
        limits: Limits,
    ) -> Child:
        def start(which: Supervisor | PlainStarter) -> Child:
            return which.start(
                argv, warm=warm, cwd=program.cwd, env=env, streams=streams, limits=limits
            )

        try:
            return start(starter)
        except PreloadFailed:
            with self._lock:
                if "fallback" not in self._starters:
                    self._starters["fallback"] = Supervisor("fallback", (), self._env)
            return start(self._starters["fallback"])

    def cancel(self) -> None:
        """End every child at once, and start no more until `resume`. What the runs that they belong
        to then say means nothing."""
        self._cancelled.set()
        with self._lock:
            running = list(self._children)
        for child in running:
            child.kill()

    def resume(self) -> None:
        """Start programs again. Call it when the threads of the cancelled runs have ended."""
        self._cancelled.clear()

    def close(self) -> None:
        """End every child and the processes that they were started from."""
        self._closed.set()
        self._watch.join()
        for starter in self._starters.values():
            starter.close()

    def _watch_limits(self) -> None:
        while not self._closed.wait(WATCH_SECONDS):
            with self._lock:
                self._children = {child for child in self._children if not child.ended.is_set()}
                running = list(self._children)
            for child in running:
                limit = _exceeded(child)
                if limit:
                    child.exceeded(limit)


def _exceeded(child: Child) -> str:
    """The name of the limit that a child and its descendants are over, or nothing."""
    import psutil  # not at the top: the supervisors' imports are to begin before ours

    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(child.pid)
        tree = [process, *process.children(recursive=True)]
        if len(tree) > child.limits.processes:
            return "processes"
        memory = 0
        for one in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                memory += one.memory_info().rss
        if memory > child.limits.memory_bytes:
            return "memory"
    return ""


def _is_this_python(command: str) -> bool:
    return command in ("python", "python3", sys.executable)


def _shadows(arguments: list[str], cwd: Path) -> bool:
    """Whether a file beside the program has the name of a package that is imported already.

    A fresh interpreter would import that file in its place, and so must we.
    """
    if not arguments or arguments[0].startswith("-"):
        if arguments[:1] != ["-m"]:
            return True  # an option of the interpreter itself
        folder = cwd
    else:
        folder = (cwd / arguments[0]).parent
    return bool(shadowing_files(folder))


def shadowing_files(folder: Path) -> list[str]:
    """The files and folders in `folder` that have the name of an installed package or module."""
    if not folder.is_dir():
        return []
    return sorted(
        entry.name
        for entry in folder.iterdir()
        if (entry.suffix == ".py" or entry.is_dir())
        and entry.stem.isidentifier()
        and entry.stem not in OURS
        and not entry.stem.startswith("__")
        and importlib.util.find_spec(entry.stem)
    )
