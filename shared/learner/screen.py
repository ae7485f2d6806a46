"""Two ways to show a board: drawn in place on a terminal, or told in plain lines."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection
from typing import Protocol

from shared.i18n import Language, Text
from shared.selftest.report import closing, plain_message

from .board import Board, board_lines, verdict_word

ENTER = "\x1b[?1049h\x1b[?25l"  # the terminal's other screen, without a cursor
LEAVE = "\x1b[?25h\x1b[?1049l"

WATCHING = Text(
    en="Watching {folder}, seed {seed}. Ctrl-C ends it.",
    zh="正在监视 {folder}，种子 {seed}。按 Ctrl-C 结束。",
)
WATCHING_KEYS = Text(
    en="Watching {folder}, seed {seed}. Press ? for the keys, q to quit.",
    zh="正在监视 {folder}，种子 {seed}。按 ? 查看按键，按 q 退出。",
)
STARTED = Text(en="Running items {items} …", zh="正在运行第 {items} 项 …")
LINE = Text(en="{mark} item {item}, {word}: {title}", zh="{mark} 第 {item} 项，{word}：{title}")


class Screen(Protocol):
    """Where a board is shown."""

    def enter(self) -> None:
        """Take the terminal."""

    def leave(self) -> None:
        """Give the terminal back as it was."""

    def started(self, board: Board) -> None:
        """A run has begun."""

    def changed(self, board: Board) -> None:
        """A verdict has come in, or a note; or the size of the window is another."""

    def finished(self, board: Board, judged: Collection[int]) -> None:
        """A run has ended, over these items."""

    def farewell(self, board: Board) -> None:
        """The end; the terminal has been given back."""

    def say(self, board: Board, note: Text) -> None:
        """Something to be read has been added to the board's notes."""


def _size() -> tuple[int, int]:
    """Columns and rows of the terminal as it is now: an exported COLUMNS may be of another time."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, rows = shutil.get_terminal_size()
    return columns, rows


class LiveScreen:
    """Draws the whole board in place, on the terminal's other screen."""

    def __init__(self, language: Language, *, keys: bool) -> None:
        self._language: Language = language
        self._keys = keys

    def enter(self) -> None:
        """See `Screen`."""
        _write(ENTER)

    def leave(self) -> None:
        """See `Screen`."""
        _write(LEAVE)

    def started(self, board: Board) -> None:
        """See `Screen`."""
        self.changed(board)

    def changed(self, board: Board) -> None:
        """See `Screen`."""
        columns, rows = _size()
        # one column is left free: a full line followed by "clear the rest" loses its last character
        lines = board_lines(
            board, self._language, max(20, columns - 1), max(4, rows - 1), keys=self._keys
        )
        _write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")

    def finished(self, board: Board, judged: Collection[int]) -> None:
        """See `Screen`."""
        self.changed(board)

    def farewell(self, board: Board) -> None:
        """See `Screen`: what was last seen stays to be read."""
        columns, _ = _size()
        board.notes = []
        lines = board_lines(board, self._language, max(20, columns - 1), 1000, keys=False)
        _write("".join(f"{line}\n" for line in lines))

    def say(self, board: Board, note: Text) -> None:
        """See `Screen`."""
        self.changed(board)


class LineScreen:
    """Says what is new, in plain lines that are never changed again: for pipes, for terminals that
    cannot do more, and for screen readers."""

    def __init__(self, language: Language, *, keys: bool) -> None:
        self._language: Language = language
        self._greeting: Text | None = WATCHING_KEYS if keys else WATCHING

    def enter(self) -> None:
        """See `Screen`."""

    def leave(self) -> None:
        """See `Screen`."""

    def started(self, board: Board) -> None:
        """See `Screen`."""
        if self._greeting:
            self._line(self._greeting(folder=board.shown_as, seed=board.seed))
            self._greeting = None
        self._line(STARTED(items=", ".join(map(str, sorted(board.running)))))

    def changed(self, board: Board) -> None:
        """See `Screen`: what comes in is said at the end of the run, in order."""

    def finished(self, board: Board, judged: Collection[int]) -> None:
        """See `Screen`."""
        for verdict in board.shown:
            if verdict.id in judged:
                mark, word, _ = verdict_word(verdict, self._language)
                title = verdict.title
                self._line(LINE(mark=mark, item=verdict.id, word=word, title=title))
        failure = board.first_failure
        if failure is not None:
            _write(plain_message(failure, self._language) + "\n")
        _write(closing(board.shown, self._language) + "\n\n")

    def farewell(self, board: Board) -> None:
        """See `Screen`: all has been said."""

    def say(self, board: Board, note: Text) -> None:
        """See `Screen`."""
        self._line(note)

    def _line(self, text: Text) -> None:
        _write(text.get(self._language) + "\n")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
