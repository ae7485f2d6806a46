"""A result as a person reads it in a terminal."""

from __future__ import annotations

import json
import re

from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from shared.i18n import Language, Text
from shared.wire.messages import one_line

from .checks import Checks
from .result import Evidence, ItemResult, Result, Status

MARKS: dict[Status, tuple[str, str]] = {
    "pass": ("✔", "green"),
    "fail": ("✘", "red"),
    "error": ("✘", "red"),
    "timeout": ("✘", "red"),
    "limit": ("✘", "red"),
    "not_run": ("○", "dim"),
    "grader_fault": ("!", "magenta"),
}
WORDS: dict[Status, Text] = {
    "pass": Text(en="pass", zh="通过"),
    "fail": Text(en="fail", zh="未通过"),
    "error": Text(en="error", zh="报错"),
    "timeout": Text(en="time-out", zh="超时"),
    "limit": Text(en="limit", zh="超限"),
    "not_run": Text(en="not run", zh="未运行"),
    "grader_fault": Text(en="self-test fault", zh="自检故障"),
}
NOT_STARTED = Text(en="not started", zh="未开始")

HEADING = Text(en="Day {day}: {title}", zh="第 {day} 天：{title}")
WHERE = Text(en="{folder}   seed {seed}", zh="{folder}   种子 {seed}")
ALL_PASS = Text(
    en="{total} of {total} items pass, in real child processes over both wires.",
    zh="{total} 项全部通过：都是真实的子进程，真实的两条线路。",
)
UNTOUCHED = Text(
    en="{passed} of {total} items pass, which is as it should be at the start. "
    "Begin with exercise {exercise}: the arrow of item {item} says where.",
    zh="{total} 项中通过 {passed} 项，刚开始就应该是这样。"
    "先做练习 {exercise}：第 {item} 项的箭头指出了位置。",
)
NEXT_EXERCISE = Text(
    en="{passed} of {total} items pass. Next: exercise {exercise}; "
    "the arrow of item {item} says where.",
    zh="{total} 项中通过 {passed} 项。下一步：练习 {exercise}，第 {item} 项的箭头指出了位置。",
)
SOME_PASS = Text(
    en="{passed} of {total} items pass. Next: item {next}.",
    zh="{total} 项中通过 {passed} 项。下一步：第 {next} 项。",
)
TOOK = Text(en="{seconds:.1f} s", zh="用时 {seconds:.1f} 秒")
MORE = Text(en="--verbose shows all of it", zh="--verbose 可查看全部")

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
EVIDENCE_WIDTH = 200  # characters of one message, before it is cut


def print_report(
    result: Result,
    checks: Checks,
    shown_as: str,
    console: Console,
    language: Language,
    *,
    verbose: bool = False,
    timed: bool = True,
) -> None:
    """Print all items, and for each that does not pass the cause, the next step, the evidence."""
    console.print(
        HEADING(day=result.day, title=checks.title).get(language), style="bold", highlight=False
    )
    where = WHERE(folder=shown_as, seed=result.seed).get(language)
    console.print(where, style="dim", highlight=False)
    console.print()
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(justify="right")
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    judged = [item for item in result.items if item.diagnosis != "item.not-selected"]
    for item in judged:
        mark, style = MARKS[item.status]
        not_started = item.diagnosis == "exercise.not-started"
        if not_started:
            mark, style = "▷", "yellow"
        word = NOT_STARTED if not_started else WORDS[item.status]
        title = Styled(item.title.get(language), style="dim" if item.status == "not_run" else "")
        table.add_row(Styled(mark, style), str(item.id), title, Styled(word.get(language), style))
        if item.status != "pass":
            table.add_row("", "", message_of(item, language), "")
        for evidence in item.evidence:
            table.add_row("", "", evidence_line(evidence, language, verbose), "")
        if verbose and item.detail:
            table.add_row("", "", Styled(_visible(item.detail.rstrip()), style="dim"), "")
    console.print(table)
    console.print()
    style = "green" if all(item.status == "pass" for item in judged) else "bold"
    console.print(
        Styled(closing(judged, language, whole=len(judged) == len(result.items)), style=style)
    )
    if timed:
        took = TOOK(seconds=result.duration_ms / 1000).get(language)
        console.print(took, style="dim", highlight=False)


def _visible(text: str) -> str:
    """Learner code may put anything into a message, even what would command the terminal."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def plain_message(item: ItemResult, language: Language) -> str:
    """The cause of a verdict and the next step, a line each, without colours."""
    return message_of(item, language).plain


def message_of(item: ItemResult, language: Language) -> Styled:
    """The cause of a verdict and the next step, a line each."""
    message = Styled(
        _visible(item.cause.get(language)), style="dim" if item.status == "not_run" else ""
    )
    step = _visible(item.step.get(language))
    if step:
        message.append(f"\n→ {step}", style="cyan")
    return message


def evidence_line(evidence: Evidence, language: Language, verbose: bool) -> Styled:
    """What a verdict rests on, as one line."""
    shown = Styled(f"· {evidence.note.get(language)}: ", style="dim")
    shown.append(_visible(_shown(evidence, language, verbose)), style="not dim")
    return shown


def _shown(evidence: Evidence, language: Language, verbose: bool) -> str:
    event = evidence.event
    if verbose and event is not None and event.message is not None:
        return json.dumps(event.message, ensure_ascii=False, indent=2)
    what = one_line(event) if event is not None else evidence.text
    if verbose or len(what) <= EVIDENCE_WIDTH:
        return what
    return f"{what[:EVIDENCE_WIDTH]}… ({MORE.get(language)})"


def closing(items: list[ItemResult], language: Language, *, whole: bool = True) -> str:
    """How many items pass, and what is next. `whole`: the items are all that the lab has."""
    total = len(items)
    passed = sum(item.status == "pass" for item in items)
    if passed == total:
        return ALL_PASS(total=total).get(language)
    values = {"passed": passed, "total": total}
    red = [item for item in items if item.status not in ("pass", "not_run")]
    red.sort(key=lambda item: item.diagnosis == "exercise.not-started")  # a real fault comes first
    if red and red[0].diagnosis == "exercise.not-started":
        begun = any(item.exercise and item.status == "pass" for item in items)
        text = NEXT_EXERCISE if begun or not whole else UNTOUCHED
        return text(**values, exercise=red[0].exercise, item=red[0].id).get(language)
    following = red[0] if red else next(item for item in items if item.status != "pass")
    return SOME_PASS(**values, next=following.id).get(language)
