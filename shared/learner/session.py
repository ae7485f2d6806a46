"""A watching session: what happens, in the order in which it happens, and what follows from it."""

from __future__ import annotations

import importlib
import os
import queue
import signal
import sys
import time
from typing import Any

from shared.authoring.regions import find_region
from shared.i18n import Language, Text
from shared.processes import Launcher
from shared.processes.supervisor import ROOT
from shared.selftest.cli import COMMANDS, NOT_KEPT
from shared.selftest.discover import Target, days
from shared.selftest.record import record_path, write_record
from shared.selftest.result import ItemResult, Result
from shared.selftest.runner import with_needs

from .affected import Graph, affected_items, import_graph, reached
from .board import KEYS, Board
from .events import BY_SIGNAL, Ended, Look, Resized, Signals, Suspended
from .keys import Key, Keys
from .rerun import Finished, Rerun, Verdict
from .screen import LineScreen, LiveScreen, Screen
from .state import note_run
from .watching import FolderEvents, Snapshot, WatchedFolder, changed_files

SETTLE_SECONDS = 0.2  # for a file that has gone: an editor that saves by rename brings it back
RETRIES = 3  # of a run that found no room to work, or a file that went while it was copied

SAVED = Text(en="Saved: {files}.", zh="已保存：{files}。")
EVERYTHING = Text(en="Everything again.", zh="全部重新检查。")
UNAFFECTED = Text(
    en="Saved: {files}. No item depends on it; the verdicts stand.",
    zh="已保存：{files}。没有检查项依赖它，结果不变。",
)
FOLDER_GONE = Text(
    en="{folder} is not there any more. The verdicts are from before; "
    "as soon as it is back, this goes on.",
    zh="{folder} 不见了。显示的是之前的结果；文件夹一恢复就会继续。",
)
FOLDER_BACK = Text(en="{folder} is back.", zh="{folder} 回来了。")
NEXT_EXERCISE = Text(
    en="Exercise {exercise}: {file}, line {line}.", zh="练习 {exercise}：{file} 第 {line} 行。"
)
NEXT_FILE = Text(
    en="Exercise {exercise}: {file}. Its blank markers are gone: r brings the exercise back.",
    zh="练习 {exercise}：{file}。其中的填空标记不见了：按 r 可以恢复本练习。",
)
NONE_LEFT = Text(en="Nothing is open: every item passes.", zh="没有未完成的内容：全部通过。")
NOT_YET = Text(
    en="No verdict is there yet. Ask again when the run has ended.",
    zh="还没有结果，请等这次运行结束后再按。",
)
NO_EXERCISE = Text(
    en="Item {item} belongs to no exercise, so there is nothing to reset.",
    zh="第 {item} 项不属于任何练习，没有可以重置的内容。",
)
AFTER_RUN = Text(en="“{word}” comes when this run has ended.", zh="这次运行结束后执行“{word}”。")
HELP = Text(
    en="Save a file and what it affects is judged again, on the same orders (the seed). "
    "h: the next hint for the first red item. t: the last run's messages. a: judge everything. "
    "n: file and line of the next open exercise. r: bring this exercise back as it came, after a "
    "question and with a backup. q or Ctrl-C: quit.",
    zh="保存文件后，受影响的检查项会用同一批订单（同一个种子）重新检查。"
    "h：第一个未通过项的下一步提示。t：上一次运行的报文。a：全部重跑。"
    "n：下一个未完成练习的文件和行号。r：把当前练习恢复原样（会先询问并备份）。q 或 Ctrl-C：退出。",
)
NOT_OURS = Text(
    en="Only labs/ can be reset; {folder} is yours to change.",
    zh="只有 labs/ 可以重置；{folder} 请自行修改。",
)
UNKNOWN_KEY = Text(
    en="No such key: {key}. Press ? for help.", zh="没有这个按键：{key}。按 ? 查看帮助。"
)
COMMAND_FAILED = Text(
    en="“{name}” has failed: {error}. Your files are as it left them.",
    zh="“{name}” 执行失败：{error}。你的文件停留在它退出时的状态。",
)
GO_ON = Text(en="Press any key to go on watching.", zh="按任意键继续监视。")
NO_ROOM = Text(
    en="The self-test cannot work: {reason}. Free some disk space, or set TMPDIR elsewhere; "
    "press a to try again.",
    zh="自检无法运行：{reason}。请腾出磁盘空间，或把 TMPDIR 设成别的文件夹；按 a 再试一次。",
)

KEY_COMMANDS = {"h": "hint", "t": "trace", "r": "reset"}  # by the names of the command line


class Session:
    """The state of a session, and what each event does to it. A context manager: leaving it ends
    every process.

    All of this happens on one thread; the others put what they have seen into `events`.
    """

    def __init__(
        self,
        target: Target,
        only: frozenset[int],
        seed: int,
        launcher: Launcher,
        events: queue.SimpleQueue[Any],
        signals: Signals,
        language: Language,
    ) -> None:
        """`only` are the items that were asked for, none for all. The launcher is the session's
        from now on."""
        self._target = target
        self._seed = seed
        self._launcher = launcher
        self._events = events
        self._signals = signals
        self._language: Language = language
        self._folder = WatchedFolder(target.folder)
        self._wanted = frozenset(with_needs(target.checks, only))
        self._board = Board(target.checks, target.shown_as, seed, self._wanted)
        self._screen: Screen = LineScreen(language, keys=False)
        self._keys: Keys | None = None
        self._holds_keys = False
        self._holds_screen = False
        self._paused_at: float | None = None  # since a command has ended, until a key is pressed
        self._rerun: Rerun | None = None
        self._graph: Graph = {}  # as it was when the run began
        self._verdicts: dict[int, ItemResult] = {}  # of the last run that came to its end
        self._rests_on: dict[int, frozenset[str]] = {}  # the files of each verdict
        self._judged: Snapshot = {}  # what these verdicts rest on
        self._tried: Snapshot | None = None  # what the latest run was started on
        self._failures = 0
        self._gone = False
        self._lost: frozenset[str] = frozenset()
        self._lost_since = 0.0
        self._look_at: float | None = None  # when to look again, event or not
        self._pending_key = ""
        self._exercise_shown: int | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._launcher.close()  # the end of its children is the end of the run
        if self._rerun is not None:
            self._rerun.join()

    def run(self, *, poll: bool, plain: bool) -> int:
        """Watch until the end; returns the exit code."""
        on_terminal = sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty()
        live = on_terminal and not plain and os.environ.get("TERM", "") not in ("", "dumb")
        self._screen = (LiveScreen if live else LineScreen)(self._language, keys=on_terminal)
        self._keys = Keys(self._events.put) if on_terminal else None
        with FolderEvents(self._folder.path, lambda: self._events.put(Look()), poll=poll):
            try:
                self._take_terminal()
                self._look()
                code = None
                while code is None:
                    code = self._handle(self._next_event())
            finally:
                self._release_terminal()
        self._screen.farewell(self._board)
        return code

    # -- events -----------------------------------------------------------------------------------

    def _next_event(self) -> object:
        if self._look_at is None:
            return self._events.get()
        try:
            return self._events.get(timeout=max(0.0, self._look_at - time.monotonic()))
        except queue.Empty:
            self._look_at = None
            return Look()

    def _handle(self, event: object) -> int | None:
        """Do what follows from an event; returns the exit code when it is the end."""
        if isinstance(event, Ended):
            return event.code
        if isinstance(event, Key):
            return self._key(event)
        if isinstance(event, Suspended):
            self._suspend()
        elif self._paused_at is not None:
            pass  # the learner reads what a command has said; files are looked at afterwards
        elif isinstance(event, Look):
            self._look()
        elif isinstance(event, Resized):
            self._screen.changed(self._board)
        elif isinstance(event, Verdict) and event.rerun is self._rerun:
            self._show_verdict(event)
        elif isinstance(event, Finished) and event.rerun is self._rerun:
            return self._finished(event)
        return None

    def _key(self, key: Key) -> int | None:
        if key.name == "":
            return BY_SIGNAL + 1  # the terminal has been closed
        if self._paused_at is not None:
            if key.name == "q":
                return 0
            if key.at > self._paused_at:
                self._go_on()
            return None
        if key.name == "q":
            return 0
        if key.name == "a":
            self._rerun_all()
        elif key.name == "n":
            self._say(self._next_exercise())
        elif key.name in "?？":
            self._say(HELP)
        elif key.name in KEY_COMMANDS:
            if self._rerun is None:
                return self._command(key.name)
            self._pending_key = key.name
            self._say(AFTER_RUN(word=dict(KEYS)[key.name]))
        elif key.name.isprintable() and not key.name.isspace():
            self._say(UNKNOWN_KEY(key=key.name))
        return None

    # -- files and runs ---------------------------------------------------------------------------

    def _look(self) -> None:
        """Compare the folder with what was judged, and judge what a difference can affect."""
        now = self._folder.snapshot()
        if now is None:
            if not self._gone:
                self._gone = True
                self._cancel_run()
                self._say(FOLDER_GONE(folder=self._target.shown_as))
            return
        if self._gone:
            self._gone = False
            self._tried = None
            self._say(FOLDER_BACK(folder=self._target.shown_as))
        if now != self._tried and self._has_settled(now):
            self._judge(now)

    def _has_settled(self, now: Snapshot) -> bool:
        """Whether files that have gone stay gone: who saves by rename takes them away for a moment.
        If not, they are looked at again in a moment."""
        lost = frozenset(self._tried or ()) - now.keys()
        if lost != self._lost:
            self._lost, self._lost_since = lost, time.monotonic()
        settles = self._lost_since + SETTLE_SECONDS
        if not lost or time.monotonic() >= settles:
            return True
        self._look_at = settles
        return False

    def _judge(self, now: Snapshot, *, everything: bool = False) -> None:
        self._cancel_run()
        self._tried = now
        changed = changed_files(self._judged, now)
        items = self._wanted
        if not everything:
            checks = self._target.checks
            affected = affected_items(checks, days()[checks.day], changed, self._rests_on)
            items &= affected | (self._wanted - self._verdicts.keys())
        files = ", ".join(sorted(changed))
        if not items:
            self._judged = now
            self._board.notes = []
            if changed:
                self._say(UNAFFECTED(files=files))
            else:
                self._screen.changed(self._board)  # undone while it was being judged
            return
        self._board.notes = []
        self._exercise_shown = None
        kept = {number: one for number, one in self._verdicts.items() if number not in items}
        self._rerun = Rerun(
            self._target, self._launcher, self._seed, items, kept, now, self._events.put
        )
        self._board.running, self._board.busy = items, True
        if everything:
            self._say(EVERYTHING)
        elif changed and self._judged:
            self._say(SAVED(files=files))
        self._screen.started(self._board)
        self._graph = import_graph(self._folder.path)

    def _rerun_all(self) -> None:
        now = self._folder.snapshot()
        if now is not None:
            self._failures = 0
            self._judge(now, everything=True)

    def _cancel_run(self) -> None:
        """End the run that is on; the board is then as it was before it."""
        if self._rerun is None:
            return
        self._rerun.cancel()
        self._run_is_over()
        self._board.verdicts = dict(self._verdicts)

    def _run_is_over(self) -> None:
        self._rerun = None
        self._board.running, self._board.busy = frozenset(), False

    def _show_verdict(self, event: Verdict) -> None:
        if event.item.id in event.rerun.items:
            self._board.verdicts[event.item.id] = event.item
            self._board.running -= {event.item.id}
            self._screen.changed(self._board)

    def _finished(self, event: Finished) -> int | None:
        rerun, result = event.rerun, event.result
        rerun.join()
        self._run_is_over()
        faults = result is not None and any(i.status == "grader_fault" for i in result.items)
        if (result is None or faults) and self._failures < RETRIES:
            # A file that went while it was copied, or learner code that has ended the very process
            # that its programs are forked from: once more, with new ones.
            self._failures += 1
            self._launcher.close()
            self._launcher = Launcher()
            self._tried = None
            self._look_at = time.monotonic() + SETTLE_SECONDS
            return None
        if result is None:
            reason = event.error.strerror if event.error else None
            self._board.verdicts = dict(self._verdicts)
            self._say(NO_ROOM(reason=reason or event.error))
            return None
        self._failures = 0
        self._take(rerun, result)
        self._screen.finished(self._board, rerun.items)
        try:
            write_record(result, self._target.shown_as, record_path(result.day))
        except OSError as error:
            self._say(NOT_KEPT(reason=error.strerror or error))
        if self._is_own:
            for notice in note_run(result):
                self._say(notice)
        key, self._pending_key = self._pending_key, ""
        return self._command(key) if key else None

    def _take(self, rerun: Rerun, result: Result) -> None:
        """From now on these verdicts stand."""
        self._judged = rerun.snapshot
        self._verdicts = {item.id: item for item in result.items if item.id in self._wanted}
        for number in rerun.items:
            self._rests_on[number] = reached(self._verdicts[number].uses, self._graph)
        self._board.verdicts = dict(self._verdicts)
        self._board.took_ms = result.duration_ms

    # -- what keys ask for ------------------------------------------------------------------------

    @property
    def _is_own(self) -> bool:
        """Whether it is the learner's own lab that is watched."""
        own = ROOT / "labs" / days()[self._target.checks.day]
        return self._folder.path == own.resolve()

    def _say(self, note: Text) -> None:
        self._board.notes = [note]
        self._screen.say(self._board, note)

    def _next_exercise(self) -> Text:
        """Where the next exercise stands whose item does not pass; asked again, the one after."""
        if not self._board.shown:
            return NOT_YET
        open_ones = [
            item.exercise
            for item in self._board.shown
            if item.exercise is not None and item.status != "pass"
        ]
        if not open_ones:
            return NONE_LEFT
        following = 0
        if self._exercise_shown in open_ones:
            following = (open_ones.index(self._exercise_shown) + 1) % len(open_ones)
        exercise = self._exercise_shown = open_ones[following]
        name = self._target.checks.exercises[exercise]
        shown = f"{self._target.shown_as}/{name}"
        try:
            found = find_region((self._folder.path / name).read_text("utf-8"), exercise)
        except (OSError, UnicodeDecodeError):
            found = None
        if found is None:
            return NEXT_FILE(exercise=exercise, file=shown)
        return NEXT_EXERCISE(exercise=exercise, file=shown, line=found.first_line)

    def _command(self, key: str) -> int | None:
        """Run the command of a key, with the terminal as it is outside; then wait for a key.

        Returns an exit code when that was interrupted.
        """
        name = KEY_COMMANDS[key]
        arguments = [str(self._target.checks.day), "--lang", self._language]
        failure = self._board.first_failure
        if key in "hr":
            if failure is None:
                self._say(NONE_LEFT if self._board.shown else NOT_YET)
                return None
            if key == "h":
                arguments += ["--item", str(failure.id)]
            elif failure.exercise is None:
                self._say(NO_EXERCISE(item=failure.id))
                return None
            elif not self._is_own:
                self._say(NOT_OURS(folder=self._target.shown_as))
                return None
            else:
                arguments += ["--exercise", str(failure.exercise)]
        module, _, function = COMMANDS[name].partition(":")
        main = getattr(importlib.import_module(module), function)
        self._release_terminal()
        code = 0
        try:
            with self._signals.raising():
                code = main(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except KeyboardInterrupt:
            code = BY_SIGNAL + signal.SIGINT
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            print(COMMAND_FAILED(name=name, error=reason).get(self._language))
        if code == BY_SIGNAL + signal.SIGINT:
            return code
        if isinstance(self._screen, LiveScreen):
            print(f"\n{GO_ON.get(self._language)}", flush=True)
            self._hold_keys()
            self._paused_at = time.monotonic()
        else:
            self._go_on()
        return None

    # -- the terminal -----------------------------------------------------------------------------

    def _go_on(self) -> None:
        self._paused_at = None
        self._take_terminal()
        self._screen.changed(self._board)
        self._look()

    def _hold_keys(self) -> None:
        if self._keys is not None and not self._holds_keys:
            self._keys.__enter__()
            self._holds_keys = True

    def _take_terminal(self) -> None:
        self._hold_keys()
        if not self._holds_screen:
            self._screen.enter()
            self._holds_screen = True

    def _release_terminal(self) -> None:
        try:
            if self._holds_screen:
                self._holds_screen = False
                self._screen.leave()
        finally:
            if self._keys is not None and self._holds_keys:
                self._holds_keys = False
                self._keys.__exit__()

    def _suspend(self) -> None:
        """Ctrl-Z: the shell gets its terminal back, until it says `fg`."""
        if sys.platform != "win32":
            self._release_terminal()
            os.kill(os.getpid(), signal.SIGSTOP)
            if self._paused_at is not None:
                self._hold_keys()
            else:
                self._take_terminal()
                self._screen.changed(self._board)
