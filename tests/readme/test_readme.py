"""The front page keeps its word, in both languages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shared.authoring.starters import starter_tree
from shared.processes.supervisor import ROOT

PAGES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh-CN.md"}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, kind: str) -> list[str]:
    return [text for name, text in FENCE.findall(page.read_text("utf-8")) if name == kind]


def commands(text: str) -> list[str]:
    return [line.partition("  #")[0].strip() for line in text.splitlines()]


def test_both_languages_have_the_same_outline_commands_and_configuration() -> None:
    texts = [page.read_text("utf-8") for page in PAGES.values()]
    outlines = [re.findall(r"^#+", text, re.MULTILINE) for text in texts]
    assert outlines[0] == outlines[1]
    rows = [len(re.findall(r"^\|", text, re.MULTILINE)) for text in texts]
    assert rows[0] == rows[1]
    assert [commands(b) for b in blocks(PAGES["en"], "bash")] == [
        commands(b) for b in blocks(PAGES["zh"], "bash")
    ]
    assert blocks(PAGES["en"], "json") == blocks(PAGES["zh"], "json")


def anchors(page: Path) -> set[str]:
    """The anchors that a Markdown page has on the usual hosts: its headings in lower case, spaces
    as hyphens, without punctuation."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "page", [*PAGES.values(), *(ROOT / "docs").glob("*.md")], ids=lambda p: p.name
)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


@pytest.mark.parametrize("language", PAGES)
def test_the_first_command_shows_what_the_page_promises(language: str, tmp_path: Path) -> None:
    for path, content in starter_tree(
        ROOT / "solutions"
    ).items():  # labs/ may hold a learner's work
        target = tmp_path / "labs" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    done = subprocess.run(
        [sys.executable, ROOT / "selftest.py", "23", "--seed", "7", "--path", "labs"],
        cwd=tmp_path,
        env={**os.environ, "LAB_LANG": language},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    shown = [line.rstrip() for line in done.stdout.splitlines()]
    promised = next(
        block for block in blocks(PAGES[language], "text") if "labs/day23_mcp_server" in block
    )
    for line in promised.splitlines():
        if line != "…":
            assert line.rstrip() in shown


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_make_target_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"\bmake ([a-z]+(?:-\d+)?)", page.read_text("utf-8")))
    assert len(targets) > 5
    for target in targets:
        rule = re.sub(r"-\d+$", "-%", target)
        assert re.search(rf"^{re.escape(rule)}:", makefile, re.MULTILINE), target


def test_the_number_of_known_mistakes_is_not_overstated() -> None:
    from tests.selftest.test_mistakes import EDITS, MISTAKES

    assert len(MISTAKES) + len(EDITS) > 60
