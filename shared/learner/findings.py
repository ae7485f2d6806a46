"""What a doctor says: one finding for each thing that was looked at."""

from __future__ import annotations

import getpass
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shared.i18n import Text

Status = Literal["ok", "note", "bad"]
"""In order; worth knowing, with something to do; the course does not work like this."""


@dataclass(frozen=True)
class Finding:
    """One line of the doctor: what was looked at (a stable name), what was found, and the one thing
    to do about it, if there is one."""

    check: str
    status: Status
    found: Text
    step: Text | None = None

    def as_json(self) -> dict[str, Any]:
        """`{"check", "status", "found": {"en", "zh"}, "step": {"en", "zh"} | null}`, without what
        tells who the learner is."""
        return {
            "check": self.check,
            "status": self.status,
            "found": anonymous(self.found).as_json(),
            "step": None if self.step is None else anonymous(self.step).as_json(),
        }


def anonymous(text: Text) -> Text:
    """The same without the home folder and the user's name."""
    return Text(en=_anonymous(text.en), zh=_anonymous(text.zh))


def _anonymous(text: str) -> str:
    for home in sorted({str(Path.home()), str(Path.home().resolve())}, key=len, reverse=True):
        if len(home) > 1:  # the home of some service accounts is /
            text = re.sub(rf"{re.escape(home)}(?!\w)", "~", text)
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such entry: a container under a bare number
        return text
    return re.sub(rf"(?<!\w){re.escape(user)}(?!\w)", "<user>", text)
