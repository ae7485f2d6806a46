"""A model that says what a check wants it to say, whatever it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from shared.chat.validation import validate


def script(*turns: str | tuple[str, dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A model that goes through `turns`: a text is an answer, `(name, arguments)` a tool call. The
    last turn is repeated. Requests that a provider refuses are refused here too."""
    left = list(turns)
    count = 0

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal count
        validate(request)
        turn = left.pop(0) if len(left) > 1 else left[0]
        count += 1
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(turn, str):
            message["content"] = turn
        else:
            name, arguments = turn
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            message["tool_calls"] = [
                {"id": f"call_{count}", "type": "function", "function": function}
            ]
        return {
            "id": f"chatcmpl-{count}",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "stop" if isinstance(turn, str) else "tool_calls",
                }
            ],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }

    return reply
