"""A course update of a starter, merged into a file that the learner has edited.

The blanks are the learner's and take no part: before the merge, all three texts get the learner's
blanks, so that only what is outside them can differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from shared.authoring.regions import find_region, replace_region

from .lines import lines_of, merge_line_ends, same_lines, unix

_MARK = 29  # characters of a conflict marker: more than anybody writes by hand
_MERGE_FILE = (
    *("git", "-c", "merge.conflictStyle=merge"),
    *("merge-file", "--stdout", f"--marker-size={_MARK}"),
)


class NoGit(Exception):
    """There is no git that could merge; the message says why."""


@dataclass(frozen=True)
class Merged:
    """The merged text, or the lines of the learner's file (from 1) where it conflicts."""

    text: str
    conflicts: tuple[int, ...]


def merge(mine: str, base: str, now: str) -> Merged:
    """Apply to `mine` what changed from `base` to `now` outside the blanks.

    A blank that the learner has not touched follows the course. Raises NoGit when the texts need a
    merge and there is no git.
    """
    own = unix(mine)
    base, now = _with_blanks_of(own, base, now)
    if now in (base, own):
        return Merged(mine, ())
    if own == base:
        return Merged(merge_line_ends(mine, now), ())
    merged, marked = _git_merge_file(own, base, now)
    if marked:
        return Merged(mine, _places(own, merged))
    return Merged(merge_line_ends(mine, merged), ())


def _with_blanks_of(mine: str, base: str, now: str) -> tuple[str, str]:
    """`base` and `now` with the learner's blanks, but for those that the learner has not touched,
    or that one of the two does not have: those are merged like all else."""
    for exercise in _exercises(base) & _exercises(now):
        blanks = [find_region(text, exercise) for text in (mine, base, now)]
        own, old, new = (None if blank is None else blank.body for blank in blanks)
        if old is None or new is None:
            continue
        if own is None:  # its markers are gone: what the course changed in it is left out
            now = replace_region(now, exercise, old)
        elif not same_lines(own, old):
            base = replace_region(base, exercise, own)
            now = replace_region(now, exercise, own)
    return base, now


def _exercises(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"^[ \t]*# region exercise (\d+):", text, re.M)}


def _git_merge_file(mine: str, base: str, now: str) -> tuple[str, bool]:
    """The merged text and whether it has conflicts, marked in git's way."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with tempfile.TemporaryDirectory(prefix="update-") as folder:
        names = ("mine", "base", "now")
        for name, text in zip(names, (mine, base, now), strict=True):
            Path(folder, name).write_bytes(text.encode("utf-8"))
        try:
            done = subprocess.run(
                [*_MERGE_FILE, *names],
                cwd=folder,
                env=clean,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise NoGit(error.strerror or str(error)) from error
    if done.returncode > 127:  # the number of conflicts, or a fault
        raise NoGit(done.stderr.decode("utf-8", errors="replace").strip())
    return done.stdout.decode("utf-8"), done.returncode != 0


def _places(mine: str, marked: str) -> tuple[int, ...]:
    """The lines of the learner's file at which the conflicts of a marked text begin."""
    kept: list[str] = []  # the text as it is with the learner's side of each conflict
    starts = []
    side = "both"
    for line in lines_of(marked):
        if line.startswith("<" * _MARK):
            side = "mine"
            starts.append(len(kept))
        elif line.startswith("=" * _MARK):
            side = "now"
        elif line.startswith(">" * _MARK):
            side = "both"
        elif side != "now":
            kept.append(line)
    own = lines_of(mine)
    blocks = SequenceMatcher(None, kept, own, autojunk=False).get_matching_blocks()
    places = []
    for start in starts:
        block = max((b for b in blocks if b.a <= start), key=lambda b: b.a, default=None)
        place = 0 if block is None else block.b + min(start - block.a, block.size)
        places.append(min(place, max(len(own) - 1, 0)) + 1)
    return tuple(places)
