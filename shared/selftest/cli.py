"""The self-test's command line: `python selftest.py 23 …`."""

from __future__ import annotations

import argparse
import importlib
import json
import random
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from shared.console import interrupted_quietly, spoken_language, use_unicode_output
from shared.i18n import LANGUAGES, Language, Text
from shared.processes import Launcher

OK, RED, USAGE, FAULT = 0, 1, 2, 3

# The learner's other commands: `selftest.py NAME …` runs this function, `(argv) -> exit code`.
COMMANDS = {
    "doctor": "shared.learner.doctor:main",
    "hint": "shared.learner.hint:main",
    "probe": "shared.learner.probe:main",
    "progress": "shared.learner.progress:main",
    "quiz": "shared.learner.quiz:main",
    "reset": "shared.learner.restore:main_reset",
    "solve": "shared.learner.restore:main_solve",
    "trace": "shared.trace.command:main",
    "undo": "shared.learner.restore:main_undo",
    "update": "shared.learner.update:main",
    "watch": "shared.learner.watch:main",
}

USAGE_HINT = Text(
    en="`python selftest.py --help` lists what there is.",
    zh="`python selftest.py --help` 可以查看用法。",
)
NO_ROOM = Text(
    en="The self-test cannot work: {reason}. Free some disk space, or set TMPDIR elsewhere.",
    zh="自检无法运行：{reason}。请腾出磁盘空间，或把 TMPDIR 设成别的文件夹。",
)
NOT_WRITTEN = Text(
    en="{path} cannot be written: {reason}. Give a path in a folder that you may write to.",
    zh="{path} 无法写入：{reason}。请换一个可写的文件夹。",
)
NOT_KEPT = Text(
    en="(The messages of this run could not be kept: {reason}. The verdicts stand.)",
    zh="（这次运行的报文没能保存：{reason}。检查结果不受影响。）",
)
NO_COMMAND = Text(
    en="There is no command `{name}`. There are: {names}; and a day, such as 23.",
    zh="没有命令 `{name}`。现有：{names}；或者直接写第几天，例如 23。",
)
BAD_USAGE = Text(en="{reason}.", zh="用法不对：{reason}。")


class UsageParser(argparse.ArgumentParser):
    """An argument parser that speaks the learner's language when it refuses."""

    language: Language = "en"

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit with code 2."""
        _complain(BAD_USAGE(reason=message), self.language)
        _complain(USAGE_HINT, self.language)
        sys.exit(USAGE)


def add_target_options(parser: argparse.ArgumentParser, say: Callable[[str, str], str]) -> None:
    """`--solution`, `--path`, `--item`: what is to be judged. `say(en, zh)` chooses a language."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--solution", action="store_true", help=say("the solution, not labs/", "改用参考答案")
    )
    where.add_argument(
        "--path",
        type=Path,
        metavar="DIR",
        help=say(
            "a folder laid out like labs/, or one day's", "与 labs/ 同构的文件夹或某一天的文件夹"
        ),
    )
    parser.add_argument(
        "--item",
        type=int,
        nargs="+",
        action="extend",
        default=[],
        metavar="N",
        help=say("only these, with what they need", "只检查这些项（及其前提）"),
    )


def _parser(language: Language) -> UsageParser:
    def say(en: str, zh: str) -> str:
        return Text(en, zh).get(language)

    parser = UsageParser(
        prog="selftest.py",
        epilog=say("Other commands: ", "其他命令：") + ", ".join(COMMANDS),
        description=say(
            "Judge a day's lab by what crosses its wires.", "按线路上真实的报文检查某一天的实验。"
        ),
    )
    parser.language = language
    parser.add_argument("day", type=int, help=say("the day, such as 23", "第几天，例如 23"))
    add_target_options(parser, say)
    parser.add_argument("--json", type=Path, metavar="FILE", help=say("the result", "结果文件"))
    parser.add_argument("--junit", type=Path, metavar="FILE", help=say("as JUnit XML", "JUnit XML"))
    parser.add_argument(
        "--seed", type=int, help=say("repeat a run with its seed", "用同一个种子重现一次检查")
    )
    parser.add_argument("--lang", choices=LANGUAGES, help=say("language", "语言"))
    parser.add_argument(
        "--cold",
        action="store_true",
        help=say("start every process afresh", "每个进程都全新启动"),
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help=say("tracebacks and whole messages", "显示完整的 traceback 和报文"),
    )
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 all items pass, 1 some do not, 2 wrong
    usage, 3 a fault of the self-test itself."""
    use_unicode_output()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    with interrupted_quietly():
        return _main(sys.argv[1:] if argv is None else argv)


def _main(argv: list[str]) -> int:
    if argv and argv[0] in COMMANDS:
        module, _, function = COMMANDS[argv[0]].partition(":")
        return int(getattr(importlib.import_module(module), function)(argv[1:]))
    language = spoken_language(argv)
    if language is None:
        return USAGE
    if argv and argv[0].isidentifier():
        _complain(NO_COMMAND(name=argv[0], names=", ".join(COMMANDS)), language)
        return USAGE
    options = _parser(language).parse_args(argv)
    seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    with Launcher(cold=options.cold) as launcher:  # its imports go on while ours do
        return _judge(options, language, seed, launcher)


def _judge(options: argparse.Namespace, language: Language, seed: int, launcher: Launcher) -> int:
    from rich.console import Console

    from shared.learner.starters import starter_notices
    from shared.learner.state import note_run

    from .discover import UsageError, choose_items, find_target
    from .junit import write_junit
    from .record import record_path, write_record
    from .report import print_report
    from .runner import internal_fault, run_checks

    try:
        target = find_target(options.day, options.path, solution=options.solution)
        only = choose_items(target.checks, options.item)
    except UsageError as error:
        _complain(error.text, language)
        return USAGE
    try:
        result = run_checks(
            target.checks,
            target.folder,
            shown_as=target.shown_as,
            seed=seed,
            launcher=launcher,
            only=only,
        )
    except OSError as error:
        _complain(NO_ROOM(reason=error.strerror or error), language)
        result = internal_fault(target.checks, seed, target.folder.name, error)
    except Exception as error:
        if options.verbose:
            traceback.print_exc()
        result = internal_fault(target.checks, seed, target.folder.name, error)

    console = Console(width=None if sys.stdout.isatty() else 100)
    print_report(result, target.checks, target.shown_as, console, language, verbose=options.verbose)
    if not (options.solution or options.path):  # the learner's own labs/
        for text in [*note_run(result), *starter_notices(result.day, result.lab)]:
            _complain(text, language)
    try:
        write_record(result, target.shown_as, record_path(result.day))
    except OSError as error:
        _complain(NOT_KEPT(reason=error.strerror or error), language)
    try:
        if options.json:
            written = options.json
            _write_json(result.as_json(), written)
        if options.junit:
            written = options.junit
            write_junit(result, written, language)
    except OSError as error:
        _complain(NOT_WRITTEN(path=written, reason=error.strerror), language)
        return USAGE

    judged = [item for item in result.items if not only or item.id in only]
    if any(item.status == "grader_fault" for item in judged):
        return FAULT
    return OK if all(item.status == "pass" for item in judged) else RED


def _write_json(result: dict[str, Any], path: Path) -> None:
    """Written whole or not at all: a reader never finds half a document."""
    part = path.with_name(f"{path.name}.part")
    text = json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    # half a surrogate pair, which UTF-8 cannot carry, becomes the \uXXXX that JSON has for it
    part.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    try:
        part.replace(path)
    except OSError:
        part.unlink()
        raise


def _complain(text: Text, language: Language) -> None:
    print(text.get(language), file=sys.stderr)
