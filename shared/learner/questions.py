"""What a question of the quiz is, how an attempt is scored, and when it is due again."""

from __future__ import annotations

import datetime
import importlib
from dataclasses import dataclass
from typing import Any

from shared.i18n import Text

DAYS_UNTIL = (1, 3, 7, 16)  # a question that was answered well goes from each box to the next
ENOUGH = 0.6  # of the key points, and the answer counts as a good one


@dataclass(frozen=True)
class Question:
    """One interview question: how to reason, the points that an answer should have, and the code
    and tests that prove them (`path#name`, `path::test`, from the root of the checkout).

    `core` marks those of the lesson's checklist.
    """

    id: str
    question: Text
    reasoning: tuple[Text, ...]
    points: tuple[Text, ...]
    proof: tuple[str, ...]
    core: bool = False


@dataclass(frozen=True)
class Standing:
    """How a question stands: its box (0: never asked), when it is due, the latest score, and what
    was typed for it."""

    box: int = 0
    due: datetime.date | None = None
    points: int = 0
    of: int = 0
    answer: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the latest answer was a good one."""
        return self.of > 0 and self.points >= ENOUGH * self.of

    def is_due(self, today: datetime.date) -> bool:
        """Whether it is to be asked: never asked yet, or its day has come."""
        return self.due is None or self.due <= today

    def after(self, points: int, of: int, answer: str, today: datetime.date) -> Standing:
        """How it stands after an attempt: on to the next box, or back to the first."""
        well = points >= ENOUGH * of
        box = min(self.box + 1, len(DAYS_UNTIL)) if well else 1
        due = today + datetime.timedelta(days=DAYS_UNTIL[box - 1])
        return Standing(box, due, points, of, answer)

    def as_json(self) -> dict[str, Any]:
        """The standing as the state file has it."""
        due = self.due.isoformat() if self.due else None
        return {
            "box": self.box,
            "due": due,
            "points": self.points,
            "of": self.of,
            "answer": self.answer,
        }


def standing_from(row: Any) -> Standing:
    """The standing that a state file holds; of one that was never asked, when it makes no sense."""
    try:
        box, points, of = (int(row[name]) for name in ("box", "points", "of"))
        due = datetime.date.fromisoformat(row["due"])
        answer = str(row.get("answer", ""))
    except (AttributeError, KeyError, TypeError, ValueError):
        return Standing()
    return Standing(max(0, min(box, len(DAYS_UNTIL))), due, points, of, answer)


def in_order(
    questions: tuple[Question, ...], standings: dict[str, Standing], today: datetime.date
) -> list[Question]:
    """What is due, the longest due first, then what was never asked."""
    due = [question for question in questions if standings[question.id].is_due(today)]
    return sorted(due, key=lambda question: standings[question.id].due or datetime.date.max)


def load_questions(lab: str) -> tuple[Question, ...]:
    """The questions of a lab, from the course's own copy; none when the day has none."""
    name = f"solutions.{lab}.quiz"
    try:
        questions: tuple[Question, ...] = importlib.import_module(name).QUESTIONS
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return ()
    return questions
