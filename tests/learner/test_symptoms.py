"""Symptoms that learners report, reproduced against the real self-test: each gets its code.

With tests/selftest these produce every code that there is; test_catalogue.py counts them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

from shared.learner import probe
from shared.processes import Launcher
from shared.processes.supervisor import ROOT
from shared.selftest import lab as lab_module
from tests.selftest.conftest import LAB, Work

SERVER, CLIENT, AGENT = "mcp_server.py", "mcp_client.py", "agent.py"

# A server by hand, as somebody writes it who has read the lesson and forgotten one thing.
BARE = """\
import json
import sys


def reply(request, **result):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **result}, ensure_ascii=False))


ABOUT = {"name": "网店", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": ABOUT}
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "initialize":
        reply(request, result=HELLO)
    elif request["method"] == "tools/list":
        reply(request, result={"tools": []})
"""
FLUSHED = BARE.replace("ensure_ascii=False))", "ensure_ascii=False), flush=True)")
GBK = "import sys\nsys.stdout.reconfigure(encoding='gbk')\n"

WAIT = 1.5  # seconds, in which a bare server would have answered a hundred times

Change = Callable[[Work], object]


@dataclass(frozen=True)
class Reported:
    """What is done to the solution, the item that it fails, the diagnosis, and after how many
    seconds of endless waiting."""

    name: str
    change: Change
    item: int
    diagnosis: str
    seconds: float = lab_module.SECONDS


def bare(text: str) -> Change:
    return lambda work: work.write(SERVER, text)


def edit(file: str, old: str, new: str) -> Change:
    return lambda work: work.edit(file, old, new)


def write_config(text: str) -> Change:
    return lambda work: (work.folder / "mcp.json").write_text(text, encoding="utf-8")


REPORTED = [
    # import dies after a change of the SDK
    Reported(
        "a name that SDK 2 has not",
        edit(SERVER, "from mcp.server import MCPServer", "from mcp import FastMCP as MCPServer"),
        1,
        "sdk.wrong-major",
    ),
    # no flush, no newline, indent: the server's side, and the client's
    Reported("a server that does not flush", bare(BARE), 1, "wire.no-flush", WAIT),
    Reported(
        "a server that writes no newline",
        bare(FLUSHED.replace("ensure_ascii=False)", "ensure_ascii=False), end=''")),
        1,
        "wire.no-newline",
        WAIT,
    ),
    Reported(
        "a server that never answers",
        bare("import sys\nfor line in sys.stdin:\n    pass\n"),
        1,
        "wire.no-answer",
        WAIT,
    ),
    Reported(
        "a client that does not flush",
        edit(CLIENT, "self._process.stdin.flush()", "pass"),
        1,
        "wire.nothing-sent",
        WAIT,
    ),
    Reported(
        "a client that writes no newline",
        edit(CLIENT, 'ensure_ascii=False) + "\\n"', "ensure_ascii=False)"),
        1,
        "wire.client-stray",
        WAIT,
    ),
    Reported(
        "a client that prints prettily",
        edit(CLIENT, "ensure_ascii=False) +", "ensure_ascii=False, indent=2) +"),
        1,
        "wire.client-stray",
    ),
    # what comes back is no answer of MCP's
    Reported(
        "a server that refuses the handshake",
        bare(FLUSHED.replace("result=HELLO", "error={'code': -32600, 'message': 'no'}")),
        1,
        "wire.error-answer",
    ),
    Reported(
        "a method that there is not",
        edit(CLIENT, '"tools/list"', '"tool/list"'),
        1,
        "wire.error-answer",
    ),
    Reported(
        "tools that are no list",
        bare(FLUSHED.replace('{"tools": []}', '{"tools": {}}')),
        1,
        "wire.malformed-answer",
    ),
    # a dead server and an endless wait
    Reported(
        "a client that waits for the dead",
        edit(CLIENT, "raise self._exited()  # the end", "while True: pass  # the end"),
        5,
        "wire.waits-for-the-dead",
        3.0,  # in which the programs of four items have to end
    ),
    # encodings
    Reported("Chinese in GBK", bare(GBK + FLUSHED), 1, "wire.not-utf8"),
    Reported(
        "a no-break space in GBK",
        bare(GBK + FLUSHED.replace("网店", "网店\\u00a0")),
        1,
        "code.legacy-encoding",
    ),
    # names and pairing
    Reported(
        "a tool under another name than the prompt says",
        edit(SERVER, "def query_order(", "def get_order("),
        2,
        "server.tool-missing",
    ),
    Reported(
        "a tool with a prefix",
        edit("bridge.py", '"name": tool["name"]', '"name": "shop__" + tool["name"]'),
        3,
        "bridge.wrong-name",
    ),
    Reported(
        "several calls, fewer results",
        edit(AGENT, 'in answer["tool_calls"]:', 'in answer["tool_calls"][:1]:'),
        4,
        "model.refused",
    ),
    Reported(
        "a result without the call before it",
        edit(AGENT, "        say(answer)\n", ""),
        4,
        "model.refused",
    ),
    Reported(
        "results under each other's ids",
        edit(
            AGENT,
            '"tool_call_id": call["id"]',
            '"tool_call_id": answer["tool_calls"][-1 - answer["tool_calls"].index(call)]["id"]',
        ),
        4,
        "agent.wrong-call-id",
    ),
    Reported(
        "a call that is printed and not made",
        lambda work: work.exercise(
            3, "print(name, arguments)\nreturn ToolResult('好的', is_error=False)"
        ),
        4,
        "client.nothing-sent",
    ),
    # the loop around it
    Reported(
        "a question that never reaches the model",
        edit(AGENT, "range(MAX_TURNS)", "range(0)"),
        4,
        "agent.model-not-asked",
    ),
    Reported(
        "only local tools",
        edit(AGENT, ", *(to_function_tool(tool) for tool in client.list_tools())", ""),
        4,
        "agent.tool-not-offered",
    ),
    Reported(
        "another question than was asked",
        edit(AGENT, '"content": question}', '"content": question + "，物流到哪了"}'),
        4,
        "agent.wrong-tool",
    ),
    Reported(
        "one turn only",
        edit(AGENT, "MAX_TURNS = 8", "MAX_TURNS = 1"),
        4,
        "agent.result-not-returned",
    ),
    Reported(
        "no turn left for the answer",
        edit(AGENT, "MAX_TURNS = 8", "MAX_TURNS = 2"),
        5,
        "agent.no-answer",
    ),
    Reported(
        "an answer that is kept to itself",
        edit(AGENT, 'return answer.get("content") or ""', 'return "好的"'),
        4,
        "agent.answer-not-returned",
    ),
    # the configuration
    Reported("no server at all", write_config("{}"), 1, "config.unusable"),
]


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


@pytest.fixture
def solution(launcher: Launcher, tmp_path: Path) -> Work:
    folder = tmp_path / LAB
    shutil.copytree(ROOT / "solutions" / LAB, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Work(folder, launcher)


@pytest.mark.parametrize("reported", REPORTED, ids=lambda one: one.name)
def test_a_symptom_gets_its_diagnosis(
    solution: Work, reported: Reported, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_module, "SECONDS", reported.seconds)
    reported.change(solution)
    item = solution.item(reported.item)
    assert item.diagnosis == reported.diagnosis, (item.message.en, item.detail)
    assert item.status in ("fail", "error", "timeout")
    for text in (item.message.en, item.message.zh):
        assert text
        assert not re.search(r"\{[a-z_]+\}", text)


def test_a_missing_flush_is_named_and_its_late_answer_shown(
    solution: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_module, "SECONDS", WAIT)
    item = solution.write(SERVER, BARE).item(1)
    assert "flush" in item.step.en
    assert "flush" in item.step.zh
    request, answer = (evidence.event for evidence in item.evidence)
    assert request is not None
    assert answer is not None
    assert request.method == "initialize"
    assert answer.message["result"]["serverInfo"]["name"] == "网店"


def test_the_encoding_of_a_system_is_enough(tmp_path: Path) -> None:
    """What a Chinese Windows does to a server by hand, with nothing in the code to see."""
    folder = tmp_path / LAB
    shutil.copytree(ROOT / "solutions" / LAB, folder, ignore=shutil.ignore_patterns("__pycache__"))
    entry = {"command": "python", "args": [SERVER], "env": {"PYTHONIOENCODING": "gbk"}}
    with Launcher(cold=True) as launcher:
        work = Work(folder, launcher).write(SERVER, FLUSHED)
        write_config(json.dumps({"mcpServers": {"shop": entry}}))(work)
        item = work.item(1)
    assert item.diagnosis == "wire.not-utf8"
    assert 'encoding="utf-8"' in item.step.en


def test_an_exception_is_shown_with_its_file_and_line(solution: Work) -> None:
    solution.edit(SERVER, "shop = load_shop()", "shop = load_shop()['orders']")
    line = solution.files[SERVER].splitlines().index("shop = load_shop()['orders']") + 1
    assert f"labs/{LAB}/{SERVER}, line {line} raised" in solution.item(1).message.en


def test_a_fault_of_the_grader_is_not_the_learners(
    solution: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr("solutions.day23_mcp_server.checks._expect_handshake", broken)
    assert solution.item(1).diagnosis == "grader.fault"


# -- "nothing happens" ----------------------------------------------------------------------------


def by_hand(*arguments: str, **env: str) -> pexpect.spawn:
    """A program that a learner starts at a terminal."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return pexpect.spawn(
        sys.executable,
        list(arguments),
        cwd=str(ROOT),
        env={**clean, "PYTHONPATH": str(ROOT), "TERM": "xterm", **env},
        encoding="utf-8",
        echo=False,
        timeout=30,
        dimensions=(40, 100),
    )


def test_a_server_started_by_hand_says_nothing_until_it_is_asked() -> None:
    server = by_hand(f"solutions/{LAB}/{SERVER}")
    server.sendline('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    server.expect(r'\{"jsonrpc":"2.0","id":1,"result":\{\}\}')
    assert server.before.strip() == ""  # no banner, no prompt: that is what looks like a hang
    server.sendeof()
    server.expect(pexpect.EOF)
    server.close()
    assert server.exitstatus == 0


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("it is silent, and that is right", "names its tools: query_order", "answers, and")),
        ("zh", ("手动启动时它一声不响，这是对的", "报出它的工具：query_order", "该退出时也退出了")),
    ],
)
def test_the_probe_explains_the_silence(language: str, words: tuple[str, ...]) -> None:
    asking = by_hand(
        "-m", "shared.learner.probe", "23", "--solution", LAB_LANG=language, NO_COLOR="1"
    )
    asking.expect(pexpect.EOF)
    asking.close()
    assert asking.exitstatus == 0
    said = re.sub(r"\s+", " ", asking.before).replace(" ", "" if language == "zh" else " ")
    for word in words:
        assert (word.replace(" ", "") if language == "zh" else word) in said
    for method in ("initialize", "notifications/initialized", "tools/list"):
        assert '--> {"jsonrpc": "2.0"' in asking.before
        assert f'"{method}"' in said


def probe_of(folder: Path, *more: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = probe.main(["23", "--path", str(folder), "--lang", "en", *more])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_the_probe_says_what_is_wrong_and_shows_the_line(
    solution: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    solution.write(SERVER, FLUSHED).edit(SERVER, "ABOUT =", "print('ready')\nABOUT =")
    code, said = probe_of(solution.folder, capsys=capsys)
    assert code == 1
    assert "<-- ready\n    no message: it does not belong on stdout" in said
    assert "Something is wrong: Line 1 of the server's stdout is no JSON-RPC message: ready" in said
    assert "→ stdout belongs to the protocol" in said


def test_the_probe_finds_a_missing_flush(
    solution: Work, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.wire.session import Session

    patient = Session.request
    monkeypatch.setattr(
        Session, "request", lambda self, method, params: patient(self, method, params, WAIT)
    )
    code, said = probe_of(solution.write(SERVER, BARE).folder, capsys=capsys)
    assert code == 1
    end, answer = said.index("--> (EOF)"), said.index("<-- {")
    assert end < answer, "the answer came out when stdin had ended, and is shown there"
    assert "left the server only after its stdin had ended" in said


def test_the_probe_of_a_server_that_cannot_start(
    solution: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    write_config('{"mcpServers": {"shop": {"command": "no-such-program"}}}')(solution)
    code, said = probe_of(solution.folder, capsys=capsys)
    assert code == 1
    assert '"no-such-program" cannot be started' in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["24"], "no day 24"),
        (["23", "--path", "docs"], "docs is no lab of day 23"),
        (["23", "--server", "clock"], 'has no server "clock". It has: shop.'),
    ],
)
def test_the_probe_refuses_in_a_sentence(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.main([*arguments, "--lang", "en"]) == 2
    said = capsys.readouterr()
    assert named in said.err
    assert said.out == ""
