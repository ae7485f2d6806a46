"""What crosses the wire is recorded as it crossed, whoever is at its ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.processes import Launcher, Program
from shared.wire.lines import LineRecorder, is_json_rpc
from shared.wire.relay import Relay
from shared.wire.server_process import Output
from shared.wire.session import NoAnswer, Session
from shared.wire.transcript import Transcript

ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message}), flush=True)
print("until the end", file=sys.stderr)
sys.exit(5)
"""


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher(cold=True) as launcher:
        yield launcher


def server(folder: Path, text: str) -> Program:
    (folder / "server.py").write_text(text, encoding="utf-8")
    return Program((sys.executable, "server.py"), folder)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, True),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, True),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, True),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": ""}}, True),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, False),
        ({"jsonrpc": "2.0", "result": {}}, False),
        ({"id": 1, "method": "ping"}, False),
        ({"jsonrpc": "2.0", "method": 7}, False),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], False),
        ("text", False),
    ],
)
def test_what_a_json_rpc_message_is(message: object, expected: bool) -> None:
    assert is_json_rpc(message) is expected


def test_lines_are_cut_on_bytes_and_faults_are_named() -> None:
    transcript = Transcript()
    recorder = LineRecorder(transcript, "shop", "server")
    good = json.dumps({"jsonrpc": "2.0", "id": 1, "result": "订单"}, ensure_ascii=False).encode()
    stream = good + b"\r\nbanner\n\n" + b"\xb6\xa9\n" + b'{"foo": 1}\n' + good
    messages = []
    for byte in stream:  # one at a time: a character may be cut in the middle
        messages += recorder.feed(bytes([byte]))
    recorder.end()
    assert messages == [json.loads(good)]
    assert [(event.kind, event.line, event.fault) for event in transcript] == [
        ("message", 1, ""),
        ("stray", 2, "not-json"),
        ("stray", 4, "not-utf8"),
        ("stray", 5, "not-json-rpc"),
        ("stray", 6, "no-newline"),
        ("end", 0, ""),
    ]
    raw = [event.raw for event in transcript]
    assert raw[1:3] == ["banner", "\\xb6\\xa9"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1e999", "[" * 200 + "]" * 200])
def test_what_no_json_document_can_hold_is_a_stray_line(value: str) -> None:
    transcript = Transcript()
    recorder = LineRecorder(transcript, "shop", "server")
    assert recorder.feed(b'{"jsonrpc": "2.0", "id": 1, "result": %s}\n' % value.encode()) == []
    assert [(event.kind, event.fault) for event in transcript] == [("stray", "not-json")]


def test_a_flood_fills_no_memory() -> None:
    output = Output()
    for number in range(10_000):
        output.add(f"{number:06}\n".encode())
    assert output.size == 70_000
    assert output.text.startswith("000000\n")
    assert output.text.endswith("009999\n")
    assert " [...] " in output.text
    assert len(output.text) < 3 * Output.KEEP


def test_a_short_output_is_kept_whole() -> None:
    output = Output()
    output.add("一行\n".encode())
    assert output.text == "一行\n"


def test_a_session_asks_and_records(launcher: Launcher, tmp_path: Path) -> None:
    transcript = Transcript()
    with Session(launcher, server(tmp_path, ECHO), transcript, "echo") as session:
        answer = session.request("tools/list", {"词": "订单"})
        assert answer["result"]["params"] == {"词": "订单"}
    assert session.process.child.code == 5
    assert session.process.stopped_after is not None
    assert session.process.stderr.text == "until the end\n"
    assert [(event.sender, event.kind) for event in transcript] == [
        ("client", "message"),
        ("server", "message"),
        ("client", "end"),
        ("server", "end"),
    ]
    (request,) = transcript.requests("tools/list")
    assert transcript.answer_to(request) == transcript.mcp("echo", "server")[0]


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("raise SystemExit(3)", True),
        ("import sys; print('hello', flush=True); sys.stdin.read()", False),
    ],
)
def test_a_session_says_when_there_is_no_answer(
    launcher: Launcher, tmp_path: Path, text: str, ended: bool
) -> None:
    session = Session(launcher, server(tmp_path, text), Transcript(), "silent")
    with session, pytest.raises(NoAnswer) as silence:
        session.request("initialize", {})
    assert silence.value.ended is ended


def test_a_server_that_ignores_the_end_of_its_input_is_ended(
    launcher: Launcher, tmp_path: Path
) -> None:
    stubborn = "import sys, time\nsys.stdin.read()\ntime.sleep(60)"
    session = Session(launcher, server(tmp_path, stubborn), Transcript(), "stubborn")
    assert session.process.stop(0.2) is None
    assert session.process.stopped_after is None
    assert session.process.child.code == -9


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_a_relay_is_the_server_to_its_host(launcher: Launcher, tmp_path: Path, tcp: bool) -> None:
    transcript = Transcript()
    servers = {"echo": server(tmp_path, ECHO)}
    with Relay(launcher, transcript, servers, tmp_path, tcp=tcp) as relay:
        entry = relay.entries()["echo"]
        message = {"jsonrpc": "2.0", "id": 1, "method": "工具", "params": {"long": "x" * 300_000}}
        host = subprocess.run(
            [entry["command"], *entry["args"]],
            input=json.dumps(message, ensure_ascii=False).encode() + b"\n",
            capture_output=True,
            timeout=20,
            check=False,
        )
    assert json.loads(host.stdout)["result"] == message
    assert host.returncode == 5  # the server's own exit code
    assert [event.message for event in transcript if event.kind == "message"] == [
        message,
        json.loads(host.stdout),
    ]
    assert relay.faults == []
    assert relay.sessions[0].child.code == 5


def test_a_relay_passes_on_the_death_of_a_server(launcher: Launcher, tmp_path: Path) -> None:
    servers = {"dying": server(tmp_path, "import os, sys; sys.stdin.readline(); os._exit(9)")}
    with Relay(launcher, Transcript(), servers, tmp_path) as relay:
        entry = relay.entries()["dying"]
        host = subprocess.Popen(
            [entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert host.stdin
        host.stdin.write(b"{}\n")
        host.stdin.flush()
        assert host.wait(10) == 9  # although its own stdin has not ended
        host.stdin.close()


def test_closing_a_relay_stops_what_a_killed_host_left(launcher: Launcher, tmp_path: Path) -> None:
    with Relay(launcher, Transcript(), {"echo": server(tmp_path, ECHO)}, tmp_path) as relay:
        entry = relay.entries()["echo"]
        host = subprocess.Popen(
            [entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert host.stdin
        assert host.stdout
        host.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "x"}\n')
        host.stdin.flush()
        host.stdout.readline()
        host.kill()
        host.wait()
    assert relay.sessions[0].child.ended.is_set()


def test_a_transcript_is_saved_as_json_lines(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.add("mcp", "shop", "client", "message", line=1, raw="{}", message={"词": 1})
    transcript.add("mcp", "shop", "server", "stray", line=1, raw="横幅", fault="not-json")
    transcript.save(tmp_path / "run.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text("utf-8").splitlines()]
    assert [row["number"] for row in rows] == [1, 2]
    assert rows[0]["message"] == {"词": 1}
    assert rows[1]["raw"] == "横幅"
