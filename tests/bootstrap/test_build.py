"""The steps of a build, and what a learner is told when one of them cannot be taken."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from shared import bootstrap, bootstrap_build
from shared.bootstrap import BootstrapError, ensure, read_state, venv_python, write_state
from shared.bootstrap_build import ToolFailed, Tools

from .conftest import VERSION, Ear, FakeTools

posix_only = pytest.mark.skipif(os.name == "nt", reason="locks of POSIX")


def test_the_three_steps(checkout: Path, fake_tools: FakeTools, ear: Ear) -> None:
    assert ensure(root=checkout, voice=ear.voice) == venv_python(checkout)
    venv, backend, packages = fake_tools.commands
    assert venv[1:] == ["-m", "venv", ".venv"]
    pip = [str(venv_python(checkout)), "-m", "pip", "install", "--progress-bar", "off"]
    assert backend == [*pip, "-c", "constraints.txt", "setuptools"]
    assert packages == [*pip, "-c", "constraints.txt", "--no-build-isolation", "--editable", "."]
    assert [state.ready for state in fake_tools.states if state] == [False] * 3
    for step in ("Step 1 of 3", "Step 2 of 3", "Step 3 of 3", "Done in"):
        assert step in ear.heard
    assert bootstrap.lack(checkout, bootstrap.wanted_state(checkout, (), VERSION)) == ""


def test_a_development_environment_stays_one(
    checkout: Path, fake_tools: FakeTools, ear: Ear
) -> None:
    ensure(("dev",), checkout, voice=ear.voice)
    assert fake_tools.commands[-1][-1] == ".[dev]"
    (checkout / "constraints.txt").write_text("# changed\n", encoding="utf-8")
    fake_tools.commands.clear()
    ensure((), checkout, voice=ear.voice)
    assert [command[-1] for command in fake_tools.commands] == ["setuptools", ".[dev]"]
    assert "keeping the environment" in ear.heard


def test_uv_is_used_where_there_is_one(
    checkout: Path, fake_tools: FakeTools, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap_build.shutil, "which", lambda name: "/bin/" + name)
    ensure(root=checkout, voice=ear.voice)
    assert [command[:2] for command in fake_tools.commands] == [
        ["uv", "venv"],
        ["uv", "pip"],
        ["uv", "pip"],
    ]
    assert "--allow-existing" in fake_tools.commands[0]
    assert all("constraints.txt" in command for command in fake_tools.commands[1:])
    assert all(state and not state.ready for state in fake_tools.states)


def test_pip_steps_in_when_uv_fails(
    checkout: Path, fake_tools: FakeTools, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap_build.shutil, "which", lambda name: "/bin/" + name)
    fake_tools.fails = lambda command: command[0] == "uv" and "install" in command
    ensure(root=checkout, voice=ear.voice)
    assert "the last line\nuv failed; trying once more, with pip." in ear.heard
    assert "pip" in fake_tools.commands[-1]
    assert read_state(checkout) is not None


def test_a_half_built_environment_is_built_anew(
    built: Path, fake_tools: FakeTools, ear: Ear
) -> None:
    (built / ".venv" / "junk").touch()
    (built / bootstrap_build.GRAVE).mkdir(parents=True)  # of an earlier call, also killed
    state = read_state(built)
    assert state
    state.ready = False
    write_state(built, state)
    ensure(root=built, voice=ear.voice)
    assert "was left half built; building it anew" in ear.heard
    assert not (built / ".venv" / "junk").exists()
    assert not (built / bootstrap_build.GRAVE).exists()
    assert len(fake_tools.commands) == 3


def test_a_linked_environment_is_unlinked_not_emptied(
    checkout: Path, fake_tools: FakeTools, ear: Ear, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    (checkout / ".venv").symlink_to(elsewhere, target_is_directory=True)
    ensure(root=checkout, voice=ear.voice)
    assert (elsewhere / "precious").exists()
    assert not (checkout / ".venv").is_symlink()


def test_a_failed_build_is_half_built(checkout: Path, fake_tools: FakeTools, ear: Ear) -> None:
    fake_tools.fails = lambda command: "." in command
    with pytest.raises(BootstrapError) as caught:
        ensure(root=checkout, voice=ear.voice)
    log = checkout / bootstrap_build.LOG_FILE
    assert str(caught.value).startswith("pip failed with exit code 3; its last lines are above.")
    assert str(log) in str(caught.value)
    assert log.exists()
    assert ear.heard.endswith("the last line\n")
    wanted = bootstrap.wanted_state(checkout, (), VERSION)
    assert bootstrap.lack(checkout, wanted) == "half"


def test_a_failed_update_leaves_what_there_was(
    built: Path, fake_tools: FakeTools, ear: Ear
) -> None:
    fake_tools.fails = lambda command: True
    wanted = bootstrap.wanted_state(built, ("dev",), VERSION)
    with pytest.raises(BootstrapError):
        ensure(("dev",), built, voice=ear.voice)
    assert bootstrap.lack(built, wanted) == "changed"
    assert bootstrap.lack(built, bootstrap.wanted_state(built, (), VERSION)) == ""
    (built / ".venv" / bootstrap.STATE_FILE).unlink()  # as one made by hand
    cfg = built / ".venv" / "pyvenv.cfg"
    cfg.write_text("version = {}.{}.0\n".format(*VERSION), encoding="utf-8")
    with pytest.raises(BootstrapError):
        ensure(("dev",), built, voice=ear.voice)
    assert bootstrap.lack(built, wanted) == "changed"


@pytest.mark.usefixtures("no_processes")
@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "is too old: the course needs Python 3.10 to 3.14."),
        ("zh", "版本太旧：本课程需要 Python 3.10 到 3.14。"),
    ],
)
@pytest.mark.parametrize("version", [(3, 6), (3, 9)])
def test_python_is_too_old(
    checkout: Path, version: tuple[int, int], language: str, sentence: str
) -> None:
    with pytest.raises(BootstrapError) as caught:
        ensure(root=checkout, version=version, voice=Ear(language).voice)
    assert f"Python {version[0]}.{version[1]}" in str(caught.value)
    assert sys.executable in str(caught.value)
    assert sentence in str(caught.value)
    assert "make PYTHON=python3.14 lab-23" in str(caught.value)


def test_python_is_newer_than_any_we_know(checkout: Path, fake_tools: FakeTools, ear: Ear) -> None:
    ensure(root=checkout, version=(3, 99), voice=ear.voice)
    assert "Python 3.99 is newer than those the course is tested with (3.10 to 3.14)" in ear.heard
    assert len(fake_tools.commands) == 3


@pytest.mark.parametrize("module", ["ensurepip", "venv"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_debian_without_the_venv_package(
    checkout: Path,
    fake_tools: FakeTools,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    language: str,
) -> None:
    find = bootstrap_build.importlib.util.find_spec
    monkeypatch.setattr(
        bootstrap_build.importlib.util,
        "find_spec",
        lambda name: None if name == module else find(name),
    )
    with pytest.raises(BootstrapError) as caught:
        ensure(root=checkout, voice=Ear(language).voice)
    assert f"`{module}`" in str(caught.value)
    assert "sudo apt install python3-venv" in str(caught.value)
    assert fake_tools.commands == []


def test_uv_needs_no_such_package(
    checkout: Path, fake_tools: FakeTools, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap_build.shutil, "which", lambda name: "/bin/" + name)
    monkeypatch.setattr(bootstrap_build.importlib.util, "find_spec", lambda name: None)
    ensure(root=checkout, voice=ear.voice)
    assert {command[0] for command in fake_tools.commands} == {"uv"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_write_access(checkout: Path, language: str) -> None:
    (checkout / ".selftest").touch()  # where the lock belongs: root, too, is refused
    with pytest.raises(BootstrapError) as caught:
        ensure(root=checkout, voice=Ear(language).voice)
    assert str(checkout / ".selftest") in str(caught.value)
    assert ("cannot be written" if language == "en" else "无法写入") in str(caught.value)


def run_tool(root: Path, ear: Ear, code: str) -> str:
    """Run a Python program as a tool; the log."""
    log = root / "log"
    with log.open("w", encoding="utf-8") as file, (root / "lock").open("ab") as lock:
        Tools(root, ear.voice, file, lock).run("tool", [sys.executable, "-c", code])
    return log.read_text(encoding="utf-8")


def test_pip_is_heard_while_it_works(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.bootstrap_words.NEWS_EVERY", 0)
    log = run_tool(
        tmp_path,
        ear,
        "print('Collecting mcp<3,>=2.3')\n"
        "print('  Downloading mcp-2.3.0-py3-none-any.whl (350 kB)')\n"
        "print('  Using cached x')\n"
        "print('Installing collected packages: a, b, 订单')\n",
    )
    assert ear.heard.splitlines() == [
        "  fetching mcp",
        "  fetching mcp-2.3.0-py3-none-any.whl (350 kB)",
        "  installing 3 packages",
    ]
    assert log.startswith("$ ")
    assert "Using cached x" in log
    assert "订单" in log


def test_a_log_is_not_flooded(tmp_path: Path, ear: Ear) -> None:
    run_tool(tmp_path, ear, "for n in range(200): print(f'Collecting package{n}')")
    assert 1 <= ear.heard.count("fetching") < 20


def test_silence_is_broken(tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap_build, "SILENCE", 0.05)
    run_tool(tmp_path, ear, "import time; time.sleep(0.4)")
    assert "at work for 0 s" in ear.heard


def test_a_tool_that_fails_shows_its_last_lines(tmp_path: Path, ear: Ear) -> None:
    with pytest.raises(ToolFailed) as caught:
        run_tool(tmp_path, ear, "for n in range(40): print(n)\nraise SystemExit(7)")
    assert (caught.value.tool, caught.value.code) == ("tool", 7)
    assert caught.value.tail == [str(n) for n in range(28, 40)]
    assert not caught.value.no_network


NO_NETWORK = [
    "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(...)'",
    "NameResolutionError: Failed to resolve",
    "  cause: tcp connect error",
]


@pytest.mark.parametrize("line", NO_NETWORK)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_network(checkout: Path, line: str, language: str) -> None:
    ear = Ear(language)
    with pytest.raises(ToolFailed) as caught:
        run_tool(
            checkout, ear, f"print({line!r})\nfor n in range(40): print(n)\nraise SystemExit(1)"
        )
    told = bootstrap_build._explained(caught.value, checkout / "log", ear.voice)
    assert ("cannot reach the package index" if language == "en" else "无法连接软件包索引") in told
    assert "HTTPS_PROXY" in told
    assert str(checkout / "log") in told


def test_one_builder_at_a_time(checkout: Path, fake_tools: FakeTools) -> None:
    """Two calls at once: the second waits, says so, and finds nothing left to do."""
    inside, waits = threading.Event(), threading.Event()
    first, second = Ear(), Ear()
    second_says = second.voice.say

    def say(key: str, **values: Any) -> None:
        second_says(key, **values)
        if key == "waiting":
            waits.set()

    second.voice.say = say  # type: ignore[method-assign]

    def hold(command: list[str]) -> bool:
        inside.set()
        assert waits.wait(10)
        return False

    fake_tools.fails = hold
    one = threading.Thread(target=ensure, args=((), checkout, VERSION, first.voice))
    one.start()
    assert inside.wait(10)
    two = threading.Thread(target=ensure, args=((), checkout, VERSION, second.voice))
    two.start()
    one.join(10)
    two.join(10)
    assert not one.is_alive()
    assert not two.is_alive()
    assert "Another call is building the environment; waiting for it." in second.heard
    assert "Step" not in second.heard
    assert len(fake_tools.commands) == 3


KILLED = """
import sys
from pathlib import Path
from shared.bootstrap_build import LOCK_FILE, Tools, _lock
from shared.bootstrap_words import Voice
root = Path(sys.argv[1])
tool = "open('up', 'w').close(); open('end').close()"
with (root / "log").open("w") as log, _lock(root / LOCK_FILE, Voice()) as lock:
    Tools(root, Voice(), log, lock).run("tool", [sys.executable, "-c", tool])
"""


@posix_only
def test_a_tool_that_outlives_its_builder_is_waited_for(tmp_path: Path) -> None:
    import fcntl

    for name in ("up", "end"):
        os.mkfifo(tmp_path / name)
    builder = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=bootstrap.ROOT, start_new_session=True
    )
    (tmp_path / "up").open().close()  # returns when the tool has opened it, too
    builder.kill()
    builder.wait()
    with (tmp_path / bootstrap_build.LOCK_FILE).open("ab") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (tmp_path / "end").open("w").close()
        fcntl.flock(lock, fcntl.LOCK_EX)  # comes when the tool has ended
