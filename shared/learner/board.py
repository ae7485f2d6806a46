"""What a watcher shows: the items, the first that does not hold, what to do next. As lines."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Styled

from shared.i18n import Language, Text
from shared.selftest.checks import Checks
from shared.selftest.report import (
    HEADING,
    MARKS,
    NOT_STARTED,
    TOOK,
    WHERE,
    WORDS,
    closing,
    evidence_line,
    message_of,
)
from shared.selftest.result import ItemResult

RUNNING = Text(en="running …", zh="运行中 …")
UNKNOWN = Text(en="—", zh="—")
FAILED = Text(en="Item {item}: {title}", zh="第 {item} 项：{title}")
MORE = Text(
    en="… the window is too small for the rest: `python selftest.py {day} --verbose`",
    zh="…… 窗口放不下其余内容：`python selftest.py {day} --verbose`",
)
KEYS = (
    ("h", Text(en="hint", zh="提示")),
    ("t", Text(en="trace", zh="线路")),
    ("a", Text(en="rerun all", zh="全部重跑")),
    ("n", Text(en="next exercise", zh="下一个练习")),
    ("r", Text(en="reset this exercise", zh="重置本练习")),
    ("q", Text(en="quit", zh="退出")),
    ("?", Text(en="help", zh="帮助")),
)


@dataclass
class Board:
    """The state of a lab as it is being watched.

    `verdicts` by item, as far as there are any; `running` those that are being judged now, and
    `busy` until the run is over; `notes` what has just happened, or has been asked for.
    """

    checks: Checks
    shown_as: str
    seed: int
    only: frozenset[int] = frozenset()
    verdicts: dict[int, ItemResult] = field(default_factory=dict)
    running: frozenset[int] = frozenset()
    busy: bool = False
    notes: list[Text] = field(default_factory=list)
    took_ms: int | None = None

    @property
    def shown(self) -> list[ItemResult]:
        """The verdicts that are asked for, in order."""
        return [
            self.verdicts[item.id]
            for item in self.checks.items
            if item.id in self.verdicts and (not self.only or item.id in self.only)
        ]

    @property
    def first_failure(self) -> ItemResult | None:
        """The first item that does not hold by its own fault; else the first that waits."""
        open_items = [item for item in self.shown if item.status != "pass"]
        own = [item for item in open_items if item.status != "not_run"]
        return next(iter(own or open_items), None)


def board_lines(
    board: Board, language: Language, width: int, height: int, *, keys: bool
) -> list[str]:
    """The board as lines of a terminal, with its colours: at most `height` lines of `width` cells.

    When there is not room for all, evidence goes first, then the ends of messages; what stays is
    the state of every item and the last lines.
    """
    head = _rendered(
        width,
        Styled(HEADING(day=board.checks.day, title=board.checks.title).get(language), "bold"),
        Styled(WHERE(folder=board.shown_as, seed=board.seed).get(language), "dim"),
        "",
    )
    foot = _rendered(width, "", *_closing(board, language))
    if keys:
        foot += _rendered(width, _keys(language, width))
    items = _rendered(width, _items(board, language))
    failure = _rendered(width, *_failure(board, language, evidence=True))
    if len(head + items + failure + foot) > height:
        failure = _rendered(width, *_failure(board, language, evidence=False))
    if len(head + items + failure + foot) > height:
        items = _rendered(width, _items(board, language, crop_to=width))
    room = max(0, height - len(head + items + foot))
    if len(failure) > room:
        more = _rendered(width, Styled(MORE(day=board.checks.day).get(language), "dim"))
        failure = [*failure[: max(0, room - len(more))], *more][:room]
    return (head + items + failure + foot)[-height:]


def _rendered(width: int, *parts: RenderableType) -> list[str]:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=True, highlight=False, markup=False, emoji=False
    )
    for part in parts:
        console.print(part)
    return file.getvalue().splitlines()


def _items(board: Board, language: Language, crop_to: int | None = None) -> Table:
    """A row for each item; `crop_to` is the width at which each has to fit into one line."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(justify="right")
    table.add_column(ratio=1, overflow="fold")
    words = [RUNNING, NOT_STARTED, *WORDS.values()]
    widest = max(cell_len(word.get(language)) for word in words)  # so that nothing moves
    table.add_column(justify="right", no_wrap=True, min_width=widest)
    for item in board.checks.items:
        if board.only and item.id not in board.only:
            continue
        mark, word, style = _status(board, item.id, language)
        held = board.verdicts.get(item.id)
        dim = held is None or held.status == "not_run"
        title = Styled(item.title.get(language), style="dim" if dim else "")
        if crop_to is not None:
            title.truncate(max(1, crop_to - widest - 6), overflow="ellipsis")
        table.add_row(Styled(mark, style), str(item.id), title, Styled(word, style))
    return table


def _status(board: Board, number: int, language: Language) -> tuple[str, str, str]:
    """Mark, word and style of an item."""
    if number in board.running:
        return "…", RUNNING.get(language), "yellow"
    verdict = board.verdicts.get(number)
    if verdict is None:
        return "○", UNKNOWN.get(language), "dim"
    return verdict_word(verdict, language)


def verdict_word(verdict: ItemResult, language: Language) -> tuple[str, str, str]:
    """Mark, word and style of a verdict."""
    if verdict.diagnosis == "exercise.not-started":
        return "▷", NOT_STARTED.get(language), "yellow"
    mark, style = MARKS[verdict.status]
    return mark, WORDS[verdict.status].get(language), style


def _failure(board: Board, language: Language, *, evidence: bool) -> list[RenderableType]:
    failure = board.first_failure
    if failure is None or failure.id in board.running:
        return []
    title = FAILED(item=failure.id, title=failure.title).get(language)
    parts: list[RenderableType] = ["", Styled(title, "bold"), message_of(failure, language)]
    if evidence:
        parts += [evidence_line(one, language, verbose=False) for one in failure.evidence]
    return [parts[0], parts[1], *(Padding(part, (0, 0, 0, 2)) for part in parts[2:])]


def _closing(board: Board, language: Language) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for note in board.notes:
        lines.append(Styled(note.get(language), "cyan"))
    if board.busy:
        lines.append(Styled(RUNNING.get(language), "yellow"))
    elif board.shown:
        passed = all(item.status == "pass" for item in board.shown)
        line = Styled(closing(board.shown, language), "green" if passed else "bold")
        if board.took_ms is not None:
            line.append(f"  {TOOK(seconds=board.took_ms / 1000).get(language)}", "dim not bold")
        lines.append(line)
    return lines


def _keys(language: Language, width: int) -> Styled:
    """The keys and their meanings, never broken in the middle of one."""
    lines = [Styled(style="dim")]
    for key, word in KEYS:
        one = Styled.assemble((key, "bold"), f" {word.get(language)}", style="dim")
        if lines[-1] and lines[-1].cell_len + 3 + one.cell_len > width:
            lines.append(Styled(style="dim"))
        lines[-1].append("   " if lines[-1] else "").append(one)
    return Styled("\n").join(lines)
