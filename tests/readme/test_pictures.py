"""The pictures show what the self-test says today."""

from __future__ import annotations

import html
import re
from pathlib import Path

from shared.authoring.pictures import FOLDER, pictures


def words(svg: str) -> str:
    """What a picture says, whatever its colours and places."""
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    return " ".join(html.unescape(" ".join(texts)).split())


def test_each_picture_says_what_a_run_says() -> None:
    drawn = dict(pictures())
    assert {path.name for path in Path(FOLDER).glob("*.svg")} == set(drawn)
    for name, svg in drawn.items():
        assert words((FOLDER / name).read_text("utf-8")) == words(svg), f"make pictures: {name}"
    assert "6 of 6 items pass" in words(drawn["solutions-en.svg"])
    assert "还没有开始" in words(drawn["labs-zh.svg"])
