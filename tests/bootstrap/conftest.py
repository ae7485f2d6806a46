"""A checkout to build environments in, without a network and without building any."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shared import bootstrap, bootstrap_build
from shared.bootstrap import State, venv_python, wanted_state, write_state
from shared.bootstrap_words import Voice

VERSION = sys.version_info[:2]


class Ear:
    """What a learner was told, and the voice that told it."""

    def __init__(self, language: str = "en") -> None:
        self._stream = io.StringIO()
        self.voice = Voice(self._stream, {"LAB_LANG": language})

    @property
    def heard(self) -> str:
        return self._stream.getvalue()


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the two files that say what an environment holds."""
    root = tmp_path / "课程 copy"
    root.mkdir()
    for name in bootstrap.SOURCES:
        (root / name).write_bytes((bootstrap.ROOT / name).read_bytes())
    return root


@pytest.fixture
def built(checkout: Path) -> Path:
    """The same with an environment that says that it is ready."""
    put_python(checkout)
    write_state(checkout, wanted_state(checkout, (), VERSION))
    return checkout


def put_python(root: Path) -> None:
    """What `python -m venv` would leave."""
    venv_python(root).parent.mkdir(parents=True, exist_ok=True)
    venv_python(root).touch()


class FakeTools:
    """Stands in for `Tools.run`: notes the commands and what `.venv` says of itself meanwhile."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.states: list[State | None] = []
        self.fails: Callable[[list[str]], bool] = lambda command: False

    def run(self, tools: bootstrap_build.Tools, tool: str, command: list[str]) -> None:
        self.commands.append(command)
        self.states.append(bootstrap.read_state(tools.root))
        if self.fails(command):
            raise bootstrap_build.ToolFailed(tool, 3, ["the last line"], no_network=False)
        if "venv" in command:
            put_python(tools.root)


@pytest.fixture
def fake_tools(monkeypatch: pytest.MonkeyPatch) -> FakeTools:
    """No tool is started: not by `Tools`, and uv is not there."""
    fake = FakeTools()
    monkeypatch.setattr(
        bootstrap_build.Tools, "run", lambda tools, tool, command: fake.run(tools, tool, command)
    )
    monkeypatch.setattr(bootstrap_build.subprocess, "call", lambda *_, **__: 0)
    monkeypatch.setattr(bootstrap_build.shutil, "which", lambda name: None)
    return fake


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting a process is a failure."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen", refuse)
    monkeypatch.setattr("os.execv", refuse)
