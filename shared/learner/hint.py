"""`python selftest.py hint 23`: one hint at a time, for the first item that does not pass."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from typing import Any

from shared.i18n import Text
from shared.selftest.discover import UsageError, choose_items, load_checks
from shared.selftest.record import STATE

from .command import OK, RED, USAGE, Asked, Printer, Say, refuse, run
from .latest import latest_run
from .memory import recall, remember

OPENED = STATE / "hints.json"  # {day: {item: how many steps are open}}

NOT_STARTED = "exercise.not-started"

Steps = tuple[Text, ...]

ABOUT = Text(
    en="Open the next hint for the first item that does not pass.",
    zh="为第一个没有通过的检查项打开下一步提示。",
)
STEP_NAMES = (
    Text(en="where to look", zh="看哪里"),
    Text(en="what is missing", zh="缺什么"),
    Text(en="nearly the code", zh="差一点就是代码"),
)
HEADING = Text(en="Item {item}: {title}", zh="第 {item} 项：{title}")
FOUND = Text(en="Your latest run says: {cause}", zh="你最近一次自检说：{cause}")
STEP = Text(en="Hint {step} of {steps}, {name}:", zh="提示 {step}/{steps}，{name}：")
NEXT = Text(
    en="For the next one: python selftest.py hint {day} --item {item}",
    zh="看下一步：python selftest.py hint {day} --item {item}",
)
LAST = Text(
    en="That was the last of {steps}. More stands in {lesson}, exercise {exercise}.",
    zh="这是 {steps} 步里的最后一步。更多内容见 {lesson} 的练习 {exercise}。",
)
LAST_WITHOUT_EXERCISE = Text(
    en='That was the last of {steps}. More stands in {lesson}, under "The wire".',
    zh="这是 {steps} 步里的最后一步。更多内容见 {lesson} 的“线路上的报文”一节。",
)
REPEATED = Text(
    en="You have opened all {steps} already; here is the last one again.",
    zh="{steps} 步都已经打开过了，下面再显示最后一步。",
)
NONE_OPEN = Text(
    en="No hint is open yet for item {item}. "
    "The first one: python selftest.py hint {day} --item {item}",
    zh="第 {item} 项还没有打开过提示。第一步：python selftest.py hint {day} --item {item}",
)
NO_RUN = Text(
    en="There is no run of yours to go by yet. First: python selftest.py {day}",
    zh="还没有你的自检记录。请先运行：python selftest.py {day}",
)
RUN_OF_SOLUTION = Text(
    en="The latest run judged the solution. First run yours: python selftest.py {day}",
    zh="最近一次自检查的是参考答案。请先检查你自己的：python selftest.py {day}",
)
NOT_ALL_JUDGED = Text(
    en="What the latest run judged passes, but it did not judge every item. "
    "Run all of them: python selftest.py {day}",
    zh="最近一次自检查到的都通过了，但没有查全。请全部检查一次：python selftest.py {day}",
)
ALL_GREEN = Text(
    en="All {total} items pass: there is nothing to hint at. Next: python selftest.py quiz {day}",
    zh="{total} 项全部通过，没有什么要提示的了。接下来：python selftest.py quiz {day}",
)
NO_HINTS = Text(
    en="Day {day} has no hints for item {item}.",
    zh="第 {day} 天没有第 {item} 项的提示。",
)


def main(argv: list[str]) -> int:
    """Show the next hint: exit code 0; 1 when a run is needed first, 2 on wrong usage."""
    return run(argv, "hint", ABOUT, _declare, _answer)


def _declare(parser: argparse.ArgumentParser, say: Say) -> None:
    parser.add_argument(
        "--item", type=int, metavar="N", help=say("this item instead", "改看第 N 项")
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help=say("show what is open already, and open nothing", "重看已经打开的，不打开新的"),
    )


def _answer(asked: Asked) -> int:
    item = asked.options.item
    if item is not None:
        try:
            choose_items(load_checks(asked.lab), [item])
        except UsageError as error:
            return refuse(error.text, asked.language, USAGE)
        return show_hint(asked.printer, asked.day, asked.lab, item, again=asked.options.again)
    latest = latest_run(asked.day)
    if latest is None:
        return refuse(NO_RUN(day=asked.day), asked.language, RED)
    if latest.of_solution:
        return refuse(RUN_OF_SOLUTION(day=asked.day), asked.language, RED)
    if latest.first_failed is not None:
        first = latest.first_failed.item
        return show_hint(asked.printer, asked.day, asked.lab, first, again=asked.options.again)
    if not latest.all_pass:
        return refuse(NOT_ALL_JUDGED(day=asked.day), asked.language, RED)
    asked.printer.line(ALL_GREEN(total=len(latest.verdicts), day=asked.day))
    return OK


def load_hints(lab: str) -> dict[int, Steps]:
    """The hints of a lab, by item, from the course's own copy; none when it has none."""
    if importlib.util.find_spec(f"solutions.{lab}.hints") is None:
        return {}
    hints: dict[int, Steps] = importlib.import_module(f"solutions.{lab}.hints").HINTS
    return hints


def show_hint(out: Printer, day: int, lab: str, item: int, *, again: bool = False) -> int:
    """Open the next hint of an item and print it, or with `again` print those that are open.

    Returns 0, or 1 when there are no hints for it.
    """
    steps = load_hints(lab).get(item)
    if not steps:
        return refuse(NO_HINTS(day=day, item=item), out.language, RED)
    memory, warning = recall(OPENED)
    opened = _opened(memory, day, item, len(steps))
    out.line(HEADING(item=item, title=load_checks(lab).items[item - 1].title), "bold")
    _print_found(out, day, item)
    if again:
        _print_again(out, day, item, steps[:opened], len(steps))
    else:
        _print_next(out, day, lab, item, steps, opened)
        if opened < len(steps):
            of_day = memory.get(str(day))
            memory[str(day)] = {
                **(of_day if isinstance(of_day, dict) else {}),
                str(item): opened + 1,
            }
            warning = remember(OPENED, memory) or warning
    if warning is not None:
        print(warning.get(out.language), file=sys.stderr)
    return OK


def _opened(memory: dict[str, Any], day: int, item: int, steps: int) -> int:
    """How many steps are open, whatever an older or a meddled file says."""
    of_day = memory.get(str(day))
    count = of_day.get(str(item)) if isinstance(of_day, dict) else 0
    return max(0, min(count, steps)) if isinstance(count, int) else 0


def _print_found(out: Printer, day: int, item: int) -> None:
    """What the latest run found, where it is a mistake and not just a blank."""
    latest = latest_run(day)
    if latest is None or latest.of_solution:
        return
    for verdict in latest.verdicts:
        if verdict.item == item and verdict.failed and verdict.diagnosis != NOT_STARTED:
            out.line(FOUND(cause=verdict.cause), "yellow")


def _print_again(out: Printer, day: int, item: int, opened: Steps, total: int) -> None:
    for number, step in enumerate(opened, start=1):
        _print_step(out, number, total, step)
    if not opened:
        out.line(NONE_OPEN(item=item, day=day))


def _print_next(out: Printer, day: int, lab: str, item: int, steps: Steps, opened: int) -> None:
    total = len(steps)
    if opened == total:
        out.line(REPEATED(steps=total), "dim")
    number = min(opened + 1, total)
    _print_step(out, number, total, steps[number - 1])
    out.line()
    if number < total:
        out.line(NEXT(day=day, item=item), "dim")
        return
    checks = load_checks(lab)
    exercise = checks.items[item - 1].exercise
    name = "README.zh-CN.md" if out.language == "zh" else "README.md"
    lesson = f"labs/{lab}/{name}"
    out.line(
        LAST(steps=total, lesson=lesson, exercise=exercise)
        if exercise is not None
        else LAST_WITHOUT_EXERCISE(steps=total, lesson=lesson),
        "dim",
    )


def _print_step(out: Printer, number: int, total: int, step: Text) -> None:
    out.line()
    out.line(STEP(step=number, steps=total, name=STEP_NAMES[number - 1]), "bold cyan")
    out.line(step, indent=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
