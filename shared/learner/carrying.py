"""Carrying out a change of the learner's files: show it, ask, keep a backup, write."""

from __future__ import annotations

import difflib
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text as Styled

from shared.i18n import Text
from shared.processes.supervisor import ROOT

from .backups import BACKUPS, Backup, make_backup
from .command import OK, RED, USAGE, Printer, refuse
from .files import Change, FileProblem, write_changes
from .lines import lines_of, unix
from .starters import bases

INTERRUPTED = 130
DIFF_LINES = 12  # of one file, before it is cut

WILL_CHANGE = Text(en="{path} will change:", zh="{path} 将会改动：")
WILL_APPEAR = Text(en="{path} will be written anew.", zh="将重新写出 {path}。")
WILL_GO = Text(
    en="{path} will be removed; it was not there before.", zh="将删除 {path}；原本没有它。"
)
NO_TEXT = Text(
    en="(no text: {before} bytes become {after})", zh="（不是文本：{before} 字节变为 {after} 字节）"
)
LINE_ENDS = Text(en="(only the ends of lines)", zh="（只有行尾不同）")
MORE = Text(en="… and {count} more lines", zh="…… 还有 {count} 行")
QUESTION = Text(en="Change it? [y/N] ", zh="要改吗？[y/N] ")
YES = ("y", "yes", "是", "好", "要")
LEFT = Text(en="Nothing was changed.", zh="什么都没有改动。")
NOBODY = Text(
    en="Nothing was changed: there is no terminal to ask at, and --yes was not given. "
    "Add --yes to go ahead without a question.",
    zh="什么都没有改动：这里没有终端可以询问，也没有给出 --yes。加上 --yes 就会不经询问直接执行。",
)
NO_BACKUP = Text(
    en="No backup could be written to {place}: {reason}. So nothing was changed. "
    "Free some disk space, or make that folder writable, and try again.",
    zh="无法把备份写到 {place}：{reason}。所以什么都没有改动。"
    "请腾出磁盘空间，或让这个文件夹可写，然后重试。",
)
DONE = Text(en="Done: {files}", zh="已完成：{files}")
KEPT = Text(en="How it was before is kept in", zh="改动之前的样子保存在")
BACK = Text(
    en="To bring it back: python selftest.py undo {day}",
    zh="想恢复的话：python selftest.py undo {day}",
)
BACKUP_IS = Text(en="The backup: {place}", zh="备份在：{place}")


@dataclass(frozen=True)
class Deed:
    """What a command is about to do, as its backup will name it."""

    command: str
    day: int
    exercise: int | None
    changes: Sequence[Change]


def carry_out(deed: Deed, out: Printer, *, yes: bool, root: Path = ROOT) -> int | Backup:
    """Show the changes, ask, keep a backup and write; returns the backup, or an exit code when
    nothing was changed: 1 on a no or when writing fails, 2 when there is nobody to ask, 130 on
    Ctrl-C."""
    for change in deed.changes:
        show_change(change, out)
    if not yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return refuse(NOBODY, out.language, USAGE)
        agreed = _ask(out)
        if agreed is not True:
            out.line(LEFT)
            return RED if agreed is False else INTERRUPTED
    try:
        known = bases(root, [change.path for change in deed.changes])
        backup = make_backup(root, deed.command, deed.day, deed.exercise, deed.changes, known)
    except OSError as error:
        text = NO_BACKUP(place=f"{BACKUPS}/", reason=error.strerror or error)
        return refuse(text, out.language, RED)
    try:
        write_changes(root, deed.changes)
    except FileProblem as problem:
        refuse(problem.text, out.language, RED)
        return refuse(BACKUP_IS(place=backup.place), out.language, RED)
    return backup


def tell(backup: Backup, out: Printer) -> int:
    """Say what was done and where the backup is; returns exit code 0."""
    out.line()
    out.line(DONE(files=", ".join(file.path for file in backup.files)), "green")
    out.line(KEPT)
    out.line(backup.place, indent=2)
    out.line(BACK(day=backup.day))
    return OK


def show_change(change: Change, out: Printer) -> None:
    """The change as a short diff."""
    if change.before is None:
        out.line(WILL_APPEAR(path=change.path), "bold")
    elif change.after is None:
        out.line(WILL_GO(path=change.path), "bold")
    else:
        out.line(WILL_CHANGE(path=change.path), "bold")
        show_diff(change.before, change.after, out, DIFF_LINES)
    out.line()


def show_diff(before: bytes, after: bytes, out: Printer, most: int | None = None) -> None:
    """The differing lines with one line around them, cut after `most` lines."""
    try:
        old, new = unix(before.decode("utf-8")), unix(after.decode("utf-8"))
    except UnicodeDecodeError:
        out.line(NO_TEXT(before=len(before), after=len(after)), indent=2)
        return
    diff = list(difflib.unified_diff(lines_of(old), lines_of(new), n=1))[2:]
    if not diff:
        out.line(LINE_ENDS, indent=2)
    for line in diff[:most]:
        _show_diff_line(line.rstrip("\n"), out)
    if most is not None and len(diff) > most:
        out.line(MORE(count=len(diff) - most), "dim", indent=2)


def _show_diff_line(line: str, out: Printer) -> None:
    """One line of a diff; what would command the terminal is shown as an escape."""
    visible = "".join(_visible(character) for character in line)
    style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
    out.console.print(Styled(f"  {visible}", style), soft_wrap=True)


def _visible(character: str) -> str:
    if character == "\t" or unicodedata.category(character) != "Cc":
        return character
    return f"\\x{ord(character):02x}"


def _ask(out: Printer) -> bool | None:
    """The answer to the question; None on Ctrl-C."""
    try:
        answer = input(QUESTION.get(out.language))
    except EOFError:
        out.line()
        return False
    except KeyboardInterrupt:
        out.line()
        return None
    # Chinese input methods type full-width letters
    return unicodedata.normalize("NFKC", answer).strip().lower() in YES
