"""A record, read for drawing: sections (an item, or a session of a tap), parts, messages, marks.

What was recorded may come from a killed process or an older course: lines that cannot be read are
counted and left out, never in the way of the others.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from shared.i18n import Text, same
from shared.wire.transcript import Event, Kind, Sender, Wire

NOT_SELECTED = "item.not-selected"
PARTS = 1000  # more parts than any check has: a number beyond is a broken line

_NAMES = {field.name for field in fields(Event)}


class NoRecord(Exception):
    """A file that holds no record at all."""


@dataclass
class Row:
    """One event as it is drawn.

    gap      seconds since the event before it in its part, 0.0 for the first
    answers  for a response: the request that it answers, when that is in the record
    notes    what a check said of it
    """

    event: Event
    gap: float = 0.0
    answers: Event | None = None
    notes: list[Text] = field(default_factory=list)

    @property
    def took(self) -> float | None:
        """Seconds between a request and this response to it."""
        return None if self.answers is None else self.event.at - self.answers.at


@dataclass(frozen=True)
class Finding:
    """Evidence that crossed no wire: a value, and what it shows."""

    note: Text
    text: str


@dataclass
class Section:
    """One item of a run with its verdict, or one session of a tap, which has none.

    number       the item's number, or the session's, from 1
    status       of the self-test's result contract; empty for a session
    parts        transcripts that ran side by side, each with a clock of its own
    exit_code    of the server behind a tap, when it was seen
    """

    number: int
    title: Text
    status: str = ""
    diagnosis: str = ""
    cause: Text = field(default_factory=lambda: same(""))
    step: Text = field(default_factory=lambda: same(""))
    parts: list[list[Row]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    exit_code: int | None = None
    began: str = ""

    @property
    def rows(self) -> list[Row]:
        """The rows of all parts."""
        return [row for part in self.parts for row in part]

    @property
    def marked(self) -> list[Row]:
        """The rows that a check pointed at."""
        return [row for row in self.rows if row.notes]


@dataclass
class Recording:
    """What a record holds. `run` is its first row; `unread` counts lines that could not be read."""

    run: dict[str, Any]
    sections: list[Section]
    unread: int = 0

    @property
    def is_tap(self) -> bool:
        """Whether a tap made it: sessions without a verdict."""
        return "tap" in self.run

    def to_look_at(self) -> list[Section]:
        """The first item that did not pass, else all that were judged."""
        judged = [one for one in self.sections if one.diagnosis != NOT_SELECTED]
        red = [one for one in judged if one.status not in ("pass", "")]
        return red[:1] or judged


def read_recording(path: Path) -> Recording:
    """Read a record. Raises OSError, NoRecord when nothing in it can be read."""
    recording = Recording({}, [])
    builder = _Builder(recording)
    # not splitlines(): U+2028 and its like are no ends of lines in JSON
    for line in path.read_bytes().split(b"\n"):
        if line.strip() and not builder.take(line):
            recording.unread += 1
    if not recording.sections:
        raise NoRecord
    builder.finish()
    return recording


class _Builder:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._items: dict[int, Section] = {}
        self._marks: list[tuple[Section, int, int, Text]] = []
        self._run: dict[str, Any] = {}

    def take(self, line: bytes) -> bool:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(row, dict):
            return False
        kind = row.get("row")
        if kind == "run":
            self._run, self._items = row, {}
            self._recording.run = self._recording.run or row
            if "tap" in row:
                self._session()
            return True
        if kind == "item":
            return self._take_item(row)
        if kind == "event":
            return self._take_event(row)
        if kind == "exit" and self._items and isinstance(row.get("code"), int):
            next(iter(self._items.values())).exit_code = row["code"]
        return True  # a kind of row that a later course may add

    def _session(self) -> Section:
        number = len(self._recording.sections) + 1
        section = Section(number, same(str(self._run.get("tap", ""))))
        section.began = str(self._run.get("at", ""))
        self._recording.sections.append(section)
        self._items[0] = section
        return section

    def _section(self, item: int) -> Section:
        if item in self._items:
            return self._items[item]
        if item == 0:
            return self._session()
        section = self._items[item] = Section(item, same(""))
        self._recording.sections.append(section)
        return section

    def _take_item(self, row: dict[str, Any]) -> bool:
        item = row.get("item")
        if not isinstance(item, int):
            return False
        section = self._section(item)
        section.title, section.cause, section.step = (
            _text(row.get(name)) for name in ("title", "cause", "step")
        )
        section.status = str(row.get("status", ""))
        section.diagnosis = str(row.get("diagnosis", ""))
        evidence = row.get("evidence")
        for one in evidence if isinstance(evidence, list) else []:
            if isinstance(one, dict):
                self._take_evidence(section, one)
        return True

    def _take_evidence(self, section: Section, one: dict[str, Any]) -> None:
        note, part, number = _text(one.get("note")), one.get("part"), one.get("number")
        if isinstance(part, int) and isinstance(number, int):
            self._marks.append((section, part, number, note))  # the events are still to come
        else:
            section.findings.append(Finding(note, str(one.get("text", ""))))

    def _take_event(self, row: dict[str, Any]) -> bool:
        item, part = row.get("item"), row.get("part")
        event = _event(row)
        if event is None or not isinstance(item, int) or not isinstance(part, int):
            return False
        section = self._section(item)
        if not 0 <= part < PARTS:
            return False
        while len(section.parts) <= part:
            section.parts.append([])
        section.parts[part].append(Row(event))
        return True

    def finish(self) -> None:
        """Join what stands in different lines of the record."""
        for section in self._recording.sections:
            for part in section.parts:
                _relate(part)
        for section, of, number, note in self._marks:
            rows = section.parts[of] if 0 <= of < len(section.parts) else []
            found = [row for row in rows if row.event.number == number]
            for row in found[:1]:
                row.notes.append(note)
            if not found:
                section.findings.append(Finding(note, ""))
        for section in self._recording.sections:
            section.parts = [part for part in section.parts if part]


def _relate(rows: list[Row]) -> None:
    """Gaps between neighbours, and which request each response answers."""
    asked: dict[tuple[str, str], Event] = {}
    asked_model: Event | None = None
    for before, row in zip([None, *rows], rows, strict=False):
        event = row.event
        row.gap = event.at - before.event.at if before else 0.0
        if event.kind != "message":
            continue
        if event.wire == "model":
            if event.sender == "agent":
                asked_model = event
            else:
                row.answers, asked_model = asked_model, None
        elif event.is_request:
            asked[event.sender, _id(event)] = event
        elif isinstance(event.message, dict) and not event.method:
            other = "client" if event.sender == "server" else "server"
            row.answers = asked.pop((other, _id(event)), None)


def _id(event: Event) -> str:
    """Whose exchange it is: the id, 1 and "1" apart, and the server's name."""
    return f"{event.channel} {json.dumps(event.message.get('id'))}"


def _event(row: dict[str, Any]) -> Event | None:
    given = {name: row[name] for name in _NAMES if name in row}
    at = given.get("at")
    known = (
        given.get("wire") in get_args(Wire)
        and given.get("sender") in get_args(Sender)
        and given.get("kind") in get_args(Kind)
        and isinstance(given.get("number"), int)
        and isinstance(at, (int, float))
        and math.isfinite(at)
        and all(isinstance(given.get(name, ""), str) for name in ("channel", "fault", "raw"))
        and isinstance(given.get("line", 0), int)
        and isinstance(given.get("status"), (int, type(None)))
    )
    return Event(**{"channel": "", **given}) if known else None


def _text(value: Any) -> Text:
    if isinstance(value, dict):
        return Text(en=str(value.get("en", "")), zh=str(value.get("zh", "")))
    return same("")
