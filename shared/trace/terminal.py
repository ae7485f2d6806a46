"""A record drawn in a terminal: lifelines, arrows between them, one line for each message."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from shared.i18n import Language, Text

from .comparing import Comparison, comparisons
from .lines import duration, line_of, shown, visible
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

STYLES = {"pass": "green", "not_run": "dim", "not_started": "yellow", "grader_fault": "magenta"}
TIME = Text(en="time", zh="时刻")
GAP = Text(en="gap", zh="间隔")
MORE = Text(
    en="--html draws this as a page, --mermaid as a diagram to paste.",
    zh="--html 生成网页，--mermaid 生成可粘贴的时序图。",
)
NARROW = 76  # columns; below, the time of day of the run is left out and only the gap is shown


@dataclass(frozen=True)
class Glyphs:
    """What the lanes are drawn with."""

    bar: str
    line: str
    right: str
    left: str
    mark: str
    gap: str

    def fit(self, encoding: str) -> bool:
        """Whether an output of this encoding can carry them all."""
        try:
            "".join(vars(self).values()).encode(encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True


DRAWN = Glyphs("│", "─", "►", "◄", "▲", "⋮")
TYPED = Glyphs("|", "-", ">", "<", "^", ":")


def draw(
    recording: Recording, sections: list[Section], console: Console, language: Language
) -> None:
    """Draw these sections, each with its verdict, its lanes and what its check pointed at."""
    glyphs = DRAWN if DRAWN.fit(console.encoding) else TYPED
    console.print(Styled(heading(recording).get(language), style="bold"))
    below = subheading(recording).get(language)
    if below:
        console.print(Styled(visible(below), style="dim"))
    for section in sections:
        console.print()
        _verdict(section, console, language)
        if not section.rows:
            console.print(Styled(SILENT.get(language), style="dim"))
        for number, part in enumerate(section.parts, start=1):
            console.print()
            if len(section.parts) > 1:
                name = PART(number=number, total=len(section.parts)).get(language)
                console.print(Styled(name, style="dim"))
            console.print(_lanes(part, console, language, glyphs))
        _evidence(section, console, language, glyphs)
        ending = ending_of(section).get(language)
        if ending:
            console.print(Styled(ending, style="dim"))
    console.print()
    console.print(Styled(MORE.get(language), style="dim"))


def _verdict(section: Section, console: Console, language: Language) -> None:
    state = state_of(section)
    mark, word = STATUSES.get(state, ("?", STATUSES[""][1]))
    style = STYLES.get(state, "red" if state else "bold")
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(justify="right")
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True, justify="right")
    title = Styled(visible(title_of(section).get(language)), style="bold")
    table.add_row(
        Styled(mark, style), str(section.number), title, Styled(word.get(language), style)
    )
    for text, how in ((section.cause, ""), (section.step, "cyan")):
        words = visible(text.get(language))
        if words:
            table.add_row("", "", Styled(f"→ {words}" if how else words, style=how), "")
    console.print(table)


def _lanes(part: list[Row], console: Console, language: Language, glyphs: Glyphs) -> Table:
    """Lifelines of those who spoke: the model, the agent between both wires, the server."""
    both = {row.event.wire for row in part} == {"mcp", "model"}
    if both:
        lanes = " model agent server"
    elif part[0].event.wire == "model":
        lanes = " agent   model"
    else:
        lanes = " client server"
    channels = {row.event.channel for row in part if row.event.wire == "mcp"}
    wide = console.width >= NARROW
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, expand=True, header_style="dim")
    if wide:
        table.add_column(TIME.get(language), justify="right", no_wrap=True, style="dim")
    table.add_column(GAP.get(language), justify="right", no_wrap=True, style="dim", min_width=7)
    table.add_column(lanes, no_wrap=True, width=19 if both else 14)
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for row in part:
        event = row.event
        line = line_of(row)
        marked = bool(row.notes)
        words = Styled(no_wrap=True, overflow="ellipsis")
        if len(channels) > 1 and event.wire == "mcp":
            words.append(f"{shown(event.channel, 20)} ", style="magenta")
        head = line.head.get(language)
        if head:
            words.append(head, style="bold red" if line.bad or marked else "bold")
            words.append(" ")
        style = "red" if line.bad else ("dim" if event.kind == "end" else "")
        words.append(line.words.get(language).lstrip(), style=style)
        gap = f"+{duration(row.gap)}" if row.gap >= 0.0005 else ""
        cells = [
            Styled(gap, style="yellow" if row.gap >= 0.5 else "dim"),
            Styled(_arrow(row, both, glyphs), style="bold red" if marked else "cyan"),
            words,
        ]
        table.add_row(*([f"{event.at:.3f} s"] if wide else []), *cells)
        for note in row.notes:
            said = Styled(f"{glyphs.mark} {shown(note.get(language))}", style="red", no_wrap=True)
            blank = _bars(both, glyphs)
            table.add_row(*([""] if wide else []), "", Styled(blank, style="dim"), said)
    return table


def _arrow(row: Row, both: bool, glyphs: Glyphs) -> str:
    event = row.event
    model_only = not both and event.wire == "model"
    # in the lanes the model stands left of the agent, the server right of it
    to_right = event.sender in ("client", "model") if not model_only else event.sender == "agent"
    length = 5
    shaft = glyphs.line * (length - 1)
    arrow = f"{shaft}{glyphs.right}" if to_right else f"{glyphs.left}{shaft}"
    if event.kind == "end":
        arrow = (
            f"{glyphs.line} {glyphs.line} {glyphs.right}"
            if to_right
            else (f"{glyphs.left} {glyphs.line} {glyphs.line}")
        )
    empty = " " * length
    if not both:
        return f"   {glyphs.bar}{arrow}{glyphs.bar}"
    first, second = (arrow, empty) if event.wire == "model" else (empty, arrow)
    return f"   {glyphs.bar}{first}{glyphs.bar}{second}{glyphs.bar}"


def _bars(both: bool, glyphs: Glyphs) -> str:
    return "   " + (" " * 5).join([glyphs.bar] * (3 if both else 2))


def _evidence(section: Section, console: Console, language: Language, glyphs: Glyphs) -> None:
    if section.findings:
        console.print()
    for finding in section.findings:
        said = Styled(f"{glyphs.mark} {visible(finding.note.get(language))}", style="red")
        if finding.text:
            said.append(": ", style="red").append(shown(finding.text, 1000), style="not red")
        console.print(said)
    for comparison in comparisons(section):
        console.print()
        console.print(_compared(comparison, language))


def _compared(comparison: Comparison, language: Language) -> Styled:
    """Line by line, as diff has it: `-` is missing, `+` is too much."""
    out = Styled()
    for sign, title in (("-", comparison.expected_title), ("+", comparison.actual_title)):
        style = "green" if sign == "-" else "red"
        out.append(f"{sign} {visible(title.get(language))}\n", style=f"bold {style}")
    for same, expected, actual in comparison.blocks():
        signed = [(" ", expected)] if same else [("-", expected), ("+", actual)]
        for sign, lines in signed:
            style = {"-": "green", "+": "red"}.get(sign, "dim")
            for line in lines:
                out.append(f"  {sign} {visible(line)}\n", style=style)
    out.rstrip()
    return out
