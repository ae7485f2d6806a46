"""What one wire said beside what became of it on the other, for the evidence of an item.

An agent carries three things from wire to wire, and none may change on the way: a tool's schema to
the model, the model's call to the server, the server's words back to the model. Where a check
points at one end of such a way and the record has the other, both are shown.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from shared.i18n import Text
from shared.wire.transcript import Event

from .reading import Section

SCHEMA = Text(
    en="expected: inputSchema of {name}, as the server lists it",
    zh="应有：server 列出的 {name} 的 inputSchema",
)
PARAMETERS = Text(
    en="actual: parameters of {name}, as the model gets them",
    zh="实际：模型拿到的 {name} 的 parameters",
)
ASKED_FOR = Text(en="expected: the call that the model asks for", zh="应有：模型要求的调用")
CALLED = Text(en="actual: the call that reaches the server", zh="实际：server 收到的调用")
SERVER_SAID = Text(en="expected: the server's words", zh="应有：server 的原话")
MODEL_TOLD = Text(en="actual: what the model is told", zh="实际：告诉模型的内容")
NOTHING = "—"
# what a bridge may add to a schema that has none of it: providers ask for it
ADDED: dict[str, Any] = {"type": "object", "properties": {}, "required": []}


@dataclass(frozen=True)
class Comparison:
    """Two texts that should be the same, and are not."""

    expected_title: Text
    expected: str
    actual_title: Text
    actual: str

    def blocks(self) -> Iterator[tuple[bool, list[str], list[str]]]:
        """Runs of lines from the top: whether they are the same, as expected, as they are. The
        comma that a line of JSON ends with, because another follows, makes no difference."""
        expected, actual = self.expected.split("\n"), self.actual.split("\n")
        matcher = difflib.SequenceMatcher(
            None,
            [line.rstrip(",") for line in expected],
            [line.rstrip(",") for line in actual],
            autojunk=False,
        )
        for kind, e_from, e_to, a_from, a_to in matcher.get_opcodes():
            yield kind == "equal", expected[e_from:e_to], actual[a_from:a_to]


def comparisons(section: Section) -> list[Comparison]:
    """Everything that the evidence of an item lets one compare, and that differs."""
    if section.status in ("pass", ""):
        return []
    found: dict[Comparison, None] = {}
    for finding in section.findings:
        for comparison in _of_made_tool(section, finding.text):
            found[comparison] = None
    for part in section.parts:
        events = [row.event for row in part]
        for row in part:
            if row.notes:
                for comparison in _of_event(row.event, events):
                    found[comparison] = None
    return list(found)


def _of_made_tool(section: Section, text: str) -> Iterator[Comparison]:
    """A function tool that a bridge made, beside the tool that a server listed."""
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(made, dict):
        yield from _schemas([made], [row.event for row in section.rows])


def _of_event(event: Event, events: list[Event]) -> Iterator[Comparison]:
    try:
        if event.wire == "model" and event.sender == "agent":
            yield from _schemas(event.message.get("tools", []), events)
            yield from _words(event, events)
        elif event.method == "tools/call":
            yield from _calls(event, events)
    except (AttributeError, KeyError, TypeError, IndexError):
        return  # a message without the shape of its kind has nothing to compare


def _schemas(tools: list[Any], events: list[Event]) -> Iterator[Comparison]:
    listed = {tool["name"]: tool for tool in _listed(events)}
    for tool in tools:
        function = tool.get("function")
        if not isinstance(function, dict) or function.get("name") not in listed:
            continue
        name = function["name"]
        schema = listed[name].get("inputSchema")
        parameters = _in_order_of(schema, function.get("parameters", NOTHING))
        if isinstance(schema, dict) and isinstance(parameters, dict):
            for field, empty in ADDED.items():
                if field not in schema and parameters.get(field) == empty:
                    del parameters[field]
        expected = _pretty(schema)
        actual = _pretty(parameters) if "parameters" in function else NOTHING
        if expected != actual:
            yield Comparison(SCHEMA(name=name), expected, PARAMETERS(name=name), actual)


def _listed(events: list[Event]) -> Iterator[dict[str, Any]]:
    for event in events:
        if event.sender == "server" and isinstance(event.message, dict):
            result = event.message.get("result")
            tools = result.get("tools") if isinstance(result, dict) else None
            for tool in tools if isinstance(tools, list) else []:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    yield tool


def _calls(event: Event, events: list[Event]) -> Iterator[Comparison]:
    """A call on the MCP wire, beside the one that the model had asked for."""
    replies = [
        one
        for one in events
        if one.wire == "model" and one.sender == "model" and one.number < event.number
    ]
    if not replies:
        return
    asked = replies[-1].message["choices"][0]["message"].get("tool_calls") or []
    expected = [
        _pretty(
            {
                "name": call["function"]["name"],
                "arguments": json.loads(call["function"]["arguments"] or "{}"),
            }
        )
        for call in asked
    ]
    params = event.message.get("params")
    given = params if isinstance(params, dict) else {}
    sent = {name: given[name] for name in ("name", "arguments") if name in given}
    actual = _pretty(sent)
    if expected and not any(
        _pretty(_in_order_of(json.loads(one), sent)) == one for one in expected
    ):
        yield Comparison(ASKED_FOR, "\n".join(expected), CALLED, actual)


def _words(event: Event, events: list[Event]) -> Iterator[Comparison]:
    """What the model is told of the last call, beside what the server answered to it."""
    answers = [
        one
        for one in events
        if one.sender == "server"
        and one.number < event.number
        and isinstance(one.message, dict)
        and ("error" in one.message or "content" in one.message.get("result", {}))
    ]
    if not answers:
        return
    message = answers[-1].message
    if "error" in message:
        said = message["error"]["message"]
    else:
        blocks = message["result"]["content"]
        said = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    told = [one["content"] for one in event.message["messages"] if one["role"] == "tool"]
    actual = told[-1] if told and isinstance(told[-1], str) and told[-1] else NOTHING
    if said not in actual:
        yield Comparison(SERVER_SAID, said, MODEL_TOLD, actual)


def _in_order_of(model: Any, value: Any) -> Any:
    """The value with the keys of its objects in the order of another's: their order says nothing,
    and where both are shown side by side it would look as if it did."""
    if isinstance(model, dict) and isinstance(value, dict):
        names = [*(name for name in model if name in value), *(n for n in value if n not in model)]
        return {name: _in_order_of(model.get(name), value[name]) for name in names}
    if isinstance(model, list) and isinstance(value, list) and len(model) == len(value):
        return [_in_order_of(one, other) for one, other in zip(model, value, strict=True)]
    return value


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
