"""What a provider refuses, each with the reason and the place."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from shared.chat.mock import reply
from shared.chat.validation import BadRequest, refuse, validate

from .shop import NO_ARGUMENTS, ZH, Json, tool

USER = {"role": "user", "content": "hi"}


def call(call_id: str = "a", name: Any = "f", arguments: Any = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asking(*calls: Json) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def told(call_id: Any = "a", content: Any = "ok") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def request(*messages: Any, tools: Any = None, **more: Any) -> Json:
    return {
        "model": "m",
        "messages": [USER, *messages],
        **({} if tools is None else {"tools": tools}),
        **more,
    }


def schema(parameters: Any) -> Json:
    return request(tools=[tool("ok", "", NO_ARGUMENTS), tool("f", "", parameters)])


@pytest.mark.parametrize(
    "good",
    [
        request(),
        request({"role": "assistant", "content": ""}),
        request({"role": "developer", "content": [{"type": "text", "text": "x"}]}),
        request(asking(call()), told()),
        request(asking(call("a"), call("b")), told("b"), told("a"), USER),
        request(asking(call()), told(), asking(call()), told()),  # an id may come again, later
        request(asking(call()), told(content=[{"type": "text", "text": "x"}])),
        request({"role": "assistant", "content": "let me see", "tool_calls": [call()]}, told()),
        request(asking({**call(), "function": {"name": "f", "arguments": "no JSON"}}), told()),
        request(tools=ZH, tool_choice="auto"),
        request(tools=[tool("a" * 64, None, None)], tool_choice="required"),
        request(tool_choice="none"),
        schema({"type": "object", "properties": {"x": {"type": "object"}}}),
        schema({"type": "object", "properties": {"x": {"type": "array", "items": {}}, "y": True}}),
    ],
)
def test_a_good_request_is_taken(good):
    assert refuse(good) is None
    validate(good)


@pytest.mark.parametrize(
    ("bad", "param", "reason"),
    [
        ([], None, "expected an object, but got an array"),
        ({"messages": [USER]}, "model", "must provide a model"),
        ({"model": "", "messages": [USER]}, "model", "must provide a model"),
        ({"model": 3, "messages": [USER]}, "model", "expected a string, but got an integer"),
        ({"model": "m"}, "messages", "Missing required parameter: 'messages'"),
        ({"model": "m", "messages": []}, "messages", "empty array"),
        ({"model": "m", "messages": {}}, "messages", "expected an array, but got an object"),
        (request("hi"), "messages[1]", "expected an object, but got a string"),
        (request({"content": "x"}), "messages[1].role", "Missing required parameter"),
        (request({"role": "bot", "content": "x"}), "messages[1].role", "Invalid value: 'bot'"),
        (request({"role": "user"}), "messages[1].content", "got null"),
        (request({"role": "assistant", "content": None}), "messages[1].content", "got null"),
        (request({"role": "user", "content": 3}), "messages[1].content", "but got an integer"),
        (request({"role": "user", "content": {}}), "messages[1].content", "but got an object"),
        (request({"role": "user", "content": []}), "messages[1].content", "empty array"),
        (
            request({"role": "user", "content": [{"type": "picture"}]}),
            "messages[1].content[0].type",
            "Invalid value: 'picture'",
        ),
        (
            request({"role": "system", "content": [{"type": "image_url"}]}),
            "messages[1].content[0].type",
            "Supported values are: 'text'.",
        ),
        (
            request({"role": "user", "content": [{"type": "text"}]}),
            "messages[1].content[0].text",
            "expected a string, but got null",
        ),
    ],
)
def test_messages(bad, param, reason):
    assert_refused(bad, param, reason)


@pytest.mark.parametrize(
    ("bad", "param", "reason"),
    [
        (request(told()), "messages[1].tool_call_id", "must be a response to a preceding message"),
        (request(asking(call()), told("z")), "messages[2].tool_call_id", "'z'"),
        (request(asking(call()), told(), USER, told()), "messages[4].tool_call_id", "'a'"),
        (request(asking(call()), told(), told()), "messages[3].tool_call_id", "duplicate answer"),
        (
            request(asking(call("a"), call("b"), call("c")), told("b"), USER),
            "messages[1].tool_calls",
            "did not have response messages: a, c",
        ),
        (request(asking(call("a"), call("b")), told("a")), "messages[1].tool_calls", ": b"),
        (request(asking(call())), "messages[1].tool_calls", ": a"),
        (request(asking(call()), told(content=None)), "messages[2].content", "got null"),
        (request(asking(call()), told(content={"x": 1})), "messages[2].content", "an object"),
        (request(asking(call()), told(content=True)), "messages[2].content", "a boolean"),
        (
            request(asking(call()), {"role": "tool", "content": "x"}),
            "messages[2].tool_call_id",
            "Missing required parameter",
        ),
        (request(asking(call()), told(7)), "messages[2].tool_call_id", "an integer"),
        (request(asking()), "messages[1].tool_calls", "empty array"),
        (request({**asking(), "tool_calls": "x"}), "messages[1].tool_calls", "a string"),
        (request(asking(call(), call())), "messages[1].tool_calls[1].id", "Duplicate value"),
        (
            request(asking(call(arguments={"x": 1}))),
            "messages[1].tool_calls[0].function.arguments",
            "expected a string, but got an object",
        ),
        (
            request(asking(call(name="a b"))),
            "messages[1].tool_calls[0].function.name",
            "does not match the pattern",
        ),
        (
            request(asking({**call(), "type": "custom"})),
            "messages[1].tool_calls[0].type",
            "Invalid value: 'custom'",
        ),
    ],
)
def test_calls_and_their_answers(bad, param, reason):
    assert_refused(bad, param, reason)


@pytest.mark.parametrize(
    ("bad", "param", "reason"),
    [
        (request(tools={}), "tools", "expected an array, but got an object"),
        (request(tools=[]), "tools", "empty array"),
        (request(tools=["f"]), "tools[0]", "expected an object"),
        (request(tools=[{"name": "f"}]), "tools[0].type", "Invalid value: 'None'"),
        (request(tools=[{"type": "function"}]), "tools[0].function", "Missing required"),
        (
            request(tools=[{"type": "function", "function": {}}]),
            "tools[0].function.name",
            "Missing required parameter",
        ),
        (request(tools=[*ZH, ZH[1]]), "tools[3].function.name", "taken by tools[1]"),
        (
            request(tools=[{"type": "function", "function": {"name": "f", "description": 3}}]),
            "tools[0].function.description",
            "expected a string, but got an integer",
        ),
        *(
            (
                request(tools=[ZH[0], tool(name, "")]),
                "tools[1].function.name",
                "'^[a-zA-Z0-9_-]{1,64}$'",
            )
            for name in ("shop.query_order", "查订单", "", "a" * 65, "query_order\n", "a b")
        ),
        (request(tool_choice="auto"), "tool_choice", "only allowed when 'tools' are specified"),
        (request(tools=ZH, tool_choice="any"), "tool_choice", "Invalid value: 'any'"),
        (request(tools=ZH, tool_choice=["today"]), "tool_choice", "expected an object"),
        (request(tools=ZH, tool_choice={"type": "x"}), "tool_choice", '{"type": "function"'),
        (
            request(tools=ZH, tool_choice={"type": "function", "function": {"name": "f"}}),
            "tool_choice.function.name",
            "'f' not found",
        ),
    ],
)
def test_tools(bad, param, reason):
    assert_refused(bad, param, reason)


@pytest.mark.parametrize(
    ("parameters", "place", "reason"),
    [
        ("x", "", "expected an object, but got a string"),
        ({}, ".type", "got 'type: null'"),
        ({"properties": {}}, ".type", "got 'type: null'"),
        ({"type": "string"}, ".type", "got 'type: \"string\"'"),
        ({"type": "object"}, "", "object schema missing properties"),
        ({"type": "object", "properties": []}, ".properties", "is not an object"),
        ({"type": "object", "properties": {"x": "string"}}, ".properties.x", "is not a schema"),
        ({"type": "object", "properties": {}, "required": "x"}, ".required", "array of strings"),
        (
            {"type": "object", "properties": {"ids": {"type": "array"}}},
            ".properties.ids",
            "array schema missing items",
        ),
        (
            {"type": "object", "properties": {"x": {"anyOf": [{}, {"type": "array"}]}}},
            ".properties.x.anyOf[1]",
            "array schema missing items",
        ),
        (
            {
                "type": "object",
                "properties": {"x": {"type": "array", "items": {"type": "array"}}},
            },
            ".properties.x.items",
            "array schema missing items",
        ),
        (
            {"type": "object", "properties": {"x": {"prefixItems": [{"type": "array"}]}}},
            ".properties.x.prefixItems[0]",
            "array schema missing items",
        ),
        (
            {"type": "object", "properties": {}, "$defs": {"A": {"type": "array"}}},
            ".$defs.A",
            "array schema missing items",
        ),
    ],
)
def test_schemas(parameters, place, reason):
    assert_refused(schema(parameters), f"tools[1].function.parameters{place}", reason)


def assert_refused(bad: Any, param: str | None, reason: str) -> None:
    before = copy.deepcopy(bad)
    said = refuse(bad)
    assert said is not None
    assert reason in said
    if param is not None and "[" in param:
        assert param.partition(".")[0] in said  # which message or tool it is, is in the words too
    with pytest.raises(BadRequest) as caught:
        reply(bad)  # the mock refuses the same
    assert caught.value.param == param
    assert caught.value.body() == {
        "error": {"message": said, "type": "invalid_request_error", "param": param, "code": None}
    }
    assert bad == before
