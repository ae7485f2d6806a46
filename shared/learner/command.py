"""The command line that the learner's commands share: a day, a language, plain lines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from shared.console import interrupted_quietly, spoken_language, use_unicode_output
from shared.i18n import LANGUAGES, Language, Text
from shared.selftest.cli import OK, RED, USAGE, UsageParser
from shared.selftest.discover import days

__all__ = ["OK", "RED", "USAGE", "Asked", "Printer", "refuse", "run"]

NO_SUCH_DAY = Text(
    en="There is no day {day}. There is: {days}.",
    zh="没有第 {day} 天。现有：{days}。",
)
DAY = Text(en="the day, such as 23", zh="第几天，例如 23")
LANGUAGE = Text(en="language", zh="语言")

Say = Callable[[str, str], str]


class Printer:
    """Prints texts in one language: wrapped in a terminal, one line each in a pipe, with no cursor
    movement in either."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.console = Console(highlight=False, markup=False, emoji=False)

    def line(self, text: Text | str = "", style: str = "", indent: int = 0) -> None:
        """Print a text; every line of it is moved to the right by `indent` columns."""
        words = text if isinstance(text, str) else text.get(self.language)
        for one in words.split("\n"):
            self._print(one, style, indent)

    def item(self, mark: str, text: Text, style: str = "", indent: int = 0) -> None:
        """Print an item of a list, its further lines below the first."""
        words = text.get(self.language)
        if not self.console.is_terminal:
            self.line(f"{mark} {words}", indent=indent)
            return
        from rich.padding import Padding
        from rich.table import Table

        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(mark, words, style=style)
        self.console.print(Padding(grid, (0, 0, 0, indent), expand=False))

    def _print(self, line: str, style: str, indent: int) -> None:
        from rich.padding import Padding
        from rich.text import Text as Styled

        styled = Styled(line, style)
        if not self.console.is_terminal:
            self.console.print(" " * indent + line, soft_wrap=True)
        elif indent and line:
            self.console.print(Padding(styled, (0, 0, 0, indent), expand=False))
        else:
            self.console.print(styled)


@dataclass(frozen=True)
class Asked:
    """What a command was asked: its options, the day's lab, and how to answer."""

    options: argparse.Namespace
    day: int
    lab: str
    printer: Printer

    @property
    def language(self) -> Language:
        """The language to answer in."""
        return self.printer.language


def run(
    argv: list[str],
    name: str,
    about: Text,
    declare: Callable[[argparse.ArgumentParser, Say], None],
    answer: Callable[[Asked], int],
) -> int:
    """Read the command line of `selftest.py NAME DAY …` and answer it; returns the exit code.

    `declare` adds the command's own arguments. Wrong usage gets a sentence and exit code 2, Ctrl-C
    130 (as SystemExit, like argparse).
    """
    use_unicode_output()
    with interrupted_quietly():
        language = spoken_language(argv)
        if language is None:
            return USAGE

        def say(en: str, zh: str) -> str:
            return Text(en, zh).get(language)

        parser = UsageParser(prog=f"selftest.py {name}", description=about.get(language))
        parser.language = language
        parser.add_argument("day", type=int, help=DAY.get(language))
        parser.add_argument("--lang", choices=LANGUAGES, help=LANGUAGE.get(language))
        declare(parser, say)
        options = parser.parse_args(argv)
        known = days()
        if options.day not in known:
            return refuse(
                NO_SUCH_DAY(day=options.day, days=", ".join(map(str, known))), language, USAGE
            )
        return answer(Asked(options, options.day, known[options.day], Printer(language)))


def refuse(text: Text, language: Language, code: int) -> int:
    """Say on stderr why not, and return the exit code."""
    print(text.get(language), file=sys.stderr)
    return code
