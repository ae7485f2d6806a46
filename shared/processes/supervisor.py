"""The self-test's end of a supervisor process: start children in it, wait for them, end them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

MEBIBYTE = 1 << 20

SOFTENERS = ("PYTHONUNBUFFERED", "PYTHONUTF8", "PYTHONIOENCODING")


@dataclass(frozen=True)
class Limits:
    """What one child may take. Memory (resident, of the whole tree) and processes are watched by
    the self-test; the rest is held by the kernel."""

    memory_bytes: int = 1024 * MEBIBYTE
    processes: int = 64
    output_bytes: int = 8 * MEBIBYTE
    cpu_seconds: int = 60
    file_bytes: int = 64 * MEBIBYTE
    open_files: int = 512

    def for_kernel(self) -> dict[str, int]:
        """The limits that `setrlimit` holds, by the names that Python's `resource` gives them."""
        return {
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": self.cpu_seconds,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.open_files,
        }


class SupervisorDied(Exception):
    """A supervisor ended while children of it were in use: a fault of the grader, not of theirs."""


class PreloadFailed(Exception):
    """A supervisor could not import what it was to import; the message says why."""


@dataclass(eq=False)
class Child:
    """A process started by a supervisor. `code` is None while it runs; -N when signal N ended it.

    `leftovers` are the command lines of what the child had started and left running; it has been
    ended with it. `limit` names the limit that it was ended for (`memory`, `processes`, `output`).
    """

    pid: int
    supervisor: Supervisor | PlainStarter
    limits: Limits
    warm: bool
    code: int | None = None
    leftovers: list[str] = field(default_factory=list)
    limit: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit code, or None when the child still runs after `seconds`.

        Raises SupervisorDied when nobody can tell any more.
        """
        if not self.ended.wait(seconds):
            return None
        if self.code is None:
            raise SupervisorDied(self.supervisor.name)
        return self.code

    def kill(self) -> None:
        """End the child and all its descendants, and wait until they are gone."""
        if not self.ended.is_set():
            self.supervisor.kill(self.pid)
            self.ended.wait(5)

    def exceeded(self, limit: str) -> None:
        """End the child because it has gone over a limit; the first one named stands."""
        if not self.ended.is_set():
            self.limit = self.limit or limit
            self.kill()


class Supervisor:
    """A running supervisor process. The imports go on while this one does something else; the first
    start of a child waits for them."""

    def __init__(self, name: str, preload: tuple[str, ...], env: dict[str, str]) -> None:
        self.name = name
        self._preload = preload
        self._env = env
        self._started = time.monotonic()
        ours, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "shared.processes.supervisor_process",
                str(theirs.fileno()),
                *preload,
            ],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # no terminal: Python is to buffer as it does for a pipe
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C in a terminal reaches the self-test alone
        )
        theirs.close()
        self._control = ours
        self._requests = threading.Lock()
        self._pids: list[int] = []
        self._news = threading.Condition()
        self._children: dict[int, Child] = {}
        self._early_ends: dict[int, dict[str, Any]] = {}
        self._ready = threading.Event()
        self._failure = ""
        self._gone = False
        self._reader = threading.Thread(target=self._read, name=f"supervisor {name}", daemon=True)
        self._reader.start()

    def wait_ready(self) -> None:
        """Wait for the imports. Raises PreloadFailed, SupervisorDied."""
        self._ready.wait()
        if self._failure:
            raise PreloadFailed(self._failure)
        if self._gone:
            raise SupervisorDied(self.name)

    def start(
        self,
        argv: list[str],
        *,
        warm: bool,
        cwd: Path,
        env: dict[str, str],
        streams: tuple[int, int, int],
        limits: Limits,
    ) -> Child:
        """Start a child with these file descriptors as stdin, stdout and stderr (the caller keeps
        its own copies). Warm: `argv` is what follows `python`; cold: a program and its arguments.

        A program that does not exist shows as exit code 127. Raises PreloadFailed, SupervisorDied.
        """
        self.wait_ready()
        request = {
            "argv": argv,
            "warm": warm,
            "cwd": str(cwd),
            "env": env,
            "limits": limits.for_kernel(),
        }
        with self._requests:
            self._send(request, streams)
            with self._news:
                self._news.wait_for(lambda: self._pids or self._gone)
                if not self._pids:
                    raise SupervisorDied(self.name)
                pid = self._pids.pop()
                child = self._children[pid] = Child(pid, self, limits, warm)
                if pid in self._early_ends:
                    self._end(self._early_ends.pop(pid))
                elif self._gone:
                    child.ended.set()  # nobody is left to say how
        return child

    def kill(self, pid: int) -> None:
        """Ask for the end of a child; `Child.kill` also waits for it."""
        with self._requests, contextlib.suppress(SupervisorDied):
            self._send({"kill": pid}, ())

    def close(self) -> None:
        """End the supervisor and with it every child of it."""
        if not self._ready.is_set():
            self._process.kill()  # still importing: it has no children, and would not hear us
        self._control.close() if self._gone else self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(5)
        self._control.close()

    def _send(self, request: dict[str, Any], streams: tuple[int, ...]) -> None:
        data = json.dumps(request).encode() + b"\n"
        try:
            sent = socket.send_fds(self._control, [data], list(streams))
            self._control.sendall(data[sent:])
        except OSError as error:
            raise SupervisorDied(self.name) from error

    def _read(self) -> None:
        with self._control.makefile("rb") as lines, contextlib.suppress(OSError):
            for line in lines:
                self._handle(json.loads(line))
        with self._news:
            self._gone = True
            self._news.notify_all()
            for child in self._children.values():
                child.ended.set()
        self._ready.set()

    def _handle(self, news: dict[str, Any]) -> None:
        if "ready" in news:
            self._failure = news.get("error", "")
            self._ready.set()
            return
        with self._news:
            if "pid" in news:
                self._pids.append(news["pid"])
                self._news.notify_all()
            elif news["ended"] in self._children:
                self._end(news)
            else:
                self._early_ends[news["ended"]] = news

    def _end(self, news: dict[str, Any]) -> None:
        child = self._children.pop(news["ended"])
        child.code = news["code"]
        child.leftovers = news["leftovers"]
        child.ended.set()


class PlainStarter:
    """Starts children where a process cannot be forked (Windows): fresh ones, from this process."""

    name = "plain"

    def start(
        self,
        argv: list[str],
        *,
        warm: bool,
        cwd: Path,
        env: dict[str, str],
        streams: tuple[int, int, int],
        limits: Limits,
    ) -> Child:
        """Start a child; the parameters are those of `Supervisor.start`, `warm` has no effect."""
        if warm:
            argv = [sys.executable, *argv]
        stdin, stdout, stderr = streams
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            os.write(stderr, f"{argv[0]}: {error.strerror}\n".encode())
            missing = Child(0, self, limits, False, code=127)
            missing.ended.set()
            return missing
        child = Child(process.pid, self, limits, False)
        threading.Thread(target=self._await, args=(process, child), daemon=True).start()
        return child

    def kill(self, pid: int) -> None:
        """End a process and its descendants."""
        import psutil  # not at the top: the supervisors' imports are to begin before ours

        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            for one in [*process.children(recursive=True), process]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()

    def close(self) -> None:
        """Nothing to close: every child has been waited for."""

    @staticmethod
    def _await(process: subprocess.Popen[bytes], child: Child) -> None:
        child.code = process.wait()
        child.ended.set()


def base_environment() -> dict[str, str]:
    """What children inherit of this process's environment: all but the keys of the real model,
    which learner code has no use for, and what softens Python's own ways with streams; a host gives
    its servers none of that either. This checkout's packages can be imported."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("OPENAI_") and name not in SOFTENERS
    }
    paths = [str(ROOT), *filter(None, [env.get("PYTHONPATH")])]
    env["PYTHONPATH"] = os.pathsep.join(paths)
    return env
