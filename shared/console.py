"""What every command begins with: output that carries Chinese, a language, a quiet end."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import sys
from collections.abc import Iterator, Sequence

from .i18n import LANGUAGES, Language, Text, choose_language

BAD_LANGUAGE = Text(
    en="LAB_LANG is {value!r}; it must be en or zh.",
    zh="LAB_LANG 是 {value!r}；只能是 en 或 zh。",
)


def spoken_language(argv: Sequence[str] = ()) -> Language | None:
    """The language of a command: `--lang` among its words, else `LAB_LANG`, else the locale.

    It is wanted before there is a parser, which has to complain in it. None when `LAB_LANG` is no
    language, which has then been said in both; the command is to end with exit code 2.
    """
    for flag, value in itertools.pairwise([*argv, ""]):
        for language in LANGUAGES:
            if flag == f"--lang={language}" or (flag, value) == ("--lang", language):
                return language
    try:
        return choose_language()
    except ValueError as error:
        for language in LANGUAGES:
            print(BAD_LANGUAGE(value=str(error)).get(language), file=sys.stderr)
        return None


def use_unicode_output() -> None:
    """Let stdout and stderr take Chinese text.

    An encoding that cannot (the C locale's ASCII, cp1252) is replaced by UTF-8, which is what
    terminals speak today; one that can (GBK) is kept, since the terminal really expects it.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue  # replaced by a test or an editor, which then decides for itself
        encoding = stream.encoding if _can_encode("订单", stream.encoding) else "utf-8"
        # what even that cannot carry is shown as an escape; nothing that is said may be lost
        stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@contextlib.contextmanager
def interrupted_quietly() -> Iterator[None]:
    """End as other programs of a shell do: Ctrl-C is exit code 130 and no traceback, and so is 141
    a reader that has gone (`| head`)."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still in the buffer
        sys.exit(141)
