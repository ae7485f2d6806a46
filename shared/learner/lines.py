"""Lines and their ends: a learner's file keeps the ones that it has."""

from __future__ import annotations

import re
from difflib import SequenceMatcher


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Unlike `str.splitlines`, only a newline ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def same_lines(one: str, other: str) -> bool:
    """Whether two texts are the same but for how their lines end."""
    return _bare(one) == _bare(other)


def unix(text: str) -> str:
    """The text with nothing but newlines at the ends of its lines."""
    return text.replace("\r\n", "\n")


def with_line_ends_of(mine: bytes, content: bytes) -> bytes:
    """The new content of a file, with the line ends that the file has in the majority of lines, or
    the file's own content when nothing but line ends would change."""
    windows = mine.count(b"\r\n") * 2 > mine.count(b"\n")
    plain = content.replace(b"\r\n", b"\n")
    if mine.replace(b"\r\n", b"\n") == plain:
        return mine
    return plain.replace(b"\n", b"\r\n") if windows else content


def merge_line_ends(mine: str, merged: str) -> str:
    """`merged`, which has newlines only, with the ends that the same lines have in `mine`; lines
    that are new end as most of `mine` do."""
    own = lines_of(mine)
    new = lines_of(merged)
    end = "\r\n" if mine.count("\r\n") * 2 > mine.count("\n") else "\n"
    result = [re.sub(r"\n$", end, line) for line in new]
    matcher = SequenceMatcher(None, [unix(line) for line in own], new, autojunk=False)
    for first, second, size in matcher.get_matching_blocks():
        result[second : second + size] = own[first : first + size]
    return "".join(result)


def _bare(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in lines_of(text)]
