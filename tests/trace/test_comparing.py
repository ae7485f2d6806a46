"""Three things must cross from wire to wire unchanged; where they do not, both ends are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shared.trace.comparing import Comparison, comparisons
from shared.trace.reading import read_recording

from .conftest import WriteRecord, event, item

SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
LISTED = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "q", "inputSchema": SCHEMA}]}}


def offered(parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "q", "parameters": parameters}}


def found(record: Path) -> list[Comparison]:
    (section,) = read_recording(record).sections
    return comparisons(section)


def mark(number: int) -> dict[str, Any]:
    return {"note": {"en": "here", "zh": "这里"}, "part": 0, "number": number}


def test_a_schema_that_loses_its_fields(write_record: WriteRecord) -> None:
    (one,) = found(
        write_record(
            item(evidence=[mark(2)]),
            event(1, "server", LISTED),
            event(2, "agent", {"messages": [], "tools": [offered({"type": "object"})]}),
        )
    )
    assert '"order_id"' in one.expected
    assert '"order_id"' not in one.actual


def test_a_call_that_is_not_the_one_asked_for(write_record: WriteRecord) -> None:
    call = {"id": "c", "function": {"name": "q", "arguments": '{"order_id": "SO1"}'}}
    rows = [
        event(1, "model", {"choices": [{"message": {"tool_calls": [call]}}]}, status=200),
        event(2, "client", {"id": 1, "method": "tools/call", "params": {"name": "q"}}),
    ]
    (one,) = found(write_record(item(evidence=[mark(2)]), *rows))
    assert "SO1" in one.expected
    assert "SO1" not in one.actual


@pytest.mark.parametrize(
    "answer",
    [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no such order"}},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"content": [{"type": "text", "text": "no such order"}]},
        },
    ],
)
@pytest.mark.parametrize(("told", "actual"), [("failed", "failed"), ("", "—")])
def test_words_that_are_changed_or_lost(
    write_record: WriteRecord, answer: Any, told: str, actual: str
) -> None:
    message = {"role": "tool", "tool_call_id": "c", "content": told}
    (one,) = found(
        write_record(
            item(evidence=[mark(1), mark(2)]),
            event(1, "server", answer),
            event(2, "agent", {"messages": [message]}),
        )
    )
    assert (one.expected, one.actual) == ("no such order", actual)


def test_what_is_equal_or_passes_is_not_compared(write_record: WriteRecord) -> None:
    rows = [
        event(1, "server", LISTED),
        event(2, "agent", {"messages": [], "tools": [offered(SCHEMA)]}),
    ]
    assert found(write_record(item(evidence=[mark(2)]), *rows)) == []
    turned = {**dict(reversed(SCHEMA.items())), "required": []}  # neither says anything else
    rows[1] = event(2, "agent", {"messages": [], "tools": [offered(turned)]})
    assert found(write_record(item(evidence=[mark(2)]), *rows)) == []
    rows[1] = event(2, "agent", {"messages": [], "tools": [offered({})]})
    assert found(write_record(item("pass", evidence=[mark(2)]), *rows)) == []
