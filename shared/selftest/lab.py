"""What a check works with: the learner's programs, started for it, and both their wires."""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from shared.chat import mock
from shared.chat.server import ChatServer
from shared.chat.validation import BadRequest
from shared.i18n import Text, same
from shared.mcp_config import ConfigError, ServerEntry, read_servers
from shared.processes import Child, Launcher, Limits, Program
from shared.shop import Shop
from shared.shop.data import SHOP_DATA
from shared.strict_json import parse_json
from shared.wire.lines import is_json_rpc
from shared.wire.relay import Relay
from shared.wire.server_process import Output, ServerProcess, pump
from shared.wire.session import NoAnswer, Session
from shared.wire.shapes import fault_in
from shared.wire.transcript import Event, Transcript

from .crash import ends_with, explain
from .result import Evidence
from .silence import explain_silence
from .stage import FILES, Files, Stage
from .stop import ItemStopped

Reply = Callable[[dict[str, Any]], dict[str, Any]]

SECONDS = 15.0  # for a program of the learner's, from start to end
STRAY_SECONDS = 1.5  # of silence behind a line that is no message

ANSWERED = Text(en="the server's answer", zh="server 的回复")
STRAY = Text(en="on the server's stdout", zh="出现在 server 的 stdout 上")
SENT = Text(en="sent by the client", zh="client 发出的")
WHILE_RUNNING = Text(en="while {what} was running", zh="在 {what} 运行时")


@dataclass
class AgentRun:
    """A program of the learner's that has ended, and the servers that it had started."""

    code: int | None
    module: str
    stdout: str
    stderr: str
    child: Child
    servers: list[ServerProcess] = field(default_factory=list)

    def ended_with(self, exception: str) -> bool:
        """Whether an exception of this name ended it."""
        return ends_with(self.stderr, exception)


class Lab:
    """The means of one check. Its transcript holds all that crossed the wires during it."""

    def __init__(self, launcher: Launcher, stage: Stage, shop: Shop, draw: str) -> None:
        """`draw` names what is drawn here: the same name, the same draws."""
        self.transcript = Transcript()
        self.transcripts = [self.transcript]  # and those of its parts
        self.uses: set[str] = set()  # the learner's files that were started, parts included
        self.shop = shop
        self.draw = random.Random(draw)
        self._drawn_as = draw
        self._launcher = launcher
        self._stage = stage

    # -- verdicts ---------------------------------------------------------------------------------

    def fail(self, code: str, evidence: Sequence[Evidence] = (), /, **values: object) -> NoReturn:
        """End the check: the item does not hold. `code` is a diagnosis, `values` fill its text."""
        raise ItemStopped("fail", code, evidence, **values)

    def hold_all(self, *parts: Callable[[Lab], None]) -> None:
        """Run parts of the check side by side, each over a lab (and so a transcript) of its own.

        The first of them that does not hold, in their order, stops the check.
        """
        labs = [
            Lab(self._launcher, self._stage, self.shop, f"{self._drawn_as}/{number}")
            for number, _ in enumerate(parts)
        ]
        self.transcripts += [lab.transcript for lab in labs]
        for lab in labs:
            lab.uses = self.uses
        with ThreadPoolExecutor(len(parts)) as pool:
            futures = [pool.submit(part, lab) for part, lab in zip(parts, labs, strict=True)]
        for future in futures:
            future.result()

    # -- the learner's server, driven by the self-test --------------------------------------------

    def programs(self, files: Files = "learner") -> dict[str, Program]:
        """The servers of the lab's mcp.json, ready to be started on the run's own orders.

        Stops the check when the file cannot be used.
        """
        config = self._stage.lab_folder(files) / "mcp.json"
        try:
            servers = read_servers(config)
        except ConfigError as error:
            raise self._config_stop(error) from error
        finally:
            self._note_use(files, "mcp.json")
        for server in servers.values():
            for word in server.args:  # `mcp_server.py`, or `labs.day23_mcp_server.mcp_server`
                self._note_use(files, Path(word).name, f"{word.rpartition('.')[2]}.py")
        return {name: self._program(server) for name, server in servers.items()}

    def peer(self, module: str, *arguments: str) -> Program:
        """A server that is not the learner's: a module of this repository."""
        return Program(
            (sys.executable, "-m", module, *arguments),
            self._stage.folder,
            {SHOP_DATA: str(self._stage.folder / "shop.json")},
        )

    @contextlib.contextmanager
    def server(self, program: Program | None = None, channel: str = "shop") -> Iterator[Asked]:
        """The learner's server (or another), with the handshake done and the self-test as client.

        Stops the check with the likely cause when it falls silent.
        """
        program = program or self.main_program()
        session = Session(self._launcher, program, self.transcript, channel)
        try:
            with session:
                asked = Asked(session)
                answer = session.handshake()
                _expect_shape("initialize", answer, [])
                if "error" in answer:
                    error = answer["error"]["message"]
                    self.fail("wire.error-answer", method="initialize", error=error)
                yield asked
        except NoAnswer as silence:
            raise self._explain_silence(session.process, channel, silence) from silence

    def main_program(self) -> Program:
        """The lab's own server: the entry `shop` of its mcp.json, else the first."""
        programs = self.programs()
        return programs.get("shop") or next(iter(programs.values()))

    # -- the learner's host and agent, between two recorded wires ----------------------------------

    def host(self, files: Files = "learner", servers: dict[str, Program] | None = None) -> AgentRun:
        """Run the lab's host, which shakes hands with the servers and lists their tools."""
        return self._run("host", [], files, servers, None)

    def tool_results(
        self, calls: Sequence[tuple[str, dict[str, Any]]], servers: dict[str, Program]
    ) -> list[dict[str, Any]]:
        """Call tools through the learner's client in an untouched host, without a model.

        Returns the ToolResults that they made of it, as `{"text", "is_error"}`. Stops the check
        when the program does not end well.
        """
        words = [
            word
            for name, arguments in calls
            for word in (name, json.dumps(arguments, ensure_ascii=False))
        ]
        run = self._run("host", words, "client", servers, None)
        self.expect_success(run)
        results = _last_json_list(run.stdout)
        if results is None:
            self.fail("code.no-json", target="host", value=quote(run.stdout))
        return results

    def agent(
        self,
        question: str,
        *,
        files: Files = "learner",
        servers: dict[str, Program] | None = None,
        model: Reply = mock.reply,
    ) -> AgentRun:
        """Run the lab's agent on one question, with `model` at the other end of its model wire and
        the servers of its mcp.json (or others) behind the relay.

        Stops the check when the program runs on for ever or takes too much; how it ended otherwise
        is for the check to judge (`expect_success`).
        """
        return self._run("agent", [question], files, servers, model)

    def _run(
        self,
        module: str,
        arguments: list[str],
        files: Files,
        servers: dict[str, Program] | None,
        model: Reply | None,
    ) -> AgentRun:
        self._note_use(files, f"{module}.py")
        if servers is None:
            servers = self.programs()
        with contextlib.ExitStack() as stack:
            relay = stack.enter_context(
                Relay(self._launcher, self.transcript, servers, self._stage.folder)
            )
            config = self._stage.folder / f"{secrets.token_hex(4)}.json"
            config.write_text(json.dumps({"mcpServers": relay.entries()}), encoding="utf-8")
            env: dict[str, str] = {}
            if model is not None:
                env, chat = self._model_wire(model)
                stack.enter_context(chat)
            program = Program(
                (
                    sys.executable,
                    "-m",
                    f"labs.{self._stage.lab}.{module}",
                    "--config",
                    str(config),
                    *arguments,
                ),
                self._stage.package_root(files),
                env,
                imports="agent",
            )
            try:
                run = self._to_its_end(program, give_up=self._waits_behind_a_stray_line)
            except ItemStopped as stop:
                for fault in relay.faults:
                    raise fault from stop
                if stop.code != "process.timeout":
                    raise
                relay.close()  # ends the servers' stdin, and so brings out what a buffer held back
                raise self._explain_waiting(relay.sessions) or stop from stop
            relay.close()
            run.servers = relay.sessions
            for fault in [*relay.faults, *(chat.faults if model is not None else [])]:
                raise fault
        for server in run.servers:
            if server.child.limit:
                raise _limit_stop(server.child)
        return run

    def expect_success(self, run: AgentRun) -> None:
        """Stop the check unless the program ended by itself with exit code 0."""
        for event in self.transcript:
            if event.wire == "model" and event.status == 400:
                self.fail(
                    "model.refused",
                    [Evidence(same("400"), event)],
                    reason=event.message["error"]["message"],
                )
        if run.code == 0:
            return
        own = [server for server in run.servers if server.program.cwd == self._own_folder]
        for server in own:  # the cause may lie below: a server that could not even start
            if server.ended_by_itself:
                self._raise_crash(server.stderr.text)
                raise self._ended_early(server)
        self._raise_crash(run.stderr)
        said = run.stderr.strip().splitlines()
        if run.code == 2 and said:  # the program itself says what is wrong with its configuration
            raise ItemStopped("error", "config.unusable", reason=same(quote(said[-1], 400)))
        raise ItemStopped(
            "not_run",
            "process.ended-early",
            code=run.code,
            when=WHILE_RUNNING(what=run.module),
        ).with_detail(run.stderr)

    def answer_to(self, request: Event) -> Event | None:
        """The server's answer to a request, or None when there is none.

        Stops the check when it has not the shape of an answer to this method.
        """
        answer = self.transcript.answer_to(request)
        if answer is not None:
            _expect_shape(request.method, answer.message, [Evidence(ANSWERED, answer)])
        return answer

    def expect_no_exception(self, server: Asked) -> None:
        """Stop the check with the exception that the server has logged, if it has; its answer said
        nothing of that. Ends the server, so that all of its log has come."""
        server.process.stop()
        self._raise_crash(server.process.stderr.text)

    def expect_clean_stdout(self, channel: str) -> None:
        """Stop the check when a server's stdout carried anything but JSON-RPC messages."""
        strays = [
            event for event in self.transcript.mcp(channel, "server") if event.kind == "stray"
        ]
        if strays:
            raise _stray_stop(strays)

    # -- single calls -----------------------------------------------------------------------------

    def calls(self, target: str, arguments: Sequence[Sequence[Any]]) -> list[Call]:
        """Call a function of the learner's (`bridge:to_function_tool`) once for each list of
        arguments, in one process; values travel as JSON.

        Stops the check when a call raises or returns what is no JSON.
        """
        module, _, _ = target.partition(":")
        self._note_use("learner", f"{module}.py")
        return self._calls(f"labs.{self._stage.lab}.{target}", target, arguments)

    def judge_schema(self, schema: dict[str, Any], values: list[Any]) -> dict[str, Any]:
        """`schemas.takes` in a process of its own. Stops the check when that does not end."""
        (call,) = self._calls("shared.selftest.schemas:takes", "schema", [[schema, values]])
        judged: dict[str, Any] = call.value
        return judged

    def ask_mock(self, questions: Sequence[str], tools: list[Any]) -> list[dict[str, Any]]:
        """`schemas.ask_mock` for each question, in a process of its own. Stops the check when that
        does not end."""
        each = [[question, tools] for question in questions]
        return [
            call.value for call in self._calls("shared.selftest.schemas:ask_mock", "mock", each)
        ]

    def _calls(self, function: str, target: str, arguments: Sequence[Sequence[Any]]) -> list[Call]:
        module, _, name = function.partition(":")
        request = {"module": module, "function": name, "calls": list(arguments)}
        program = Program(
            (sys.executable, "-m", "shared.selftest.call_runner"),
            self._stage.package_root("learner"),
            imports="agent",
        )
        run = self._to_its_end(program, json.dumps(request).encode())
        if run.code != 0:
            self._raise_crash(run.stderr)
        rows = _result_rows(run.stdout, len(arguments))
        if rows is None:
            raise ItemStopped(
                "not_run",
                "process.ended-early",
                code=run.code,
                when=WHILE_RUNNING(what=target),
            ).with_detail(run.stderr)
        results = []
        for row, given in zip(rows, arguments, strict=True):
            if "raised" in row:
                self._raise_crash(row["raised"])
            if "no_json" in row:
                self.fail("code.no-json", target=target, value=row["no_json"])
            results.append(Call(list(given), row["value"], row["arguments"], row["type"]))
        return results

    # -- inside -----------------------------------------------------------------------------------

    def _note_use(self, files: Files, *names: str) -> None:
        if files == "client":
            self.uses.add("mcp_client.py")
        if files == "learner":
            self.uses.update(names)

    def _program(self, server: ServerEntry) -> Program:
        return Program(
            (server.command, *server.args),
            Path(server.folder),
            {**server.env, SHOP_DATA: str(self._stage.folder / "shop.json")},
        )

    def _model_wire(self, model: Reply) -> tuple[dict[str, str], ChatServer]:
        address: str | tuple[str, int] = ("127.0.0.1", 0)
        if hasattr(socket, "AF_UNIX"):
            address = str(self._stage.folder / f"{secrets.token_hex(4)}.sock")
        chat = ChatServer(recorded(model, self.transcript), address)
        where = address if isinstance(address, str) else chat.base_url
        return {"CHAT_SOCKET": where, "MODEL": "mock", "MOCK": ""}, chat

    def _waits_behind_a_stray_line(self) -> bool:
        """Whether nothing has moved for a while since a server wrote what is no message: who waits
        for an answer then waits for ever, and the learner need not."""
        events = list(self.transcript)
        stray = any(event.kind == "stray" for event in events)
        return stray and self.transcript.now() - events[-1].at > STRAY_SECONDS

    def _to_its_end(
        self, program: Program, stdin: bytes = b"", give_up: Callable[[], bool] = lambda: False
    ) -> AgentRun:
        """Run a program and collect what it writes. Stops the check on a limit or a time-out."""
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        limits = Limits()
        try:
            child = self._launcher.start(program, (stdin_read, stdout_write, stderr_write), limits)
        finally:
            for fd in (stdin_read, stdout_write, stderr_write):
                os.close(fd)
        stdout, stderr = Collected(child, limits), Collected(child, limits)
        pumps = [
            pump(stdout_read, stdout.add, lambda: None),
            pump(stderr_read, stderr.add, lambda: None),
        ]
        with contextlib.suppress(BrokenPipeError), os.fdopen(stdin_write, "wb") as file:
            file.write(stdin)
        code = None
        # what starts afresh first imports for seconds, and longer where much starts at once
        seconds = SECONDS * (4 if self._launcher.cold else 1)
        deadline = time.monotonic() + seconds
        while code is None and time.monotonic() < deadline and not give_up():
            code = child.wait(min(0.25, seconds))
        if code is None:
            child.kill()
        for thread in pumps:
            thread.join(5)
        if child.limit:
            raise _limit_stop(child)
        if code is None:
            strays = [event for event in self.transcript if event.kind == "stray"]
            if strays:
                raise _stray_stop(strays)
            raise ItemStopped("timeout", "process.timeout", seconds=int(seconds)).with_detail(
                stderr.output.text
            )
        return AgentRun(code, program.argv[2], stdout.text, stderr.output.text, child)

    def _explain_waiting(self, servers: list[ServerProcess]) -> ItemStopped | None:
        """What a program that never came to its end was waiting for, when it was for a server."""
        for server in servers:
            if server.child.limit:
                return _limit_stop(server.child)
            if server.ended_by_itself and server.program.cwd == self._own_folder:
                self._raise_crash(server.stderr.text)
        strays = [event for event in self.transcript if event.kind == "stray"]
        if strays:  # a line without an end shows at the end only
            return _stray_stop(strays)
        for server in servers:
            if stop := explain_silence(self.transcript, server, SECONDS):
                return stop.with_detail(server.stderr.text)
        return None

    def _ended_early(self, server: ServerProcess) -> ItemStopped:
        if server.child.code == 127 and not server.child.warm:
            program = server.program
            entry = ServerEntry(program.argv[0], list(program.argv[1:]), str(program.cwd))
            missing = FileNotFoundError(2, os.strerror(2))
            config = Path(self.shown_as, "mcp.json")
            return self._config_stop(
                ConfigError.cannot_start(config, server.channel, entry, missing)
            )
        return ItemStopped(
            "not_run",
            "process.ended-early",
            code=server.child.code,
            when=WHILE_RUNNING(what=server.channel),
        ).with_detail(server.stderr.text)

    def _explain_silence(
        self, process: ServerProcess, channel: str, silence: NoAnswer
    ) -> ItemStopped:
        if process.child.limit:
            return _limit_stop(process.child)
        strays = [
            event for event in self.transcript.mcp(channel, "server") if event.kind == "stray"
        ]
        crash = explain(process.stderr.text, self._stage.lab_folder("learner"), self.shown_as)
        if crash is not None and silence.ended:
            return crash
        if strays:
            return _stray_stop(strays)
        if silence.ended:
            return self._ended_early(process)
        stop = explain_silence(self.transcript, process, silence.seconds) or ItemStopped(
            "timeout", "wire.no-answer", method=silence.method, seconds=int(silence.seconds)
        )
        return stop.with_detail(process.stderr.text)

    def _raise_crash(self, stderr: str) -> None:
        """Stop the check when this stderr shows that learner code raised."""
        for files in FILES:
            folder = self._stage.lab_folder(files)
            if str(folder) in stderr and (stop := explain(stderr, folder, self.shown_as)):
                raise stop
        stop = explain(stderr, self._stage.lab_folder("learner"), self.shown_as)
        if stop is not None:
            raise stop

    def _config_stop(self, error: ConfigError) -> ItemStopped:
        folder = str(self._stage.lab_folder("learner"))
        reason = Text(
            en=error.text.en.replace(folder, self.shown_as),
            zh=error.text.zh.replace(folder, self.shown_as),
        )
        return ItemStopped("error", "config.unusable", reason=reason)

    @property
    def _own_folder(self) -> Path:
        return self._stage.lab_folder("learner")

    @property
    def shown_as(self) -> str:
        """How messages name the learner's folder."""
        return self._stage.shown_as


@dataclass(frozen=True)
class Call:
    """One call of a learner's function: what it was given, what it returned, and what it left of
    its arguments."""

    given: list[Any]
    value: Any
    arguments_after: list[Any]
    type: str  # the name of the value's class


class Asked:
    """A server that the self-test talks to."""

    def __init__(self, session: Session) -> None:
        self.process = session.process
        self._session = session

    def list_tools(self) -> list[dict[str, Any]]:
        """The tools that it lists. Stops the check when it refuses or says something else."""
        answer = self._ask("tools/list", {})
        if "error" in answer:
            raise ItemStopped(
                "fail",
                "wire.error-answer",
                method="tools/list",
                error=answer["error"]["message"],
            )
        tools: list[dict[str, Any]] = answer["result"]["tools"]
        return tools

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; returns the whole answering message, `result` or `error`."""
        return self._ask("tools/call", {"name": name, "arguments": arguments})

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = self._session.request(method, params)
        _expect_shape(method, answer, [])
        return answer


class Collected:
    """What a program wrote on one stream, whole up to the limit at which it is ended."""

    def __init__(self, child: Child, limits: Limits) -> None:
        self.output = Output()
        self._parts: list[bytes] = []
        self._child = child
        self._limits = limits

    def add(self, data: bytes) -> None:
        """Take more bytes."""
        self.output.add(data)
        if self.output.size <= self._limits.output_bytes:
            self._parts.append(data)
        else:
            self._child.exceeded("output")

    @property
    def text(self) -> str:
        """The whole text."""
        return b"".join(self._parts).decode("utf-8", errors="backslashreplace")


def recorded(reply: Reply, transcript: Transcript) -> Reply:
    """The same model, with every request and every answer in the transcript."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        transcript.add("model", "model", "agent", "message", message=request)
        try:
            response = reply(request)
        except BadRequest as error:
            refusal = {"error": {"message": str(error)}}
            transcript.add("model", "model", "model", "message", message=refusal, status=400)
            raise
        transcript.add("model", "model", "model", "message", message=response, status=200)
        return response

    return answer


def _expect_shape(method: str, answer: dict[str, Any], evidence: list[Evidence]) -> None:
    fault = fault_in(method, answer)
    if fault:
        raise ItemStopped("fail", "wire.malformed-answer", evidence, method=method, fault=fault)


def _limit_stop(child: Child) -> ItemStopped:
    limit = {
        "memory": child.limits.memory_bytes >> 20,
        "processes": child.limits.processes,
        "output": child.limits.output_bytes >> 20,
    }[child.limit]
    return ItemStopped("limit", f"process.{child.limit}", limit=limit)


def _stray_stop(strays: list[Event]) -> ItemStopped:
    first = strays[0]
    code = {"not-utf8": "wire.not-utf8", "no-newline": "wire.no-newline"}.get(
        first.fault, "wire.stray-line"
    )
    if first.fault == "not-json" and _is_message("".join(event.raw for event in strays)):
        code = "wire.pretty-printed"
    if first.fault == "no-newline" and not _is_message(first.raw):
        code = "wire.stray-line"  # a print without an end, not a message without one
    if first.sender == "client":
        code = "wire.client-stray"
    where = STRAY if first.sender == "server" else SENT
    evidence = [Evidence(where, event) for event in strays[:3]]
    return ItemStopped("fail", code, evidence, line=first.line, quoted=quote(first.raw))


def _is_message(text: str) -> bool:
    """Whether a text is one or more JSON-RPC messages, laid out in whatever way."""
    try:
        message, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return False
    return is_json_rpc(message)


def _result_rows(text: str, count: int) -> list[dict[str, Any]] | None:
    """The results that the call runner wrote, or None when these are none of its: a process that
    learner code runs in can write anything."""
    try:
        rows = parse_json(text)["results"]
    except (ValueError, TypeError, KeyError):
        return None
    if not isinstance(rows, list) or len(rows) != count:
        return None
    for row in rows:
        if not isinstance(row, dict):
            return None
        good = "value" in row and isinstance(row.get("arguments"), list) and "type" in row
        if not good and not isinstance(row.get("raised", row.get("no_json")), str):
            return None
    return rows


def _last_json_list(text: str) -> list[dict[str, Any]] | None:
    """The list of objects that a program printed last; a learner may have printed before it."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("["):
            with contextlib.suppress(ValueError):
                found, _ = json.JSONDecoder().raw_decode("".join(lines[number:]))
                if isinstance(found, list) and all(isinstance(row, dict) for row in found):
                    return found
    return None


def quote(text: str, most: int = 120) -> str:
    """A text short enough for a message, its middle left out when it is long."""
    return text if len(text) <= most else f"{text[: most - 20]}…{text[-15:]}"
