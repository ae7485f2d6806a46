"""When an environment will do, and when it must be brought up to date or built anew."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared import bootstrap
from shared.bootstrap import (
    State,
    ensure,
    lack,
    read_state,
    venv_python,
    wanted_state,
    write_state,
)

from .conftest import VERSION, put_python


def lacks(root: Path, *extras: str, version: tuple[int, int] = VERSION) -> str:
    return lack(root, wanted_state(root, extras, version))


@pytest.mark.usefixtures("no_processes")
def test_a_second_call_starts_nothing_and_writes_nothing(built: Path) -> None:
    before = sorted(built.rglob("*"))
    assert ensure(root=built) == venv_python(built)
    assert sorted(built.rglob("*")) == before  # no lock, no log


def test_a_second_call_takes_milliseconds(built: Path) -> None:
    times = []
    for _ in range(9):
        started = time.perf_counter()
        ensure(root=built)
        times.append(time.perf_counter() - started)
    assert statistics.median(times) < 0.02


def test_a_second_call_does_not_even_import_what_builds() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from shared import bootstrap\n"
        "bootstrap.lack = lambda root, wanted: ''\n"
        "bootstrap.ensure()\n"
        "print(sorted({'subprocess', 'shared.bootstrap_build'} & set(sys.modules)))"
    )
    command = [sys.executable, "-S", "-c", code, str(bootstrap.ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_development_includes_what_a_lab_needs_but_not_the_other_way(built: Path) -> None:
    assert lacks(built, "dev") == "changed"
    write_state(built, wanted_state(built, ("dev",), VERSION))
    assert lacks(built, "dev") == ""
    assert lacks(built) == ""


@pytest.mark.parametrize("name", bootstrap.SOURCES)
def test_other_packages_are_asked_for(built: Path, name: str) -> None:
    with (built / name).open("a", encoding="utf-8") as file:
        file.write("# one more line\n")
    assert lacks(built) == "changed"


def test_text_that_moves_from_one_file_to_the_other_is_a_change(built: Path) -> None:
    before = wanted_state(built, (), VERSION).sources
    whole = b"".join((built / name).read_bytes() for name in bootstrap.SOURCES)
    (built / "pyproject.toml").write_bytes(whole)
    (built / "constraints.txt").write_bytes(b"")
    assert wanted_state(built, (), VERSION).sources != before


def test_the_checkout_has_moved(built: Path) -> None:
    moved = built.rename(built.with_name("elsewhere"))
    assert lacks(moved) == "moved"


def test_another_python_asks(built: Path) -> None:
    other = (3, 10) if VERSION != (3, 10) else (3, 11)
    assert lacks(built, version=other) == "moved"


def test_a_python_that_is_too_old_may_use_what_another_has_built(built: Path) -> None:
    assert lacks(built, version=(3, 6)) == ""
    assert ensure(root=built, version=(3, 6)) == venv_python(built)


def test_a_build_was_killed_in_the_middle(built: Path) -> None:
    state = wanted_state(built, (), VERSION)
    write_state(built, State(state.python, state.root, state.sources, state.extras, ready=False))
    assert lacks(built) == "half"


def test_there_is_no_environment(checkout: Path) -> None:
    assert lacks(checkout) == "new"
    assert read_state(checkout) is None


def test_its_base_interpreter_has_been_uninstalled(built: Path) -> None:
    venv_python(built).unlink()
    venv_python(built).symlink_to(built / "no such python")
    assert lacks(built) == "new"


@pytest.mark.parametrize("key", ["version", "version_info"])
def test_an_environment_made_by_hand_is_filled_not_thrown_away(checkout: Path, key: str) -> None:
    put_python(checkout)
    cfg = checkout / ".venv" / "pyvenv.cfg"
    cfg.write_text(f"home = /usr/bin\n{key} = {VERSION[0]}.{VERSION[1]}.9\n", encoding="utf-8")
    assert lacks(checkout) == "changed"
    cfg.write_text(f"home = /usr/bin\n{key} = 3.4.1\n", encoding="utf-8")
    assert lacks(checkout) == "moved"


def test_a_state_is_read_as_it_was_written(built: Path) -> None:
    write_state(built, State("3.12", "/课程", "abc", frozenset({"dev"}), ready=False))
    state = read_state(built)
    assert state is not None
    assert vars(state) == {
        "python": "3.12",
        "root": "/课程",
        "sources": "abc",
        "extras": frozenset({"dev"}),
        "ready": False,
    }
