"""Finds the labs that there are, and the one that was asked for."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path

from shared.i18n import Text
from shared.processes.supervisor import ROOT

from .checks import Checks

DAY_FOLDER = re.compile(r"day(\d+)_\w+")


class UsageError(Exception):
    """The command line asks for something that is not there; `text` says what and what there is."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


@dataclass(frozen=True)
class Target:
    """A folder to judge and the checks to judge it by; `shown_as` is how messages name it."""

    checks: Checks
    folder: Path
    shown_as: str


def days() -> dict[int, str]:
    """The days of the course and the names of their labs."""
    found = {}
    for path in sorted((ROOT / "solutions").iterdir()):
        match = DAY_FOLDER.fullmatch(path.name)
        if match and path.is_dir():
            found[int(match[1])] = path.name
    return found


def load_checks(lab: str) -> Checks:
    """The grader's own copy of a lab's checks: never the file in the learner's folder."""
    checks: Checks = importlib.import_module(f"solutions.{lab}.checks").checks
    return checks


def find_target(day: int, path: Path | None, *, solution: bool) -> Target:
    """The lab of a day: the learner's, the solution, or the one in `path` (a folder laid out like
    labs/, or one day's folder).

    Raises UsageError.
    """
    known = days()
    if day not in known:
        raise UsageError(
            Text(
                en="There is no day {day}. There is: {days}.",
                zh="没有第 {day} 天。现有：{days}。",
            )(day=day, days=", ".join(map(str, known)))
        )
    lab = known[day]
    checks = load_checks(lab)
    if path is None:
        folder = ROOT / ("solutions" if solution else "labs") / lab
    else:
        folder = path / lab if (path / lab).is_dir() else path
    if not any((folder / name).is_file() for name in checks.exercises.values()):
        raise UsageError(
            Text(
                en="{folder} is no lab of day {day}: it has none of {files}. "
                "Give the folder that holds {lab}/, or that folder itself.",
                zh="{folder} 不是第 {day} 天的实验：里面没有 {files}。"
                "请给出包含 {lab}/ 的文件夹，或者这个文件夹本身。",
            )(folder=folder, day=day, files=", ".join(checks.exercises.values()), lab=lab)
        )
    return Target(checks, folder.resolve(), _shown_as(folder))


def choose_items(checks: Checks, asked: list[int]) -> frozenset[int]:
    """The items named on the command line. Raises UsageError when there is no such item."""
    known = {item.id for item in checks.items}
    for number in asked:
        if number not in known:
            raise UsageError(
                Text(
                    en="Day {day} has no item {number}. Its items are 1 to {last}.",
                    zh="第 {day} 天没有第 {number} 项。它的检查项是 1 到 {last}。",
                )(day=checks.day, number=number, last=len(known))
            )
    return frozenset(asked)


def _shown_as(folder: Path) -> str:
    """The shortest honest name: relative to where the learner stands, when it lies below."""
    folder = folder.resolve()
    for base in (Path.cwd(), ROOT):
        if folder.is_relative_to(base):
            return folder.relative_to(base).as_posix()
    return folder.as_posix()
