"""`python selftest.py watch 23`: judges a lab again whenever a file of it is saved.

The processes that the learner's programs are forked from stay; a save judges what it can affect, on
the same orders; verdicts that it cannot affect are kept. A newer save cancels the run that is on.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import random
import sys
from typing import Any

from shared.i18n import Text
from shared.processes import Launcher
from shared.selftest.cli import add_target_options

from .command import USAGE, Asked, Say, refuse, run
from .events import BY_SIGNAL, Signals

ABOUT = Text(
    en="Judge a day's lab again whenever a file of it is saved.",
    zh="每次保存文件都重新检查某一天的实验。",
)


def main(argv: list[str]) -> int:
    """Watch until it is ended: 0 when the learner quits, 130 after Ctrl-C, 2 on wrong usage."""
    return run(argv, "watch", ABOUT, _declare, _watch)


def _declare(parser: argparse.ArgumentParser, say: Say) -> None:
    add_target_options(parser, say)
    parser.add_argument(
        "--seed", type=int, help=say("of the orders, for the whole session", "整个过程使用的种子")
    )
    parser.add_argument(
        "--poll",
        action="store_true",
        help=say(
            "where a save goes unnoticed: network drives, some containers",
            "保存后没有反应时使用：网络盘、部分容器",
        ),
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help=say(
            "plain lines, for screen readers and simple terminals",
            "只输出普通文本行，适合屏幕阅读器和简单终端",
        ),
    )


def _watch(asked: Asked) -> int:
    options = asked.options
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with Signals(events) as signals, contextlib.ExitStack() as stack:
        launcher = Launcher()  # first of all: its imports go on while ours do
        stack.callback(launcher.close)

        from shared.selftest.discover import UsageError, choose_items, find_target

        from .session import Session

        try:
            target = find_target(asked.day, options.path, solution=options.solution)
            only = choose_items(target.checks, options.item)
        except UsageError as error:
            return refuse(error.text, asked.language, USAGE)
        seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
        stack.pop_all()
        with Session(target, only, seed, launcher, events, signals, asked.language) as session:
            try:
                return session.run(poll=options.poll, plain=options.plain)
            except BrokenPipeError:  # nobody reads any more: a pipe to head, a closed pager
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return BY_SIGNAL + 13
