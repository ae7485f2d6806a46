"""A record as a Mermaid sequence diagram."""

from __future__ import annotations

import re

from shared.i18n import Language

from .lines import duration, line_of, shown
from .reading import Row, Section
from .words import PART, STATUSES, state_of, title_of

WIDTH = 90  # characters of a message; a diagram is for the overview
GAP = 0.5  # seconds from which a pause gets a line of its own

# What Mermaid takes for syntax: the end of a statement, an entity, HTML, a directive, mathematics,
# an escape. Each has an entity of Mermaid's own, `#NN;`.
SYNTAX = re.compile(r"[;#<>&%$\\`]")


def diagram(sections: list[Section], language: Language) -> str:
    """One `sequenceDiagram` of these sections, one below the other."""
    rows = [row for section in sections for row in section.rows]
    servers = dict.fromkeys(row.event.channel for row in rows if row.event.wire == "mcp")
    ids = {channel: f"S{number}" for number, channel in enumerate(servers, start=1)}
    lines = ["sequenceDiagram"]
    has_model = any(row.event.wire == "model" for row in rows)
    if has_model:
        lines.append("    participant M as model")
    lines.append(f"    participant A as {'agent' if has_model else 'client'}")
    for channel, name in ids.items():
        lines.append(f"    participant {name} as server {escaped(shown(channel, 40))}".rstrip())
    ends = [*(["M"] if has_model else []), "A", *ids.values()]
    span = ",".join(dict.fromkeys((ends[0], ends[-1])))
    for section in sections:
        mark, word = STATUSES.get(state_of(section), ("", STATUSES[""][1]))
        title = f"{section.number} {title_of(section).get(language)}"
        verdict = f"{mark} {word.get(language)}" if word.get(language) else ""
        lines.append(f"    Note over {span}: {escaped(shown(f'{title} {verdict}'.strip(), 200))}")
        for number, part in enumerate(section.parts, start=1):
            if len(section.parts) > 1:
                name = PART(number=number, total=len(section.parts)).get(language)
                lines.append(f"    Note over {span}: {escaped(name)}")
            for row in part:
                lines += _row(row, ids, span, language)
    return "\n".join(lines) + "\n"


def _row(row: Row, ids: dict[str, str], span: str, language: Language) -> list[str]:
    event = row.event
    other = "M" if event.wire == "model" else ids[event.channel]
    outward = event.sender in ("client", "agent")
    sender, receiver = ("A", other) if outward else (other, "A")
    line = line_of(row)
    words = f"{line.head.get(language)} {line.words.get(language).strip()}".strip()
    is_answer = (event.wire == "model" and not outward) or (
        event.wire == "mcp" and not event.method
    )
    arrow = "-->>" if is_answer else "->>"
    if event.kind == "stray" or line.bad:
        arrow = "--x" if is_answer else "-x"
    elif event.kind == "end":
        arrow = "--)"
    lines = []
    if row.gap >= GAP:
        lines.append(f"    Note over {span}: + {escaped(duration(row.gap))}")
    lines.append(f"    {sender}{arrow}{receiver}: {escaped(shown(words, WIDTH)) or '—'}")
    around = ",".join(("M", "A") if other == "M" else ("A", other))
    lines += [
        f"    Note over {around}: ▲ {escaped(shown(note.get(language), 200))}" for note in row.notes
    ]
    return lines


def escaped(text: str) -> str:
    """A text as Mermaid shows it unchanged."""
    text = SYNTAX.sub(lambda found: f"#{ord(found[0])};", text)
    # `end` closes a block wherever it stands as a word; `wrap:` at the front is an instruction
    text = re.sub(r"\b(e)(n)(d)\b", _entity_inside, text, flags=re.IGNORECASE)
    return re.sub(r"^(no)?wrap:", r"\1wrap#58;", text)


def _entity_inside(found: re.Match[str]) -> str:
    return f"{found[1]}#{ord(found[2])};{found[3]}"
