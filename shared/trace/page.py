"""A record as one self-contained HTML page.

Whatever crossed the wires may be hostile. It is in the page as JSON whose `<`, `>` and `&` are
escapes, so that no parser of HTML sees any of it, and the script puts it into text nodes alone. A
content security policy allows the page's own script and style, by their hashes, and no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from shared.i18n import Language, Text
from shared.wire.transcript import Event

from .comparing import Comparison, comparisons
from .lines import duration, line_of, visible
from .reading import Recording, Row, Section
from .words import (
    PART,
    SILENT,
    STATUSES,
    ending_of,
    heading,
    state_of,
    subheading,
    title_of,
)

HERE = Path(__file__).parent

# Words of the page itself, by the names that page.js and the template use.
WORDS = {
    "items": Text(en="Items", zh="检查项"),
    "search": Text(en="Search messages", zh="搜索报文"),
    "hint": Text(
        en="/ search   ↑ ↓ move   Enter open   m next mark",
        zh="/ 搜索   ↑ ↓ 移动   Enter 展开   m 下一处标记",
    ),
    "found": Text(en="{shown} of {all} messages", zh="{all} 条报文中的 {shown} 条"),
    "count": Text(en="{all} messages", zh="{all} 条报文"),
    "none": Text(en="No message contains this.", zh="没有报文包含这段文字。"),
    "theme": Text(en="Dark or light", zh="深色或浅色"),
    "language": Text(en="中文", zh="English"),
    "next": Text(en="Next mark", zh="下一处标记"),
    "close": Text(en="Fold all", zh="全部折叠"),
    "model": Text(en="model wire", zh="模型线路"),
    "mcp": Text(en="MCP wire", zh="MCP 线路"),
    "silent": SILENT,
    "noscript": Text(
        en="This page draws its messages with a script of its own; allow it to run.",
        zh="本页用自带的脚本绘制报文，请允许脚本运行。",
    ),
}


def page(recording: Recording, sections: list[Section], language: Language) -> str:
    """The whole page, as a text of HTML that is all ASCII but for its own words."""
    script = (HERE / "page.js").read_text(encoding="utf-8")
    style = (HERE / "page.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template("page.html.j2").render(
        data={
            "language": language,
            "words": {name: word.as_json() for name, word in WORDS.items()},
            "heading": heading(recording).as_json(),
            "below": subheading(recording).as_json(),
            "sections": [_section(section) for section in sections],
        },
        title=visible(heading(recording).get(language)),
        language={"en": "en", "zh": "zh-CN"}[language],
        words={name: word.get(language) for name, word in WORDS.items()},
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _section(section: Section) -> dict[str, Any]:
    state = state_of(section)
    mark, word = STATUSES.get(state, ("?", STATUSES[""][1]))
    total = len(section.parts)
    return {
        "number": section.number,
        "state": state,
        "mark": mark,
        "word": word.as_json(),
        "title": _shown(title_of(section)),
        "cause": _shown(section.cause),
        "step": _shown(section.step),
        "ending": ending_of(section).as_json(),
        "findings": [[_shown(one.note), visible(one.text)] for one in section.findings],
        "comparisons": [_comparison(one) for one in comparisons(section)],
        "parts": [
            {
                "title": PART(number=number, total=total).as_json() if total > 1 else None,
                "rows": [_row(row) for row in part],
            }
            for number, part in enumerate(section.parts, start=1)
        ],
        "names": _names(section),
    }


def _row(row: Row) -> dict[str, Any]:
    """What page.js needs of a row, with short names: there may be ten thousand."""
    event = row.event
    line = line_of(row)
    data: dict[str, Any] = {
        "w": event.wire,
        "s": event.sender,
        "k": event.kind,
        "t": f"{event.at:.3f}",
        "h": _short(line.head),
        "l": _short(line.words),
        "m": _whole(event),
    }
    if row.gap >= 0.0005:
        data["g"] = [duration(row.gap), min(3, sum(row.gap >= step for step in (0.05, 0.5, 5)))]
    if row.took is not None:
        data["d"] = duration(row.took)
    if line.bad:
        data["b"] = 1
    if event.wire == "mcp":
        data["c"] = visible(event.channel)
        if isinstance(event.message, dict) and "id" in event.message:
            data["i"] = visible(json.dumps(event.message["id"], ensure_ascii=False))[:40]
    if row.notes:
        data["n"] = [_shown(note) for note in row.notes]
    return data


def _whole(event: Event) -> str:
    """The whole message as text: JSON when it is some, with every digit that Python kept; a stray
    line as it crossed."""
    if event.message is None or (event.kind == "stray" and event.raw):
        return visible(event.raw)
    return visible(json.dumps(event.message, ensure_ascii=False))


def _short(text: Text) -> str | dict[str, str]:
    return text.en if text.en == text.zh else text.as_json()


def _shown(text: Text) -> dict[str, str]:
    return {"en": visible(text.en), "zh": visible(text.zh)}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    sides: dict[str, list[list[Any]]] = {"expected": [], "actual": []}
    for same, expected, actual in comparison.blocks():
        sides["expected"] += [[visible(line), int(not same)] for line in expected]
        sides["actual"] += [[visible(line), int(not same)] for line in actual]
    return {
        "expected": [_shown(comparison.expected_title), sides["expected"]],
        "actual": [_shown(comparison.actual_title), sides["actual"]],
    }


def _names(section: Section) -> list[str]:
    """What the verdict puts in backticks: names that are marked in the messages it points at."""
    return [name for name in section.cause.en.split("`")[1::2] if 1 < len(name) < 200]
