"""Chinese text on its way to the operating system."""

from __future__ import annotations

import os


def native(text: str) -> str:
    """A text as an argument, a variable or a file name: UTF-8, even where the locale has ASCII."""
    return os.fsdecode(text.encode(errors="surrogateescape"))
