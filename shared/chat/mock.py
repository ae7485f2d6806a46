"""The mock model: a Chat Completions endpoint that needs no network, no key and no luck.

`reply` is a pure function of the request. As a program it is a server for any OpenAI client:
`python -m shared.chat.mock --port 8000`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from .planner import plan
from .types import Json
from .validation import validate


def reply(request: Json) -> Json:
    """The response to a request: `{"id", "object", "created", "model", "choices", "usage"}`.

    The same request always gets the same response. Raises BadRequest for a request that a provider
    would refuse.
    """
    validate(request)
    decided = plan(request)
    return completion(request, decided.speech, [(c.tool, c.arguments) for c in decided.calls])


def completion(request: Json, speech: str, calls: Sequence[tuple[str, Json]]) -> Json:
    """The response to `request` in which the model says this, or makes these calls (names and
    arguments), whoever has decided that it should."""
    message: Json = {"role": "assistant", "content": speech or None}
    if calls:
        index = len(request["messages"])  # where this message will stand
        message["tool_calls"] = [
            {
                "id": f"call_{index}_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": json.dumps(arguments, ensure_ascii=False),
                },
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    asked = json.dumps(request, sort_keys=True)
    prompt, said = _tokens(asked), _tokens(json.dumps(message))
    return {
        "id": f"chatcmpl-{hashlib.sha256(asked.encode()).hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": said,
            "total_tokens": prompt + said,
        },
    }


def _tokens(text: str) -> int:
    """About as many as a tokenizer would count; a course needs no more than the order of it."""
    return len(text) // 4 + 1


if __name__ == "__main__":
    import sys

    from .serve import main

    sys.exit(main(reply))
