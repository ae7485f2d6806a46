"""Dated backups: what a command is about to change, kept so that `undo` brings it back.

    .selftest/backups/20261130-221500-reset/
        manifest.json    {"schema": 1, "number", "at", "command", "day", "exercise", "files":
                          [{"path", "kept", "mode", "before", "after", "starter"}, …]}
        files/labs/…     the files as they were

`number` counts the backups of a checkout, and is their order whatever the clock does. `before` and
`after` are SHA-256 digests, null for a file that is not there; `kept` says where in the folder the
former content is; `starter` is the digest of the starter that the file was based on, if known.
A folder without a manifest is a backup that was never finished, and is none.
"""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from shared.i18n import Text

from .files import Change, FileProblem, digest, mode_of, write_file

BACKUPS = ".selftest/backups"
SCHEMA = 1
STAMP = len("20261130-221500")

DAMAGED = Text(
    en="The backup {place} cannot be used: {reason}. Nothing was changed. "
    "`undo {day} --list` shows the others; `undo {day} --to NAME` takes one of them.",
    zh="备份 {place} 无法使用：{reason}。什么都没有改动。"
    "`undo {day} --list` 列出其他备份，`undo {day} --to NAME` 使用其中一个。",
)


@dataclass(frozen=True)
class Kept:
    """One file of a backup: see the module."""

    path: str
    kept: str | None
    mode: int | None
    before: str | None
    after: str | None
    starter: str | None


@dataclass(frozen=True)
class Backup:
    """A finished backup. `place` is its folder relative to the checkout, `at` an ISO time."""

    place: str
    number: int
    at: str
    command: str
    day: int
    exercise: int | None
    files: tuple[Kept, ...]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return PurePosixPath(self.place).name


def make_backup(
    root: Path,
    command: str,
    day: int,
    exercise: int | None,
    changes: Sequence[Change],
    starters: Mapping[str, str],
) -> Backup:
    """Keep the files as they are before the changes; `starters` maps paths to the digests of the
    starters that they are based on. Raises OSError, and then leaves nothing behind."""
    now = datetime.datetime.now().astimezone()
    numbers = [read_manifest(folder).get("number") for folder in _folders(root)]
    number = max((n for n in numbers if isinstance(n, int)), default=0) + 1
    folder = _new_folder(root, f"{now:%Y%m%d-%H%M%S}-{command}")
    try:
        files = []
        for change in changes:
            kept = None
            mode = mode_of(root, change.path)
            if change.before is not None:
                kept = f"files/{change.path}"
                write_file(folder / kept, change.before, mode)
            before, after = digest(change.before), digest(change.after)
            starter = starters.get(change.path)
            files.append(Kept(change.path, kept, mode, before, after, starter))
        place = folder.relative_to(root).as_posix()
        at = now.isoformat(timespec="seconds")
        backup = Backup(place, number, at, command, day, exercise, tuple(files))
        text = json.dumps(_as_json(backup), ensure_ascii=False, indent=1) + "\n"
        write_file(folder / "manifest.json", text.encode("utf-8"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # what failed is told; a rest of it is harmless
        raise
    return backup


def backups(root: Path, day: int) -> list[Backup]:
    """The backups of a day, the latest first. One whose manifest is damaged is among them, without
    files. Raises OSError when the folder cannot be read."""
    sound: list[Backup] = []
    damaged: list[str] = []
    for folder in _folders(root):
        place = folder.relative_to(root).as_posix()
        row = read_manifest(folder)
        try:
            sound.append(_from_json(place, row))
        except (KeyError, TypeError, ValueError):
            damaged.append(place)
    found = [(backup.number, 0, backup) for backup in sound if backup.day == day]
    for place in damaged:  # its name tells when it was made, which says where it belongs
        name = PurePosixPath(place).name
        number = max((b.number for b in sound if b.name[:STAMP] <= name[:STAMP]), default=0)
        found.append((number, 1, Backup(place, number, name, "?", day, None, ())))
    return [row[2] for row in sorted(found, key=lambda row: row[:2], reverse=True)]


def contents(root: Path, backup: Backup) -> dict[str, bytes | None]:
    """What each file held before, by path; None for one that was not there.

    Raises FileProblem when the backup is not what its manifest says.
    """

    def damaged(reason: Text) -> FileProblem:
        return FileProblem(DAMAGED(place=backup.place, reason=reason, day=backup.day))

    if not backup.files:
        raise damaged(Text(en="its manifest.json is damaged", zh="它的 manifest.json 已损坏"))
    held: dict[str, bytes | None] = {}
    for file in backup.files:
        if file.kept is None:
            held[file.path] = None
            continue
        try:
            held[file.path] = (root / backup.place / file.kept).read_bytes()
        except OSError as error:
            raise damaged(
                Text(en="{file}: {reason}", zh="{file}：{reason}")(
                    file=file.kept, reason=error.strerror or error
                )
            ) from error
        if digest(held[file.path]) != file.before:
            raise damaged(
                Text(en="{file} is not what was kept", zh="{file} 与当时保存的内容不符")(
                    file=file.kept
                )
            )
    return held


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a backup as it is written; empty when it is damaged."""
    try:
        row = json.loads((folder / "manifest.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) and row.get("schema") == SCHEMA else {}


def _folders(root: Path) -> list[Path]:
    return sorted(path.parent for path in (root / BACKUPS).glob("*/manifest.json"))


def _new_folder(root: Path, name: str) -> Path:
    """A folder of this name, or with a number behind it when there is one already."""
    (root / BACKUPS).mkdir(parents=True, exist_ok=True)
    folder, number = root / BACKUPS / name, 2
    while True:
        try:
            folder.mkdir()
        except FileExistsError:
            folder, number = root / BACKUPS / f"{name}-{number}", number + 1
        else:
            return folder


def _as_json(backup: Backup) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "number": backup.number,
        "at": backup.at,
        "command": backup.command,
        "day": backup.day,
        "exercise": backup.exercise,
        "files": [vars(file) for file in backup.files],
    }


def _from_json(place: str, row: dict[str, Any]) -> Backup:
    """The backup of a manifest. Raises KeyError, TypeError or ValueError when anything in it is not
    as it must be."""
    files = tuple(_kept(one) for one in row["files"])
    number, day = int(row["number"]), int(row["day"])
    exercise = None if row["exercise"] is None else int(row["exercise"])
    return Backup(place, number, str(row["at"]), str(row["command"]), day, exercise, files)


def _kept(row: dict[str, Any]) -> Kept:
    file = Kept(**row)
    for path in filter(None, (file.path, file.kept)):
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise ValueError(path)
    if PurePosixPath(file.path).parts[0] != "labs":
        raise ValueError(file.path)
    return file
