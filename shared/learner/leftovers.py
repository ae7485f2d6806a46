"""Processes that an earlier run of this checkout has left behind."""

from __future__ import annotations

import contextlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

SUPERVISOR = "shared.processes.supervisor_process"
STUB = "relay_stub.py"
ADOPTERS = {
    "init",
    "systemd",
    "launchd",
}  # who becomes the parent of a process that has lost its own


@dataclass(frozen=True)
class Leftover:
    """A process without its parent: its number, its age in seconds, its command line."""

    pid: int
    age: float
    command: str


def leftovers(root: Path) -> list[Leftover]:
    """What runs of the checkout `root` have started, and what has outlived them, oldest first."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            command = process.cmdline()
            if _is_ours(process, command, root) and _is_orphan(process):
                age = time.time() - process.create_time()
                found.append(Leftover(process.pid, age, " ".join(command)))
    return sorted(found, key=lambda one: -one.age)


def _is_ours(process: psutil.Process, command: list[str], root: Path) -> bool:
    """Whether a process is of the self-test's own, or a program of a lab."""
    if any(word == SUPERVISOR or word.endswith(STUB) for word in command):
        return any(word.startswith(str(root)) for word in command) or _runs_in(process, root)
    modules = ("labs.", "solutions.")
    is_lab_program = any(word.startswith(modules) or word.endswith(".py") for word in command)
    labs = (root / "labs", root / "solutions")
    return is_lab_program and any(_runs_in(process, folder) for folder in labs)


def _runs_in(process: psutil.Process, folder: Path) -> bool:
    """Whether a process works in a folder, or in a copy that the self-test has made of a lab."""
    where = Path(process.cwd())
    stages = Path(tempfile.gettempdir()).resolve()
    in_stage = where.is_relative_to(stages) and any(
        part.startswith("selftest-") for part in where.relative_to(stages).parts[:1]
    )
    return in_stage or where.is_relative_to(folder)


def _is_orphan(process: psutil.Process) -> bool:
    if process.status() == psutil.STATUS_ZOMBIE:
        return False  # it has ended; only its parent can take it away
    parent = process.parent()
    return parent is None or parent.pid == 1 or parent.name() in ADOPTERS
