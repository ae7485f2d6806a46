"""The tap between a host and a server: neither may notice it, and nothing that crossed is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from shared.processes.supervisor import ROOT
from shared.trace.reading import read_recording
from shared.wire.tap import server_name
from solutions.day23_mcp_server.mcp_client import McpClient

from .conftest import Checkout

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and pipes as POSIX has them")

TAP = ["-m", "shared.wire.tap"]
SERVER = [sys.executable, "-m", "solutions.day23_mcp_server.mcp_server"]
DEADLINE = 30.0

ECHO = "import os, sys\nwhile data := os.read(0, 65536): os.write(1, data)\nsys.exit(7)"
STUBBORN = (
    "import signal, sys, time\n"
    "sys.stdin.readline(); print('{}', flush=True); sys.stdin.read()\n"
    "while True: time.sleep(1)"
)
SAYS_SIGNALS = (
    "import signal, sys, time\n"
    "def said(number, frame): print(signal.Signals(number).name, flush=True); sys.exit(5)\n"
    "signal.signal(signal.SIGTERM, said); signal.signal(signal.SIGINT, said)\n"
    "print('ready', flush=True)\n"
    "while True: time.sleep(1)"
)


@pytest.fixture(scope="module", autouse=True)
def importable() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.setenv("LAB_LANG", "en")
        patch.delenv("SHOP_DATA", raising=False)
        yield


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "tap.jsonl"


def tap(record: Path, *command: str) -> list[str]:
    return [sys.executable, *TAP, "--record", str(record), "--", *command]


def start(command: list[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
    )


def run(command: list[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)


def rows(record: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.read_bytes().splitlines()]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# -- what passes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\r\n",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\r\n',
        b"a banner\n\x00\xff\xfe\n[1]\n",
        b"never ended",
        b"\xe8\xae" + b"\xa2\n" * 3,
        b"x" * 3_000_000 + b"\n" + b"y" * 100_000,
        b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 1, "result": ' + b"[" * 900 + b"]" * 900 + b"}\n",
        b'{"jsonrpc": "2.0", "id": 1, "result": "\\ud800\xe2\x80\xa8"}\n',
    ],
    ids=["nothing", "empty", "crlf", "junk", "no-end", "cut", "huge", "infinite", "deep", "text"],
)
def test_every_byte_passes_and_the_record_is_read(record: Path, data: bytes) -> None:
    done = run(tap(record, sys.executable, "-S", "-c", ECHO), data)
    assert done.stdout == data
    assert done.returncode == 7
    assert done.stderr.decode().splitlines() == [
        f"tap: what crosses this server's stdin and stdout is recorded in {record}"
    ]
    recording = read_recording(record)
    assert recording.unread == 0
    (section,) = recording.sections
    assert section.exit_code == 7
    lines = [line for line in data.split(b"\n") if line.strip()]
    for sender in ("client", "server"):
        events = [row.event for row in section.rows if row.event.sender == sender]
        assert len(events) == len(lines) + 1
        assert events[-1].kind == "end"


def test_half_a_line_passes_at_once(record: Path) -> None:
    host = start(tap(record, sys.executable, "-S", "-c", ECHO))
    assert host.stdin
    assert host.stdout
    for piece in (b"half", b" a li", b"ne\n"):
        host.stdin.write(piece)
        assert host.stdout.read(len(piece)) == piece
    host.stdin.close()
    assert host.wait(DEADLINE) == 7


def test_the_day_23_server_answers_byte_for_byte_as_without(record: Path) -> None:
    initialize = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    said = []
    for command in (SERVER, tap(record, *SERVER)):
        host = start(command)
        assert host.stdin
        assert host.stdout
        host.stdin.write(data)
        said.append([host.stdout.readline(), host.stdout.readline()])
        host.stdin.close()
        assert host.stdout.read() == b""
        assert host.wait(DEADLINE) == 0
    assert said[0] == said[1]
    seen = [row.get("message") for row in rows(record) if row.get("sender") == "server"]
    assert seen == [*map(json.loads, said[0]), None]  # and the end


def test_the_day_23_client_and_server_and_the_trace_of_them(
    record: Path, checkout: Checkout
) -> None:
    with McpClient(sys.executable, tap(record, *SERVER)[1:]) as client:
        client.initialize()
        result = client.call_tool("query_order", {"order_id": "SO20260901"})
        assert not result.is_error
    said = checkout.trace("--file", record).stdout.decode()
    assert "solutions.day23_mcp_server.mcp_server: what crossed its stdin and stdout" in said
    assert "│────►│     initialize" in said
    assert "│◄────│     ↩ tools/call" in said
    assert "SO20260901" in said
    assert "The server ended with exit code 0." in said
    assert "会话" in checkout.trace("--file", record, "--lang", "zh").stdout.decode()
    assert "S1-->>A: ↩ initialize" in checkout.trace("--file", record, "--mermaid").stdout.decode()


def test_a_server_that_nobody_here_wrote(record: Path) -> None:
    clock = Path(sysconfig.get_path("scripts"), "mcp-server-time")
    with McpClient(
        sys.executable, tap(record, str(clock), "--local-timezone", "UTC")[1:]
    ) as client:
        about = client.initialize()
        assert about["serverInfo"]["name"] == "mcp-time"
        assert len(client.list_tools()) == 2
        told = client.call_tool("get_current_time", {"timezone": "Asia/Shanghai"})
        assert "+08:00" in told.text
    recording = read_recording(record)
    assert recording.run["tap"] == "mcp-server-time"
    methods = [row.event.method for row in recording.sections[0].rows if row.event.method]
    assert methods == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
    ]
    answers = [row.answers.method for row in recording.sections[0].rows if row.answers]
    assert answers == ["initialize", "tools/list", "tools/call"]
    assert recording.sections[0].exit_code == 0


# -- how it ends ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_goes_to_the_server_once(record: Path, number: signal.Signals) -> None:
    host = start(tap(record, sys.executable, "-S", "-c", SAYS_SIGNALS))
    assert host.stdout
    assert host.stdout.readline() == b"ready\n"
    os.kill(host.pid, number)
    assert host.stdout.read() == f"{number.name}\n".encode()
    assert host.wait(DEADLINE) == 5
    assert rows(record)[-1] == {"row": "exit", "code": 5}


def test_the_tap_dies_of_what_the_server_died_of(record: Path) -> None:
    dying = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert run(tap(record, sys.executable, "-S", "-c", dying)).returncode == -signal.SIGTERM
    assert rows(record)[-1] == {"row": "exit", "code": -signal.SIGTERM}


def test_a_server_that_ends_ends_the_tap_although_stdin_is_open(record: Path) -> None:
    host = start(tap(record, sys.executable, "-S", "-c", "raise SystemExit(9)"))
    assert host.wait(DEADLINE) == 9


def test_a_server_that_outlives_its_stdin_is_ended(record: Path) -> None:
    quick = (
        "import sys; from shared.wire import tap; tap.STOP_SECONDS = tap.KILL_SECONDS = 0.2;"
        "sys.exit(tap.main(sys.argv[1:]))"
    )
    immune = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{STUBBORN}"
    for server, code in ((STUBBORN, -signal.SIGTERM), (immune, -signal.SIGKILL)):
        words = tap(record, sys.executable, "-S", "-c", server)[3:]
        host = start([sys.executable, "-c", quick, *words])
        assert host.stdin
        assert host.stdout
        host.stdin.write(b"go\n")
        assert host.stdout.readline() == b"{}\n"  # it is there, and as immune as it gets
        host.stdin.close()
        assert host.wait(DEADLINE) == code


def test_a_killed_tap_leaves_what_it_saw_and_no_server(record: Path) -> None:
    host = start(
        tap(record, sys.executable, "-S", "-c", STUBBORN if sys.platform == "linux" else ECHO)
    )
    assert host.stdin
    assert host.stdout
    host.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    host.stdout.readline()
    (child,) = psutil.Process(host.pid).children()
    host.kill()
    host.wait()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    seen = [(row["sender"], row["kind"]) for row in rows(record)[1:]]
    assert seen[0] == ("client", "message")
    assert seen[1][0] == "server"


def test_a_host_that_reads_no_more_is_noticed_by_the_server(record: Path) -> None:
    chatty = "import os\nwhile True: os.write(1, b'x' * 1000)"
    host = start(tap(record, sys.executable, "-S", "-c", chatty))
    assert host.stdout
    host.stdout.read(10)
    host.stdout.close()
    assert host.wait(DEADLINE) == 1
    assert host.stderr
    assert b"BrokenPipeError" in host.stderr.read()  # the server's stderr is the host's


# -- what cannot be -------------------------------------------------------------------------------


def test_no_such_command(record: Path, tmp_path: Path) -> None:
    for command, code, reason in [
        ("no-such-server", 127, "No such file or directory"),
        (str(tmp_path), 126, "Permission denied"),
    ]:
        done = run(tap(record, command, "--token=secret"))
        assert (done.returncode, done.stdout) == (code, b"")
        assert done.stderr.decode().count("\n") == 1
        assert f"tap: {command} cannot be started: {reason}" in done.stderr.decode()
        assert b"secret" not in done.stderr
        assert not record.exists()


def test_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    done = run(tap(tmp_path / "none" / "x.jsonl", sys.executable, "-c", "print('ran')"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().count("\n") == 1
    assert "x.jsonl cannot be written: No such file" in done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_does_not_stop_the_server() -> None:
    data = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n' * 50
    done = run(tap(Path("/dev/full"), sys.executable, "-S", "-c", ECHO), data)
    assert done.stdout == data
    assert done.returncode == 7
    said = done.stderr.decode().splitlines()
    assert len(said) == 2
    assert "cannot be written any more: No space left on device" in said[1]


@pytest.mark.parametrize("words", [[], ["--"], ["cat"], ["--record"], ["--record", "x"]])
def test_wrong_usage(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *TAP, *words], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr
    assert list(tmp_path.iterdir()) == []


# -- records --------------------------------------------------------------------------------------


def test_sessions_are_added_to_a_record_that_is_there(record: Path, checkout: Checkout) -> None:
    for _ in range(2):
        run(tap(record, sys.executable, "-S", "-c", ECHO), b"banner\n")
    assert [section.number for section in read_recording(record).sections] == [1, 2]
    assert record.stat().st_mode & 0o077 == 0
    said = checkout.trace("--file", record, "--item", "2").stdout.decode()
    assert said.count("not JSON banner") == 2
    assert "The server ended with exit code 7." in said


def test_without_a_file_each_session_has_one_of_its_own(checkout: Checkout) -> None:
    taps = [
        subprocess.Popen(
            [sys.executable, *TAP, "--", "cat"],
            cwd=checkout.folder,
            env={**checkout.environment, "LAB_LANG": "zh"},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(8)
    ]
    said = [process.communicate(timeout=60)[1].decode() for process in taps]
    assert all("这个 server 的 stdin 和 stdout" in line for line in said)
    records = list((checkout.folder / ".selftest" / "taps").glob("20*-cat*.jsonl"))
    assert len(records) == 8
    for path in records:
        assert sum(str(path) in line for line in said) == 1


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/opt/bin/mcp-server-time", "--x"], "mcp-server-time"),
        (
            ["python3.12", "-m", "labs.day23_mcp_server.mcp_server"],
            "labs.day23_mcp_server.mcp_server",
        ),
        ([r"C:\Python\python.exe", "-u", r"C:\x\server.py"], "server"),
        (["npx", "-y", "@scope/server-memory@1.0"], "server-memory@1.0"),
        (["uv", "run", "server.py"], "server"),
        (["sh", "-c", "TOKEN=secret ./server"], "sh"),
        (["python"], "python"),
        (["../.."], "server"),
    ],
)
def test_the_name_of_a_server(command: list[str], name: str) -> None:
    assert server_name(command) == name
