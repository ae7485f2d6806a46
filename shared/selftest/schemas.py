"""Reads schemas that a learner wrote. Meant to run in a child process (`Lab.judge_schema`): a
pattern can keep a regular-expression engine busy for ever, and nothing else runs meanwhile."""

from __future__ import annotations

import re
from typing import Any

import referencing
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing.exceptions import Unresolvable

from shared.chat import mock
from shared.chat.validation import BadRequest


def takes(schema: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    """Which of the values a schema takes: `{"takes": [bool, …]}`, or `{"fault": reason}` when it is
    no usable JSON Schema. References are resolved inside the schema only; nothing is fetched."""
    try:
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema, registry=referencing.Registry())
        return {"takes": [validator.is_valid(value) for value in values]}
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        return {"fault": f"{where}: {error.message}" if where else error.message}
    except Unresolvable as error:
        return {"fault": f"$ref to nowhere: {error.ref}"}
    except re.error as error:
        return {"fault": f"pattern {error.pattern!r}: {error}"}
    except RecursionError:
        return {"fault": "$ref to itself"}


def ask_mock(question: str, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """What the mock model does with a question and these tools: `{"calls": [{"name", "arguments"},
    …]}`, arguments as JSON text, or `{"refusal": reason}`."""
    messages = [{"role": "user", "content": question}]
    try:
        response = mock.reply({"model": "mock", "messages": messages, "tools": tools})
    except BadRequest as refusal:
        return {"refusal": str(refusal)}
    calls = response["choices"][0]["message"].get("tool_calls") or []
    return {"calls": [call["function"] for call in calls]}
