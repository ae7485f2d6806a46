"""A checkout of the course of its own, and a learner who types commands in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect

from shared.authoring.regions import find_region, replace_region
from shared.authoring.starters import starter_tree
from shared.i18n import Text
from shared.learner.blanks import blanks_of
from shared.selftest.result import ItemResult, Result, Status

ROOT = Path(__file__).resolve().parents[2]
LAB = "day23_mcp_server"

RUN_AND_NOTE = """
import sys
from shared.learner.starters import starter_notices
from shared.learner.state import note_run
from shared.processes import Launcher
from shared.selftest.discover import find_target
from shared.selftest.runner import run_checks

target = find_target(23, None, solution=False)
items = frozenset(map(int, sys.argv[1:]))
with Launcher() as launcher:
    where = {"shown_as": target.shown_as, "seed": 7, "launcher": launcher}
    result = run_checks(target.checks, target.folder, only=items, **where)
for text in note_run(result) + starter_notices(result.day, result.lab):
    print(text.en)
"""


class Checkout:
    """A copy of the course in `root`, with fresh starters in `labs/`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def make(cls, root: Path) -> Checkout:
        """Copy the course, as it is here, and generate `labs/`. What no command writes to is
        compiled already and linked where it can be: there are a hundred of these copies."""
        shutil.copytree(ROOT / "solutions", root / "solutions")
        shutil.copytree(ROOT / "shared", root / "shared", copy_function=_link)
        for name in ("selftest.py", "pyproject.toml", "constraints.txt", ".gitignore"):
            shutil.copy(ROOT / name, root)
        checkout = cls(root)
        checkout.generate()
        return checkout

    def generate(self) -> None:
        """Write `labs/` as the course's author does."""
        for path, content in starter_tree(self.root / "solutions").items():
            target = self.root / "labs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    # -- files -------------------------------------------------------------------------------------

    def lab(self, name: str) -> Path:
        """A file of the learner's."""
        return self.root / "labs" / LAB / name

    def source(self, name: str) -> Path:
        """The course's source of it."""
        return self.root / "solutions" / LAB / name

    def labs(self) -> dict[str, bytes]:
        """All files of the learner's: what must not change."""
        folder = self.root / "labs"
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in files
            if "__pycache__" not in path.parts
        }

    def answer(self, exercise: int, body: str) -> Path:
        """Fill a blank as the learner would; returns the file."""
        path = self.root / blanks_of(self.root, LAB)[exercise].path
        text = path.read_bytes().decode("utf-8")
        path.write_bytes(replace_region(text, exercise, body).encode("utf-8"))
        return path

    def blank(self, exercise: int) -> str:
        """What stands in a blank of the learner's."""
        path = self.root / blanks_of(self.root, LAB)[exercise].path
        found = find_region(path.read_bytes().decode("utf-8"), exercise)
        assert found is not None
        return found.body

    def replace(self, path: Path, old: str, new: str) -> None:
        """Edit a file; what is replaced must be there, once."""
        text = path.read_bytes().decode("utf-8")
        assert text.count(old) == 1, f"{path.name} has {old!r} {text.count(old)} times"
        path.write_bytes(text.replace(old, new).encode("utf-8"))

    def backups(self) -> list[Path]:
        """The folders of the backups, by name."""
        return sorted((self.root / ".selftest" / "backups").glob("*"))

    # -- commands ----------------------------------------------------------------------------------

    def run(self, *words: str, lang: str = "en", **env: str) -> subprocess.CompletedProcess[str]:
        """Type a command where there is no terminal."""
        return subprocess.run(
            _command(words),
            cwd=self.root,
            env=_environment(lang, env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def terminal(
        self, *words: str, lang: str = "en", columns: int = 80, **env: str
    ) -> pexpect.spawn:
        """Type a command in a terminal."""
        command = _command(words)
        return pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(self.root),
            env=_environment(lang, {"TERM": "xterm-256color", **env}),
            encoding="utf-8",
            dimensions=(24, columns),
            timeout=20,
        )

    def judge(self, *items: int) -> str:
        """Run the self-test on the learner's files, remember it; returns what was said of that."""
        done = subprocess.run(
            [sys.executable, "-c", RUN_AND_NOTE, *map(str, items)],
            cwd=self.root,
            env=_environment("en", {"PYTHONPATH": str(self.root)}),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        return done.stdout

    def git(self, *words: str) -> str:
        """Run git in the checkout."""
        identity = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "learner"), ("EMAIL", "learner@example.org"))
        }
        plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            env={**os.environ, **identity, **plain},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout

    def commit_all(self, message: str = "work") -> None:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)


def ended(process: pexpect.spawn) -> tuple[int | None, str]:
    """Wait for the end of a command in a terminal: its exit code and what it still said."""
    process.expect(pexpect.EOF)
    process.close()
    return process.exitstatus, process.before or ""


def plain(output: str) -> str:
    """What a terminal shows, on one line: without colours and line breaks."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", output).split())


def verdicts(*statuses: Status, seed: int = 7, skipped: tuple[int, ...] = ()) -> Result:
    """A result of day 23 with these verdicts on its items, as the self-test makes it."""
    exercises = (None, 1, 2, 3, 4, 5)
    items = [
        ItemResult(
            number,
            Text(en=f"item {number}", zh=f"第 {number} 项"),
            exercise,
            "not_run" if number in skipped else status,
            "item.not-selected" if number in skipped else "",
        )
        for number, (exercise, status) in enumerate(zip(exercises, statuses, strict=True), start=1)
    ]
    return Result(23, LAB, seed, items)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _command(words: tuple[str, ...]) -> list[str]:
    module = words[0] if words[0] in ("progress", "update") else "restore"
    rest = words[1:] if module == words[0] else words
    return [sys.executable, "-m", f"shared.learner.{module}", *rest]


def _environment(lang: str, more: dict[str, str]) -> dict[str, str]:
    left_out = ("PYTHON", "GIT_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**clean, "LAB_LANG": lang, **more}
