"""How long a learner waits: from a save to the last verdict, in a real watcher in a terminal."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect
from rich.console import Console
from rich.table import Table

from shared.processes import Child, Launcher, Limits, Program
from shared.processes.supervisor import ROOT
from shared.selftest.discover import find_target
from shared.selftest.runner import run_checks

LAB = "day23_mcp_server"
SAVED = "mcp_server.py"  # what most items depend on
AIM_SECONDS = 0.3  # beyond what the learner's own code takes
ALL_GREEN = "6 of 6 items pass"
WATCH = "import sys; from shared.learner.watch import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True)
class Waiting:
    """Medians, in seconds: of a save to the last verdict, of the time in which processes of the
    learner's run during the same verdicts, of one whole cold run."""

    save: float
    learner: float
    cold: float

    @property
    def beyond(self) -> float:
        """What the self-test adds to the learner's own code."""
        return self.save - self.learner


def measure(saves: int = 9) -> Waiting:
    """Save a file of the solution again and again; in turn with it, take the learner's part, so
    that a slow spell of the machine falls on both."""
    with tempfile.TemporaryDirectory(prefix="bench-watch-") as parent:
        folder = Path(parent, LAB)
        shutil.copytree(ROOT / "solutions" / LAB, folder)
        began = time.perf_counter()
        command = [sys.executable, str(ROOT / "selftest.py"), "23", "--path", parent, "--cold"]
        subprocess.run(command, check=True, capture_output=True)
        cold = time.perf_counter() - began
        with _watcher(folder) as watcher, TimedLauncher() as launcher:
            _learners_part(launcher, folder)  # the first run waits for the imports
            waited, learner = [], []
            for number in range(saves):
                waited.append(_save(watcher, folder / SAVED, number))
                learner.append(_learners_part(launcher, folder))
    return Waiting(statistics.median(waited), statistics.median(learner), cold)


class TimedLauncher(Launcher):
    """A launcher that knows from when to when each child was there."""

    def __init__(self) -> None:
        super().__init__()
        self._spans: list[tuple[float, float]] = []
        self._waiting: list[threading.Thread] = []

    def start(
        self, program: Program, streams: tuple[int, int, int], limits: Limits | None = None
    ) -> Child:
        """As `Launcher.start`."""
        began = time.perf_counter()
        child = super().start(program, streams, limits)
        thread = threading.Thread(target=self._await_end, args=(began, child))
        self._waiting.append(thread)
        thread.start()
        return child

    def take_seconds(self) -> float:
        """The time in which any child was there, since this was last asked."""
        for thread in self._waiting:
            thread.join()
        total = until = 0.0
        for began, ended in sorted(self._spans):
            total += max(0.0, ended - max(began, until))
            until = max(until, ended)
        self._spans, self._waiting = [], []
        return total

    def _await_end(self, began: float, child: Child) -> None:
        child.ended.wait()
        self._spans.append((began, time.perf_counter()))


def _learners_part(launcher: TimedLauncher, folder: Path) -> float:
    target = find_target(23, folder, solution=False)
    result = run_checks(target.checks, folder, shown_as="labs", seed=7, launcher=launcher)
    assert result.passed == len(result.items), "the solution is not all green"
    return launcher.take_seconds()


def _save(watcher: Any, path: Path, number: int) -> float:
    """Seconds from a save to the frame with the last verdict."""
    path.write_text(path.read_text("utf-8") + f"# save {number}\n", "utf-8")
    began = time.perf_counter()
    watcher.expect("running …")
    watcher.expect(ALL_GREEN)
    return time.perf_counter() - began


@contextmanager
def _watcher(folder: Path) -> Iterator[Any]:
    """A watcher in a pseudo-terminal, after its first run."""
    child = pexpect.spawn(
        sys.executable,
        ["-c", WATCH, "23", "--path", str(folder), "--seed", "7", "--lang", "en"],
        cwd=str(ROOT),
        env={**os.environ, "TERM": "xterm"},
        dimensions=(50, 120),
        encoding="utf-8",
        timeout=60,
    )
    try:
        child.expect(ALL_GREEN)
        yield child
        child.send("q")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)


def show(waiting: Waiting, console: Console) -> None:
    """Print the medians, as a table with ratios."""
    table = Table(title=f"from a save of {SAVED} to the last verdict, in a watcher, medians")
    for column in ("what", "seconds", "ratio", "aim"):
        table.add_column(column, justify="left" if column == "what" else "right")
    table.add_row("a save to the last verdict", f"{waiting.save:.2f}", "1", "")
    table.add_row(
        "of which processes of the learner's run",
        f"{waiting.learner:.2f}",
        f"save / learner = {waiting.save / waiting.learner:.2f}",
        f"beyond it {waiting.beyond:.2f} s, at most {AIM_SECONDS}",
    )
    table.add_row(
        "one cold run",
        f"{waiting.cold:.2f}",
        f"cold / save = {waiting.cold / waiting.save:.1f}",
        "",
    )
    console.print(table)


if __name__ == "__main__":
    show(measure(), Console())
