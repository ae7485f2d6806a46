"""A checkout of its own (no learner's record is touched), records real and made, a browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from shared.processes.supervisor import ROOT

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

HOSTILE = (
    '</script><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e\x1b[2J'
)


@dataclass(frozen=True)
class Checkout:
    """A copy of the course, with the records of one run of the starter and one of the solution."""

    folder: Path

    @property
    def starter(self) -> Path:
        return self.folder / "starter.jsonl"

    @property
    def solution(self) -> Path:
        return self.folder / "solution.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            clean.pop(name, None)
        return {**clean, "PYTHONPATH": str(self.folder), "LAB_LANG": "en"}

    def run(
        self, *arguments: str | Path, stdin: bytes = b"", **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run Python with these arguments in the checkout."""
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            env={**self.environment, **env},
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )

    def trace(self, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
        """`selftest.py trace` with these arguments."""
        return self.run("selftest.py", "trace", *arguments, **env)

    def page(self, record: Path, *arguments: str) -> str:
        """Make the page of a record; returns its address."""
        made = record.with_suffix(".html")
        done = self.trace("--file", record, "--html", made, *arguments)
        assert done.returncode == 0, done.stderr
        assert str(made) in done.stdout.decode()
        return made.as_uri()


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    folder = tmp_path_factory.mktemp("课程 trace")
    for name in ("labs", "solutions", "shared"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "selftest.py", folder)
    made = Checkout(folder)
    for name, code in (("labs", 1), ("solutions", 0)):
        done = made.run("selftest.py", "23", "--path", name, "--seed", "7")
        assert done.returncode == code, done.stdout.decode() + done.stderr.decode()
        record = made.starter if name == "labs" else made.solution
        shutil.copy(folder / ".selftest" / "runs" / "day23.jsonl", record)
    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None and not os.environ.get("CI"):
        pytest.skip("there is no chromium to look at the page with")
    assert found, "CI has to look at the page: install the package chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM)
        yield browser
        browser.close()


WriteRecord = Callable[..., Path]


def event(number: int, sender: str, message: Any, **more: Any) -> dict[str, Any]:
    """A row of a record, as `Event.as_json` makes it."""
    wire = "model" if sender in ("agent", "model") else "mcp"
    return {
        "row": "event",
        "item": 1,
        "part": 0,
        "number": number,
        "at": number / 100,
        "wire": wire,
        "channel": "model" if wire == "model" else "shop",
        "sender": sender,
        "kind": "message",
        "message": message,
        **more,
    }


def item(status: str = "fail", cause: str = "It is wrong.", **more: Any) -> dict[str, Any]:
    """An item's row."""
    return {
        "row": "item",
        "item": 1,
        "title": {"en": "the item", "zh": "这一项"},
        "status": status,
        "diagnosis": "some.code",
        "cause": {"en": cause, "zh": "错了。"},
        "step": {"en": "Mend it.", "zh": "改好它。"},
        "evidence": [],
        **more,
    }


@pytest.fixture
def write_record(tmp_path: Path) -> WriteRecord:
    """Write a record of these rows, below the row of its run."""

    def write(*rows: dict[str, Any] | str) -> Path:
        run = {"row": "run", "schema": 1, "day": 23, "folder": "labs/x", "seed": 7}
        run |= {"at": "2026-11-30T22:35:57+00:00", "passed": 0, "total": 1}
        path = tmp_path / "made.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in (run, *rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write
