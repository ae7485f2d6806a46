"""What can happen in a watching session, from outside it."""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

BY_SIGNAL = 128  # and the number of the signal: the exit code of shells


@dataclass(frozen=True)
class Look:
    """Something in the folder may have changed."""


@dataclass(frozen=True)
class Ended:
    """A signal asks for the end; `code` is the exit code for it."""

    code: int


@dataclass(frozen=True)
class Resized:
    """The window has another size."""


@dataclass(frozen=True)
class Suspended:
    """The shell is to have the terminal for a while (Ctrl-Z)."""


class Signals:
    """Turns signals into events, so that none arrives in the middle of something else.

    A context manager; left, signals do what they did before. `events` is a SimpleQueue because that
    is what a signal handler may put into, whatever it has interrupted.
    """

    def __init__(self, events: queue.SimpleQueue[Any]) -> None:
        self._events = events
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        for name, handler in (
            ("SIGINT", self._end),
            ("SIGTERM", self._end),
            ("SIGHUP", self._end),
            ("SIGWINCH", lambda *_: self._events.put(Resized())),
            ("SIGTSTP", lambda *_: self._events.put(Suspended())),
        ):
            number = getattr(signal, name, None)  # Windows has the first two alone
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Inside, Ctrl-C raises KeyboardInterrupt, as other commands expect it."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._end)

    def _end(self, number: int, _: FrameType | None) -> None:
        self._events.put(Ended(BY_SIGNAL + number))
