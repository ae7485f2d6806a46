"""How a check ends when its item does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from .diagnoses import Diagnosis
from .result import Evidence, Status


class ItemStopped(Exception):
    """An item does not hold: its status, the diagnosis with its values, and what it rests on."""

    def __init__(
        self,
        status: Status,
        code: str,
        evidence: Sequence[Evidence] = (),
        /,
        **values: object,
    ) -> None:
        super().__init__(code)
        self.status: Status = status
        self.code = code
        self.evidence = list(evidence)
        self.detail = ""
        self.values = values

    def with_detail(self, detail: str) -> ItemStopped:
        """The same, with what --verbose shows: a traceback, or what a process wrote on stderr."""
        self.detail = detail
        return self

    def texts(self, diagnosis: Diagnosis) -> Diagnosis:
        """The diagnosis with its placeholders filled."""
        return Diagnosis(diagnosis.cause(**self.values), diagnosis.step(**self.values))
