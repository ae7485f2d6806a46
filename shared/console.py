"""Standard output that can carry Chinese whatever the locale says."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator


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
