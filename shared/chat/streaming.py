"""A whole response as the events of a stream, for clients that ask for `stream: true`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .types import Json

PIECE = 12  # characters; so short that a client which does not join the pieces shows it


def server_sent_events(response: Json, with_usage: bool = False) -> bytes:
    """The stream as it goes over the wire: one `data:` line for each chunk, and `[DONE]`."""
    lines = [json.dumps(chunk) for chunk in chunks(response, with_usage)]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def chunks(response: Json, with_usage: bool = False) -> Iterator[Json]:
    """The chunks of a response: role, content or tool calls in pieces, and the finish reason.

    With `with_usage` a last chunk without choices has the token counts, as `stream_options` asks.
    """
    head = {key: response[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    [choice] = response["choices"]
    message = choice["message"]

    def chunk(delta: Json, finish_reason: str | None = None) -> Json:
        one = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**head, "choices": [one], **({"usage": None} if with_usage else {})}

    yield chunk({"role": message["role"], "content": None if message.get("tool_calls") else ""})
    for piece in _pieces(message.get("content") or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls") or []):
        function = {"name": call["function"]["name"], "arguments": ""}
        start = {"index": index, "id": call["id"], "type": call["type"], "function": function}
        yield chunk({"tool_calls": [start]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    if with_usage:
        yield {**head, "choices": [], "usage": response["usage"]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
