"""The learner's files: read as they are, written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.i18n import Text

LINK = Text(
    en="{path} is a symbolic link; what it points to may belong to something else. "
    "Put a plain file in its place first.",
    zh="{path} 是符号链接，它指向的内容可能属于别处。请先换成普通文件。",
)
NO_FILE = Text(
    en="{path} is no plain file. Move it away first.",
    zh="{path} 不是普通文件。请先把它移走。",
)
UNREADABLE = Text(
    en="{path} cannot be read: {reason}. Make it readable first.",
    zh="{path} 无法读取：{reason}。请先让它可读。",
)
NOT_UTF8 = Text(
    en="{path}, line {line}: this is not UTF-8. Save the file as UTF-8 in your editor.",
    zh="{path} 第 {line} 行：不是 UTF-8 编码。请在编辑器里把文件存成 UTF-8。",
)
CHANGED_MEANWHILE = Text(
    en="{path} was saved while this was going on. Nothing was changed; run the command again.",
    zh="{path} 在这期间被保存过。什么都没有改动；请重新运行这条命令。",
)
NOT_WRITTEN = Text(
    en="{path} cannot be written: {reason}. Nothing was changed.",
    zh="{path} 无法写入：{reason}。什么都没有改动。",
)
HALF_WRITTEN = Text(
    en="{path} cannot be written: {reason}. Files before it were written already; "
    "the backup has all of them as they were.",
    zh="{path} 无法写入：{reason}。它之前的文件已经写入；备份里有它们全部的原样。",
)


class FileProblem(Exception):
    """A file that cannot be read or written; `text` names it, the reason and the next step."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


@dataclass(frozen=True)
class Change:
    """One file as it is and as it is to be; None where there is none.

    `path` is relative to the checkout, with `/`.
    """

    path: str
    before: bytes | None
    after: bytes | None


def read_file(root: Path, path: str) -> bytes | None:
    """What a file of the checkout holds, None when it is not there.

    Raises FileProblem for a symbolic link, for what is no plain file (a pipe would block), and for
    what may not be read.
    """
    full = root / path
    try:
        kind = full.lstat().st_mode
        if stat.S_ISLNK(kind):
            raise FileProblem(LINK(path=path))
        if not stat.S_ISREG(kind):
            raise FileProblem(NO_FILE(path=path))
        return full.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileProblem(UNREADABLE(path=path, reason=error.strerror or error)) from error


def decode(content: bytes, path: str) -> str:
    """The text of a file, line ends and all. Raises FileProblem when it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileProblem(NOT_UTF8(path=path, line=line)) from error


def digest(content: bytes | None) -> str | None:
    """The SHA-256 of a content in hexadecimal digits; None for a file that is not there."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def mode_of(root: Path, path: str) -> int | None:
    """The permission bits of a file; None when it is not there."""
    try:
        return stat.S_IMODE((root / path).lstat().st_mode)
    except FileNotFoundError:
        return None


def write_file(
    path: Path, content: bytes, mode: int | None = None, *, durable: bool = True
) -> None:
    """Write a file whole or not at all; a `durable` one is on the disk then. Raises OSError."""
    draft = _draft(path, content, mode, durable=durable)
    try:
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_changes(root: Path, changes: Sequence[Change]) -> None:
    """Make the files what the changes say: all of them or none. Permission bits stay.

    Everything that may fail for want of room is done before the first file changes. Raises
    FileProblem.
    """
    drafts: dict[str, Path] = {}
    done: list[Change] = []
    path = ""
    try:
        for change in changes:
            path = change.path
            if read_file(root, path) != change.before:
                raise FileProblem(CHANGED_MEANWHILE(path=path))
            if change.after is not None:
                drafts[path] = _draft(root / path, change.after, mode_of(root, path))
        for change in changes:
            path = change.path
            if path in drafts:
                drafts[path].replace(root / path)
            else:
                (root / path).unlink(missing_ok=True)
            done.append(change)
    except OSError as error:
        text = NOT_WRITTEN if _put_back(root, done) else HALF_WRITTEN
        raise FileProblem(text(path=path, reason=error.strerror or error)) from error
    except KeyboardInterrupt:
        _put_back(root, done)
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _draft(path: Path, content: bytes, mode: int | None, *, durable: bool = True) -> Path:
    """The content in a new file beside `path`, which can take its place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())  # some file systems find out only now that they are full
        if mode is not None:
            draft.chmod(mode)
    except BaseException:
        with contextlib.suppress(OSError):  # the reason why it failed is what is told
            draft.unlink(missing_ok=True)
        raise
    return draft


def _put_back(root: Path, done: Sequence[Change]) -> bool:
    """Undo what was written before a failure; whether that worked."""
    try:
        for change in reversed(done):
            if change.before is None:
                (root / change.path).unlink(missing_ok=True)
            else:
                write_file(root / change.path, change.before, mode_of(root, change.path))
    except OSError:
        return False
    return True
