"""Pictures of the terminal for README and lesson: `python -m shared.authoring.pictures`.

Each is drawn from a run of the real self-test, in both languages, so that no picture can show what
a learner will not see.
"""

from __future__ import annotations

import html
import io
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

from shared.i18n import LANGUAGES, Language
from shared.processes import Launcher
from shared.processes.supervisor import ROOT
from shared.selftest.checks import Checks
from shared.selftest.discover import load_checks
from shared.selftest.report import print_report
from shared.selftest.result import Result
from shared.selftest.runner import run_checks

from .starters import starter_tree

FOLDER = ROOT / "docs" / "pictures"
LAB = "day23_mcp_server"
SEED = 7
WIDTH = 92  # columns
TEXT = re.compile(
    r'(?P<before><text [^>]*)textLength="(?P<width>[\d.]+)"(?P<after>[^>]*>)(?P<text>[^<]+)</text>'
)


def draw(result: Result, checks: Checks, shown_as: str, language: Language) -> str:
    """One report as an SVG. What it took in time is left out: it would differ every time."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    print_report(result, checks, shown_as, console, language, timed=False)
    title = f"make {'solution' if shown_as.startswith('solutions') else 'lab'}-{result.day}"
    svg = console.export_svg(title=title, unique_id=f"{shown_as.partition('/')[0]}-{language}")
    return TEXT.sub(_widen, svg)


def _widen(found: re.Match[str]) -> str:
    """rich counts characters where it should count columns, and so squeezes Chinese text."""
    text = html.unescape(found["text"])
    width = float(found["width"]) / len(text) * cell_len(text)
    return f'{found["before"]}textLength="{width:.1f}"{found["after"]}{found["text"]}</text>'


def pictures() -> Iterator[tuple[str, str]]:
    """Names and texts of all pictures."""
    checks = load_checks(LAB)
    with Launcher() as launcher, tempfile.TemporaryDirectory() as folder:
        for path, content in starter_tree(ROOT / "solutions").items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for kind, source in (("labs", Path(folder, LAB)), ("solutions", ROOT / "solutions" / LAB)):
            shown_as = f"{kind}/{LAB}"
            result = run_checks(checks, source, shown_as=shown_as, seed=SEED, launcher=launcher)
            for language in LANGUAGES:
                yield f"{kind}-{language}.svg", draw(result, checks, shown_as, language)


def main() -> None:
    """Draw all pictures into docs/pictures/."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pictures():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/pictures/{name}")


if __name__ == "__main__":
    main()
