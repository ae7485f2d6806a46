"""A program at a terminal of its own, typed at by a test."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import psutil

if sys.platform != "win32":
    import fcntl
    import pty
    import termios

SECONDS = 20.0

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """Starts a program that has a pseudo-terminal as stdin, stdout, stderr and for its signals."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**env, "TERM": "xterm", "COLUMNS": "200"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # only a terminal that is the session's own turns Ctrl-C into a signal
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._said = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)

    @property
    def text(self) -> str:
        """All that the terminal has shown so far, without colours."""
        return CONTROL.sub("", self._said.decode(errors="replace"))

    def until(self, words: str, times: int = 1) -> None:
        """Wait until these words have been shown so many times."""
        deadline = time.monotonic() + SECONDS
        while self.text.count(words) < times:
            assert self._read(deadline - time.monotonic()), f"no {words!r} in:\n{self.text}"

    def until_it_listens(self) -> None:
        """Wait until the program sleeps: the prompt is there before it has begun to read, and a
        Ctrl-C between the two would be noticed with the next key only."""
        program = psutil.Process(self.process.pid)
        deadline = time.monotonic() + SECONDS
        while program.status() != psutil.STATUS_SLEEPING:
            assert time.monotonic() < deadline, f"never waits for input:\n{self.text}"

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Wait until the program has ended; returns its exit code."""
        deadline = time.monotonic() + SECONDS
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def _read(self, seconds: float) -> bool:
        """Read what is there, or comes in time; False when nothing does, or nothing ever will."""
        ready, _, _ = select.select([self._ours], [], [], max(0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux says so when the last program has closed the other end
            return False
        self._said += data
        return bool(data)
