"""Reading the messages of both wires."""

from __future__ import annotations

import json
from typing import Any

from .transcript import Event


def is_failure(answer: dict[str, Any]) -> bool:
    """Whether the answer to a `tools/call` says that it failed, in either way: with a JSON-RPC
    error, or with a result whose `isError` is true."""
    return "error" in answer or answer["result"].get("isError") is True


def text_of(answer: dict[str, Any]) -> str:
    """The words of an answer to `tools/call`: its text blocks, or the message of its error."""
    if "error" in answer:
        return str(answer["error"].get("message", ""))
    blocks = answer["result"].get("content", [])
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def tool_calls(reply: Event | None) -> list[dict[str, Any]]:
    """The tool calls of a model's response; none when it answers or has failed."""
    message = _assistant_message(reply)
    return message.get("tool_calls") or []


def answer_of(reply: Event | None) -> str:
    """The text of a model's response, empty when it has none."""
    return _assistant_message(reply).get("content") or ""


def tool_messages(request: Event) -> list[dict[str, Any]]:
    """The results of tools that a model request tells the model, oldest first."""
    return [message for message in request.message["messages"] if message.get("role") == "tool"]


def one_line(event: Event) -> str:
    """What an event says, in one line for people: the parts that a reader looks for first."""
    message = event.message
    if message is None or event.kind == "stray":
        return event.raw
    if event.wire == "model":
        return _model_line(event)
    if event.method:
        return f"{event.method} {_compact(message.get('params', {}))}"
    if "error" in message:
        return f"error {message['error'].get('code')}: {message['error'].get('message')}"
    result = message["result"]
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        return "tools: " + ", ".join(str(tool.get("name")) for tool in result["tools"])
    if isinstance(result, dict) and isinstance(result.get("content"), list):
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
    text = block.get("text")
    return " ".join(text.split()) if isinstance(text, str) else f"[{block.get('type')}]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _assistant_message(reply: Event | None) -> dict[str, Any]:
    if reply is None or reply.status != 200:
        return {}
    message: dict[str, Any] = reply.message["choices"][0]["message"]
    return message
