"""What the latest run of a day said, as far as the learner's commands go by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shared.i18n import Text
from shared.selftest.record import read_record, record_path

UNJUDGED = ("item.waits", "item.not-selected", "grader.fault")  # says nothing of the learner's code


@dataclass(frozen=True)
class Verdict:
    """One item of a run."""

    item: int
    title: Text
    status: str
    diagnosis: str
    cause: Text

    @property
    def passed(self) -> bool:
        """Whether it holds."""
        return self.status == "pass"

    @property
    def failed(self) -> bool:
        """Whether it was judged and does not hold; one that only waits has not been judged."""
        return not self.passed and self.diagnosis not in UNJUDGED


@dataclass(frozen=True)
class LatestRun:
    """The verdicts of a run, in order, and the folder that it judged."""

    folder: str
    at: str
    verdicts: list[Verdict]

    @property
    def of_solution(self) -> bool:
        """Whether it judged the solution, which says nothing of the learner's own files."""
        return self.folder.startswith("solutions/")

    @property
    def all_pass(self) -> bool:
        """Whether every item was judged and holds."""
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def first_failed(self) -> Verdict | None:
        """The first item that does not hold, or None."""
        return next((verdict for verdict in self.verdicts if verdict.failed), None)


def latest_run(day: int) -> LatestRun | None:
    """The latest run of a day; None when there was none, or when its record cannot be read, which
    the next run mends."""
    try:
        rows = read_record(record_path(day))
        run = next(row for row in rows if row["row"] == "run")
        items = [row for row in rows if row["row"] == "item"]
        return LatestRun(run["folder"], run["at"], [_verdict(row) for row in items])
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def _verdict(row: dict[str, Any]) -> Verdict:
    return Verdict(
        row["item"], Text(**row["title"]), row["status"], row["diagnosis"], Text(**row["cause"])
    )
