"""Where `labs/` is not what `solutions/` gives."""

from __future__ import annotations

import difflib
import itertools
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .starters import files_of, starter_tree

EXCERPT_LINES = 12


@dataclass(frozen=True)
class Drift:
    """One file of `labs/` that differs.

    `path` is relative to `labs/`; `wanted` is what it should hold (None for a file that has no
    source), `present` what it holds (None for one that is missing).
    """

    path: str
    wanted: bytes | None
    present: bytes | None

    @property
    def kind(self) -> Literal["changed", "missing", "extra"]:
        """How it differs."""
        if self.wanted is None:
            return "extra"
        return "missing" if self.present is None else "changed"

    @property
    def line(self) -> int:
        """The first line that differs, counted from 1; 1 for an empty file."""
        pairs = itertools.zip_longest(
            (self.wanted or b"").split(b"\n"), (self.present or b"").split(b"\n")
        )
        return next((number for number, (a, b) in enumerate(pairs, start=1) if a != b), 1)

    @property
    def excerpt(self) -> str:
        """The beginning of the unified diff of a changed text; else the empty string."""
        if self.wanted is None or self.present is None:
            return ""
        try:
            wanted, present = self.wanted.decode("utf-8"), self.present.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        diff = difflib.unified_diff(
            _visible_lines(wanted),
            _visible_lines(present),
            f"solutions/{self.path} (as starter)",
            f"labs/{self.path}",
            lineterm="",
        )
        return "".join(f"    {line}\n" for line in itertools.islice(diff, EXCERPT_LINES))


def find_drift(root: Path) -> list[Drift]:
    """The files of the checkout `root` whose `labs/` and `solutions/` differ, in order of path.
    What git ignores is left out on both sides. Raises RegionError as `starter_tree` does."""
    wanted = starter_tree(root / "solutions")
    labs = root / "labs"
    present = {path: (labs / path).read_bytes() for path in files_of(labs)}
    differ = sorted(
        path for path in wanted.keys() | present.keys() if wanted.get(path) != present.get(path)
    )
    ignored = _ignored_by_git(
        root, [f"{tree}/{p}" for p in differ for tree in ("labs", "solutions")]
    )
    return [
        Drift(path, wanted.get(path), present.get(path))
        for path in differ
        if not {f"labs/{path}", f"solutions/{path}"} & ignored
    ]


def _ignored_by_git(root: Path, paths: list[str]) -> set[str]:
    """Which of the paths, relative to `root`, git ignores: none where there is no git."""
    if not paths:
        return set()
    try:
        result = subprocess.run(
            ["git", "check-ignore", "-z", "--stdin"],
            cwd=root,
            input="\0".join(paths).encode(),
            capture_output=True,
            check=False,  # 1: ignores none of them; 128: no repository
        )
    except FileNotFoundError:
        return set()
    return set(result.stdout.decode().split("\0")) - {""}


def _visible_lines(text: str) -> list[str]:
    """Lines for the eye: a carriage return would not be seen."""
    return text.replace("\r", "\\r").split("\n")
