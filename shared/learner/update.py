"""`python selftest.py update 23`: take over what the course has changed in a day's starter.

Only what is outside the blanks: what the learner wrote in them stays. Where the course and the
learner have changed the same lines, nothing is written, and the places are named.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from shared.i18n import Text
from shared.processes.supervisor import ROOT

from .backups import Backup
from .carrying import Deed, carry_out, show_diff, tell
from .command import OK, RED, Asked, Printer, Say, refuse, run
from .files import Change, FileProblem, decode, digest, read_file
from .lines import with_line_ends_of
from .merging import NoGit, merge
from .starters import StarterChange, forget, set_based, survey

ABOUT = Text(
    en="Take over what the course has changed in a day's starter; your blanks stay.",
    zh="采纳课程对某一天起始内容的更新；你填的空保持不变。",
)
UP_TO_DATE = Text(
    en="Nothing to do: your files of day {day} have every change of the course.",
    zh="无需改动：第 {day} 天你的文件已包含课程的全部更新。",
)
BLANKS_STAY = Text(
    en="What you wrote in the blanks stays as it is.",
    zh="你在空里写的内容保持不变。",
)
GONE = Text(
    en="{path} has changed in the course; you have removed it, so it is left out. "
    "`python selftest.py reset {day} --whole-file` writes it anew.",
    zh="课程更新了 {path}，而你已把它删除，因此跳过。"
    "`python selftest.py reset {day} --whole-file` 会重新写出它。",
)
CONFLICT = Text(
    en="{path}, line {lines}: you and the course have changed the same place. "
    "The course's change is this:",
    zh="{path} 第 {lines} 行：你和课程改了同一处。课程的改动是：",
)
LOST = Text(
    en="{path}: what it began from is not kept any more, so the change cannot be worked out.",
    zh="{path}：它最初的起始内容已不在保存之列，无法算出改动。",
)
NO_GIT = Text(
    en="{path}: merging needs git, which cannot be used here ({reason}). "
    "The course's change is this:",
    zh="{path}：合并需要 git，而这里无法使用（{reason}）。课程的改动是：",
)
NOTHING_WRITTEN = Text(
    en="Nothing was changed. Make the changes shown above by hand, then say so: "
    "python selftest.py update {day} --keep-mine",
    zh="什么都没有改动。请按上面显示的内容手动修改，改好后运行："
    "python selftest.py update {day} --keep-mine",
)
KEPT_MINE = Text(
    en="{path} stays as it is, and counts as up to date.",
    zh="{path} 保持原样，视为已是最新。",
)


@dataclass
class Plan:
    """What an update would write, which files have it already or keep theirs, and what cannot be
    merged, each with what to say of it."""

    changes: list[Change] = field(default_factory=list)
    stuck: list[tuple[StarterChange, Text]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def main(argv: list[str]) -> int:
    """`update DAY [--keep-mine] [--yes]`: exit code 0 when the day is up to date, 1 when something
    cannot be merged or was declined, 2 on wrong usage, 130 on Ctrl-C."""
    return run(argv, "update", ABOUT, _declare, _update)


def _declare(parser: argparse.ArgumentParser, say: Say) -> None:
    parser.add_argument(
        "--keep-mine",
        action="store_true",
        help=say(
            "leave files that cannot be merged as they are, and count them as up to date",
            "无法合并的文件保持原样，并视为已是最新",
        ),
    )
    parser.add_argument("--yes", action="store_true", help=say("do not ask", "不询问"))


def _update(asked: Asked) -> int:
    out = asked.printer
    found = survey(ROOT)
    for notice in found.notices:
        refuse(notice, out.language, OK)
    if not found.starters:  # the notice has said why
        return RED
    of_day = found.of_day(asked.lab)
    pending = {change.path: change for change in of_day if change.kind == "pending"}
    try:
        plan = _plan(list(pending.values()))
    except FileProblem as problem:
        return refuse(problem.text, out.language, RED)
    for path in plan.gone:
        out.line(GONE(path=path, day=asked.day))
    if plan.stuck and not asked.options.keep_mine:
        return _say_stuck(plan, asked.day, out)
    code = OK
    if plan.changes:
        done = _write(asked, plan)
        if not isinstance(done, Backup):
            return done
        code = tell(done, out)
    for change, _ in plan.stuck:
        out.line(KEPT_MINE(path=change.path))
    settled = [each.path for each in plan.changes] + [each.path for each, _ in plan.stuck]
    based = {path: digest(pending[path].after) or "" for path in settled}
    removed = [change.path for change in of_day if change.kind == "removed"]
    for text in [*set_based(ROOT, based), *forget(ROOT, removed)]:
        refuse(text, out.language, OK)
    if not settled and not plan.gone:
        out.line(UP_TO_DATE(day=asked.day))
    return code


def _plan(pending: list[StarterChange]) -> Plan:
    """Raises FileProblem for a file that cannot be read."""
    plan = Plan()
    for change in pending:
        after = change.after or b""
        mine = read_file(ROOT, change.path)
        if mine is None and change.before is None:
            plan.changes.append(Change(change.path, None, after))
        elif mine is None:
            plan.gone.append(change.path)
        elif change.before is None:
            plan.stuck.append((change, LOST(path=change.path)))
        elif mine.replace(b"\r\n", b"\n") == change.before:
            plan.changes.append(Change(change.path, mine, with_line_ends_of(mine, after)))
        else:
            _merge(plan, change, mine, change.before, after)
    return plan


def _merge(plan: Plan, change: StarterChange, mine: bytes, before: bytes, after: bytes) -> None:
    path = change.path
    try:
        merged = merge(decode(mine, path), decode(before, path), decode(after, path))
    except NoGit as error:
        plan.stuck.append((change, NO_GIT(path=path, reason=error)))
        return
    if merged.conflicts:
        lines = ", ".join(map(str, merged.conflicts))
        plan.stuck.append((change, CONFLICT(path=path, lines=lines)))
    else:
        plan.changes.append(Change(path, mine, merged.text.encode("utf-8")))


def _say_stuck(plan: Plan, day: int, out: Printer) -> int:
    for change, text in plan.stuck:
        out.line(text)
        if change.before is not None and change.after is not None:
            show_diff(change.before, change.after, out)
        out.line()
    return refuse(NOTHING_WRITTEN(day=day), out.language, RED)


def _write(asked: Asked, plan: Plan) -> int | Backup:
    asked.printer.line(BLANKS_STAY)
    asked.printer.line()
    deed = Deed("update", asked.day, None, plan.changes)
    return carry_out(deed, asked.printer, yes=asked.options.yes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
