"""`python selftest.py reset 23`, `solve 23` and `undo 23`: nothing that a learner wrote is lost.

Reset puts the starter into the blanks, solve the solution; all else in the files stays as it is.
Both keep a dated backup first. Undo brings the latest one back, and keeps a backup itself, so that
an undo can be undone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from shared.authoring.regions import RegionError
from shared.i18n import Text
from shared.processes.supervisor import ROOT
from shared.selftest.discover import load_checks

from .backups import Backup, backups, contents
from .blanks import Blank, Towards, blanks_of, fill_blanks, replace_files
from .carrying import Deed, carry_out, tell
from .command import OK, RED, USAGE, Asked, Say, refuse, run
from .files import Change, FileProblem, digest, read_file
from .starters import UNSOUND, set_based
from .state import is_as_judged, read_progress

ABOUT_RESET = Text(
    en="Put the starter back into the blanks of a day, after a backup.",
    zh="把某一天的空恢复成起始内容；动手前先备份。",
)
ABOUT_SOLVE = Text(
    en="Put the solution into the blanks of a day, after a backup.",
    zh="把参考答案填进某一天的空；动手前先备份。",
)
ABOUT_UNDO = Text(
    en="Bring back what the latest reset, solve, update or undo of a day has changed.",
    zh="恢复某一天最近一次 reset、solve、update 或 undo 之前的内容。",
)
NO_SUCH_EXERCISE = Text(
    en="Day {day} has no exercise {exercise}. Its exercises are: {exercises}.",
    zh="第 {day} 天没有练习 {exercise}。它的练习有：{exercises}。",
)
IS_STARTER = Text(
    en="Nothing to do: {what} is as it came.",
    zh="无需改动：{what}本来就是起始内容。",
)
IS_SOLVED = Text(
    en="Nothing to do: {what} has the solution already.",
    zh="无需改动：{what}已经是参考答案。",
)
BLANK = Text(en="the blank of exercise {exercise}", zh="练习 {exercise} 的空")
BLANKS = Text(en="every blank of day {day}", zh="第 {day} 天所有的空")
FILES = Text(en="every file of day {day}", zh="第 {day} 天的所有文件")
FILE = Text(en="the file of exercise {exercise}", zh="练习 {exercise} 的文件")
HOLDS = Text(
    en="Exercise {exercise} passed in your latest run, so your own answer stays. "
    "(--exercise {exercise} replaces it, --all replaces every one.)",
    zh="练习 {exercise} 在你最近一次自检中已通过，保留你自己的写法。"
    "（--exercise {exercise} 可替换它，--all 全部替换。）",
)
ALL_HOLD = Text(
    en="Nothing to do: what is left holds already.",
    zh="无需改动：其余的都已经成立。",
)
NO_BACKUPS = Text(
    en="There is nothing to undo for day {day}: no backup of it was ever made.",
    zh="第 {day} 天没有可以恢复的：从未做过它的备份。",
)
NO_SUCH_BACKUP = Text(
    en="Day {day} has no backup {name}. `undo {day} --list` shows which there are.",
    zh="第 {day} 天没有名为 {name} 的备份。`undo {day} --list` 列出现有的备份。",
)
NO_LIST = Text(
    en="The backups cannot be read: {reason}.",
    zh="备份无法读取：{reason}。",
)
UNDOES = Text(
    en="This brings back what was there before: {command}, {at}.",
    zh="这会恢复到这一步之前的样子：{command}，{at}。",
)
AS_BEFORE = Text(
    en="Nothing to do: the files are as they were before {name}.",
    zh="无需改动：文件已经是 {name} 之前的样子。",
)
EDITED_SINCE = Text(
    en="Nothing was changed: {files} has been edited since {name}, and undo would replace that. "
    "With --yes it does, and keeps these edits in a backup as well.",
    zh="什么都没有改动：{files} 在 {name} 之后又有改动，恢复会覆盖它们。"
    "加上 --yes 就会照做，同时把这些改动也备份起来。",
)
ROW = Text(
    en="{name}   {command}, files: {count}",
    zh="{name}   {command}，文件：{count} 个",
)
ROW_DAMAGED = Text(en="{name}   damaged", zh="{name}   已损坏")


def main_reset(argv: list[str]) -> int:
    """`reset DAY [--exercise N] [--whole-file] [--yes]`: exit code 0 when the blanks hold the
    starter, 1 when nothing could be or was to be changed, 2 on wrong usage, 130 on Ctrl-C."""
    return run(argv, "reset", ABOUT_RESET, _declare_reset, lambda asked: _fill(asked, "starter"))


def main_solve(argv: list[str]) -> int:
    """`solve DAY [--exercise N] [--all] [--whole-file] [--yes]`: as reset, with the solution.

    Exercises of the learner's that passed when last judged, and have not been edited since, stay:
    unless they are asked for by number, or all are.
    """
    return run(argv, "solve", ABOUT_SOLVE, _declare_solve, lambda asked: _fill(asked, "solution"))


def main_undo(argv: list[str]) -> int:
    """`undo DAY [--list] [--to NAME] [--yes]`: exit code 0 when the files are as before, 1 when
    there is nothing to undo, or edits made since stand in the way, 2 on wrong usage."""
    return run(argv, "undo", ABOUT_UNDO, _declare_undo, _undo)


def _declare_yes(parser: argparse.ArgumentParser, say: Say) -> None:
    parser.add_argument("--yes", action="store_true", help=say("do not ask", "不询问"))


def _declare_reset(parser: argparse.ArgumentParser, say: Say) -> None:
    parser.add_argument(
        "--exercise", type=int, metavar="N", help=say("only this exercise", "只处理这个练习")
    )
    parser.add_argument(
        "--whole-file",
        action="store_true",
        help=say("whole files, not only their blanks", "整个文件，而不只是空"),
    )
    parser.set_defaults(all=True)
    _declare_yes(parser, say)


def _declare_solve(parser: argparse.ArgumentParser, say: Say) -> None:
    _declare_reset(parser, say)
    parser.add_argument(
        "--all",
        action="store_true",
        default=False,
        help=say("replace what passes already, too", "已通过的也一并替换"),
    )
    parser.set_defaults(all=False)


def _declare_undo(parser: argparse.ArgumentParser, say: Say) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", help=say("list the backups", "列出备份"))
    which.add_argument(
        "--to", metavar="NAME", help=say("this backup, not the latest", "用这个备份，而不是最近的")
    )
    _declare_yes(parser, say)


# -- reset and solve -------------------------------------------------------------------------------


def _fill(asked: Asked, towards: Towards) -> int:
    options, out = asked.options, asked.printer
    try:
        blanks = blanks_of(ROOT, asked.lab)
        if options.exercise is not None and options.exercise not in blanks:
            numbers = ", ".join(map(str, blanks))
            text = NO_SUCH_EXERCISE(day=asked.day, exercise=options.exercise, exercises=numbers)
            return refuse(text, out.language, USAGE)
        chosen = _chosen(asked, blanks)
        changes = _changes(asked, chosen, towards)
    except RegionError as error:
        return refuse(UNSOUND(reason=error), out.language, RED)
    except FileProblem as problem:
        return refuse(problem.text, out.language, RED)
    if not changes:
        out.line(_nothing(asked, towards, kept=len(chosen) < len(blanks)))
        return OK
    command = "reset" if towards == "starter" else "solve"
    deed = Deed(command, asked.day, options.exercise, changes)
    done = carry_out(deed, out, yes=options.yes)
    return tell(done, out) if isinstance(done, Backup) else done


def _chosen(asked: Asked, blanks: dict[int, Blank]) -> list[Blank]:
    """The blanks that are asked for, without those whose answers hold and are to stay."""
    options = asked.options
    if options.exercise is not None:
        return [blanks[options.exercise]]
    if options.all or options.whole_file:
        return list(blanks.values())
    held = _holding(asked, blanks)
    for exercise in held:
        asked.printer.line(HOLDS(exercise=exercise), "dim")
    return [blank for exercise, blank in blanks.items() if exercise not in held]


def _holding(asked: Asked, blanks: dict[int, Blank]) -> list[int]:
    """The exercises whose items all passed when last judged, on what their blanks hold now."""
    day = read_progress(ROOT).days.get(asked.day)
    if day is None:
        return []
    items: dict[int, list[int]] = {}
    for item in load_checks(asked.lab).items:
        if item.exercise is not None:
            items.setdefault(item.exercise, []).append(item.id)
    return [
        exercise
        for exercise, blank in blanks.items()
        if all(day.is_green(item) for item in items.get(exercise, [0]))
        and is_as_judged(ROOT, blank, day)
    ]


def _changes(asked: Asked, chosen: list[Blank], towards: Towards) -> list[Change]:
    exercise = asked.options.exercise
    if asked.options.whole_file:
        only = None if exercise is None else chosen[0].path
        return replace_files(ROOT, asked.lab, towards, only)
    name = "reset" if towards == "starter" else "solve"
    flag = "" if exercise is None else f" --exercise {exercise}"
    command = f"python selftest.py {name} {asked.day}{flag}"
    return fill_blanks(ROOT, chosen, towards, command)


def _nothing(asked: Asked, towards: Towards, *, kept: bool) -> Text:
    exercise, whole = asked.options.exercise, asked.options.whole_file
    if exercise is not None:
        what = (FILE if whole else BLANK)(exercise=exercise)
    elif kept:
        return ALL_HOLD
    else:
        what = (FILES if whole else BLANKS)(day=asked.day)
    return (IS_STARTER if towards == "starter" else IS_SOLVED)(what=what)


# -- undo ------------------------------------------------------------------------------------------


def _undo(asked: Asked) -> int:
    out, day = asked.printer, asked.day
    try:
        found = backups(ROOT, day)
    except OSError as error:
        return refuse(NO_LIST(reason=error.strerror or error), out.language, RED)
    if not found:
        return refuse(NO_BACKUPS(day=day), out.language, RED)
    if asked.options.list:
        for each in found:
            text = ROW(name=each.name, command=each.command, count=len(each.files))
            out.line(text if each.files else ROW_DAMAGED(name=each.name))
        return OK
    name = asked.options.to
    backup = next((each for each in found if name in (None, each.name)), None)
    if backup is None:
        return refuse(NO_SUCH_BACKUP(day=day, name=name), out.language, USAGE)
    try:
        held = contents(ROOT, backup)
        present = {path: read_file(ROOT, path) for path in held}
    except FileProblem as problem:
        return refuse(problem.text, out.language, RED)
    return _bring_back(asked, backup, held, present)


def _bring_back(
    asked: Asked, backup: Backup, held: dict[str, Any], present: dict[str, bytes | None]
) -> int:
    out = asked.printer
    changes = [Change(path, present[path], held[path]) for path in held]
    changes = [change for change in changes if change.before != change.after]
    if not changes:
        out.line(AS_BEFORE(name=backup.name))
        return OK
    left = {file.path: file.after for file in backup.files}
    edited = [
        change.path
        for change in changes
        if change.before is not None and digest(change.before) != left[change.path]
    ]
    if edited and not asked.options.yes:
        text = EDITED_SINCE(files=", ".join(edited), name=backup.name)
        return refuse(text, out.language, RED)
    out.line(UNDOES(command=backup.command, at=backup.at))
    out.line()
    deed = Deed("undo", asked.day, backup.exercise, changes)
    done = carry_out(deed, out, yes=asked.options.yes)
    if not isinstance(done, Backup):
        return done
    based = {file.path: file.starter for file in backup.files if file.starter is not None}
    for text in set_based(ROOT, based, backwards=True):
        refuse(text, out.language, OK)
    return tell(done, out)


MAINS: dict[str, Callable[[list[str]], int]] = {
    "reset": main_reset,
    "solve": main_solve,
    "undo": main_undo,
}


def main(argv: list[str]) -> int:
    """`reset …`, `solve …` or `undo …`, as the words of a command line."""
    if not argv or argv[0] not in MAINS:
        print(f"python -m shared.learner.restore {'|'.join(MAINS)} DAY", file=sys.stderr)
        return USAGE
    return MAINS[argv[0]](argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
