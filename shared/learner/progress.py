"""`python selftest.py progress`: where the learner is, and what comes next."""

from __future__ import annotations

import datetime
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text as Styled

from shared.authoring.regions import RegionError, find_region
from shared.console import interrupted_quietly, spoken_language, use_unicode_output
from shared.i18n import LANGUAGES, Text
from shared.processes.supervisor import ROOT
from shared.selftest.checks import Checks, Item
from shared.selftest.cli import UsageParser
from shared.selftest.discover import days, load_checks
from shared.selftest.report import MARKS, WORDS

from .blanks import Blank, blanks_of
from .carrying import show_diff
from .command import OK, USAGE, Printer, refuse
from .files import FileProblem, decode, read_file
from .goals import load_goals
from .starters import StarterChange, Survey, change_lines, past_changes, survey
from .state import DayState, ItemState, is_as_judged, read_progress

ABOUT = Text(
    en="Show which items are green since when, the goals of each day, and what comes next.",
    zh="显示各检查项何时变绿、每天的目标完成情况，以及下一步做什么。",
)
LANGUAGE = Text(en="language", zh="语言")
CHANGES = Text(
    en="what course updates have changed in the starters",
    zh="课程更新改动了哪些起始内容",
)
DAY = Text(en="Day {day}: {title}", zh="第 {day} 天：{title}")
COUNT = Text(en="{green} of {total} items are green", zh="{total} 项中有 {green} 项是绿的")
NEVER = Text(en="not judged yet", zh="还没有检查过")
GREEN = Text(en="first green {first}", zh="{first} 首次变绿")
LAPSED = Text(
    en="first green {first}, not so in the run of {at}: {status}",
    zh="{first} 首次变绿，但 {at} 那次检查的结果是：{status}",
)
NOT_YET = Text(en="{status} in the run of {at}", zh="{at} 那次检查的结果：{status}")
EDITED = Text(
    en="its blank has been edited since it was judged",
    zh="检查之后，这个空又改过",
)
GOALS = Text(en="Goals of the day", zh="这一天的目标")
GOAL = Text(en="{text} (items {items})", zh="{text}（第 {items} 项）")
NEXT_RUN = Text(
    en="Next: python selftest.py {day}",
    zh="下一步：python selftest.py {day}",
)
NEXT_ITEM = Text(
    en="Next: item {item}. What it lacks is shown by\npython selftest.py {day}",
    zh="下一步：第 {item} 项。看看它缺什么：\npython selftest.py {day}",
)
NEXT_BLANK = Text(
    en="Next: item {item}, by exercise {exercise} in {file}, line {line}. "
    "Then:\npython selftest.py {day}",
    zh="下一步：第 {item} 项，做 {file} 第 {line} 行的练习 {exercise}。"
    "然后运行：\npython selftest.py {day}",
)
NEXT_AGAIN = Text(
    en="All green, but edited since. Next: python selftest.py {day}",
    zh="全部是绿的，但之后又改过。下一步：python selftest.py {day}",
)
NEXT_QUIZ = Text(
    en="All days are green. Next: python selftest.py quiz {day}",
    zh="每一天都是绿的。下一步：python selftest.py quiz {day}",
)
NO_CHANGES = Text(
    en="No course update has changed a starter since you began.",
    zh="你开始之后，课程更新没有改动过起始内容。",
)
CHANGED = {
    "pending": Text(
        en="{path}: the course has changed its starter; your file does not have it yet.",
        zh="{path}：课程更新了它的起始内容，你的文件里还没有。",
    ),
    "arrived": Text(
        en="{path}: the course has changed its starter; your file has it.",
        zh="{path}：课程更新了它的起始内容，你的文件里已经有了。",
    ),
    "removed": Text(
        en="{path}: the course no longer has it; yours stands as it is.",
        zh="{path}：课程里已经没有它；你的文件原样保留。",
    ),
}
NEW = Text(en="{path}: is new in the course.", zh="{path}：课程里新增的文件。")
NOT_KEPT = Text(en="(The former starter is not kept.)", zh="（先前的起始内容没有保存。）")
TAKE_OVER = Text(
    en="To take it over: python selftest.py update {day}",
    zh="采纳更新：python selftest.py update {day}",
)


@dataclass(frozen=True)
class Day:
    """One day of the course and how far the learner is in it."""

    number: int
    lab: str
    checks: Checks
    state: DayState
    blanks: dict[int, Blank]

    @property
    def green(self) -> int:
        """How many items are green in their latest verdict."""
        return sum(self.state.is_green(item.id) for item in self.checks.items)

    def is_edited(self, item: Item) -> bool:
        """Whether the blank of an item is no longer what was judged."""
        blank = self.blanks.get(item.exercise or 0)
        if item.id not in self.state.items or blank is None:
            return False
        return not is_as_judged(ROOT, blank, self.state)


def main(argv: list[str]) -> int:
    """`progress [--changes]`: exit code 0, or 2 on wrong usage."""
    use_unicode_output()
    with interrupted_quietly():
        language = spoken_language(argv)
        if language is None:
            return USAGE
        parser = UsageParser(prog="selftest.py progress", description=ABOUT.get(language))
        parser.language = language
        parser.add_argument("--changes", action="store_true", help=CHANGES.get(language))
        parser.add_argument("--lang", choices=LANGUAGES, help=LANGUAGE.get(language))
        options = parser.parse_args(argv)
        out = Printer(language)
        if options.changes:
            return _show_changes(out)
        return _show_progress(out)


# -- progress --------------------------------------------------------------------------------------


def _show_progress(out: Printer) -> int:
    progress = read_progress(ROOT)
    found = survey(ROOT)
    for notice in [*progress.notices, *found.notices]:
        refuse(notice, out.language, OK)
    all_days = []
    for number, lab in days().items():
        try:
            blanks = blanks_of(ROOT, lab)
        except (OSError, RegionError):  # the survey has told of it
            blanks = {}
        state = progress.days.get(number, DayState())
        all_days.append(Day(number, lab, load_checks(lab), state, blanks))
    for day in all_days:
        _show_day(day, out)
        for line in change_lines(day.number, found.of_day(day.lab)):
            out.line(line, "yellow")
            out.line()
    out.line(_next(all_days), "cyan")
    return OK


def _show_day(day: Day, out: Printer) -> None:
    out.line(DAY(day=day.number, title=day.checks.title), "bold")
    out.line(COUNT(green=day.green, total=len(day.checks.items)), "dim")
    out.line()
    for item in day.checks.items:
        state = day.state.items.get(item.id)
        mark, style = ("○", "dim") if state is None else MARKS[state.status]
        _row(f"{mark} {item.id}", item.title, style, out)
        out.line(_when(state), "dim", indent=4)
        if day.is_edited(item):
            out.line(EDITED, "yellow", indent=4)
    out.line()
    goals = load_goals(day.lab)
    if goals:
        out.line(GOALS, "bold")
    for goal in goals:
        reached = all(day.state.is_green(item) for item in goal.items)
        numbers = [str(item) for item in goal.items]
        items = Text(en=", ".join(numbers), zh="、".join(numbers))
        text = GOAL(text=goal.text, items=items)
        _row("[x]" if reached else "[ ]", text, "green" if reached else "", out)
    out.line()


def _row(lead: str, text: Text, style: str, out: Printer) -> None:
    """A text behind its mark; in a terminal its further lines begin below the first."""
    words = text.get(out.language)
    if not out.console.is_terminal:
        out.line(f"{lead} {words}")
        return
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Styled(lead, style), Styled(words, style))
    out.console.print(table)


def _when(state: ItemState | None) -> Text:
    if state is None:
        return NEVER
    at, status = _moment(state.at), WORDS[state.status]
    if state.first_green is None:
        return NOT_YET(status=status, at=at)
    first = _moment(state.first_green)
    if state.status != "pass":
        return LAPSED(first=first, at=at, status=status)
    return GREEN(first=first)


def _moment(iso: str) -> str:
    """An ISO time as people read it, in the time zone that they are in."""
    return f"{datetime.datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"


def _next(all_days: list[Day]) -> Text:
    for day in all_days:
        if not day.state.items:
            return NEXT_RUN(day=day.number)
        for item in day.checks.items:
            if not day.state.is_green(item.id):
                return _next_in(day, item)
        if any(day.is_edited(item) for item in day.checks.items):
            return NEXT_AGAIN(day=day.number)
    return NEXT_QUIZ(day=all_days[-1].number)


def _next_in(day: Day, item: Item) -> Text:
    blank = day.blanks.get(item.exercise or 0)
    line = None if blank is None else _line_of(ROOT, blank)
    if blank is None or line is None:
        return NEXT_ITEM(item=item.id, day=day.number)
    where = {"file": blank.path, "line": line}
    return NEXT_BLANK(item=item.id, exercise=blank.exercise, day=day.number, **where)


def _line_of(root: Path, blank: Blank) -> int | None:
    """The line of a blank in the learner's file; None when that cannot be told."""
    try:
        text = decode(read_file(root, blank.path) or b"", blank.path)
    except FileProblem:
        return None
    found = find_region(text, blank.exercise)
    return None if found is None else found.first_line


# -- changes ---------------------------------------------------------------------------------------


def _show_changes(out: Printer) -> int:
    found = survey(ROOT)
    for notice in found.notices:
        refuse(notice, out.language, OK)
    shown = 0
    for number, lab in days().items():
        shown += _show_changes_of(number, lab, found, out)
    if not shown:
        out.line(NO_CHANGES)
    return OK


def _show_changes_of(day: int, lab: str, found: Survey, out: Printer) -> int:
    past = past_changes(ROOT, found, lab)
    current = [change for change in found.of_day(lab) if change.kind != "arrived"]
    for at, change in past:
        _show_change(change, out, _moment(at))
    for change in current:
        _show_change(change, out)
    if any(change.kind == "pending" for change in current):
        out.line(TAKE_OVER(day=day), "cyan")
    return len(past) + len(current)


def _show_change(change: StarterChange, out: Printer, at: str = "") -> None:
    is_new = change.before is None and not (ROOT / change.path).exists()
    text = NEW if is_new else CHANGED[change.kind]
    out.line(f"{text(path=change.path).get(out.language)} {at}".rstrip(), "bold")
    if change.before is not None and change.after is not None:
        show_diff(change.before, change.after, out)
    elif change.kind != "removed" and not is_new:
        out.line(NOT_KEPT, "dim", indent=2)
    out.line()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
