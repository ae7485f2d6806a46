"""Which starter each of the learner's files is based on, and what the course has changed since.

    .selftest/starters/seen.json     {"schema": 1, "files": {"day23_mcp_server/bridge.py":
                                      {"base": SHA-256, "previous": SHA-256 or null, "at"}, …}}
    .selftest/starters/texts/SHA-256 the starters themselves, so that a change can be shown

Files of `labs/` are git's to merge. Remembered here is what they began from, so that an update that
did not arrive (a merge that kept the learner's side, a course that was not got through git) is
noticed, and one that did arrive is told.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from shared.authoring.regions import RegionError
from shared.authoring.starters import starter_tree
from shared.i18n import Text
from shared.processes.supervisor import ROOT

from .files import FileProblem, decode, digest, read_file, write_file
from .memory import NOT_KEPT, recall, remember
from .merging import NoGit, merge

SEEN = ".selftest/starters/seen.json"
TEXTS = ".selftest/starters/texts"
SCHEMA = 1

# pending: the learner's file lacks it; arrived: it has it; removed: the course has no such file now
Kind = Literal["pending", "arrived", "removed"]

PENDING = Text(
    en="The course has changed the starter of {files} since you began; your edits stand as they "
    "are. `python selftest.py progress --changes` shows what changed, "
    "`python selftest.py update {day}` takes it over.",
    zh="你开始之后，课程更新了 {files} 的起始内容；你的改动原样保留。"
    "`python selftest.py progress --changes` 查看更新内容，"
    "`python selftest.py update {day}` 采纳更新。",
)
ARRIVED = Text(
    en="A course update has changed {files}, and your files have it already. "
    "`python selftest.py progress --changes` shows what changed.",
    zh="课程更新改动了 {files}，你的文件里已经有了。"
    "`python selftest.py progress --changes` 查看更新内容。",
)
REMOVED = Text(
    en="The course no longer has {files}; yours stands as it is.",
    zh="课程里已经没有 {files}；你的文件原样保留。",
)
UNSOUND = Text(
    en="(The course's own files cannot be read: {reason}. `git status` shows what was changed "
    "in solutions/.)",
    zh="（课程自带的文件读不出来：{reason}。`git status` 可以看出 solutions/ 里改了什么。）",
)


@dataclass(frozen=True)
class Based:
    """What one file is based on: the digest of its starter, of the one before that, and when it
    went from that to this (an ISO time)."""

    base: str
    previous: str | None = None
    at: str | None = None


@dataclass(frozen=True)
class StarterChange:
    """A starter that the course has changed. `path` is relative to the checkout; `before` is None
    for a file that is new or whose former starter is not kept, `after` for one that is gone."""

    path: str
    kind: Kind
    before: bytes | None
    after: bytes | None


@dataclass
class Survey:
    """The starters as they are, what the learner's files are based on, and what has changed.
    `notices` are sentences for the learner."""

    starters: Mapping[str, bytes]
    seen: dict[str, Based]
    changes: list[StarterChange] = field(default_factory=list)
    notices: list[Text] = field(default_factory=list)

    def of_day(self, lab: str) -> list[StarterChange]:
        """The changes in one lab."""
        return [change for change in self.changes if change.path.startswith(f"labs/{lab}/")]


def survey(root: Path = ROOT) -> Survey:
    """Compare what the learner's files are based on with what the course gives now, and remember
    what there is to remember: files seen for the first time, and updates that have arrived.

    Raises nothing for a state that cannot be read or written: `notices` tell.
    """
    try:
        tree = starter_tree(root / "solutions")
    except (OSError, RegionError) as error:
        return Survey({}, {}, notices=[UNSOUND(reason=error)])
    starters = {f"labs/{path}": content for path, content in tree.items() if "/" in path}
    seen, notices, ours = _read_seen(root)
    now = Survey(starters, dict(seen), notices=notices)
    days = {_lab(path) for path in seen}
    for path, after in starters.items():
        if path in seen:
            _compare(root, now, path, seen[path], after)
        elif _lab(path) in days and _held(root, path) is None:
            now.changes.append(StarterChange(path, "pending", None, after))
        else:
            now.seen[path] = Based(digest(after) or "")
    for path in seen.keys() - starters.keys():
        if (root / path).exists():
            before = _text(root, seen[path].base)
            now.changes.append(StarterChange(path, "removed", before, None))
        else:
            del now.seen[path]
    now.changes.sort(key=lambda change: change.path)
    if ours:
        failed = _keep_texts(root, starters)
        if not failed and now.seen != seen:
            failed = _remember(root, now.seen)
        now.notices = failed or notices
    return now


def starter_notices(day: int, lab: str, root: Path = ROOT) -> list[Text]:
    """What to say after a self-test: which starters of the day the course has changed."""
    found = survey(root)
    return [*found.notices, *change_lines(day, found.of_day(lab))]


def change_lines(day: int, changes: list[StarterChange]) -> list[Text]:
    """The changes of a day in a sentence for each kind."""
    said = []
    for kind, text in (("pending", PENDING), ("arrived", ARRIVED), ("removed", REMOVED)):
        files = [change.path for change in changes if change.kind == kind]
        if files:
            said.append(text(files=_named(files), day=day))
    return said


def _named(files: list[str]) -> Text:
    """A few names, and how many there are beyond."""
    few, more = files[:3], len(files) - 3
    if more <= 0:
        return Text(en=", ".join(few), zh="、".join(few))
    return Text(
        en=f"{', '.join(few)} and {more} more", zh=f"{'、'.join(few)} 等 {len(files)} 个文件"
    )


def past_changes(root: Path, found: Survey, lab: str) -> list[tuple[str, StarterChange]]:
    """The latest update that has arrived in each file of a lab, with its time."""
    past = []
    for path, based in sorted(found.seen.items()):
        if _lab(path) == lab and based.at and path in found.starters:
            before = None if based.previous is None else _text(root, based.previous)
            past.append((based.at, StarterChange(path, "arrived", before, _text(root, based.base))))
    return past


def set_based(root: Path, paths: Mapping[str, str], *, backwards: bool = False) -> list[Text]:
    """Remember that these files are now based on the starters of these digests; `backwards` when
    that takes an update back. Returns what is to be said of it."""
    seen, notices, ours = _read_seen(root)
    if not ours or all(path in seen and seen[path].base == paths[path] for path in paths):
        return notices
    moment = _now()
    for path, base in paths.items():
        before = seen.get(path)
        if before is None or before.base != base:
            previous = None if backwards or before is None else before.base
            seen[path] = Based(base, previous, None if backwards else moment)
    return [*notices, *_remember(root, seen)]


def forget(root: Path, paths: list[str]) -> list[Text]:
    """Forget files that the course no longer has; returns what is to be said of it."""
    seen, notices, ours = _read_seen(root)
    if not ours or not seen.keys() & set(paths):
        return notices
    kept = {path: based for path, based in seen.items() if path not in paths}
    return [*notices, *_remember(root, kept)]


def bases(root: Path, paths: list[str]) -> dict[str, str]:
    """The digests of the starters that these files are based on, of those that are known."""
    seen, _, _ = _read_seen(root)
    return {path: seen[path].base for path in paths if path in seen}


def _compare(root: Path, now: Survey, path: str, based: Based, after: bytes) -> None:
    if digest(after) == based.base:
        return
    before = _text(root, based.base)
    if _has_arrived(root, path, before, after):
        now.seen[path] = Based(digest(after) or "", based.base, _now())
        now.changes.append(StarterChange(path, "arrived", before, after))
    else:
        now.changes.append(StarterChange(path, "pending", before, after))


def _has_arrived(root: Path, path: str, before: bytes | None, after: bytes) -> bool:
    """Whether the learner's file has the change in it already."""
    try:
        mine = read_file(root, path)
        if mine is None or before is None:
            return False
        if mine.replace(b"\r\n", b"\n") == after:
            return True
        own, old, new = (decode(content, path) for content in (mine, before, after))
        merged = merge(own, old, new)
    except (FileProblem, NoGit):
        return False
    return not merged.conflicts and merged.text == own


def _held(root: Path, path: str) -> bytes | None:
    try:
        return read_file(root, path)
    except FileProblem:
        return b""  # there is something, whatever it is


def _lab(path: str) -> str:
    return path.split("/")[1]


def _text(root: Path, base: str) -> bytes | None:
    """A starter that was kept; None when it is not there or not what it was."""
    try:
        content = (root / TEXTS / base).read_bytes()
    except OSError:
        return None
    return content if digest(content) == base else None


def _read_seen(root: Path) -> tuple[dict[str, Based], list[Text], bool]:
    """What is remembered, what to say of it, and whether it is ours to write."""
    kept, notice = recall(root / SEEN)
    notices = [] if notice is None else [notice]
    if notice is not None and (root / SEEN).exists():
        return {}, notices, False  # it may not be read, and writing would lose what it holds
    schema = kept.get("schema", SCHEMA)
    if isinstance(schema, int) and schema > SCHEMA:
        return {}, notices, False  # a newer version of the course knows more than this one
    rows = kept.get("files", {})
    seen = {}
    for path, row in rows.items() if isinstance(rows, dict) else ():
        based = _based(row)
        if based is not None and path.startswith("labs/") and path.count("/") >= 2:
            seen[path] = based  # what is not understood is seen anew
    return seen, notices, True


def _based(row: Any) -> Based | None:
    if not isinstance(row, dict) or not isinstance(row.get("base"), str):
        return None
    previous, at = row.get("previous"), row.get("at")
    if not isinstance(previous, str) or not isinstance(at, str):
        previous = at = None
    return Based(row["base"], previous, at)


def _keep_texts(root: Path, starters: Mapping[str, bytes]) -> list[Text]:
    """Keep the starters as they are today; when they have changed, these will be asked for."""
    try:
        for content in starters.values():
            path = root / TEXTS / (digest(content) or "")
            if not path.exists():
                write_file(path, content, durable=False)
    except OSError as error:
        return [NOT_KEPT(path=TEXTS, reason=error.strerror or error)]
    return []


def _remember(root: Path, seen: Mapping[str, Based]) -> list[Text]:
    rows = {path: vars(based) for path, based in seen.items()}
    failed = remember(root / SEEN, {"schema": SCHEMA, "files": rows})
    return [] if failed is None else [failed]


def _now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")
