"""The starter of every day, made in memory from the solutions."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from .regions import RegionError, to_starter

LITTER = frozenset({"__pycache__", ".DS_Store", ".mypy_cache", ".pytest_cache", ".ruff_cache"})


def starter_tree(solutions: Path) -> dict[str, bytes]:
    """What `labs/` should hold: paths relative to it, with `/`, and contents.

    Modules go through `to_starter`; every other file is taken byte for byte, caches are left out.
    Raises RegionError for a module whose blanks are not well formed, or that is no UTF-8.
    """
    return {
        path: starter_of_file((solutions / path).read_bytes(), solutions / path)
        for path in files_of(solutions)
    }


@functools.lru_cache(maxsize=1024)  # a watcher asks for the same ones again at every save
def starter_of_file(content: bytes, path: Path) -> bytes:
    """What the starter holds in place of one file of the solutions. Raises as `starter_tree`."""
    if path.suffix != ".py":
        return content
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RegionError(path, line, "is not UTF-8") from error
    return to_starter(text, path).encode("utf-8")


def files_of(folder: Path) -> list[str]:
    """The files under a folder but for caches, relative to it, with `/`, in order; none when there
    is no such folder."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in LITTER]
        inside = Path(parent).relative_to(folder)
        found += [
            (inside / name).as_posix()
            for name in names
            if name not in LITTER and not name.endswith(".pyc")
        ]
    return sorted(found)
