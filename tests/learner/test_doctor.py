"""The doctor as a learner asks it: a real process, in checkouts that have something the matter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from shared.processes.supervisor import ROOT

# As `selftest.py doctor`, but in this environment even when it is not the one that is asked for.
PROGRAM = "import sys; from shared.learner.doctor import main; sys.exit(main(sys.argv[1:]))"
LAB = "day23_mcp_server"
KEY = "sk-very-secret-4711"

Ask = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of somebody whose name must not get out, with a checkout in it."""
    home = tmp_path / "home" / "wanglin"
    (home / "lab").mkdir(parents=True)
    for name in ("labs", "solutions", "shared"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, home / "lab" / name, ignore=ignore)
    for name in ("pyproject.toml", "constraints.txt", "selftest.py"):
        shutil.copy(ROOT / name, home / "lab")
    return home


@pytest.fixture
def checkout(home: Path) -> Path:
    return home / "lab"


@pytest.fixture
def ask(home: Path, checkout: Path) -> Ask:
    def ask(
        *arguments: str, command: tuple[str, ...] = ("selftest.py", "doctor"), **env: str
    ) -> subprocess.CompletedProcess[str]:
        kept = ("PYTHON", "OPENAI_", "MODEL", "LC_", "LANG")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(kept)}
        person = {"HOME": str(home), "USER": "wanglin", "LOGNAME": "wanglin"}
        ours = {"PYTHONPATH": str(checkout), "LAB_LANG": "en", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [sys.executable, *command, *arguments],
            cwd=checkout,
            env={**clean, **person, **ours, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    return ask


def line_with(output: str, *words: str) -> str:
    """The one finding that has these words, with its arrow if it has one."""
    findings = re.split(r"\n(?=[✔!✘] )", output)
    found = [finding for finding in findings if all(word in finding for word in words)]
    assert len(found) == 1, output
    return found[0]


@pytest.mark.parametrize(("language", "closing"), [("en", "The course works"), ("zh", "课程可以")])
def test_a_checkout_that_works(ask: Ask, language: str, closing: str) -> None:
    done = ask(LAB_LANG=language)
    assert done.returncode == 0, done.stdout + done.stderr
    assert closing in done.stdout or "All is well" in done.stdout or "一切正常" in done.stdout
    lines = done.stdout.rstrip().splitlines()
    assert not any(line.startswith("✘") for line in lines)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(("!", "✘")):
            assert following.startswith("  → "), "something is amiss, and nothing to do about it"
        elif line.startswith("✔"):
            assert not following.startswith("  →"), line
    said = done.stdout
    for word in (sys.executable, "mcp 2.", "openai 3.", "utf-8", f"labs/{LAB}", "MOCK=1"):
        assert word in said, word


def test_the_json_names_nobody(ask: Ask, checkout: Path, home: Path) -> None:
    done = ask("--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert str(home) not in done.stdout
    assert "wanglin" not in done.stdout
    found = {one["check"]: one for one in document["findings"]}
    assert found["state-folder"]["found"]["en"] == "Your progress is kept in ~/lab/.selftest"
    for one in document["findings"]:
        assert one["status"] in ("ok", "note", "bad")
        assert (one["step"] is None) == (one["status"] == "ok"), one
        for text in (one["found"], one["step"]):
            assert text is None or (text["en"] and text["zh"])


def test_the_key_stays_where_it_is(ask: Ask, checkout: Path) -> None:
    address = f"https://me:{KEY}@models.example:8443/v1?key={KEY}"
    lines = [f"OPENAI_API_KEY={KEY}", f"OPENAI_BASE_URL={address}", "MODEL=qwen-x"]
    (checkout / ".env").write_text("\n".join(lines), "utf-8")
    for done in (ask(), ask("--json")):
        assert done.returncode == 0, done.stderr
        assert KEY not in done.stdout + done.stderr
        assert "https://models.example:8443/v1, model qwen-x" in done.stdout
    (checkout / ".env").write_text(f"OPENAI_API_KEY={KEY}\n", "utf-8")
    assert line_with(ask().stdout, "MODEL not set").startswith("!")


def test_a_key_that_git_has(ask: Ask, checkout: Path) -> None:
    (checkout / ".env").write_text(f"OPENAI_API_KEY={KEY}\nMODEL=m\n", "utf-8")
    for command in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *command], cwd=checkout, check=True, capture_output=True)
    done = ask()
    assert done.returncode == 1
    found = line_with(done.stdout, ".env is in git")
    assert found.startswith("✘")
    assert "git rm --cached .env" in found
    assert KEY not in done.stdout


def test_other_versions_than_expected(ask: Ask, checkout: Path) -> None:
    project = (checkout / "pyproject.toml").read_text("utf-8")
    project = re.sub(r'"mcp>=[^"]*"', '"mcp>=9.1,<10"', project)
    (checkout / "pyproject.toml").write_text(project.replace('"openai>=', '"openai-x>='), "utf-8")
    done = ask(command=("-c", PROGRAM))
    assert done.returncode == 1
    found = line_with(done.stdout, "expected is >=9.1,<10")
    assert found.startswith("✘ mcp 2.")
    assert '-m pip install -c constraints.txt "mcp>=9.1,<10"' in found
    assert line_with(done.stdout, "openai-x is not installed").startswith("✘")


def test_a_configuration_that_is_no_json(ask: Ask, checkout: Path) -> None:
    (checkout / "labs" / LAB / "mcp.json").write_text('{"mcpServers": {,}}', "utf-8")
    done = ask()
    assert done.returncode == 1
    found = line_with(done.stdout, "no JSON")
    assert found.startswith("✘")
    assert f"git checkout labs/{LAB}/mcp.json" in found


def test_a_command_that_is_not_there(ask: Ask, checkout: Path) -> None:
    config = {"mcpServers": {"shop": {"command": "no-such-program", "args": []}}}
    (checkout / "labs" / LAB / "mcp.json").write_text(json.dumps(config), "utf-8")
    done = ask(LAB_LANG="zh")
    assert done.returncode == 1
    assert line_with(done.stdout, "找不到命令 no-such-program").startswith("✘")


def test_markers_that_are_gone(ask: Ask, checkout: Path) -> None:
    bridge = checkout / "labs" / LAB / "bridge.py"
    bridge.write_text(bridge.read_text("utf-8").replace("# endregion", ""), "utf-8")
    (checkout / "labs" / LAB / "agent.py").unlink()
    done = ask()
    found = line_with(done.stdout, "exercise 2 are not a pair")
    assert found.startswith(f"! labs/{LAB}/bridge.py")
    assert "reset 23 --exercise 2 --whole-file" in found
    assert line_with(done.stdout, f"labs/{LAB}/agent.py cannot be read").startswith("!")


def test_files_of_the_course_that_were_changed(ask: Ask, checkout: Path) -> None:
    person = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "."], [*person, "commit", "-qm", "as it came"]):
        subprocess.run(["git", *command], cwd=checkout, check=True, capture_output=True)
    assert line_with(ask().stdout, "as the course has them").startswith("✔")
    (checkout / "solutions" / LAB / "checks.py").write_text("", "utf-8")
    (checkout / "solutions" / LAB / "checks.py").unlink()
    shutil.copy(ROOT / "solutions" / LAB / "checks.py", checkout / "solutions" / LAB)
    with (checkout / "solutions" / LAB / "host.py").open("a", encoding="utf-8") as file:
        file.write("# mine\n")
    found = line_with(ask().stdout, "have been changed")
    assert "host.py" in found
    assert "checks.py" not in found
    assert "git stash push" in found


def test_text_that_cannot_pass(ask: Ask) -> None:
    done = ask(PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    found = line_with(done.stdout, "stdout of a server ascii")
    assert found.startswith("!")
    assert "UTF-8" in found


def test_a_state_folder_that_cannot_be_written(ask: Ask, checkout: Path) -> None:
    (checkout / ".selftest").write_text("in the way", "utf-8")
    done = ask()
    assert done.returncode == 1
    assert line_with(done.stdout, ".selftest cannot be written").startswith("✘")


def test_path_without_python(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = ask(PATH=str(tmp_path / "bin"))
    assert done.returncode == 0
    assert line_with(done.stdout, "no `python` on PATH").startswith("!")
    assert line_with(done.stdout, "node: not found").startswith("✔"), "no day needs it yet"
    assert line_with(done.stdout, "no git checkout").startswith("✔")
    fake = tmp_path / "bin" / "python"
    fake.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    fake.chmod(0o755)
    found = line_with(ask(PATH=str(tmp_path / "bin")).stdout, "has no mcp")
    assert str(fake) in found
    assert "write the full path" in found


ORPHAN = """
import os, subprocess, sys
read, write = os.pipe()  # its stdin, which it keeps open itself: so it never ends
server = subprocess.Popen([sys.executable, "mcp_server.py"], stdin=read, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, pass_fds=[write], start_new_session=True)
print(server.pid)
"""


def test_a_server_that_was_left_behind(ask: Ask, checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN],
        cwd=checkout / "labs" / LAB,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    server = psutil.Process(int(done.stdout))
    try:
        found = line_with(ask().stdout, "earlier runs", str(server.pid))
        assert found.startswith("!")
        command = found.partition("End them: ")[2].split()
        assert command[:2] == ["kill", "-9"]
        assert str(server.pid) in command
    finally:
        server.kill()
    psutil.wait_procs([server], timeout=10)
    assert str(server.pid) not in ask().stdout


def test_wrong_usage(ask: Ask) -> None:
    done = ask("--jsn")
    assert done.returncode == 2
    assert "--jsn" in done.stderr
    done = ask(LAB_LANG="de")
    assert done.returncode == 2
    assert "LAB_LANG" in done.stderr
