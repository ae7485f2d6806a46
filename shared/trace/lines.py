"""A message in a line: what both drawings and the page say of it, safe to show."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from shared.i18n import Text, same
from shared.wire.messages import one_line
from shared.wire.transcript import Event

from .reading import Row

# What would command a terminal, or turn the text around for the reader, is shown as an escape.
UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
WIDTH = 400  # characters of a line that are kept at all

CLOSED = {
    "client": Text(en="closes the server's stdin", zh="关闭 server 的 stdin"),
    "server": Text(en="closes its stdout", zh="关闭自己的 stdout"),
}
FAULTS = {
    "not-utf8": Text(en="not UTF-8", zh="不是 UTF-8"),
    "not-json": Text(en="not JSON", zh="不是 JSON"),
    "not-json-rpc": Text(en="not JSON-RPC 2.0", zh="不是 JSON-RPC 2.0"),
    "no-newline": Text(en="no newline at its end", zh="末尾没有换行"),
}


@dataclass(frozen=True)
class Line:
    """A message in a line.

    head   what kind of message it is: its method, or the method that it answers
    words  what it says
    bad    whether it says that something failed, or is no message at all
    """

    head: Text
    words: Text
    bad: bool = False


def line_of(row: Row) -> Line:
    """The line of a row."""
    event = row.event
    if event.kind == "end":
        return Line(same(""), CLOSED.get(event.sender, same("")))
    if event.kind == "stray":
        return Line(FAULTS.get(event.fault, same(event.fault)), same(shown(_raw(event))), bad=True)
    words = str(one_line(event))
    if event.method and words.startswith(event.method):
        words = words[len(event.method) :]
    return Line(same(shown(_head(row))), same(shown(words)), bad=is_bad(event))


def _head(row: Row) -> str:
    event = row.event
    if event.wire == "model":
        return "chat/completions" if event.sender == "agent" else "↩ chat/completions"
    if event.method:
        return event.method
    return f"↩ {row.answers.method}" if row.answers else "↩"


def _raw(event: Event) -> str:
    return event.raw or json.dumps(event.message, ensure_ascii=False)


def is_bad(event: Event) -> bool:
    """Whether a message says that something failed."""
    if event.wire == "model":
        return event.status is not None and event.status >= 400
    if not isinstance(event.message, dict):
        return False
    result = event.message.get("result")
    return "error" in event.message or (isinstance(result, dict) and result.get("isError") is True)


def shown(text: str, width: int = WIDTH) -> str:
    """A text on one line that commands nothing: spaces run together, the unseen as escapes."""
    cut = text[: 4 * width]
    cut = UNSEEN.sub(escape, " ".join(cut.split()))
    return cut if len(cut) <= width and len(text) <= 4 * width else f"{cut[: width - 1]}…"


def visible(text: str) -> str:
    """A text of several lines that commands nothing."""
    return "\n".join(UNSEEN.sub(escape, line.expandtabs(4)) for line in text.split("\n"))


def escape(found: re.Match[str]) -> str:
    """An unseen character as \\xNN or \\uNNNN."""
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def duration(seconds: float) -> str:
    """A time as people read it: `81 ms`, `2.7 s`, `3 min 20 s`."""
    if seconds < 0.9995:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
