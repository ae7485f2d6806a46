"""Single keys of a terminal, without Enter, as they are pressed."""

from __future__ import annotations

import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Key:
    """A key, as the character that it stands for, lower case; empty: the terminal has gone."""

    name: str
    at: float = field(default_factory=time.monotonic, compare=False)


class Keys:
    """Hands over the keys that are pressed while it is entered. A context manager that can be
    entered again; left, the terminal is as it was.

    Ctrl-C stays what it is: a signal.
    """

    def __init__(self, take: Callable[[Key], None]) -> None:
        self._take = take

    def __enter__(self) -> Keys:
        self._stop = threading.Event()
        if sys.platform != "win32":
            import termios
            import tty

            self._fd = sys.stdin.fileno()
            self._before = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSADRAIN)
            self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._read, name="keys", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if sys.platform != "win32":
            import contextlib
            import termios

            os.write(self._wake_write, b".")
            self._thread.join()
            os.close(self._wake_read)
            os.close(self._wake_write)
            with contextlib.suppress(termios.error):  # the terminal has been closed
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
        else:
            self._thread.join()

    def resume(self) -> None:
        """Take the terminal over once more, after the shell had it (Ctrl-Z, then `fg`)."""
        if sys.platform != "win32":
            import termios
            import tty

            tty.setcbreak(self._fd, termios.TCSANOW)

    if sys.platform == "win32":

        def _read(self) -> None:
            import msvcrt

            while not self._stop.wait(0.05):
                while msvcrt.kbhit():
                    character = msvcrt.getwch()
                    if character in "\x00\xe0":
                        msvcrt.getwch()  # an arrow or function key, in two parts
                    else:
                        self._take(Key(key_name(character)))

    else:

        def _read(self) -> None:
            import select

            while True:
                ready, _, _ = select.select([self._fd, self._wake_read], [], [])
                if self._stop.is_set():
                    return
                if self._fd in ready:
                    try:
                        data = os.read(self._fd, 64)
                    except OSError:  # a terminal that has been closed
                        data = b""
                    if not data:
                        self._take(Key(""))
                        return
                    if data[:1] == b"\x1b":
                        continue  # an arrow or function key, which comes as a sequence
                    for character in data.decode(errors="replace"):
                        self._take(Key(key_name(character)))


def key_name(character: str) -> str:
    """The key for a character: lower case, and `q` for the `ｑ` of a Chinese input method."""
    return unicodedata.normalize("NFKC", character).lower()
