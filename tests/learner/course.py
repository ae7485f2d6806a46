"""A checkout of the course in a temporary folder, in which a learner types commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect

from shared.authoring.starters import starter_tree
from shared.processes.supervisor import ROOT

LAB = "day23_mcp_server"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Course:
    """A copy of the checkout, with the starters in `labs/` and no state."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("shared", "solutions"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("selftest.py", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, root)
        for path, content in starter_tree(root / "solutions").items():
            target = root / "labs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def state(self, name: str) -> Path:
        """A file of the learner's state."""
        return self.root / ".selftest" / name

    def held(self, name: str) -> Any:
        """What a file of the state holds, as JSON."""
        return json.loads(self.state(name).read_text("utf-8"))

    def solve(self, *names: str) -> None:
        """Put solved files into `labs/`."""
        for name in names:
            shutil.copy(self.root / "solutions" / LAB / name, self.root / "labs" / LAB / name)

    def selftest(self, *words: str) -> None:
        """Run the self-test, whatever it finds; its record stays."""
        done = self._run([sys.executable, "selftest.py", "23", *words], {})
        assert done.returncode in (0, 1), done.stderr
        assert self.state("runs/day23.jsonl").is_file()

    def run(self, command: str, *words: str, lang: str = "en", **env: str) -> tuple[int, str, str]:
        """Run one of the learner's commands without a terminal: exit code, stdout, stderr."""
        done = self._run(self._command(command, words), {"LAB_LANG": lang, **env})
        return done.returncode, done.stdout, done.stderr

    def terminal(
        self, command: str, *words: str, lang: str = "en", columns: int = 100, **env: str
    ) -> pexpect.spawn:
        """Start one of the learner's commands at a terminal."""
        argv = self._command(command, words)
        return pexpect.spawn(
            argv[0],
            argv[1:],
            cwd=str(self.root),
            env=self._env({"LAB_LANG": lang, "TERM": "xterm-256color", **env}),
            encoding="utf-8",
            echo=False,
            timeout=30,
            dimensions=(40, columns),
        )

    def _command(self, command: str, words: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", f"shared.learner.{command}", *words]

    def _run(self, argv: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.root,
            env=self._env(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def _env(self, more: dict[str, str]) -> dict[str, str]:
        dropped = ("PYTHON", "LAB_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        return {**kept, "PYTHONPATH": str(self.root), **more}


def end_of(process: pexpect.spawn) -> tuple[str, int | None]:
    """Everything that a program still says at its terminal, without colours, and its exit code."""
    process.expect(pexpect.EOF)
    process.close()
    return plain(process.before), process.exitstatus


def plain(said: str) -> str:
    """What was said at a terminal, without colours."""
    return ESCAPE.sub("", said).replace("\r\n", "\n")
