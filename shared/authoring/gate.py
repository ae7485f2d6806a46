"""What a lab must satisfy before a starter is made of it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from .regions import RegionError, parse, to_solution, to_starter

_MARKER = re.compile(r"^[ \t]*#[ \t]*(?:region\s+exercise\b|endregion\b)", re.MULTILINE)
_READMES = ("README.md", "README.zh-CN.md")
_TREES = ("labs", "solutions")


@dataclass(frozen=True)
class Problem:
    """One reason to refuse a lab: the file, its line (0: the file as a whole) and what is wrong."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.message}"


def day_folders(solutions: Path) -> list[Path]:
    """The folders of the days, `dayNN_topic`, in order."""
    return sorted(path for path in solutions.glob("day[0-9][0-9]_*") if path.is_dir())


def check_lab(day: Path) -> list[Problem]:
    """Why this day's folder is refused; an empty list when it is sound.

    Refused are: a module that is no UTF-8, whose blanks are not well formed, or whose starter or
    solution is no Python; exercise numbers that are not 1, 2, 3 … over the day's files, each once;
    a blank in a README; an absolute import of `labs` or `solutions` (a file must be the same text
    in both); a README that one of the two languages lacks.
    """
    problems: list[Problem] = []
    exercises: list[tuple[int, Path, int]] = []
    for path in sorted(day.rglob("*.py")):
        found, of_file = _check_module(path)
        problems += of_file
        exercises += found
    problems += _check_numbers(day, exercises)
    for name in _READMES:
        readme = day / name
        if not readme.is_file():
            problems.append(Problem(readme, 0, "is missing; every day is told in both languages"))
        elif match := _MARKER.search(text := readme.read_text(encoding="utf-8")):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(Problem(readme, line, "a blank belongs into a module, not a README"))
    return problems


def _check_module(path: Path) -> tuple[list[tuple[int, Path, int]], list[Problem]]:
    """The exercises of a module, as number, path and line, and what is wrong with it."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return [], [Problem(path, 0, "is not UTF-8")]
    try:
        regions = parse(text, path)
    except RegionError as error:
        return [], [Problem(path, error.line, error.message)]
    problems = []
    for name, half in (("starter", to_starter(text, path)), ("solution", to_solution(text, path))):
        try:
            tree = ast.parse(half)
        except SyntaxError as error:
            line = f"line {error.lineno} of the {name}"
            problems.append(Problem(path, 0, f"its {name} is no Python: {error.msg} ({line})"))
            continue
        for node in _tree_imports(tree):
            named = ast.get_source_segment(half, node)
            message = f"`{named}` in its {name}: import by relative name, the file is in both trees"
            problems.append(Problem(path, 0, message))
    return [(region.exercise, path, region.first_line) for region in regions], problems


def _tree_imports(tree: ast.Module) -> list[ast.stmt]:
    """The statements that import `labs` or `solutions` by absolute name."""
    found: list[ast.stmt] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] in _TREES for name in names):
            found.append(node)
    return found


def _check_numbers(day: Path, exercises: list[tuple[int, Path, int]]) -> list[Problem]:
    problems = []
    first: dict[int, Path] = {}
    for number, path, line in exercises:
        if number in first:
            message = f"exercise {number} is already in {first[number].name}"
            problems.append(Problem(path, line, message))
        first.setdefault(number, path)
    gaps = sorted(set(range(1, max(first, default=0) + 1)) - set(first))
    if gaps:
        missing = ", ".join(map(str, gaps))
        problems.append(Problem(day, 0, f"exercise numbers have gaps: no file has {missing}"))
    return problems
