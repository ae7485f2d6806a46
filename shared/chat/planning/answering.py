"""Putting the outcome into words, in the language of the question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...i18n import Language, Text, same
from .arguments import Missing
from .reading import Answered, Call, Outcome, mcp_text, parse


@dataclass(frozen=True)
class Finding:
    """How one matter of the question ended: its last call and answer, how many times that same call
    was made, and the call that failed before it led here."""

    last: Answered
    times: int = 1
    first: Call | None = None


def language_of(question: str) -> Language:
    """The language to answer in: Chinese when it has at least as many Chinese characters as English
    words."""
    chinese = len(re.findall(r"[\u4e00-\u9fff]", question))
    english = len(re.findall(r"[A-Za-z]{2,}(?![0-9])", question))
    return "zh" if chinese and chinese >= english else "en"


def report(findings: Sequence[Finding]) -> Text:
    """The answer from what the tools said, a line for each matter."""
    lines = [_line(finding) for finding in findings]
    return Text(en="\n".join(line.en for line in lines), zh="\n".join(line.zh for line in lines))


def ask_for(tool: str, missing: Sequence[Missing]) -> Text:
    """The question for values that the user did not give."""
    return Text(
        en="To answer this with {tool} I need {what}. Please tell me.",
        zh="要用 {tool} 回答这个问题，还需要{what}，请告诉我。",
    )(
        tool=tool,
        what=Text(
            en=", ".join(_described(gap).en for gap in missing),
            zh="、".join(_described(gap).zh for gap in missing),
        ),
    )


def none_fits(names: Sequence[str]) -> Text:
    """The answer when no tool is about the question."""
    if not names:
        return Text(
            en="I have no tools, and cannot look this up.",
            zh="我没有任何工具可用，查不了这个问题。",
        )
    return Text(
        en="None of the tools at hand ({names}) fits this question.",
        zh="现有的工具（{names}）都不适合回答这个问题。",
    )(names=Text(en=", ".join(names), zh="、".join(names)))


FORBIDDEN = Text(
    en="I was told to call no tools (tool_choice is none), and cannot look this up without one.",
    zh="这次不允许调用工具（tool_choice 为 none），没有工具就查不了。",
)


def _line(finding: Finding) -> Text:
    last = finding.last
    if last.outcome is Outcome.GOOD:
        return _result(finding)
    subject = _subject(finding.first or last.call)  # what was asked, not what was tried for it
    if last.outcome is Outcome.NOTHING:
        return Text(
            en="I got nothing back for {subject}: {times} calls of {tool}, each answered with an "
            "empty message.",
            zh="{subject}没有得到任何内容：{tool} 调用了 {times} 次，返回的都是空消息。",
        )(subject=_or(subject, _THIS), tool=last.call.tool, times=finding.times)
    return Text(
        en='I could not get {subject}. {tool} says: "{error}"',
        zh="{subject}没能查到。{tool} 的报错原文：「{error}」",
    )(subject=_or(subject, _THIS), tool=last.call.tool, error=last.text.strip())


_THIS = Text(en="this", zh="这个问题")


def _result(finding: Finding) -> Text:
    call, result = finding.last.call, _readable(finding.last.text)
    subject, first = _subject(call), finding.first
    if first is not None and first.tool != call.tool:
        return Text(
            en="{old} could not do it; {new} says{subject}: {result}",
            zh="{old} 查不了，改用 {new} 查到{subject}：{result}",
        )(old=first.tool, new=call.tool, subject=_padded(subject), result=result)
    if first is not None:
        return Text(
            en="{old} was not found; the closest, {new}, gave: {result}",
            zh="没有找到 {old}，按最接近的 {new} 查到：{result}",
        )(old=_subject(first), new=subject, result=result)
    if not subject:
        return result
    return Text(en="{subject}: {result}", zh="{subject} 的查询结果：{result}")(
        subject=subject, result=result
    )


def _or(subject: str, instead: Text) -> Text:
    return Text(en=subject, zh=f"{subject} ") if subject else instead


def _padded(subject: str) -> Text:
    return Text(en=f" about {subject}", zh=f" {subject}") if subject else Text(en="", zh="")


def _subject(call: Call) -> str:
    """What a call was about: its values, since they hold the number that was asked for."""
    return " ".join(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in call.arguments.values()
    )


def _described(gap: Missing) -> Text:
    described = gap.schema.get("description") or gap.schema.get("title") or ""
    pattern = gap.schema.get("pattern")
    shape = Text(en=", of the form {p}", zh="，形如 {p}")(p=pattern) if pattern else Text("", "")
    note = Text(en=" ({d})", zh="（{d}）")(d=described) if described else Text("", "")
    return Text(en="{name}{note}{shape}", zh=" {name}{note}{shape}")(
        name=gap.name, note=note, shape=shape
    )


def _readable(text: str) -> Text:
    """A tool's result as a sentence: `status: 已发货, amount: 329.0.`; text that is no JSON object
    or list stays as it is."""
    value = parse(text)
    if isinstance(value, dict) and (inner := mcp_text(value)) is not None:
        return _readable(inner)
    if isinstance(value, dict) and list(value) == ["result"]:  # how the MCP SDK wraps a bare value
        value = value["result"]
    if not isinstance(value, dict | list):
        return same(value if isinstance(value, str) else text.strip())
    rows = value if isinstance(value, list) and any(isinstance(v, dict) for v in value) else [value]
    return Text(
        en="\n".join(", ".join(_pairs(row, ": ", ", ")) + "." for row in rows),
        zh="\n".join("，".join(_pairs(row, ": ", "、")) + "。" for row in rows),
    )


def _pairs(value: Any, colon: str, comma: str, prefix: str = "") -> Iterator[str]:
    """`key: value` for everything inside a JSON value; what lies deeper gets a dotted key."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _pairs(inner, colon, comma, f"{prefix}.{key}" if prefix else str(key))
        return
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for index, item in enumerate(value):
            yield from _pairs(item, colon, comma, f"{prefix}[{index}]")
        return
    said = comma.join(_plain(item) for item in value) if isinstance(value, list) else _plain(value)
    yield f"{prefix}{colon}{said}" if prefix else said


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
