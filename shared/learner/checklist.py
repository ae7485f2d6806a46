"""The checklist of a lesson: ticked from real state where there is some, by the learner else."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from shared.i18n import Text

from .command import Printer
from .latest import latest_run
from .questions import Standing

HEADING = Text(en="Checklist", zh="检查清单")
OF_ITEMS = Text(en="{count} of {total} items pass", zh="{total} 项中通过 {count} 项")
OF_QUESTIONS = Text(
    en="{count} of {total} answered well, {needed} needed",
    zh="{total} 道中答好 {count} 道，需要 {needed} 道",
)
NO_RUN = Text(
    en="no run of yours yet: python selftest.py {day}",
    zh="还没有你的自检记录：python selftest.py {day}",
)
YOURS = Text(en="by your own word", zh="由你自己确认")


@dataclass(frozen=True)
class Entry:
    """One line of a checklist, and what ticks it: the items that pass in the latest run, the
    questions that were answered well (at least `at_least`, else all), or, with neither, the
    learner's word, kept under `key`; `ask` is then the question, `model` a good answer to it."""

    text: Text
    items: tuple[int, ...] = ()
    questions: tuple[str, ...] = ()
    at_least: int = 0
    key: str = ""
    ask: Text | None = None
    model: Text | None = None


@dataclass(frozen=True)
class Tick:
    """Whether an entry is ticked, and what that rests on."""

    entry: Entry
    done: bool
    why: Text


def load_checklist(lab: str) -> tuple[Entry, ...]:
    """The checklist of a lab, from the course's own copy; none when the day has none."""
    name = f"solutions.{lab}.quiz"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return ()
    entries: tuple[Entry, ...] = getattr(module, "CHECKLIST", ())
    return entries


def ticks(
    entries: tuple[Entry, ...], day: int, standings: dict[str, Standing], confirmed: dict[str, str]
) -> list[Tick]:
    """How the entries stand; `confirmed` are those that the learner gave their word for."""
    run = latest_run(day)
    passing = set()
    if run is not None and not run.of_solution:
        passing = {verdict.item for verdict in run.verdicts if verdict.passed}
    found = []
    for entry in entries:
        if entry.items:
            count = len(passing & set(entry.items))
            why = OF_ITEMS(count=count, total=len(entry.items))
            if run is None or run.of_solution:
                why = NO_RUN(day=day)
            found.append(Tick(entry, count == len(entry.items), why))
        elif entry.questions:
            count = sum(standings[name].is_known for name in entry.questions)
            total = len(entry.questions)
            needed = entry.at_least or total
            why = OF_QUESTIONS(count=count, total=total, needed=needed)
            found.append(Tick(entry, count >= needed, why))
        else:
            found.append(Tick(entry, entry.key in confirmed, YOURS))
    return found


def print_checklist(out: Printer, found: list[Tick]) -> None:
    """Print the checklist, one entry a line."""
    out.line(HEADING, "bold")
    for tick in found:
        mark, style = ("[x]", "green") if tick.done else ("[ ]", "")
        out.item(mark, tick.entry.text, style)
        out.line(f"({tick.why.get(out.language)})", "dim", 4)
