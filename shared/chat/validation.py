"""What a Chat Completions provider refuses with a 400, and the reason that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .types import Json

ROLES = ("system", "developer", "user", "assistant", "tool")
FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # for fullmatch: `$` would let a newline pass
TOOL_CHOICES = ("none", "auto", "required")
USER_PARTS = ("text", "image_url", "input_audio", "file")


class BadRequest(Exception):
    """A request that a provider answers with HTTP 400.

    `message` says what is wrong and where; `param` is the path of the offending value, such as
    `tools[1].function.name`, or None when no single value is to blame.
    """

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param

    def body(self) -> Json:
        """The JSON body of the 400: `{"error": {"message", "type", "param", "code"}}`."""
        return {
            "error": {
                "message": self.message,
                "type": "invalid_request_error",
                "param": self.param,
                "code": None,
            }
        }


def refuse(request: Any) -> str | None:
    """The reason why a provider refuses this request, or None when it takes it."""
    try:
        validate(request)
    except BadRequest as reason:
        return reason.message
    return None


def validate(request: Any) -> None:
    """Raise BadRequest with the first thing that a provider would refuse about this request."""
    want_object(request)
    model = request.get("model")
    if model is None or model == "":
        raise BadRequest("you must provide a model parameter", "model")
    _want(model, str, "model")
    _check_messages(request.get("messages"))
    names = _check_tools(request["tools"]) if request.get("tools") is not None else None
    if request.get("tool_choice") is not None:
        _check_tool_choice(request["tool_choice"], names)


def want_object(request: Any) -> None:
    """Raise BadRequest when the body of a request is JSON, but no object."""
    if not isinstance(request, dict):
        raise BadRequest(f"Invalid body: expected an object, but got {_kind(request)} instead.")


def _check_messages(messages: Any) -> None:
    if messages is None:
        raise BadRequest("Missing required parameter: 'messages'.", "messages")
    _want(messages, list, "messages")
    if not messages:
        raise BadRequest(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.", "messages"
        )
    for index, message in enumerate(messages):
        _check_message(message, f"messages[{index}]")
    _check_answers(messages)


def _check_message(message: Any, path: str) -> None:
    _want(message, dict, path)
    role = message.get("role")
    if role is None:
        raise BadRequest(f"Missing required parameter: '{path}.role'.", f"{path}.role")
    if role not in ROLES:
        raise BadRequest(
            f"Invalid value: '{role}' for '{path}.role'. Supported values are: {_listed(ROLES)}.",
            f"{path}.role",
        )
    calls = message.get("tool_calls") if role == "assistant" else None
    if calls is not None:
        _check_calls(calls, f"{path}.tool_calls")
    content = message.get("content")
    if content is not None:
        _check_content(content, USER_PARTS if role == "user" else ("text",), f"{path}.content")
    elif calls is None:
        raise BadRequest(
            f"Invalid value for '{path}.content': expected a string or a list of text parts, "
            "got null; null is for an assistant message with 'tool_calls' only.",
            f"{path}.content",
        )
    if role == "tool":
        if message.get("tool_call_id") is None:
            raise BadRequest(
                f"Missing required parameter: '{path}.tool_call_id'.", f"{path}.tool_call_id"
            )
        _want(message["tool_call_id"], str, f"{path}.tool_call_id")


def _check_content(content: Any, kinds: tuple[str, ...], path: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise BadRequest(
            f"Invalid type for '{path}': expected one of a string or array of content parts, "
            f"but got {_kind(content)} instead.",
            path,
        )
    if not content:
        raise BadRequest(
            f"Invalid '{path}': empty array. Expected an array with minimum length 1.", path
        )
    for index, part in enumerate(content):
        place = f"{path}[{index}]"
        _want(part, dict, place)
        if part.get("type") not in kinds:
            raise BadRequest(
                f"Invalid value: '{part.get('type')}' for '{place}.type'. "
                f"Supported values are: {_listed(kinds)}.",
                f"{place}.type",
            )
        if part["type"] == "text":
            _want(part.get("text"), str, f"{place}.text")


def _check_calls(calls: Any, path: str) -> None:
    _want(calls, list, path)
    if not calls:
        raise BadRequest(
            f"Invalid '{path}': empty array. Expected an array with minimum length 1, "
            "or leave the key out.",
            path,
        )
    seen: set[str] = set()
    for index, call in enumerate(calls):
        place = f"{path}[{index}]"
        _want(call, dict, place)
        _want(call.get("id"), str, f"{place}.id")
        if call["id"] in seen:
            raise BadRequest(f"Duplicate value for '{place}.id': '{call['id']}'.", f"{place}.id")
        seen.add(call["id"])
        if call.get("type") != "function":
            raise BadRequest(
                f"Invalid value: '{call.get('type')}' for '{place}.type'. "
                "Supported values are: 'function'.",
                f"{place}.type",
            )
        function = call.get("function")
        _want(function, dict, f"{place}.function")
        _check_name(function.get("name"), f"{place}.function.name")
        _want(function.get("arguments"), str, f"{place}.function.arguments")


def _check_answers(messages: list[Json]) -> None:
    """Every tool message answers a call of the assistant message before it; every call is answered
    once, before anything else is said."""
    waiting: list[str] = []  # ids of calls that have no answer yet
    answered: set[str] = set()
    asked_at = ""
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            if call_id in answered:
                raise BadRequest(
                    f"Invalid parameter: duplicate answer: '{path}' answers tool_call_id "
                    f"'{call_id}', which an earlier message has answered.",
                    f"{path}.tool_call_id",
                )
            if call_id not in waiting:
                raise BadRequest(
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    f"preceding message with 'tool_calls'; '{path}' answers tool_call_id "
                    f"'{call_id}', which the preceding assistant message does not have.",
                    f"{path}.tool_call_id",
                )
            waiting.remove(call_id)
            answered.add(call_id)
            continue
        _check_none_waiting(waiting, asked_at)
        waiting = [call["id"] for call in message.get("tool_calls") or []]
        answered = set()
        asked_at = path
    _check_none_waiting(waiting, asked_at)


def _check_none_waiting(waiting: list[str], asked_at: str) -> None:
    if waiting:
        raise BadRequest(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(waiting)} (asked for in '{asked_at}').",
            f"{asked_at}.tool_calls",
        )


def _check_tools(tools: Any) -> list[str]:
    """The names of the tools, once all of them are in order."""
    _want(tools, list, "tools")
    if not tools:
        raise BadRequest(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, "
            "or leave the key out.",
            "tools",
        )
    names: list[str] = []
    for index, tool in enumerate(tools):
        path = f"tools[{index}]"
        _want(tool, dict, path)
        if tool.get("type") != "function":
            raise BadRequest(
                f"Invalid value: '{tool.get('type')}' for '{path}.type'. "
                "Supported values are: 'function'.",
                f"{path}.type",
            )
        function = tool.get("function")
        if function is None:
            raise BadRequest(f"Missing required parameter: '{path}.function'.", f"{path}.function")
        _want(function, dict, f"{path}.function")
        _check_name(function.get("name"), f"{path}.function.name")
        if function["name"] in names:
            raise BadRequest(
                f"Invalid '{path}.function.name': function names must be unique, and "
                f"'{function['name']}' is taken by tools[{names.index(function['name'])}].",
                f"{path}.function.name",
            )
        names.append(function["name"])
        if function.get("description") is not None:
            _want(function["description"], str, f"{path}.function.description")
        if function.get("parameters") is not None:
            _check_parameters(
                function["parameters"], function["name"], f"{path}.function.parameters"
            )
    return names


def _check_name(name: Any, path: str) -> None:
    if name is None:
        raise BadRequest(f"Missing required parameter: '{path}'.", path)
    _want(name, str, path)
    if not FUNCTION_NAME.fullmatch(name):
        raise BadRequest(
            f"Invalid '{path}': '{name}' does not match the pattern '^[a-zA-Z0-9_-]{{1,64}}$'.",
            path,
        )


def _check_parameters(schema: Any, name: str, path: str) -> None:
    def invalid(reason: str, where: str) -> BadRequest:
        return BadRequest(f"Invalid schema for function '{name}': {reason}", where)

    _want(schema, dict, path)
    if schema.get("type") != "object":
        raise invalid(
            f"schema must be a JSON Schema of 'type: \"object\"', "
            f"got 'type: {_quoted(schema.get('type'))}' at '{path}'.",
            f"{path}.type",
        )
    if "properties" not in schema:
        raise invalid(f"object schema missing properties at '{path}'.", path)
    for inner, place in _walk(schema, path):
        if not isinstance(inner, dict | bool):
            raise invalid(f"{_kind(inner)} is not a schema at '{place}'.", place)
        if isinstance(inner, bool):
            continue
        if "properties" in inner and not isinstance(inner["properties"], dict):
            where = f"{place}.properties"
            raise invalid(f"{_kind(inner['properties'])} is not an object at '{where}'.", where)
        if "required" in inner and not _is_names(inner["required"]):
            where = f"{place}.required"
            raise invalid(f"required must be an array of strings at '{where}'.", where)
        if inner.get("type") == "array" and "items" not in inner:
            raise invalid(f"array schema missing items at '{place}'.", place)


def _walk(schema: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Every schema inside a schema, itself first, each with its path."""
    yield schema, path
    if not isinstance(schema, dict):
        return
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        if isinstance(schema.get(key), dict):
            for name, inner in schema[key].items():
                yield from _walk(inner, f"{path}.{key}.{name}")
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(schema.get(key), list):
            for index, inner in enumerate(schema[key]):
                yield from _walk(inner, f"{path}.{key}[{index}]")
    for key in ("items", "additionalProperties", "not"):
        if key in schema:
            yield from _walk(schema[key], f"{path}.{key}")


def _check_tool_choice(choice: Any, names: list[str] | None) -> None:
    if names is None and choice != "none":
        raise BadRequest(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified.",
            "tool_choice",
        )
    if isinstance(choice, str):
        if choice not in TOOL_CHOICES:
            raise BadRequest(
                f"Invalid value: '{choice}' for 'tool_choice'. "
                f"Supported values are: {_listed(TOOL_CHOICES)}.",
                "tool_choice",
            )
        return
    _want(choice, dict, "tool_choice")
    function = choice.get("function")
    if choice.get("type") != "function" or not isinstance(function, dict):
        raise BadRequest(
            "Invalid value for 'tool_choice': expected "
            '{"type": "function", "function": {"name": …}}.',
            "tool_choice",
        )
    if function.get("name") not in (names or []):
        raise BadRequest(
            f"Tool choice '{function.get('name')}' not found in 'tools' parameter.",
            "tool_choice.function.name",
        )


def _want(value: Any, kind: type, path: str) -> None:
    if not isinstance(value, kind):
        raise BadRequest(
            f"Invalid type for '{path}': expected {_KINDS[kind]}, but got {_kind(value)} instead.",
            path,
        )


def _kind(value: Any) -> str:
    """The JSON type of a value, as a provider names it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    return _KINDS.get(type(value), "a decimal number")


_KINDS: dict[type, str] = {
    str: "a string",
    list: "an array",
    dict: "an object",
    int: "an integer",
}


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _quoted(value: Any) -> str:
    return "null" if value is None else f'"{value}"'


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)
