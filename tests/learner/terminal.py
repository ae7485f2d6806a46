"""A program in a pseudo-terminal, seen as a person sees it: frame by frame."""

from __future__ import annotations

import os
import re
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import psutil

SECONDS = 40.0  # until something must have happened, on a machine that is busy with other tests
STYLE = re.compile(r"\x1b\[[0-9;]*m")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
RUNNING = re.compile("(running|运行中) …")
ROW = re.compile(r"^([✔✘▷○…!]) (\d) ", re.MULTILINE)


def environment(**env: str) -> dict[str, str]:
    """The environment of a learner: nothing of pytest's, and these variables."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    clean.pop("NO_COLOR", None)
    defaults = {"LAB_LANG": "en", "TERM": "xterm-256color"}
    return {**clean, **defaults, **env}


class Watching:
    """A watcher of the checkout `root`, in a terminal. A context manager: leaving it ends what is
    left of it."""

    def __init__(
        self, root: Path, *arguments: str | Path, size: tuple[int, int] = (45, 100), **env: str
    ) -> None:
        self.raw = ""
        self._seen = 0  # how much of it `forget` has put behind us
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["selftest.py", "watch", "23", *map(str, arguments)],
            cwd=str(root),
            env=environment(**env),
            dimensions=size,
            encoding="utf-8",
            timeout=SECONDS,
        )
        self._terminal_before = termios.tcgetattr(self.child.child_fd)
        self.process = psutil.Process(self.child.pid)

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    # -- what is to be seen -----------------------------------------------------------------------

    def wait(self, seen: Callable[[], bool], what: object = "", seconds: float = SECONDS) -> None:
        """Read until a condition holds."""
        deadline = time.monotonic() + seconds
        while not seen():
            assert time.monotonic() < deadline, f"not seen: {what}\n{self.raw[-4000:]}"
            try:
                self.raw += self.child.read_nonblocking(1 << 16, timeout=0.2)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                self.child.wait()
                assert seen(), f"ended before: {what}\n{self.raw[-4000:]}"

    def see(self, text: str, seconds: float = SECONDS) -> None:
        """Read until a text is on the screen (or, in line mode, has come since `forget`)."""
        squeezed = "".join(text.split())  # wherever lines are broken
        self.wait(lambda: squeezed in "".join(self.screen.split()), text, seconds)

    def see_marks(self, marks: str, seconds: float = SECONDS) -> None:
        """Read until the items have these marks and no run is on."""
        self.wait(
            lambda: "".join(self.marks.values()) == marks and not RUNNING.search(self.screen),
            marks,
            seconds,
        )

    def forget(self) -> None:
        """What has been written so far does not count any more."""
        self._seen = len(self.raw)

    @property
    def new(self) -> str:
        """What was written since `forget`, without styles."""
        return STYLE.sub("", self.raw[self._seen :])

    @property
    def frames(self) -> list[str]:
        """The frames that were drawn since `forget`, as plain text."""
        pieces = self.new.split("\x1b[H")[1:]
        whole = [piece.partition("\x1b[J")[0] for piece in pieces if "\x1b[J" in piece]
        return [CONTROL.sub("", piece).replace("\r", "") for piece in whole]

    @property
    def screen(self) -> str:
        """What is on the screen now."""
        after_frame = self.new.rpartition("\x1b[J")[2]
        if "\x1b[?1049l" in after_frame or not self.frames:
            return CONTROL.sub("", after_frame).replace("\r", "")
        return self.frames[-1]

    @property
    def marks(self) -> dict[int, str]:
        """The mark before each item, on the screen."""
        return {int(number): mark for mark, number in ROW.findall(self.screen)}

    def were_running(self) -> set[int]:
        """The items that were seen running since `forget`."""
        rows = [row for frame in self.frames for row in ROW.findall(frame)]
        return {int(number) for mark, number in rows if mark == "…"}

    # -- its end ----------------------------------------------------------------------------------

    def end(self, press: str = "q") -> int:
        """Press a key (or Ctrl-C, as \\x03); returns the exit code, when nothing is left of it and
        the terminal is as it was."""
        family = self.process.children(recursive=True)
        self.child.send(press)
        return self.ended(family)

    def ended(self, family: list[psutil.Process]) -> int:
        """Wait for the end; returns the exit code, when nothing is left."""
        self.wait(lambda: not self.child.isalive(), "the end")
        code = self.child.exitstatus
        assert code is not None, f"ended by signal {self.child.signalstatus}"
        _, alive = psutil.wait_procs(family, timeout=5)
        assert alive == []
        assert termios.tcgetattr(self.child.child_fd) == self._terminal_before
        if "\x1b[?1049h" in self.raw:
            assert self.raw.count("\x1b[?1049h") == self.raw.count("\x1b[?1049l")
            assert self.raw.rindex("\x1b[?25h") > self.raw.rindex("\x1b[?25l")
        return code
