"""The diagram to paste: its lines, and that nothing in a message is syntax."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.trace.mermaid import escaped

from .conftest import HOSTILE, Checkout, WriteRecord, event, item

LINE = re.compile(
    r"sequenceDiagram"
    r"|    participant (M|A|S\d) as [^\n]+"
    r"|    (M|A|S\d)(->>|-->>|-x|--x|--\))(M|A|S\d): [^\n]+"
    r"|    Note over (M|A|S\d)(,(M|A|S\d))?: [^\n]+"
)


def lines_of(diagram: str) -> list[str]:
    """The lines of a diagram, each of a form that Mermaid takes."""
    lines = diagram.splitlines()
    for line in lines:
        assert LINE.fullmatch(line), line
        assert not re.search(r"[<>&%$\\`]", line.partition(": ")[2]), line
        without_entities = re.sub(r"#\d+;", "", line)
        assert "#" not in without_entities
        assert ";" not in without_entities
    return lines


def test_the_whole_chain(checkout: Checkout) -> None:
    done = checkout.trace("--file", checkout.solution, "--item", "4", "--mermaid")
    lines = lines_of(done.stdout.decode())
    assert lines[:4] == [
        "sequenceDiagram",
        "    participant M as model",
        "    participant A as agent",
        "    participant S1 as server shop",
    ]
    arrows = [line.split(":")[0].strip() for line in lines if re.match(r" +\w+-", line)]
    start = arrows.index("A->>M")
    assert arrows[start : start + 6] == [
        "A->>M",
        "M-->>A",
        "A->>S1",
        "S1-->>A",
        "A->>M",
        "M-->>A",
    ]


def test_the_first_that_is_not_passed_with_its_mark(checkout: Checkout) -> None:
    lines = lines_of(checkout.trace("--file", checkout.starter, "--mermaid").stdout.decode())
    assert "    participant A as client" in lines
    assert any("▷ not started" in line for line in lines)
    at = lines.index("    Note over A,S1: ▲ the server's answer to tools/list")
    assert lines[at - 1] == "    S1-->>A: ↩ tools/list tools: query_order"


def test_into_files(checkout: Checkout, tmp_path: Path) -> None:
    raw, page = tmp_path / "a.mmd", tmp_path / "a.md"
    for path in (raw, page):
        done = checkout.trace("--file", checkout.starter, "--mermaid", path, "--lang", "zh")
        assert str(path) in done.stdout.decode()
    text = raw.read_text("utf-8")
    assert text.startswith("sequenceDiagram\n")
    assert page.read_text("utf-8") == f"```mermaid\n{text}```\n"


def test_hostile_text_is_no_syntax(checkout: Checkout, write_record: WriteRecord) -> None:
    record = write_record(
        item(
            title={"en": HOSTILE, "zh": ""},
            evidence=[{"note": {"en": HOSTILE}, "part": 0, "number": 1}],
        ),
        event(
            1,
            "client",
            {"method": f"x;\nend\n%%{{init: 1}}%% #35; $$x$$ {HOSTILE}"},
            channel=HOSTILE,
        ),
        event(2, "server", None, kind="stray", raw="end", channel=HOSTILE),
    )
    lines = lines_of(checkout.trace("--file", record, "--mermaid").stdout.decode())
    assert len(lines) == 7
    assert not any(re.search(r"\bend\b", line) for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b # c", "a#59; b #35; c"),
        ("<b>&amp;", "#60;b#62;#38;amp#59;"),
        ("End of the weekend", "E#110;d of the weekend"),
        ("wrap: x", "wrap#58; x"),
        ('{"order_id": "订单"}', '{"order_id": "订单"}'),
    ],
)
def test_escapes(text: str, expected: str) -> None:
    assert escaped(text) == expected
