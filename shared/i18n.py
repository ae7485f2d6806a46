"""Learner-facing words, English and Chinese side by side."""

from __future__ import annotations

import locale
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True)
class Text:
    """One message in both languages; neither may be left out.

    The placeholders of `str.format` (`{file}`) must be the same in both languages; a test holds
    every `Text` of the repository to that.
    """

    en: str
    zh: str

    def __call__(self, **values: object) -> Text:
        """Fill the placeholders of both languages. A value that is a `Text` is filled in language
        by language. Raises KeyError when a placeholder has no value."""
        return Text(
            en=self.en.format(**{name: _in(value, "en") for name, value in values.items()}),
            zh=self.zh.format(**{name: _in(value, "zh") for name, value in values.items()}),
        )

    def get(self, language: Language) -> str:
        """The message in one language."""
        return self.zh if language == "zh" else self.en

    def as_json(self) -> dict[str, str]:
        """`{"en": …, "zh": …}`, the shape that the result contract asks for."""
        return {"en": self.en, "zh": self.zh}


def _in(value: object, language: Language) -> object:
    return value.get(language) if isinstance(value, Text) else value


def same(text: str) -> Text:
    """A text that is the same in both languages: a name, a quoted line, a path."""
    return Text(en=text, zh=text)


def choose_language(env: Mapping[str, str] = os.environ) -> Language:
    """The learner's language: `LAB_LANG`, else the locale, else English.

    Raises ValueError when `LAB_LANG` is set to anything but `en` or `zh`.
    """
    asked = env.get("LAB_LANG", "").strip()
    if asked:
        for language in LANGUAGES:
            if asked == language:
                return language
        raise ValueError(asked)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if env.get(name):
            return "zh" if env[name].lower().startswith("zh") else "en"
    system = (
        locale.getlocale()[0] or ""
    )  # Windows has no LANG; it says e.g. Chinese (Simplified)_China
    return "zh" if system.lower().startswith(("zh", "chinese")) else "en"
