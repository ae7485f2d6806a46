"""Runs the items of a lab: each once what it needs has passed, side by side where they can be."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from shared.authoring.regions import region_body
from shared.i18n import Text
from shared.processes import Launcher
from shared.shop import Shop, draw_shop

from .checks import Checks, Item
from .diagnoses import CATALOGUE, Diagnosis
from .discover import days
from .lab import Lab
from .result import ItemResult, Result
from .stage import Stage, make_stage
from .stop import ItemStopped


@dataclass(frozen=True)
class Run:
    """One run of a lab's items over one folder of the learner's."""

    checks: Checks
    launcher: Launcher
    stage: Stage
    shop: Shop
    seed: int

    def diagnosis(self, code: str) -> Diagnosis:
        """The diagnosis of a code: the lab's own, or one that all labs share."""
        return self.checks.diagnoses.get(code) or CATALOGUE[code]


def run_checks(
    checks: Checks,
    source: Path,
    *,
    shown_as: str,
    seed: int,
    launcher: Launcher,
    only: frozenset[int] = frozenset(),
    kept: Mapping[int, ItemResult] | None = None,
    on_verdict: Callable[[ItemResult], None] = lambda _: None,
) -> Result:
    """Judge the lab in `source`; `only` names the items to judge (with what these need), none all.

    `kept` are verdicts of an earlier run that still hold, by item: they are taken as they are.
    `on_verdict` is told of each item as soon as it has been judged, from several threads.

    The result has all items of the lab in any case. Raises OSError when there is no room to work.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="selftest-", ignore_cleanup_errors=True) as folder:
        stage = make_stage(Path(folder), source, days()[checks.day], shown_as)
        shop = draw_shop(seed)
        shop.save(Path(folder, "shop.json"))
        run = Run(checks, launcher, stage, shop, seed)
        items = _run_items(run, with_needs(checks, only), kept or {}, on_verdict)
    duration = round((time.monotonic() - began) * 1000)
    return Result(checks.day, stage.lab, seed, items, duration)


def with_needs(checks: Checks, only: frozenset[int]) -> set[int]:
    """The items `only` (none: all) and those that they stand on."""
    wanted = set(only) or {item.id for item in checks.items}
    for item in reversed(checks.items):  # what is needed comes before what needs it
        if item.id in wanted:
            wanted.update(item.needs)
    return wanted


def _run_items(
    run: Run,
    wanted: set[int],
    kept: Mapping[int, ItemResult],
    on_verdict: Callable[[ItemResult], None],
) -> list[ItemResult]:
    futures: dict[int, Future[ItemResult]] = {}

    def judge(item: Item) -> ItemResult:
        if item.id in kept:
            return kept[item.id]
        verdict = judge_now(item)
        on_verdict(verdict)
        return verdict

    def judge_now(item: Item) -> ItemResult:
        if item.id not in wanted:
            return _not_run(run, item, "item.not-selected")
        waits_for = [need for need in item.needs if futures[need].result().status != "pass"]
        if waits_for:
            return _not_run(run, item, "item.waits", items=_numbers(waits_for))
        return judge_item(run, item)

    # as many threads as items: an item that waits for another must not keep it from running
    with ThreadPoolExecutor(len(run.checks.items)) as pool:
        for item in run.checks.items:
            futures[item.id] = pool.submit(judge, item)
    return [future.result() for future in futures.values()]


def judge_item(run: Run, item: Item) -> ItemResult:
    """Run one check to its end, whatever that is."""
    began = time.monotonic()
    lab = Lab(run.launcher, run.stage, run.shop, f"{run.seed}/{item.id}")
    result = ItemResult(item.id, item.title, item.exercise, "pass")
    try:
        item.check(lab)
    except ItemStopped as stop:
        _apply(run, result, stop)
        _say_not_started(run, result)
    except Exception as error:
        fault = ItemStopped(
            "grader_fault", "grader.fault", error=f"{type(error).__name__}: {error}"
        )
        fault.detail = traceback.format_exc()
        _apply(run, result, fault)
    result.transcripts = [transcript for transcript in lab.transcripts if len(transcript)]
    result.uses = frozenset(lab.uses)
    result.duration_ms = round((time.monotonic() - began) * 1000)
    return result


def _apply(run: Run, result: ItemResult, stop: ItemStopped) -> None:
    filled = stop.texts(run.diagnosis(stop.code))
    result.status = stop.status
    result.diagnosis = stop.code
    result.cause, result.step = filled.cause, filled.step
    result.evidence = stop.evidence
    result.detail = stop.detail


def _not_run(run: Run, item: Item, code: str, **values: object) -> ItemResult:
    result = ItemResult(item.id, item.title, item.exercise, "not_run")
    _apply(run, result, ItemStopped("not_run", code, **values))
    return result


def _say_not_started(run: Run, result: ItemResult) -> None:
    """A blank that is still as it came is not a mistake, and the message must not sound like one.

    The verdict stays what the wire made it; only its words change.
    """
    if result.status != "fail" or result.exercise is None:
        return
    name = run.checks.exercises[result.exercise]
    mine = _read(run.stage.lab_folder("learner") / name)
    starter = _read(run.stage.lab_folder("starter") / name)
    body = region_body(mine, result.exercise)
    if body is None or _squeezed(body) != _squeezed(region_body(starter, result.exercise) or ""):
        return
    before, _, _ = mine.partition(f"# region exercise {result.exercise}:")
    stop = ItemStopped(
        "fail",
        "exercise.not-started",
        result.evidence,
        exercise=result.exercise,
        cause=result.cause,
        file=f"{run.stage.shown_as}/{name}",
        line=before.count("\n") + 1,
    )
    _apply(run, result, stop)


def _numbers(items: list[int]) -> Text:
    """`item 3`, `items 2 and 3`."""
    *first, last = map(str, items)
    if not first:
        return Text(en="item {last}", zh="第 {last} 项")(last=last)
    return Text(en="items {first} and {last}", zh="第 {first}、{last} 项")(
        first=Text(en=", ".join(first), zh="、".join(first)), last=last
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _squeezed(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def internal_fault(checks: Checks, seed: int, lab: str, error: BaseException) -> Result:
    """The result of a run that broke down before any item could be judged."""
    cause = CATALOGUE["grader.fault"].cause(error=f"{type(error).__name__}: {error}")
    items = [
        ItemResult(
            item.id,
            item.title,
            item.exercise,
            "grader_fault",
            "grader.fault",
            cause,
            CATALOGUE["grader.fault"].step,
            detail="".join(traceback.format_exception(error)),
        )
        for item in checks.items
    ]
    return Result(checks.day, lab, seed, items)
