"""A model that says what a check wants it to say, whatever it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared.chat.mock import completion
from shared.chat.validation import validate


def script(*turns: str | tuple[str, dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A model that goes through `turns`: a text is an answer, `(name, arguments)` a tool call. The
    last turn is repeated. Requests that a provider refuses are refused here too."""
    left = list(turns)

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        validate(request)
        turn = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(turn, str):
            return completion(request, turn, [])
        return completion(request, "", [turn])

    return reply
