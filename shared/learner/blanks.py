"""What reset and solve would change: the blanks of a day, or its whole files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shared.authoring.regions import find_region, parse, replace_region, to_solution, to_starter
from shared.authoring.starters import files_of
from shared.i18n import Text

from .files import Change, FileProblem, decode, read_file
from .lines import lines_of, same_lines, with_line_ends_of

Towards = Literal["starter", "solution"]

MISSING = Text(
    en="{path} is not there. `{command} --whole-file` writes it anew.",
    zh="{path} 不存在。`{command} --whole-file` 会重新写出它。",
)
NO_MARKERS = Text(
    en="{path}: the lines `# region exercise {exercise}: …` and `# endregion` are no longer a "
    "pair there, so where the blank is cannot be told. Nothing was changed. "
    "`{command} --whole-file` replaces the whole file.",
    zh="{path}：里面的 `# region exercise {exercise}: …` 与 `# endregion` 已不成对，"
    "无法确定空在哪里。什么都没有改动。`{command} --whole-file` 会替换整个文件。",
)
TWICE = Text(
    en="{path}: exercise {exercise} has two blanks, in lines {first} and {second}. Nothing was "
    "changed. Remove one, or `{command} --whole-file` replaces the whole file.",
    zh="{path}：练习 {exercise} 的空出现了两次，在第 {first} 行和第 {second} 行。什么都没有改动。"
    "请删掉一个；`{command} --whole-file` 会替换整个文件。",
)


@dataclass(frozen=True)
class Blank:
    """One blank of a day: the file of the learner's that has it, and both fillings."""

    exercise: int
    path: str
    starter: str
    solution: str


def blanks_of(root: Path, lab: str) -> dict[int, Blank]:
    """The blanks of a lab by exercise. Raises RegionError when the course's own files are not well
    formed, OSError when they cannot be read."""
    found = {}
    for name in files_of(root / "solutions" / lab):
        source = root / "solutions" / lab / name
        if source.suffix != ".py":
            continue
        for region in parse(source.read_text(encoding="utf-8"), source):
            starter = "".join(line + "\n" for line in region.starter)
            solution = "".join(line + "\n" for line in region.solution)
            path = f"labs/{lab}/{name}"
            found[region.exercise] = Blank(region.exercise, path, starter, solution)
    return dict(sorted(found.items()))


def body_in(root: Path, blank: Blank) -> str | None:
    """What the learner has in a blank; None when that cannot be told."""
    try:
        content = read_file(root, blank.path)
        found = find_region(decode(content or b"", blank.path), blank.exercise)
    except FileProblem:
        return None
    return None if found is None else found.body


def fill_blanks(
    root: Path, blanks: Collection[Blank], towards: Towards, command: str
) -> list[Change]:
    """The changes that put the starter or the solution into these blanks, and touch nothing else.

    A blank that holds it already is left alone. `command` is how the learner would type it again.
    Raises FileProblem for the first file in which a blank cannot be told, or that cannot be read.
    """
    changes = []
    for path in dict.fromkeys(blank.path for blank in blanks):
        before = read_file(root, path)
        if before is None:
            raise FileProblem(MISSING(path=path, command=command))
        text = decode(before, path)
        for blank in blanks:
            if blank.path == path:
                text = _fill(text, blank, towards, command)
        after = text.encode("utf-8")
        if after != before:
            changes.append(Change(path, before, after))
    return changes


def replace_files(root: Path, lab: str, towards: Towards, only: str | None) -> list[Change]:
    """The changes that make whole files what the course has: `only` one, or all of the day. Files
    that the course does not know are left alone. Raises as `fill_blanks` does."""
    changes = []
    for name in files_of(root / "solutions" / lab):
        path = f"labs/{lab}/{name}"
        if only not in (None, path):
            continue
        source = root / "solutions" / lab / name
        after = source.read_bytes()
        if source.suffix == ".py":
            halve = to_starter if towards == "starter" else to_solution
            after = halve(after.decode("utf-8"), source).encode("utf-8")
        before = read_file(root, path)
        if before is not None:
            after = with_line_ends_of(before, after)
        if before != after:
            changes.append(Change(path, before, after))
    return changes


def _fill(text: str, blank: Blank, towards: Towards, command: str) -> str:
    found = find_region(text, blank.exercise)
    where = {"path": blank.path, "exercise": blank.exercise, "command": command}
    if found is None:
        raise FileProblem(NO_MARKERS(**where))
    again = find_region("".join(lines_of(text)[found.last_line :]), blank.exercise)
    if again is not None:
        second = found.last_line + again.first_line
        raise FileProblem(TWICE(**where, first=found.first_line, second=second))
    wanted = blank.starter if towards == "starter" else blank.solution
    if same_lines(found.body, wanted):
        return text
    return replace_region(text, blank.exercise, wanted)
