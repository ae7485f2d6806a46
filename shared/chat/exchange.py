"""One exchange of the chat endpoint: a request's body in, a response's status and body out.

What HTTP server and in-process transport have in common, so that both give the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..strict_json import parse_json
from .types import Json, Reply
from .validation import BadRequest, want_object


@dataclass(frozen=True)
class Exchange:
    """How a request was answered.

    `request` is the one that a 200 answers, None with any other status; `fault` is the exception
    behind a 500.
    """

    status: int
    body: Json
    request: Json | None = None
    fault: Exception | None = None


def error_body(message: str, kind: str, code: str | None = None) -> Json:
    """The JSON body of an error response, in a provider's shape."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def answer(reply: Reply, body: bytes) -> Exchange:
    """Let `reply` answer the body of a POST: 200, 400 for what it refuses, 500 when it breaks."""
    try:
        request = parse_json(body.decode())
    except ValueError as error:
        return Exchange(
            400,
            error_body(
                f"We could not parse the JSON body of your request: {error}",
                "invalid_request_error",
            ),
        )
    try:
        want_object(request)
        return Exchange(200, reply(request), request)
    except BadRequest as refusal:
        return Exchange(400, refusal.body())
    except Exception as fault:  # whatever a reply function does, its caller is owed a response
        message = f"{type(fault).__name__}: {fault}"
        return Exchange(500, error_body(message, "server_error"), fault=fault)
