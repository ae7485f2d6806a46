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
        *,
        detail: str = "",
        **values: object,
    ) -> None:
        super().__init__(code)
        self.status: Status = status
        self.code = code
        self.evidence = list(evidence)
        self.detail = detail
        self.values = values

    def texts(self, diagnosis: Diagnosis) -> Diagnosis:
        """The diagnosis with its placeholders filled."""
        return Diagnosis(diagnosis.cause(**self.values), diagnosis.step(**self.values))
