"""Making sense of tool messages: what came back, and whether a failure says what to do instead."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..types import Json
from .arguments import placed, property_schemas
from .choosing import Tool, mentions


class Outcome(Enum):
    """What a tool message amounts to."""

    GOOD = "good"
    FAILED = "failed"
    NOTHING = "nothing"
    """Not a word: the model learns neither a result nor what went wrong."""


@dataclass(frozen=True)
class Call:
    """One tool call, as the model made it; `arguments` is what the JSON text of them holds, and
    `{}` when that is no object."""

    tool: str
    arguments: Json


@dataclass(frozen=True)
class Answered:
    """A call with the text that came back for it."""

    call: Call
    text: str

    @property
    def outcome(self) -> Outcome:
        """Good, failed or nothing, going by the text alone."""
        return judge(self.text)


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts; None gives ''."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def rounds(messages: Sequence[Json]) -> list[list[Answered]]:
    """The calls made since the last user message with their answers, one list for each turn.

    `messages` passed validation, so that every call has its answer.
    """
    asked = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
    turns: list[list[Answered]] = []
    for index in range(asked + 1, len(messages)):
        calls = (
            messages[index].get("tool_calls") if messages[index]["role"] == "assistant" else None
        )
        if calls:
            answers = messages[index + 1 : index + 1 + len(calls)]
            texts = {answer["tool_call_id"]: text_of(answer.get("content")) for answer in answers}
            turns.append([Answered(_call(call), texts[call["id"]]) for call in calls])
    return turns


def _call(call: Json) -> Call:
    arguments = parse(call["function"]["arguments"])
    return Call(call["function"]["name"], arguments if isinstance(arguments, dict) else {})


def parse(text: str) -> Any:
    """The JSON value of a text, with decimals as they are written; None when it is no JSON."""
    try:
        return json.loads(text, parse_float=str)
    except (ValueError, RecursionError):
        return None


def judge(text: str) -> Outcome:
    """What a tool message amounts to.

    JSON without an error mark is good, whatever words its values hold: an order may well be
    cancelled. Other text is judged by its beginning, since an error says so at once, and a long log
    may speak of errors further down.
    """
    if text.strip() in ("", "null", "None", '""'):
        return Outcome.NOTHING
    value = parse(text)
    if isinstance(value, list):
        return Outcome.GOOD
    if isinstance(value, dict):
        if (inner := mcp_text(value)) is not None and not _marked(value):
            return judge(inner)
        return Outcome.FAILED if _marked(value) else Outcome.GOOD
    head = "\n".join(text.strip().splitlines()[:3])
    return Outcome.FAILED if _FAILURE.search(head) else Outcome.GOOD


def mcp_text(value: Json) -> str | None:
    """The text of an MCP tool result that was passed on whole, `{"content": [{"type": "text"}]}`;
    None for any other object."""
    content = value.get("content")
    if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
        return None
    return "\n".join(str(item["text"]) for item in content if "text" in item)


def _marked(value: Json) -> bool:
    return (
        any(value.get(key) for key in ("error", "errors", "isError", "is_error"))
        or any(value.get(key) is False for key in ("ok", "success"))
        or value.get("status") in ("error", "failed", "failure")
    )


_FAILURE = re.compile(
    r"\b(?:errors?(?! codes?)|invalid|not (?:found|available|allowed|valid|supported|exist)"
    r"|(?:does|do|did) not (?:exist|match)|doesn't (?:exist|match)|no such|fail(?:ed|s|ure)?"
    r"|unknown|unavailable|unable|could not|couldn't|denied|refused|rejected|missing"
    r"|timed out|time-?out|exception|traceback|no longer|stopped|exited|crashed|died"
    r"|(?:has|have|was|were|is|are) (?:ended|gone|closed|lost|dead|disconnected)|disconnected"
    r"|(?:cannot|can't) (?:be )?(?:answer|call|connect|find|found|open|parse|reach|read|start)\w*"
    r")\b"
    r"|-32[0-9]{3}\b"
    r"|错误(?!码)|失败|不存在|无效|无法|不可用|找不到|未找到|查不到|未查到|查无|异常|被拒绝|拒绝访问"
    r"|断开|中断|崩溃|挂了|退出|超时|不合法|不符合|格式不对|不支持|不允许|不能为空|缺少|已停止|已退出|未知|出错"
    r"|没有(?:找到|查到|这|该|此|名为|叫|订单|单号|工具|权限|\s*[A-Za-z0-9-]*[0-9])",
    re.IGNORECASE | re.ASCII,
)


# What a failure says to do instead

_HINT = re.compile(
    r"最接近|最相近|最像|相近|是否|是不是|您要找|你要找|应为|应是|应该是|请用|改用|试试|正确的"
    r"|\b(?:did you mean|do you mean|nearest|closest|similar|expected|should be|instead|use|try"
    r"|perhaps|maybe|suggest(?:ion|ed)?)\b",
    re.IGNORECASE | re.ASCII,
)
_NO_VALUE = re.compile(r"https?://\S+|-32[0-9]{3}\b")  # what looks like a number, and is none


def remedy(failed: Answered, tools: Sequence[Tool], tried: Iterable[Call]) -> Call | Tool | None:
    """What a failure says to do instead: the same call with a value that its text names, or another
    tool that it names; None when it gives no means.

    `tried` are all calls so far: a value that this tool has had is not tried again.
    """
    tool = next((tool for tool in tools if tool.name == failed.call.tool), None)
    text = _NO_VALUE.sub(_blank, failed.text)
    for other in tools:
        text = re.sub(rf"(?<![A-Za-z0-9_-]){re.escape(other.name)}(?![A-Za-z0-9_-])", _blank, text)
    if tool is not None:
        schemas = property_schemas(tool.parameters)
        for name, sent in failed.call.arguments.items():
            if name not in schemas or not isinstance(sent, str):
                continue
            had = [call.arguments.get(name) for call in tried if call.tool == tool.name]
            offers = [
                (value, position)
                for value, position in placed(name, schemas[name], text)
                if value not in had and isinstance(value, str)
            ]
            if value := _best_offer(offers, text, sent):
                return Call(tool.name, {**failed.call.arguments, name: value})
    others = (other for other in tools if other is not tool)
    return next((other for other in others if mentions(failed.text, other.name)), None)


def _best_offer(offers: Sequence[tuple[str, int]], text: str, sent: str) -> str | None:
    """The first value that follows a word such as `did you mean`, else the first of all.

    Unless it is so introduced, a bare number has to look like the one that was sent: the 404 of an
    `HTTP 404` is no order number.
    """
    for hint in _HINT.finditer(text):
        for value, position in offers:
            if 0 <= position - hint.end() <= 40:
                return value
    alike = (v for v, _ in offers if not v.isdigit() or (sent.isdigit() and len(v) == len(sent)))
    return next(alike, None)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
