"""How far the learner is: what turned green when, kept in `.selftest/progress.json`.

    {"schema": 1, "days": {"23": {"items": {"2": {"first_green", "status", "seed", "at"}, …},
                                  "blanks": {"1": SHA-256, …}}}}

Times are ISO times; `first_green` is null until an item passes. `blanks` are the digests of what
stood in the blanks when they were judged. Nothing in it names a folder, so it moves with one.
"""

from __future__ import annotations

import datetime
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from shared.authoring.regions import RegionError
from shared.i18n import Text
from shared.processes.supervisor import ROOT
from shared.selftest.result import STATUSES, ItemResult, Result, Status

from .blanks import Blank, blanks_of, body_in
from .files import digest, write_file
from .lines import unix
from .memory import NOT_KEPT, recall, remember

PROGRESS = ".selftest/progress.json"
SCHEMA = 1

NEWER = Text(
    en="({path} was written by a newer version of the course; this one leaves it alone. "
    "`git pull` brings the course up to date.)",
    zh="（{path} 是由更新版本的课程写的，这里不动它。`git pull` 可以更新课程。）",
)
PARTLY = Text(
    en="(In {path} something about day {day} could not be understood and counts as not done.)",
    zh="（{path} 里第 {day} 天的部分内容无法识别，按没做算。）",
)


@dataclass
class ItemState:
    """One item: when it first passed, and its latest verdict, with the seed and time of that."""

    first_green: str | None
    status: Status
    seed: int
    at: str


@dataclass
class DayState:
    """One day: its items, and the digests of the blanks as they were judged, by exercise."""

    items: dict[int, ItemState] = field(default_factory=dict)
    blanks: dict[int, str] = field(default_factory=dict)

    def is_green(self, item: int) -> bool:
        """Whether the latest verdict on an item is a pass."""
        return item in self.items and self.items[item].status == "pass"


@dataclass
class Progress:
    """The state of all days. `notices` are sentences for the learner; `ours` is False when the
    file must not be written: a newer version wrote it, or it may not be read. `whole` says whether
    all of it was understood."""

    days: dict[int, DayState]
    notices: list[Text]
    ours: bool = True
    whole: bool = True


def read_progress(root: Path = ROOT) -> Progress:
    """The state as it is kept; without what cannot be understood, which a notice tells."""
    kept, notice = recall(root / PROGRESS)
    progress = Progress({}, [] if notice is None else [notice])
    if notice is not None and (root / PROGRESS).exists():
        progress.ours = False  # it may not be read, and writing would lose what it holds
        return progress
    schema = kept.get("schema", SCHEMA)
    if isinstance(schema, int) and schema > SCHEMA:
        progress.ours = False
        progress.notices.append(NEWER(path=PROGRESS))
        return progress
    rows = kept.get("days", {})
    for day, row in rows.items() if isinstance(rows, dict) else ():
        try:
            progress.days[int(day)] = _day(row)
        except (AttributeError, KeyError, TypeError, ValueError):
            progress.whole = False
            progress.notices.append(PARTLY(path=PROGRESS, day=day))
    return progress


def note_run(result: Result, root: Path = ROOT) -> list[Text]:
    """Remember a run of the learner's own `labs/`; returns what is to be said of that, if anything.

    Items that were not judged (not selected, or a fault of the self-test) stay as they were. Raises
    nothing for a state that cannot be read or written: the sentences tell.
    """
    progress = read_progress(root)
    if not progress.ours:
        return progress.notices
    judged = [item for item in result.items if _was_judged(item)]
    if not judged:
        return progress.notices
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    day = progress.days.setdefault(result.day, DayState())
    for item in judged:
        before = day.items.get(item.id)
        first = before.first_green if before else None
        if first is None and item.status == "pass":
            first = now
        day.items[item.id] = ItemState(first, item.status, result.seed, now)
    began = time.time() - result.duration_ms / 1000
    exercises = {item.exercise for item in judged}
    for blank in _blanks(root, result.lab):
        if blank.exercise in exercises:
            day.blanks.pop(blank.exercise, None)
            if (held := _digest_if_older(root, blank, began)) is not None:
                day.blanks[blank.exercise] = held
    failed = None if progress.whole else _keep_aside(root)
    failed = failed or remember(root / PROGRESS, _as_json(progress))
    return progress.notices if failed is None else [failed]


def is_as_judged(root: Path, blank: Blank, day: DayState) -> bool:
    """Whether a blank holds what it held when it was last judged."""
    body = body_in(root, blank)
    return body is not None and day.blanks.get(blank.exercise) == _digest(body)


def _keep_aside(root: Path) -> Text | None:
    """Keep a copy of a file that is not understood as a whole, before it is written anew; the
    sentence says why that failed."""
    path = root / PROGRESS
    now = datetime.datetime.now()
    try:
        write_file(path.with_name(f"{path.name}.broken-{now:%Y%m%d-%H%M%S}"), path.read_bytes())
    except OSError as error:
        return NOT_KEPT(path=PROGRESS, reason=error.strerror or error)
    return None


def _was_judged(item: ItemResult) -> bool:
    return item.status != "grader_fault" and item.diagnosis != "item.not-selected"


def _blanks(root: Path, lab: str) -> list[Blank]:
    try:
        return list(blanks_of(root, lab).values())
    except (OSError, RegionError):  # the course itself is damaged, which is no matter of progress
        return []


def _digest_if_older(root: Path, blank: Blank, moment: float) -> str | None:
    """The digest of a blank; None when the file was saved after `moment` (seconds since the epoch),
    for then something else was judged."""
    try:
        if (root / blank.path).stat().st_mtime > moment:
            return None
    except OSError:
        return None
    body = body_in(root, blank)
    return None if body is None else _digest(body)


def _digest(body: str) -> str:
    return digest(unix(body).encode("utf-8")) or ""


def _as_json(progress: Progress) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "days": {str(number): asdict(day) for number, day in sorted(progress.days.items())},
    }


def _day(row: Any) -> DayState:
    items = {int(number): _item(each) for number, each in row["items"].items()}
    blanks = {int(number): str(each) for number, each in row.get("blanks", {}).items()}
    return DayState(items, blanks)


def _item(row: Any) -> ItemState:
    first, status, seed, at = row["first_green"], row["status"], row["seed"], row["at"]
    if status not in STATUSES:
        raise ValueError(status)
    for moment in filter(None, (first, at)):
        datetime.datetime.fromisoformat(moment)
    return ItemState(first, status, int(seed), at)
