"""The command line as a person types it: a real process, its exit code, and what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import psutil
import pytest

from shared.processes.supervisor import ROOT

from .conftest import LAB, Work

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SELFTEST = str(ROOT / "selftest.py")


def selftest(
    *arguments: str | Path, cwd: Path = ROOT, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run selftest.py with these arguments and additions to the environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, SELFTEST, *map(str, arguments)],
        cwd=cwd,
        env={**clean, "LAB_LANG": "en", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_solution_in_english(tmp_path: Path) -> None:
    done = selftest(
        "23", "--solution", "--json", tmp_path / "r.json", "--junit", tmp_path / "r.xml"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" pass\n") == 6
    result = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert result["passed"] == result["total"] == 6
    assert f"seed {result['seed']}" in done.stdout
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "0")
    assert len(suite.findall("testcase")) == 6


def test_the_starter_in_chinese(starter: Work, tmp_path: Path) -> None:
    done = selftest(
        "23", "--path", starter.folder.parent, "--junit", tmp_path / "r.xml", LAB_LANG="zh"
    )
    assert done.returncode == 1
    assert "通过 1 项" in done.stdout
    assert done.stdout.count("未开始") == 3
    assert "pass" not in done.stdout
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()[0]
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["6", "3", "0", "2"]


def test_the_learners_own_labs_are_what_is_judged_by_default() -> None:
    done = selftest("23", "--item", "6")
    assert f"labs/{LAB}" in done.stdout


def test_from_a_path_with_spaces_and_chinese_characters(solution: Work, tmp_path: Path) -> None:
    folder = tmp_path / "我的 实验" / "学生 一"
    shutil.copytree(solution.folder, folder / LAB)
    done = selftest("23", "--path", folder / LAB, cwd=folder)
    assert done.returncode == 0, done.stdout


def test_a_checkout_in_such_a_path(tmp_path: Path) -> None:
    checkout = tmp_path / "课程 二"
    for name in ("labs", "solutions", "shared"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SELFTEST, checkout)
    done = subprocess.run(
        [sys.executable, "selftest.py", "23", "--solution"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "LAB_LANG": "en"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "gbk"},
        {"PYTHONUNBUFFERED": "1", "LC_ALL": "POSIX"},
    ],
    ids=lambda env: " ".join(env.values()),
)
def test_in_a_locale_that_is_not_utf_8(env: dict[str, str], tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, SELFTEST, "23", "--solution"],
        env={**clean, "LAB_LANG": "zh", **env},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    said = done.stdout.decode(env.get("PYTHONIOENCODING", "utf-8"))
    assert "6 项全部通过" in said


def test_the_locale_chooses_the_language_when_nobody_does(starter: Work) -> None:
    done = selftest(
        "23", "--path", starter.folder, "--item", "6", LAB_LANG="", LC_ALL="zh_CN.UTF-8"
    )
    assert "未开始" in done.stdout


def test_lang_wins_over_the_environment(starter: Work) -> None:
    done = selftest("23", "--path", starter.folder, "--item", "6", "--lang", "zh")
    assert "未开始" in done.stdout


def test_selected_items_decide_the_exit_code(solution: Work) -> None:
    solution.exercise(5, "return Decision(True, [])")
    assert selftest("23", "--path", solution.folder, "--item", "3").returncode == 0
    assert selftest("23", "--path", solution.folder, "--item", "6").returncode == 1


def test_a_seed_repeats_a_run(solution: Work) -> None:
    solution.edit("mcp_server.py", '"waybill": order.shipment.waybill', '"waybill": ""')
    blamed = []
    for _ in range(2):
        done = selftest("23", "--path", solution.folder, "--item", "2", "--seed", "5")
        blamed += re.findall(r"data of order (SO\d{8})", " ".join(done.stdout.split()))
    assert len(blamed) == 2
    assert len(set(blamed)) == 1


@pytest.mark.parametrize(
    ("arguments", "named", "language"),
    [
        (["99"], "no day 99", "en"),
        (["99"], "没有第 99 天", "zh"),
        (["23", "--item", "7"], "no item 7", "en"),
        (["23", "--item", "7"], "没有第 7 项", "zh"),
        (["23", "--path", "docs"], "docs is no lab of day 23", "en"),
        (["23", "--path", "docs"], "docs 不是第 23 天的实验", "zh"),
        (["23", "--path", "nowhere"], "nowhere is no lab", "en"),
        (["foo"], "no command `foo`. There are: doctor, hint", "en"),
        (["foo"], "没有命令 `foo`", "zh"),
        (["2x"], "invalid int value: '2x'", "en"),
        ([], "day", "en"),
        (["23", "--solution", "--path", "labs"], "--path", "en"),
    ],
)
def test_wrong_usage_gets_a_sentence_and_exit_code_2(
    arguments: list[str], named: str, language: str
) -> None:
    done = selftest(*arguments, LAB_LANG=language)
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_language_that_there_is_not() -> None:
    done = selftest("23", LAB_LANG="fr")
    assert done.returncode == 2
    assert "'fr'" in done.stderr
    assert "只能是" in done.stderr


@pytest.mark.parametrize("flag", ["--json", "--junit"])
def test_a_file_that_cannot_be_written(flag: str, tmp_path: Path) -> None:
    done = selftest("23", "--solution", "--item", "6", flag, tmp_path / "no" / "folder")
    assert done.returncode == 2
    assert str(tmp_path / "no" / "folder") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"mcpServers": {"shop": {"command": "python",}}}', "line 1, column 4"),
        ("{}", "names no server"),
        ('{"mcpServers": {"shop": {"command": "no-such-program"}}}', '"no-such-program"'),
        ('{"mcpServers": {"shop": {"args": ["x"]}}}', '"command"'),
        ('{"mcpServers": {"shop": {"command": "python", "args": "x"}}}', '"args"'),
    ],
)
def test_an_mcp_json_that_cannot_be_used(solution: Work, text: str, named: str) -> None:
    (solution.folder / "mcp.json").write_text(text, encoding="utf-8")
    done = selftest("23", "--path", solution.folder, "--item", "1")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert f"{LAB}/mcp.json" in said.replace(" ", "")
    assert named in said
    assert "Traceback" not in done.stdout


def test_verbose_shows_the_traceback_that_is_else_left_out(solution: Work) -> None:
    solution.exercise(5, "raise RuntimeError('oops')")
    plain = selftest("23", "--path", solution.folder, "--item", "6")
    verbose = selftest("23", "--path", solution.folder, "--item", "6", "--verbose")
    assert "Traceback" not in plain.stdout
    assert "RuntimeError: oops" in plain.stdout
    assert "Traceback" in verbose.stdout


def test_a_learners_changed_checks_change_nothing(starter: Work) -> None:
    starter.write("checks.py", "raise SystemExit(0)")
    done = selftest("23", "--path", starter.folder)
    assert done.returncode == 1


def test_ctrl_c_ends_everything_with_130(solution: Work) -> None:
    solution.exercise(5, "import time\ntime.sleep(60)")
    process = psutil.Popen(
        [sys.executable, SELFTEST, "23", "--path", str(solution.folder), "--item", "6"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 20
    children: list[psutil.Process] = []
    while len(children) < 3 and time.monotonic() < deadline:  # two supervisors and the call
        children = process.children(recursive=True)
    process.send_signal(2)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert not [child for child in children if child.is_running()]
