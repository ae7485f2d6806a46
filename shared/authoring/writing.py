"""Write `labs/`, and lose nothing that somebody has written there."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .drift import Drift, find_drift
from .regions import RegionError
from .starters import starter_of_file, starter_tree

RECORD = Path(".selftest/generated.json")  # path in labs/ → SHA-256 of each starter written there
BACKUPS = Path(".selftest/backups")


@dataclass(frozen=True)
class Writing:
    """What was done to one file of `labs/`, and where its former content is kept, relative to the
    checkout; None when that content was itself generated, or when there was none."""

    drift: Drift
    backup: str | None


def write_labs(root: Path) -> list[Writing]:
    """Make `labs/` of the checkout `root` what `solutions/` gives, and tell what was changed.

    A file whose content was never generated is backed up first. Raises RegionError as
    `starter_tree` does, before anything is written, and OSError.
    """
    record = _read_record(root)
    folder = _backup_folder(root)
    writings = []
    for drift in find_drift(root):
        target = root / "labs" / drift.path
        backup = None
        if drift.present is not None and not _was_generated(
            drift.path, drift.present, record, root
        ):
            backup = folder / "labs" / drift.path
            _write(root / backup, drift.present)
        if drift.wanted is None:
            target.unlink()
            _remove_empty(target.parent, root / "labs")
        else:
            _write(target, drift.wanted)
        writings.append(Writing(drift, backup.as_posix() if backup else None))
    _write_record(root, record)
    return writings


def _was_generated(path: str, content: bytes, record: dict[str, list[str]], root: Path) -> bool:
    """Whether this content is a starter that was written here before, or that the source as it is
    committed gives (a fresh clone has no record)."""
    return _digest(content) in record.get(path, []) or content == _committed(path, root)


def _committed(path: str, root: Path) -> bytes | None:
    """The starter that the last commit's source of this file gives; None when there is none."""
    try:
        shown = subprocess.run(
            ["git", "show", f"HEAD:./solutions/{path}"], cwd=root, capture_output=True, check=False
        )
    except FileNotFoundError:  # no git
        return None
    if shown.returncode != 0:
        return None
    try:
        return starter_of_file(shown.stdout, Path(path))
    except RegionError:  # an unsound source was committed: no starter came of it
        return None


def _read_record(root: Path) -> dict[str, list[str]]:
    try:
        text = (root / RECORD).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        return dict(json.loads(text))
    except ValueError:  # damaged: without it, some generated files are backed up in vain
        return {}


def _write_record(root: Path, record: dict[str, list[str]]) -> None:
    for path, content in starter_tree(root / "solutions").items():
        known = record.setdefault(path, [])
        if _digest(content) not in known:
            known.append(_digest(content))
    _write(root / RECORD, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _backup_folder(root: Path) -> Path:
    """A folder of this moment that does not exist yet, relative to the checkout."""
    now = time.strftime("%Y-%m-%d_%H-%M-%S")
    folder, number = BACKUPS / now, 2
    while (root / folder).exists():
        folder, number = BACKUPS / f"{now}_{number}", number + 1
    return folder


def _write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_bytes(content)
    draft.replace(path)


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
