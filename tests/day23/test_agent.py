"""The agent loop between a model and tools that do what the test says."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import pytest

from solutions.day23_mcp_server.agent import MAX_TURNS, SYSTEM, run_agent
from solutions.day23_mcp_server.mcp_client import ProtocolError, ServerExited, ToolResult

Json = dict[str, Any]
Tool = Callable[[Json], ToolResult]


class Tools:
    """A source of tools; keeps the calls that reach it."""

    def __init__(self, **tools: Tool) -> None:
        self.tools = tools
        self.called: list[tuple[str, Json]] = []

    def list_tools(self) -> list[Json]:
        return [{"name": name, "inputSchema": {"type": "object"}} for name in self.tools]

    def call_tool(self, name: str, arguments: Json) -> ToolResult:
        self.called.append((name, arguments))
        return self.tools[name](arguments)


class Model:
    """A model that gives these answers in turn, and keeps every request."""

    def __init__(self, *answers: Json) -> None:
        self.answers = answers
        self.requests: list[tuple[list[Json], list[Json]]] = []

    def complete(self, messages: list[Json], tools: list[Json]) -> Json:
        self.requests.append((list(messages), tools))
        return self.answers[len(self.requests) - 1]

    def told(self) -> list[Json]:
        """The tool messages of the last request."""
        return [message for message in self.requests[-1][0] if message["role"] == "tool"]


def says(text: str | None) -> Json:
    return {"role": "assistant", "content": text}


def calls(*wanted: tuple[str, str, str]) -> Json:
    """An answer with these calls: id, name, arguments as text."""
    functions = [
        {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, name, arguments in wanted
    ]
    return {"role": "assistant", "tool_calls": functions}


def good(text: str) -> Tool:
    return lambda arguments: ToolResult(text, is_error=False)


def failing(error: Exception) -> Tool:
    def tool(arguments: Json) -> ToolResult:
        raise error

    return tool


def test_an_answer_without_tools() -> None:
    model, seen = Model(says("您好")), list[Json]()
    assert run_agent("你好", model, Tools(look=good("x")), seen.append) == "您好"
    [(messages, tools)] = model.requests
    assert messages == [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "你好"},
    ]
    assert [tool["function"]["name"] for tool in tools] == ["today", "look"]
    assert seen == [{"role": "user", "content": "你好"}, says("您好")]


@pytest.mark.parametrize("content", [None, ""])
def test_an_answer_without_words(content: str | None) -> None:
    assert run_agent("你好", Model(says(content)), Tools()) == ""


def test_a_result_goes_back_under_the_id_of_its_call() -> None:
    tools = Tools(look=good("已发货"))
    asked = calls(("id-7", "look", '{"order_id": "SO20260901"}'))
    model, seen = Model(asked, says("发了")), list[Json]()
    assert run_agent("?", model, tools, seen.append) == "发了"
    assert tools.called == [("look", {"order_id": "SO20260901"})]
    told = {"role": "tool", "tool_call_id": "id-7", "content": "已发货"}
    assert model.requests[1][0][1:] == [{"role": "user", "content": "?"}, asked, told]
    assert seen == [{"role": "user", "content": "?"}, asked, told, says("发了")]


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (lambda arguments: ToolResult("没有这个订单", is_error=True), "没有这个订单"),
        (failing(ProtocolError(-32602, "no such order")), "no such order (JSON-RPC error -32602)"),
        (failing(ServerExited("the server has ended")), "the server has ended"),
    ],
    ids=["the tool says so", "no result: an error", "no result: the server is gone"],
)
def test_a_failure_goes_back_in_its_own_words(tool: Tool, words: str) -> None:
    model = Model(calls(("1", "look", "{}")), says("抱歉"))
    assert run_agent("?", model, Tools(look=tool)) == "抱歉"
    [told] = model.told()
    assert told["tool_call_id"] == "1"
    assert told["content"].endswith(words)
    assert "失败" in told["content"]


def test_what_is_no_mcp_error_is_a_mistake_in_the_program() -> None:
    model = Model(calls(("1", "look", "{}")), says("抱歉"))
    with pytest.raises(ZeroDivisionError):
        run_agent("?", model, Tools(look=failing(ZeroDivisionError())))


def test_several_calls_of_one_turn_are_answered_in_order() -> None:
    tools = Tools(
        good=good("好"),
        told=lambda arguments: ToolResult("坏了", is_error=True),
        gone=failing(ServerExited("gone")),
    )
    asked = [
        ("e", "gone", "{}"),
        ("d", "good", '{"n": 1}'),
        ("c", "today", "{}"),
        ("b", "good", "{n: 2}"),
        ("a", "told", "{}"),
        ("f", "good", '{"n": 3}'),
    ]
    model = Model(calls(*asked), says("完"))
    assert run_agent("?", model, tools) == "完"
    told = model.told()
    assert [message["tool_call_id"] for message in told] == ["e", "d", "c", "b", "a", "f"]
    gone, first, today, no_json, failed, last = (message["content"] for message in told)
    assert "gone" in gone
    assert first == last == "好"
    assert datetime.date.fromisoformat(today.removeprefix("今天是 ")[:10])
    assert "不是合法的 JSON" in no_json
    assert "坏了" in failed
    assert tools.called == [("gone", {}), ("good", {"n": 1}), ("told", {}), ("good", {"n": 3})]


def test_the_conversation_grows_by_what_was_said() -> None:
    tools = Tools(look=good("x"))
    turns = [calls((str(number), "look", json.dumps({"n": number}))) for number in range(3)]
    model = Model(*turns, says("完"))
    run_agent("?", model, tools)
    for (before, _), (after, _) in zip(model.requests, model.requests[1:], strict=False):
        assert after[: len(before)] == before
        assert [message["role"] for message in after[len(before) :]] == ["assistant", "tool"]


def test_a_model_that_circles_is_stopped_with_a_clear_answer() -> None:
    tools = Tools(look=good("还是没有"))
    model = Model(*[calls(("1", "look", "{}"))] * (MAX_TURNS + 1))
    answer = run_agent("?", model, tools)
    assert len(model.requests) == len(tools.called) == MAX_TURNS
    assert str(MAX_TURNS) in answer
    assert "没有给出答案" in answer


def test_the_last_turn_still_counts() -> None:
    model = Model(*[calls(("1", "look", "{}"))] * (MAX_TURNS - 1), says("赶上了"))
    assert run_agent("?", model, Tools(look=good("x"))) == "赶上了"
