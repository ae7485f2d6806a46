"""The record of a run: its verdicts and all that crossed the wires, as JSON lines.

    {"row": "run", "schema": 1, "day", "lab", "folder", "seed", "at", "passed", "total"}
    {"row": "item", "item", "title", "status", "diagnosis", "cause", "step",
     "evidence": [{"note", "part", "number"} | {"note", "text"}, …]}
    {"row": "event", "item", "part", … what `Event.as_json` gives}

`part` numbers the transcripts of an item, from 0: a check may run parts side by side, each with
wires and a clock of its own. Texts for people are `{"en", "zh"}`.
"""

from __future__ import annotations

import datetime
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.processes.supervisor import ROOT

from .result import ItemResult, Result

STATE = ROOT / ".selftest"  # what the course keeps about its learner; git does not see it


def record_path(day: int) -> Path:
    """Where the record of the latest run of a day is kept."""
    return STATE / "runs" / f"day{day}.jsonl"


def write_record(result: Result, shown_as: str, path: Path) -> None:
    """Write the record whole, in the place of an older one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
            for row in _rows(result, shown_as):
                file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_record(path: Path) -> list[dict[str, Any]]:
    """The rows of a record. Raises OSError, ValueError when it is none."""
    lines = path.read_text(encoding="utf-8").split("\n")  # a message may hold other line ends
    return [json.loads(line) for line in lines if line]


def _rows(result: Result, shown_as: str) -> Iterator[dict[str, Any]]:
    yield {
        "row": "run",
        "schema": 1,
        "day": result.day,
        "lab": result.lab,
        "folder": shown_as,
        "seed": result.seed,
        "at": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "passed": result.passed,
        "total": len(result.items),
    }
    for item in result.items:
        yield _item_row(item)
        for part, transcript in enumerate(item.transcripts):
            for event in transcript:
                yield {"row": "event", "item": item.id, "part": part, **event.as_json()}


def _item_row(item: ItemResult) -> dict[str, Any]:
    evidence: list[dict[str, Any]] = []
    for one in item.evidence:
        row: dict[str, Any] = {"note": one.note.as_json()}
        if one.event is None:
            row["text"] = one.text
        else:
            for part, transcript in enumerate(item.transcripts):
                if any(event is one.event for event in transcript):
                    row |= {"part": part, "number": one.event.number}
        evidence.append(row)
    return {
        "row": "item",
        "item": item.id,
        "title": item.title.as_json(),
        "status": item.status,
        "diagnosis": item.diagnosis,
        "cause": item.cause.as_json(),
        "step": item.step.as_json(),
        "evidence": evidence,
    }
