"""The blanks of a lab file: where they are, and what stands in them.

A blank is a pair of lines, `# region exercise 2: title` and `# endregion`, at any indentation
(editors fold it). In it, a line that begins with `# starter:` is what the learner finds there; all
other lines are the solution:

    # region exercise 2: carry the schema over
    # starter: return {"type": "object"}
    return tool["inputSchema"]
    # endregion

`parse` and what builds on it are strict, since they read what authors write. `find_region`,
`region_body` and `replace_region` read files that learners have edited, and take them as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_REGION = re.compile(r"(?P<indent>[ \t]*)#\s*region\b(?P<rest>.*)")
_EXERCISE = re.compile(r"\s+exercise\s+(?P<number>[^\s:]*)\s*:(?P<title>.*)")
_END = re.compile(r"[ \t]*#\s*endregion\b.*")
_STARTER = re.compile(r"(?P<indent>[ \t]*)# starter: ?(?P<text>.*)")
_NEARLY_STARTER = re.compile(r"[ \t]*#\s*starter\s*:.*", re.IGNORECASE)


class RegionError(Exception):
    """A file whose blanks are not well formed.

    `path` is the file as the caller named it, `line` counts from 1, `message` says what is wrong.
    """

    def __init__(self, path: str | Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message


@dataclass(frozen=True)
class Region:
    """One blank. `first_line` and `last_line` are those of its two markers, counted from 1;
    `starter` and `solution` are lines without their ends, the starter's without `# starter:`."""

    exercise: int
    title: str
    first_line: int
    last_line: int
    indent: str
    starter: tuple[str, ...]
    solution: tuple[str, ...]


def parse(text: str, path: str | Path) -> list[Region]:
    """The blanks of a source file, in order. `path` only serves the error.

    Raises RegionError for a blank that is nested, unclosed, never opened, without a number or a
    title, numbered twice or without starter lines, for `# starter:` outside a blank or misspelt,
    and for carriage returns.
    """
    regions: list[Region] = []
    opened: tuple[int, int, str, str] | None = None  # line, exercise, title, indent
    starter: list[str] = []
    solution: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if "\r" in line:
            raise RegionError(path, number, "carriage return: save the file with LF line ends")
        if match := _REGION.fullmatch(line):
            if opened:
                raise RegionError(path, number, f"region inside the region of line {opened[0]}")
            exercise, title = _heading(match["rest"], path, number)
            earlier = [region.first_line for region in regions if region.exercise == exercise]
            if earlier:
                raise RegionError(
                    path, number, f"exercise {exercise} again, after line {earlier[0]}"
                )
            opened = (number, exercise, title, match["indent"])
            starter, solution = [], []
        elif _END.fullmatch(line):
            if not opened:
                raise RegionError(path, number, "endregion without a region")
            first, exercise, title, indent = opened
            if not starter:
                raise RegionError(path, first, f"exercise {exercise} has no '# starter:' line")
            regions.append(
                Region(exercise, title, first, number, indent, tuple(starter), tuple(solution))
            )
            opened = None
        elif match := _STARTER.fullmatch(line):
            if not opened:
                raise RegionError(path, number, "'# starter:' outside a region")
            blank = not match["text"].strip()
            starter.append("" if blank else match["indent"] + match["text"])
        elif _NEARLY_STARTER.fullmatch(line):
            raise RegionError(path, number, "a starter line is written '# starter: text'")
        elif opened:
            solution.append(line)
    if opened:
        raise RegionError(path, opened[0], f"the region of exercise {opened[1]} is never closed")
    return regions


def to_starter(text: str, path: str | Path) -> str:
    """The file as a learner first finds it: every blank holds its starter lines, all else stays.
    Raises RegionError as `parse` does."""
    return _fill(text, [(region, region.starter) for region in parse(text, path)])


def to_solution(text: str, path: str | Path) -> str:
    """The file as a learner would have completed it: the source without its `# starter:` lines.
    Raises RegionError as `parse` does."""
    return _fill(text, [(region, region.solution) for region in parse(text, path)])


def starter_of(text: str, exercise: int, path: str | Path = "") -> str | None:
    """What the starter shows in the blank of `exercise`, as text for `replace_region`; None when
    the source has no such blank. Raises RegionError as `parse` does."""
    return next((_text(r.starter) for r in parse(text, path) if r.exercise == exercise), None)


def solution_of(text: str, exercise: int, path: str | Path = "") -> str | None:
    """What the solution has in the blank of `exercise`, as text for `replace_region`; None when
    the source has no such blank. Raises RegionError as `parse` does."""
    return next((_text(r.solution) for r in parse(text, path) if r.exercise == exercise), None)


@dataclass(frozen=True)
class FoundRegion:
    """A blank in a file that a learner has edited: the numbers of its two marker lines, counted
    from 1, and what stands between them, with the file's own line ends."""

    first_line: int
    last_line: int
    body: str


def find_region(text: str, exercise: int) -> FoundRegion | None:
    """The blank of `exercise` in a file that a learner has edited; None when its markers are not
    there, or are no longer a pair."""
    lines = _lines(text)
    first = None
    for number, line in enumerate(lines, start=1):
        content = line.rstrip("\r\n")
        if first is not None and _END.fullmatch(content):
            return FoundRegion(first, number, "".join(lines[first : number - 1]))
        if match := _REGION.fullmatch(content):
            if first is not None:
                return None  # the next blank begins before this one ends
            heading = _EXERCISE.match(match["rest"] + ":")  # a learner may have cut the title off
            if heading and heading["number"] == str(exercise):
                first = number
    return None


def region_body(text: str, exercise: int) -> str | None:
    """What stands in the blank of `exercise` in a file that a learner has edited, or None as
    `find_region`."""
    found = find_region(text, exercise)
    return found.body if found else None


def replace_region(text: str, exercise: int, with_text: str) -> str:
    """The learner's file with `with_text` between the markers of `exercise`, all else untouched.

    The text takes the line ends of the file. Raises LookupError when the markers are not there, or
    are no longer a pair.
    """
    found = find_region(text, exercise)
    if found is None:
        raise LookupError(f"no region of exercise {exercise}")
    lines = _lines(text)
    end = "\r\n" if lines[found.first_line - 1].endswith("\r\n") else "\n"
    body = [line.rstrip("\r\n") + end for line in _lines(with_text)]
    return "".join([*lines[: found.first_line], *body, *lines[found.last_line - 1 :]])


def _heading(rest: str, path: str | Path, line: int) -> tuple[int, str]:
    """Number and title of what follows `# region`."""
    match = _EXERCISE.fullmatch(rest)
    if not match:
        raise RegionError(path, line, "a region is written '# region exercise N: title'")
    number, title = match["number"], match["title"].strip()
    if not re.fullmatch(r"[1-9][0-9]*", number):
        raise RegionError(path, line, f"'{number}' is not an exercise number")
    if not title:
        raise RegionError(path, line, f"exercise {number} has no title")
    return int(number), title


def _fill(text: str, blanks: list[tuple[Region, tuple[str, ...]]]) -> str:
    lines = text.split("\n")
    for region, body in reversed(blanks):  # from the end, so that line numbers stay true
        lines[region.first_line : region.last_line - 1] = body
    return "\n".join(lines)


def _text(lines: tuple[str, ...]) -> str:
    return "".join(line + "\n" for line in lines)


def _lines(text: str) -> list[str]:
    """The lines with their ends. Unlike `str.splitlines`, only a newline ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
