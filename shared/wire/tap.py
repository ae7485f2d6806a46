"""Sits in front of any stdio MCP server, in any host's configuration, and records what crosses.

    python -m shared.wire.tap [--record FILE] -- COMMAND ARGUMENTS…

The host and the server notice nothing of it: every byte is passed on as it came and at once, stderr
stays the host's, signals go to the server, and the tap ends as the server ends. The record is the
one that `shared.selftest.record` describes (`python selftest.py trace --file FILE` draws it), and
each message is in the file before it is passed on, so that a tap that is killed leaves what it saw.
A file that is there already is added to: each session begins with a row `run`, and ends with
`{"row": "exit", "code": …}`. The arguments of the command are not recorded; they may hold secrets.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import IO, Any

from shared.console import use_unicode_output
from shared.i18n import Language, Text, choose_language

from .lines import LineRecorder
from .transcript import Event, Kind, Sender, Transcript, Wire

ROOT = Path(__file__).resolve().parents[2]
TAPS = ROOT / ".selftest" / "taps"

USAGE, CANNOT_RUN, NOT_FOUND = 2, 126, 127
CHUNK = 1 << 16
KEPT = 32 << 20  # bytes of one line that are kept for the record; all are passed on
STOP_SECONDS = 10.0  # of silence after the end of stdin, before the server is asked to end
KILL_SECONDS = 2.0  # more, before it is killed
DRAIN_SECONDS = 2.0  # of silence, for a stdout that a descendant of an ended server holds open

RECORDS = Text(
    en="tap: what crosses this server's stdin and stdout is recorded in {path}",
    zh="tap：这个 server 的 stdin 和 stdout 上经过的内容记录在 {path}",
)
NO_COMMAND = Text(
    en="tap: which server? Put its command after `--`, and nothing but options before: "
    "python -m shared.wire.tap -- COMMAND ARGUMENTS",
    zh="tap：是哪个 server？请把它的命令写在 `--` 之后，`--` 之前只放选项："
    "python -m shared.wire.tap -- COMMAND ARGUMENTS",
)
CANNOT_START = Text(
    en="tap: {command} cannot be started: {reason}. Give its full path, or correct the command "
    "after `--`.",
    zh="tap：{command} 无法启动：{reason}。请写出完整路径，或改正 `--` 之后的命令。",
)
CANNOT_RECORD = Text(
    en="tap: {path} cannot be written: {reason}. Name another file with --record.",
    zh="tap：{path} 无法写入：{reason}。请用 --record 换一个文件。",
)
RECORD_LOST = Text(
    en="tap: {path} cannot be written any more: {reason}. The server goes on, unrecorded.",
    zh="tap：{path} 无法继续写入：{reason}。server 照常运行，但不再记录。",
)

# Interpreters and starters say nothing of which server it is; what they are given does.
STARTERS = re.compile(r"(python|pypy)[\d.]*|node|npx|uvx?|pipx|bunx?|deno|docker")


def main(argv: list[str] | None = None) -> int:
    """Run the command behind `--`; returns its exit code (or dies of the signal that it died of).

    2 when the command line is wrong or the record cannot be written, 127 when there is no such
    command, 126 when it cannot be run.
    """
    use_unicode_output()
    language = _language()
    words = sys.argv[1:] if argv is None else argv
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="python -m shared.wire.tap", usage="%(prog)s [--record FILE] -- COMMAND ARGUMENTS"
    )
    parser.add_argument("--record", type=Path, metavar="FILE")
    options, unknown = parser.parse_known_args(words[:split])
    command = words[split + 1 :]
    if unknown or not command:
        _say(NO_COMMAND, language)
        return USAGE
    name = server_name(command)
    path = options.record or TAPS / f"{datetime.datetime.now():%Y-%m-%d-%H%M%S}-{name}.jsonl"
    try:
        if options.record is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path, file = _open_unused(path)
            is_new = True
        else:
            is_new = not path.exists()
            file = _open(path)
    except OSError as error:
        _say(CANNOT_RECORD(path=path, reason=error.strerror or error), language)
        return USAGE
    try:
        server = Tapped(command)
    except OSError as error:
        file.close()
        if is_new:
            path.unlink()
        _say(CANNOT_START(command=command[0], reason=error.strerror or error), language)
        return CANNOT_RUN if isinstance(error, PermissionError) else NOT_FOUND
    _say(RECORDS(path=path.absolute()), language)
    journal = Journal(
        file,
        lambda error: _say(RECORD_LOST(path=path, reason=error.strerror or error), language),
    )
    now = datetime.datetime.now().astimezone()
    journal.write({"row": "run", "schema": 1, "tap": name, "at": now.isoformat(timespec="seconds")})
    code = server.run(journal, name)
    journal.write({"row": "exit", "code": code})
    journal.close()
    return _leave_as(code)


def server_name(command: list[str]) -> str:
    """A name for a server that can stand in a file's name, from what starts it."""
    chosen = command[0]
    if STARTERS.fullmatch(_stem(chosen).lower()):
        rest = command[1:]
        if "-m" in rest[:-1]:
            chosen = rest[rest.index("-m") + 1]
        else:
            given = [word for word in rest if word and not word.startswith("-")]
            given = [word for word in given if word not in ("run", "x", "tool", "exec")]
            chosen = given[0] if given else chosen
    return re.sub(r"[^\w.@-]+", "-", _stem(chosen)).strip("-.")[:60] or "server"


def _stem(word: str) -> str:
    return re.sub(r"\.(exe|cmd|bat|py|m?js|ts|sh)$", "", re.split(r"[\\/]", word)[-1])


def _open_unused(path: Path) -> tuple[Path, IO[bytes]]:
    """Open a file of this name, or of one like it: two taps may begin in the same second, and each
    has to have a file of its own. Raises OSError."""
    number, found = 1, path
    while True:
        try:
            return found, _open(found, os.O_EXCL)
        except FileExistsError:
            number += 1
            found = path.with_name(f"{path.stem}-{number}{path.suffix}")


def _open(path: Path, more: int = 0) -> IO[bytes]:
    """Open a file to add to, for nobody else to read: messages may hold secrets."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | more
    return os.fdopen(os.open(path, flags, 0o600), "ab", buffering=0)


class Journal(Transcript):
    """A transcript that goes into a file as it comes and is not kept in memory.

    When the file cannot take more, `lost` is called with the reason, once, and no more is written.
    """

    def __init__(self, file: IO[bytes], lost: Callable[[OSError], None]) -> None:
        super().__init__()
        self._file = file
        self._lost = lost
        self._count = 0
        self._writing = True
        self._turn = threading.RLock()

    def add(self, wire: Wire, channel: str, sender: Sender, kind: Kind, **details: Any) -> Event:
        """Number an event, stamp it with the time, and write it."""
        with self._turn:
            self._count += 1
            event = Event(self._count, self.now(), wire, channel, sender, kind, **details)
            row = {"row": "event", "item": 0, "part": 0, **replace(event, message=None).as_json()}
            if event.message is None:
                self.write(row)
                return event
            raw = row.pop("raw", "")  # the message says it already
            try:
                self.write({**row, "message": event.message})
            except (ValueError, RecursionError):  # 1e999 is JSON, and infinite; nesting without end
                self.write({**row, "raw": raw})
            return event

    def write(self, row: dict[str, Any]) -> None:
        """Append one row. Raises ValueError, RecursionError when it cannot be written as JSON."""
        text = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        # half a surrogate pair, which UTF-8 cannot carry, becomes the \uXXXX that JSON has for it
        data = text.encode("utf-8", errors="backslashreplace")
        with self._turn:
            try:
                while data and self._writing:
                    data = data[self._file.write(data) :]
            except OSError as error:
                self._writing = False
                self._lost(error)

    def close(self) -> None:
        """Take no more: the host may still be sending when the server has ended."""
        with self._turn:
            self._writing = False
            self._file.close()


class Stream:
    """The bytes of one direction on their way into the journal, in whole lines.

    A line may be huge and come in many pieces: they are joined once, and what is beyond `KEPT` is
    counted and left out.
    """

    def __init__(self, journal: Transcript, channel: str, sender: Sender) -> None:
        self._lines = LineRecorder(journal, channel, sender)
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Take bytes as they come."""
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            first, _, others = (whole + newline).partition(b"\n")
            self._keep(first)
            self._lines.feed(self._line() + b"\n" + others)
        self._keep(rest)

    def end(self) -> None:
        """Record the end of the stream, and before it a last line that was never ended."""
        self._lines.feed(self._line())
        self._lines.end()

    def _keep(self, data: bytes) -> None:
        room = KEPT - self._size
        if data and room > 0:
            self._pieces.append(data[:room])
        self._size += len(data)

    def _line(self) -> bytes:
        line = b"".join(self._pieces)
        if self._size > KEPT:
            line += f" [{self._size - KEPT} more bytes]".encode()
        self._pieces, self._size = [], 0
        return line


class Tapped:
    """The server as a child of the tap, which is to the host what the server would be.

    It stays in the tap's process group, so that a host that ends the whole group ends it as well.
    """

    def __init__(self, command: list[str]) -> None:
        """Start the server. Raises OSError when that is not possible."""
        self._early: list[int] = []  # signals that came before there was somebody to pass them to
        self._child: subprocess.Popen[bytes] | None = None
        for number in _FORWARDED:
            signal.signal(number, self._forward)
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            preexec_fn=_end_with_parent(),
        )
        for number in self._early:
            self._child.send_signal(number)
        self._heard = time.monotonic()

    def run(self, journal: Transcript, channel: str) -> int:
        """Pass everything on until the server has ended; returns its exit code, or minus the signal
        that ended it."""
        assert self._child
        threading.Thread(
            target=self._pass_input, args=(Stream(journal, channel, "client"),), daemon=True
        ).start()
        output = threading.Thread(
            target=self._pass_output, args=(Stream(journal, channel, "server"),), daemon=True
        )
        output.start()
        code = self._child.wait()
        self._heard = time.monotonic()
        while output.is_alive() and time.monotonic() - self._heard < DRAIN_SECONDS:
            output.join(0.1)
        return code

    def _pass_input(self, stream: Stream) -> None:
        assert self._child
        assert self._child.stdin
        server = self._child.stdin.fileno()
        while data := _read(0):
            stream.feed(data)
            if not _write(server, data):
                _close_as_reader(0)  # the host's next write fails, as it would without the tap
                break
        stream.end()
        self._child.stdin.close()
        self._see_it_end(self._child)

    def _pass_output(self, stream: Stream) -> None:
        assert self._child
        assert self._child.stdout
        while data := _read(self._child.stdout.fileno()):
            self._heard = time.monotonic()
            stream.feed(data)
            if not _write(1, data):
                break  # the host reads no more; closing lets the server notice
        stream.end()
        self._child.stdout.close()

    def _see_it_end(self, child: subprocess.Popen[bytes]) -> None:
        """Nobody can ask the server for more: once it has been silent for a while, it has to go."""
        self._heard = time.monotonic()
        while (left := self._heard + STOP_SECONDS - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(left)
                return
        child.terminate()
        try:
            child.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()

    def _forward(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and _typed_at_terminal():
            return  # the terminal has sent it to the server as well
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)


_FORWARDED = [
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")
    if hasattr(signal, name)
]


def _typed_at_terminal() -> bool:
    """Whether a Ctrl-C reaches the whole process group, and so the server, without the tap."""
    if sys.platform == "win32":
        return True
    try:
        with open(os.ctermid(), "rb", buffering=0) as terminal:  # noqa: PTH123
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False  # there is no terminal


def _end_with_parent() -> Callable[[], None] | None:
    """Where the system can (Linux), have the server told to end when the tap is killed; elsewhere
    it learns of that from the end of its stdin alone."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    parent_death_signal = 1  # PR_SET_PDEATHSIG
    return lambda: prctl(parent_death_signal, signal.SIGTERM)


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:
        return b""  # closed, or the terminal behind it is gone


def _write(fd: int, data: bytes) -> bool:
    """Write all of it; False when the other side takes no more."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        return False
    return True


def _close_as_reader(fd: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, fd)
    os.close(nothing)


def _leave_as(code: int) -> int:
    """End as the server ended: with its exit code, or of the same signal."""
    if code >= 0:
        return code
    if sys.stderr:
        sys.stderr.flush()
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code  # a signal that does not end this process


def _language() -> Language:
    try:
        return choose_language()
    except ValueError:
        return "en"  # a host's environment is no place to be strict about it


def _say(text: Text, language: Language) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # a host may have closed it; the server matters more
            print(text.get(language), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
