"""The result of a self-test, which every report is made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from shared.i18n import Text, same
from shared.wire.transcript import Event, Transcript

Status = Literal["pass", "fail", "error", "timeout", "limit", "not_run", "grader_fault"]
STATUSES: tuple[Status, ...] = (
    "pass",
    "fail",
    "error",
    "timeout",
    "limit",
    "not_run",
    "grader_fault",
)

SCHEMA = 1


@dataclass(frozen=True)
class Evidence:
    """Something that the verdict rests on: what crossed the wire, or a value, and what it shows."""

    note: Text
    event: Event | None = None
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        """`{"note": {"en", "zh"}}` with `event` (a transcript row) or `text`."""
        row: dict[str, Any] = {"note": self.note.as_json()}
        if self.event is not None:
            row["event"] = self.event.as_json()
        if self.text:
            row["text"] = self.text
        return row


@dataclass
class ItemResult:
    """The verdict on one item. `message` joins `cause` and `step`, the next thing to do."""

    id: int
    title: Text
    exercise: int | None
    status: Status
    diagnosis: str = ""
    cause: Text = field(default_factory=lambda: same(""))
    step: Text = field(default_factory=lambda: same(""))
    evidence: list[Evidence] = field(default_factory=list)
    duration_ms: int = 0
    detail: str = ""  # a traceback, for --verbose
    transcripts: list[Transcript] = field(default_factory=list)  # one for each part of the check
    uses: frozenset[str] = frozenset()  # the learner's files that it started, by name

    @property
    def points(self) -> float:
        """1.0 when it passes, else 0.0."""
        return 1.0 if self.status == "pass" else 0.0

    @property
    def message(self) -> Text:
        """Cause and next step in one text."""
        return Text(
            en=f"{self.cause.en} {self.step.en}".strip(),
            zh=f"{self.cause.zh}{self.step.zh}".strip(),
        )

    def as_json(self) -> dict[str, Any]:
        """The item as the result contract has it."""
        return {
            "id": self.id,
            "title": self.title.as_json(),
            "status": self.status,
            "exercise": self.exercise,
            "points": self.points,
            "diagnosis": self.diagnosis,
            "message": self.message.as_json(),
            "evidence": [evidence.as_json() for evidence in self.evidence],
            "duration_ms": self.duration_ms,
        }


@dataclass
class Result:
    """The verdicts on all items of a lab, in their order, whatever ran."""

    day: int
    lab: str
    seed: int
    items: list[ItemResult]
    duration_ms: int = 0

    @property
    def passed(self) -> int:
        """How many items pass."""
        return sum(item.status == "pass" for item in self.items)

    def as_json(self) -> dict[str, Any]:
        """The one JSON document of the design's result contract."""
        return {
            "schema": SCHEMA,
            "day": self.day,
            "lab": self.lab,
            "seed": self.seed,
            "passed": self.passed,
            "total": len(self.items),
            "points": sum(item.points for item in self.items),
            "max_points": float(len(self.items)),
            "duration_ms": self.duration_ms,
            "items": [item.as_json() for item in self.items],
        }
