"""The trace in the terminal: of real runs, in both languages, however narrow, and of bad files."""

from __future__ import annotations

import json
import re
import sys

import pexpect
import pytest
from rich.cells import cell_len

from .conftest import HOSTILE, Checkout, WriteRecord, event, item


def test_without_an_item_the_first_that_is_not_passed(checkout: Checkout) -> None:
    done = checkout.trace("--file", checkout.starter)
    said = done.stdout.decode()
    assert done.returncode == 0
    assert "▷ 2 tools/list names both tools" in said
    assert "not started" in said
    assert "→ Open labs/day23_mcp_server/mcp_server.py" in said
    (marked,) = [n for n, line in enumerate(said.splitlines()) if "▲ the server's answer" in line]
    assert "↩ tools/list tools: query_order" in said.splitlines()[marked - 1]
    assert "part 2 of 2" in said
    assert "the server starts, shakes hands" not in said
    assert "\x1b" not in said


def test_when_all_pass_all_are_drawn_with_both_wires(checkout: Checkout) -> None:
    said = checkout.trace("--file", checkout.solution).stdout.decode()
    assert re.findall(r"^✔ (\d)", said, re.MULTILINE) == ["1", "2", "3", "4", "5", "6"]
    assert "model agent server" in said
    chain = [
        r"│     │────►│ +tools/list",
        r"│     │◄────│ +↩ tools/list",
        r"│◄────│     │ +chat/completions",
        r"│────►│     │ +↩ chat/completions query_order\(",
        r"│     │────►│ +tools/call",
        r"│     │◄────│ +↩ tools/call",
        r"│     │─ ─ ►│ +closes the server's stdin",
    ]
    assert re.search(".*".join(chain), said, re.DOTALL)
    assert re.search(r"\d\.\d{3} s +\+\d+ ms ", said)


def test_an_item_in_chinese_with_what_should_be_beside_what_is(checkout: Checkout) -> None:
    said = checkout.trace("--file", checkout.starter, "--item", "3", "--lang", "zh").stdout.decode()
    assert "第 23 天：线路上的报文" in said
    assert "▲ 然后被 server 挡了回来" in said
    assert "应有：server 列出的 query_order 的 inputSchema" in said
    assert re.search(r'^  -     "order_id": \{', said, re.MULTILINE)
    assert re.search(r'^  \+   "properties": \{\},$', said, re.MULTILINE)


def test_the_latest_run_of_a_day(checkout: Checkout) -> None:
    said = checkout.trace("23").stdout.decode()  # the fixture ran the solution last
    assert "solutions/day23_mcp_server" in said
    assert "6 of 6 items pass" in said


@pytest.mark.parametrize(("language", "words"), [("en", "closes its stdout"), ("zh", "关闭自己的")])
def test_sixty_columns(checkout: Checkout, language: str, words: str) -> None:
    arguments = ["selftest.py", "trace", "--file", str(checkout.solution), "--lang", language]
    child = pexpect.spawn(
        sys.executable,
        arguments,
        cwd=str(checkout.folder),
        env={**checkout.environment, "TERM": "xterm-256color"},
        dimensions=(50, 60),
        encoding="utf-8",
        timeout=30,
    )
    raw = child.read()
    child.close()
    assert child.exitstatus == 0
    assert "\x1b[" in raw
    lines = re.sub(r"\x1b\[[\d;]*m", "", raw).split("\r\n")
    assert "\x1b" not in "".join(lines), "colours only: the cursor stays where it is"
    assert max(map(cell_len, lines)) <= 60
    assert any(words in line for line in lines)
    assert any("│     │────►│" in line and "tools/call" in line for line in lines)


def test_a_terminal_without_colour(checkout: Checkout) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["selftest.py", "trace", "--file", str(checkout.starter)],
        cwd=str(checkout.folder),
        env={**checkout.environment, "TERM": "xterm", "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=30,
    )
    assert not re.search(r"\x1b\[[\d;]*3\d", child.read())
    child.close()
    assert child.exitstatus == 0


def test_a_gbk_terminal_gets_lanes_that_it_can_show(checkout: Checkout) -> None:
    done = checkout.trace(
        "--file", checkout.starter, "--lang", "zh", PYTHONIOENCODING="gbk", LC_ALL="C"
    )
    said = done.stdout.decode("gbk")
    assert "|---->|" in said
    assert "线路上的报文" in said


def test_no_record_yet(checkout: Checkout) -> None:
    done = checkout.trace("24")
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode().count("\n") == 1
    assert "Run `python selftest.py 24` first" in done.stderr.decode()
    assert "请先运行" in checkout.trace("24", "--html", LAB_LANG="zh").stderr.decode()


def test_wrong_usage(checkout: Checkout, write_record: WriteRecord) -> None:
    record = write_record(item())
    for arguments, words in [
        ([], "Name a day first"),
        (["--html", "23"], "Name a day first"),
        (["x"], "invalid int value"),
        (["--file", "nowhere.jsonl"], "nowhere.jsonl cannot be read: No such file"),
        (["--file", "labs"], "labs cannot be read"),
        (["--file", "selftest.py"], "selftest.py is no record"),
        (["--file", str(record), "--item", "9"], "has no item 9. It has: 1."),
        (["--file", str(record), "--html", "none/x.html"], "none/x.html cannot be written"),
        (["--file", str(record), "--lang", "fr"], "invalid choice"),
    ]:
        done = checkout.trace(*arguments)
        assert (done.returncode, done.stdout) == (2, b""), arguments
        assert words in done.stderr.decode(), arguments
        assert "Traceback" not in done.stderr.decode()
    assert checkout.trace("23", LAB_LANG="fr").returncode == 2


def test_a_broken_record_is_drawn_as_far_as_it_goes(
    checkout: Checkout, write_record: WriteRecord
) -> None:
    whole = event(1, "client", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    half = json.dumps(event(2, "server", {}))[:-20]
    lines = [item(), whole, "[]", "7", {"row": "event"}, {**whole, "at": "x"}, {"row": "new"}]
    done = checkout.trace("--file", write_record(*lines, {**whole, "part": 10**9}, half))
    assert done.returncode == 0
    assert "ping" in done.stdout.decode()
    assert "(6 lines of " in done.stderr.decode()


def test_what_crossed_the_wires_cannot_command_the_terminal(
    checkout: Checkout, write_record: WriteRecord
) -> None:
    record = write_record(
        item(cause=HOSTILE, evidence=[{"note": {"en": HOSTILE}, "text": HOSTILE}]),
        event(1, "server", None, kind="stray", fault="not-json", raw=f"{HOSTILE}\r\n\x07\x9b31m"),
        event(2, "client", {"jsonrpc": "2.0", "method": HOSTILE, "params": {"x": "\ud800"}}),
    )
    done = checkout.trace("--file", record)
    assert done.returncode == 0, done.stderr
    said = done.stdout.decode()
    assert "not JSON" in said
    assert "\\x1b[2J" in said
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)


def test_messages_of_no_known_shape(checkout: Checkout, write_record: WriteRecord) -> None:
    record = write_record(
        item(evidence=[{"note": {"en": "n"}, "part": 0, "number": n} for n in range(1, 10)]),
        event(1, "agent", {"messages": [], "tools": 3}),
        event(2, "model", {"choices": [{"message": {"content": [1]}}]}, status=200),
        event(3, "model", {"error": "flat"}, status=500),
        event(4, "client", {"jsonrpc": "2.0", "id": [1], "method": "tools/call", "params": 3}),
        event(5, "server", {"jsonrpc": "2.0", "id": [1], "result": []}),
        event(6, "server", {"jsonrpc": "2.0", "id": 2, "error": None}),
        event(7, "server", {"jsonrpc": "2.0", "id": 2, "result": {"content": [{}]}}),
        event(8, "agent", {"messages": [{"role": "tool"}], "tools": [1, {"function": {}}]}),
    )
    for how in ([], ["--mermaid"]):
        done = checkout.trace("--file", record, *how)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.decode().count("▲ n") >= 8
