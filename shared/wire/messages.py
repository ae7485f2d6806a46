"""Reading the messages of both wires."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .transcript import Event


@dataclass(frozen=True)
class ToolMessage:
    """What a model request tells the model of one tool call: the call's id and a text."""

    call_id: str
    text: str
    is_text: bool = True  # a list of parts is allowed as well


def is_failure(answer: dict[str, Any]) -> bool:
    """Whether the answer to a `tools/call` says that it failed, in either way: with a JSON-RPC
    error, or with a result whose `isError` is true."""
    return "error" in answer or answer["result"].get("isError") is True


def text_of(answer: dict[str, Any]) -> str:
    """The words of an answer to `tools/call`: its text blocks, or the message of its error."""
    if "error" in answer:
        return str(answer["error"]["message"])
    blocks = answer["result"]["content"]
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def says(text: str, words: str) -> bool:
    """Whether a text has these words, as they are or escaped as JSON escapes them."""
    return any(
        shape in text
        for shape in (
            words,
            json.dumps(words)[1:-1],
            json.dumps(words, ensure_ascii=False)[1:-1],
        )
    )


def arguments_of(call: Event) -> dict[str, Any]:
    """The arguments of a `tools/call`, empty when it has none or something else in their place."""
    params = call.message.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    return arguments if isinstance(arguments, dict) else {}


def tool_calls(reply: Event | None) -> list[dict[str, Any]]:
    """The tool calls of a model's response; none when it answers or has failed."""
    return _assistant_message(reply).get("tool_calls") or []


def answer_of(reply: Event | None) -> str:
    """The text of a model's response, empty when it has none."""
    return _assistant_message(reply).get("content") or ""


def tool_messages(request: Event) -> list[ToolMessage]:
    """The results of tools that a model request tells the model, oldest first. The request is one
    that the model took, so its shape is known."""
    told = []
    for message in request.message["messages"]:
        if message["role"] == "tool":
            content = message["content"]
            is_text = isinstance(content, str)
            text = content if is_text else "\n".join(part["text"] for part in content)
            told.append(ToolMessage(message["tool_call_id"], text, is_text))
    return told


def one_line(event: Event) -> str:
    """What an event says, in one line for people: the parts that a reader looks for first."""
    if event.message is None or event.kind == "stray":
        return event.raw
    try:
        return _model_line(event) if event.wire == "model" else _mcp_line(event)
    except (KeyError, TypeError, AttributeError, IndexError):
        return _compact(event.message)  # not of the shape that it should have: show it as it is


def _mcp_line(event: Event) -> str:
    message = event.message
    if event.method:
        return f"{event.method} {_compact(message.get('params', {}))}"
    if "error" in message:
        return f"error {message['error']['code']}: {message['error']['message']}"
    result = message["result"]
    if "tools" in result:
        return "tools: " + ", ".join(tool["name"] for tool in result["tools"])
    if "content" in result:
        mark = "isError: true, " if result.get("isError") else ""
        return mark + " ".join(_block(block) for block in result["content"])
    return _compact(result)


def _model_line(event: Event) -> str:
    if event.sender == "agent":
        tools = ", ".join(tool["function"]["name"] for tool in event.message.get("tools", []))
        return f"tools: {tools or '—'}; last message: {_compact(event.message['messages'][-1])}"
    if event.status != 200:
        return f"HTTP {event.status}: {event.message['error']['message']}"
    calls = [call["function"] for call in tool_calls(event)]
    return "; ".join(f"{call['name']}({call['arguments']})" for call in calls) or answer_of(event)


def _block(block: dict[str, Any]) -> str:
    return " ".join(block["text"].split()) if block["type"] == "text" else f"[{block['type']}]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _assistant_message(reply: Event | None) -> dict[str, Any]:
    if reply is None or reply.status != 200:
        return {}
    message: dict[str, Any] = reply.message["choices"][0]["message"]
    return message
