"""A day's program as a person uses it: one question from the command line, more at a terminal."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

from shared.chat.model import ChatError, ChatModel, load_environment
from shared.console import interrupted_quietly, spoken_language, use_unicode_output
from shared.i18n import Language, Text
from shared.mcp_config import ConfigError

ROOT = Path(__file__).resolve().parents[1]

QUESTION = "帮我查一下订单 SO20260901 现在什么状态"

LABELS = {
    "question": Text(en="you", zh="你"),
    "call": Text(en="model", zh="模型"),
    "result": Text(en="result", zh="结果"),
    "answer": Text(en="answer", zh="回答"),
}
EMPTY = Text(en="(empty)", zh="（空）")
STYLES = {"question": "bold", "call": "yellow", "result": "dim", "answer": "green"}
ODD_CALL = Text(
    en="`{name}` has no arguments. Write them behind it as JSON, `{{}}` for none.",
    zh="`{name}` 后面缺少参数。请用 JSON 写在后面，没有参数就写 `{{}}`。",
)
BAD_ARGUMENTS = Text(
    en="The arguments of `{name}` are no JSON ({reason}): {words}. Quote them for the shell.",
    zh="`{name}` 的参数不是合法的 JSON（{reason}）：{words}。请给它们加上 shell 引号。",
)
CALL_FAILED = Text(en="The call brought no result: {reason}", zh="调用没有得到结果：{reason}")
LAST_WORDS = 1.0  # seconds; what a server leaves behind may keep its stderr open for ever
NEXT = Text(en="Another question (Enter to leave): ", zh="再问一句（直接回车退出）：")


class Tools(Protocol):
    """What the agent calls tools through."""

    def list_tools(self) -> list[dict[str, Any]]: ...

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any: ...


RunAgent = Callable[..., str]
OpenHost = Callable[..., AbstractContextManager[Tools]]


def main(run_agent: RunAgent, open_host: OpenHost, argv: list[str] | None = None) -> int:
    """Answer the question of the command line, or the lesson's own; at a terminal then take more.

    Exit code 0 when it was answered, 1 when something failed, 2 when the configuration is wrong.
    """
    use_unicode_output()
    language = _language()
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("question", nargs="?", default=QUESTION)
    parser.add_argument("--config", type=Path, help="another mcp.json")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(argv)
    with interrupted_quietly():
        try:
            return _converse(run_agent, open_host, options, language)
        except (ChatError, ConfigError) as error:
            if options.verbose:
                traceback.print_exc()
            print(error.text.get(language), file=sys.stderr)
            return getattr(error, "exit_code", 2)


def _converse(
    run_agent: RunAgent, open_host: OpenHost, options: argparse.Namespace, language: Language
) -> int:
    model = ChatModel.from_env(load_environment(ROOT))
    view = ConversationView(language)
    with _servers(open_host, options, language) as host:
        question = _as_typed(options.question)
        while question:
            view.answer(run_agent(question, model, host, view.show))
            question = _ask(language) if _is_terminal(sys.stdin) and view.on_terminal else ""
    return 0


class ServerLog:
    """What the servers write on stderr: held back while they start, then passed on as it comes."""

    def __init__(self) -> None:
        self._exit, self._entrance = os.pipe()
        self._held = b""
        self._holding = True
        self._lock = threading.Lock()
        self._copier = threading.Thread(target=self._copy, name="server-log", daemon=True)
        self._copier.start()

    @contextmanager
    def as_stderr(self) -> Iterator[None]:
        """What is started in this block, which is entered once, has the log as its stderr."""
        if sys.stderr is None:  # the program was started without it, and 2 may be any file
            os.close(self._entrance)
            yield
            return
        sys.stderr.flush()
        real = os.dup(2)
        os.dup2(self._entrance, 2)
        os.close(self._entrance)
        try:
            yield
        finally:
            os.dup2(real, 2)
            os.close(real)

    def take(self) -> str:
        """All that was held back, which then does not come out. For when the servers are gone."""
        self._copier.join(LAST_WORDS)
        with self._lock:
            said, self._held = self._held, b""
        return said.decode(errors="backslashreplace")

    def release(self) -> None:
        """Let out what was held back, and hold nothing any more."""
        with self._lock:
            self._write(self._held)
            self._held, self._holding = b"", False

    def end(self) -> None:
        """Let out the last words of servers that are gone."""
        self.release()
        self._copier.join(LAST_WORDS)

    def _copy(self) -> None:
        while data := os.read(self._exit, 65536):
            with self._lock:
                if self._holding:
                    self._held += data
                else:
                    self._write(data)
        os.close(self._exit)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(2, data) :]


@contextmanager
def _servers(
    open_host: OpenHost, options: argparse.Namespace, language: Language
) -> Iterator[Tools]:
    """The host with its servers. When they fail to start, a traceback of the course's own code in
    what they wrote on stderr is explained, and shown with --verbose only."""
    from shared.selftest.crash import explain
    from shared.selftest.diagnoses import CATALOGUE

    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # the servers import from here as well
    config = {} if options.config is None else {"config": options.config}
    log = ServerLog()
    with ExitStack() as stack:
        stack.callback(log.end)
        try:
            with log.as_stderr():
                host = stack.enter_context(open_host(**config))
        except ConfigError:
            said = log.take()
            stop = explain(said, ROOT, ".") if str(ROOT) in said else None
            if stop is None or options.verbose:
                print(said, file=sys.stderr, end="")
            if stop is not None:
                found = stop.texts(CATALOGUE[stop.code])
                print(found.cause.get(language), found.step.get(language), file=sys.stderr)
            raise
        log.release()
        yield host


def show_tools(
    open_host: OpenHost, call_error: type[Exception], argv: list[str] | None = None
) -> int:
    """Print, as JSON, the tools of every server, or the results of the calls that are named.

    `[--config FILE] [NAME ARGUMENTS …]`, the arguments as JSON. Exit code 0, 1 when a call brought
    no result (`call_error`), 2 when the words or the configuration are wrong.
    """
    use_unicode_output()
    language = _language()
    parser = argparse.ArgumentParser(description=show_tools.__doc__)
    parser.add_argument("--config", type=Path, help="another mcp.json")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("call", nargs="*", metavar="NAME ARGUMENTS")
    options = parser.parse_args(argv)

    def refuse(text: Text, code: int) -> int:
        print(text.get(language), file=sys.stderr)
        return code

    if len(options.call) % 2:
        return refuse(ODD_CALL(name=options.call[-1]), 2)
    calls = []
    for name, words in zip(options.call[::2], options.call[1::2], strict=True):
        try:
            calls.append((name, json.loads(words)))
        except ValueError as error:
            return refuse(BAD_ARGUMENTS(name=name, words=words, reason=error), 2)
    with interrupted_quietly():
        try:
            with _servers(open_host, options, language) as host:
                shown: list[Any] = host.list_tools()
                if calls:
                    shown = [dataclasses.asdict(host.call_tool(*call)) for call in calls]
            print(json.dumps(shown, ensure_ascii=False, indent=2))
        except ConfigError as error:
            return refuse(error.text, 2)
        except call_error as error:
            return refuse(CALL_FAILED(reason=error), 1)
    return 0


def _language() -> Language:
    """The language to speak; with a `LAB_LANG` that is none, the program says so and ends."""
    language = spoken_language()
    if language is None:
        sys.exit(2)
    return language


def _ask(language: Language) -> str:
    try:
        return _as_typed(input(NEXT.get(language))).strip()
    except EOFError:
        print()
        return ""


def _as_typed(text: str) -> str:
    """A text of the command line or the terminal, whatever the locale made of its UTF-8 bytes: in
    the C locale each byte that is not ASCII arrives as a lone surrogate, which nothing can send."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()  # None: the program was started without it


class ConversationView:
    """Prints the messages of a conversation as they come, one line each where they fit."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._print: Callable[..., None] = print
        self.on_terminal = _is_terminal(sys.stdout)
        if self.on_terminal:
            from rich.console import Console

            self._print = Console(highlight=False).print

    def show(self, message: dict[str, Any]) -> None:
        """Show one message as it comes: the question, a call of the model, or its result."""
        role = message["role"]
        if role == "user":
            self._line("question", message["content"])
        elif role == "tool":
            text = message["content"]  # a learner's agent may put anything here
            text = " ".join(text.split()) if isinstance(text, str) else repr(text)
            self._line("result", text or EMPTY.get(self._language))
        elif message.get("tool_calls"):
            for call in message["tool_calls"]:
                function = call["function"]
                self._line("call", f"{function['name']}({function['arguments']})")

    def answer(self, text: Any) -> None:
        """Show what the agent returned, which is its answer."""
        self._line("answer", text if isinstance(text, str) else repr(text))

    def _line(self, kind: str, text: str) -> None:
        label = LABELS[kind].get(self._language)
        if not self.on_terminal:
            print(f"{label}: {text}", flush=True)
            return
        from rich.table import Table
        from rich.text import Text as Styled

        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=7, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Styled(label, STYLES[kind]), Styled(text, STYLES[kind]))
        self._print(grid)


def run_day(argv: list[str] | None = None) -> int:
    """`python -m shared.program 23 [--solution] [--ask QUESTION]`: the program of a day, by number.

    This is what make calls; it only finds the module and hands the rest over. Learner code that
    raises gets the diagnosis that the self-test gives it.
    """
    import runpy

    from shared.selftest.crash import explain
    from shared.selftest.diagnoses import CATALOGUE
    from shared.selftest.discover import days

    use_unicode_output()
    language = _language()
    parser = argparse.ArgumentParser(prog="shared.program", description=run_day.__doc__)
    parser.add_argument("day", type=int)
    parser.add_argument("--solution", action="store_true")
    parser.add_argument("--ask", default="")
    options, rest = parser.parse_known_args(argv)
    lab = days().get(options.day)
    if lab is None:
        text = Text(
            en="There is no day {day}. There is: {days}.", zh="没有第 {day} 天。现有：{days}。"
        )
        known = ", ".join(map(str, days()))
        print(text(day=options.day, days=known).get(language), file=sys.stderr)
        return 2
    folder = "solutions" if options.solution else "labs"
    # What comes after -- is no option, so that a question may begin with a dash.
    sys.argv = [f"{folder}.{lab}.agent", *rest, *(["--", options.ask] if options.ask else [])]
    with interrupted_quietly():
        try:
            runpy.run_module(f"{folder}.{lab}.agent", run_name="__main__", alter_sys=True)
        except Exception:
            trace = traceback.format_exc()
            if "--verbose" in rest:
                print(trace, file=sys.stderr)
            stop = explain(trace, ROOT / folder / lab, f"{folder}/{lab}")
            if stop is None:
                raise
            found = stop.texts(CATALOGUE[stop.code])
            print(found.cause.get(language), found.step.get(language), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_day())
