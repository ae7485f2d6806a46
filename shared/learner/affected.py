"""What a saved file can affect: the items whose verdicts may no longer hold."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from shared.processes.supervisor import ROOT
from shared.selftest.checks import Checks

Graph = Mapping[str, frozenset[str] | None]
"""The files of a lab by name, and which of their neighbours each imports; None when that cannot be
told, because the file does not parse."""


OF_THE_COURSE = ("checks.py", "goals.py", "hints.py", "quiz.py")  # of each lab


def import_graph(folder: Path) -> Graph:
    """The imports among the modules of a lab's folder, as they stand."""
    graph: dict[str, frozenset[str] | None] = {}
    for path in folder.glob("*.py"):
        try:
            graph[path.name] = _neighbours(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            graph[path.name] = None
    return graph


@functools.lru_cache(maxsize=256)
def _neighbours(text: str) -> frozenset[str] | None:
    """The files beside a module that it may import, by name, whether they exist or not."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.update((node.module or "").split("."))
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found.update(alias.name.split("."))
    return frozenset(f"{name}.py" for name in found if name)


def reached(uses: Collection[str], graph: Graph) -> frozenset[str]:
    """The files that a program rests on when it starts `uses`: these, and what they import, over
    as many steps as there are. All there are when one of them does not parse."""
    found: set[str] = set()
    todo = set(uses)
    while todo:
        name = todo.pop()
        found.add(name)
        imports = graph.get(name, frozenset())
        if imports is None:
            return frozenset(found | set(graph))
        todo |= imports - found
    return frozenset(found)


def affected_items(
    checks: Checks,
    lab: str,
    changed: Collection[str],
    rests_on: Mapping[int, frozenset[str]],
) -> frozenset[int]:
    """The items to judge again after files (paths relative to the lab's folder) have changed.

    A file of an exercise affects the item of that exercise, the items that were seen to use it
    (`rests_on`), and whatever needs one of these. The lesson and the learner's copy of the checks
    affect nothing. Any other file affects everything: nobody knows who reads it.
    """
    affected: set[int] = set()
    for path in changed:
        if path in checks.exercises.values():
            affected.update(
                item.id
                for item in checks.items
                if path in rests_on.get(item.id, ())
                or (item.exercise is not None and checks.exercises[item.exercise] == path)
            )
        elif not _is_never_run(path, lab):
            return frozenset(item.id for item in checks.items)
    for item in checks.items:  # what is needed comes before what needs it
        if affected.intersection(item.needs):
            affected.add(item.id)
    return frozenset(affected)


def _is_never_run(path: str, lab: str) -> bool:
    """Whether a file of a lab only speaks of it, or is a copy of what the grader has itself."""
    return re.fullmatch(r"README[^/]*", path) is not None or path in _graders_own(lab)


@functools.cache
def _graders_own(lab: str) -> frozenset[str]:
    """The modules of a lab that other commands read, and those that serve nothing else."""
    graph = import_graph(ROOT / "solutions" / lab)
    judging = reached(OF_THE_COURSE, graph)
    running = reached([name for name in graph if name not in judging], graph)
    return judging - running
