"""The program answers: question, call, result, answer, in this order, in two languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.program import QUESTION

from ..day23.scripted import write_server
from .conftest import AGENT, C_LOCALE, PROGRAM, run

pytestmark = pytest.mark.timeout(60)

LABELS = {"en": ["you", "model", "result", "answer"], "zh": ["你", "模型", "结果", "回答"]}


@pytest.mark.parametrize(
    ("argv", "language"), [(PROGRAM, "zh"), (AGENT, "en")], ids=["shared.program", "the agent"]
)
def test_the_lessons_question(argv: tuple[str, ...], language: str) -> None:
    """Without a terminal it ends after one question."""
    done = run(*argv, MOCK="1", LAB_LANG=language)
    assert (done.code, done.err) == (0, [])
    assert [line.partition(": ")[0] for line in done.out] == LABELS[language]
    question, call, result, answer = (line.partition(": ")[2] for line in done.out)
    assert question == QUESTION == "帮我查一下订单 SO20260901 现在什么状态"
    assert call == 'query_order({"order_id": "SO20260901"})'
    assert "已发货" in result
    assert "已发货" in answer


def test_another_question() -> None:
    """Answered by the second tool of the shop itself."""
    done = run(*PROGRAM, "--ask", "订单 SO20261003 的物流到哪了？", MOCK="1")
    assert (done.code, done.err) == (0, [])
    assert done.out[0] == "you: 订单 SO20261003 的物流到哪了？"
    assert done.out[1] == 'model: track_shipment({"order_id": "SO20261003"})'
    assert "JD7788990011" in done.out[-1]
    assert "西安已签收" in done.out[-1]


def test_several_calls_of_one_turn_are_a_line_each(tiny: Path) -> None:
    done = run(*PROGRAM, "--config", tiny, "--ask", "SO20260901 和 SO20260915 的订单状态", MOCK="1")
    assert done.code == 0
    labels = [line.partition(": ")[0] for line in done.out[:5]]
    assert labels == ["you", "model", "model", "result", "result"]


def test_a_question_may_begin_with_a_dash(tiny: Path) -> None:
    done = run(*PROGRAM, "--config", tiny, "--ask=--help", MOCK="1")
    assert (done.code, done.err) == (0, [])
    assert done.out[0] == "you: --help"


@pytest.mark.parametrize(
    ("env", "encoding"),
    [(C_LOCALE, "utf-8"), ({"PYTHONIOENCODING": "gbk"}, "gbk")],
    ids=["the C locale", "GBK"],
)
def test_another_locale(env: dict[str, str], encoding: str) -> None:
    """What is asked comes in whole, what is said goes out whole, and so it does in the server."""
    question = "订单 SO20260901 现在什么状态 ✓"
    done = run(*PROGRAM, "--ask", question, encoding=encoding, MOCK="1", LAB_LANG="zh", **env)
    assert (done.code, done.err) == (0, [])
    shown = question if encoding == "utf-8" else question.replace("✓", "\\u2713")
    assert done.out[0] == f"你: {shown}"
    assert done.out[-1].startswith("回答: ")
    assert "已发货" in done.out[-1]


TALKATIVE = """\
def log(text):
    print(text, file=sys.stderr, flush=True)


log("starting")
shake_hands()
receive()
answer(receive(), tools=[{**tool("query_order"), "description": "查询订单的状态"}])
request = receive()
log("working")
tell(request, "已发货")
sys.stdin.read()
log("ending")
"""


def test_what_servers_write_on_stderr_comes_out(tmp_path: Path) -> None:
    """At the start, while they work, and at the end: it is where a server's author looks."""
    write_server(tmp_path / "shop.py", TALKATIVE)
    config = tmp_path / "mcp.json"
    entry = {"command": "python", "args": ["-S", "shop.py"]}
    config.write_text(json.dumps({"mcpServers": {"shop": entry}}), encoding="utf-8")
    done = run(*PROGRAM, "--config", config, MOCK="1")
    assert done.code == 0
    assert done.err == ["starting", "working", "ending"]
    assert done.out[-1].startswith("answer: ")
