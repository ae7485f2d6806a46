"""The ways in: `shared/bootstrap.py`, `selftest.py` and make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared import bootstrap
from shared.bootstrap import ROOT, BootstrapError, has_packages, main, run_in_venv, venv_python

ENVIRONMENT = {**os.environ, "LAB_LANG": "en", "PYTHONDONTWRITEBYTECODE": "1"}
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def refuse(*_: object, **__: object) -> None:
    raise BootstrapError("one sentence")


def test_a_refusal_is_one_sentence_and_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "ensure", refuse)
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    with pytest.raises(SystemExit) as stopped:
        run_in_venv(["x.py"], root=Path("/nowhere"))
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "one sentence\none sentence\n")


def test_an_interrupt_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "ensure", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 130


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dev", "--nonsense"]) == 2
    assert "--nonsense" in capsys.readouterr().err


def test_ready_is_said_unless_quiet_is_asked_for(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_LANG", "en")
    assert main([], built) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"The environment is ready: {built / '.venv'}")
    assert main(["--quiet"], built) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no exec")
def test_the_script_goes_on_in_the_environment(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(os, "execv", lambda path, argv: started.append((path, argv)))
    run_in_venv(["selftest.py", "23", "--json", "a b.json"], root=built)
    python = str(venv_python(built))
    assert started == [(python, [python, "selftest.py", "23", "--json", "a b.json"])]


@pytest.mark.usefixtures("no_processes")
def test_inside_the_environment_nothing_is_started(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(venv_python(built)))
    run_in_venv(["selftest.py"], root=built)


def test_the_packages_are_here() -> None:
    assert has_packages()


@pytest.mark.parametrize("line", ['"mcp>=2.3,<2.3"', '"mcp>=99,<100"', '"no-such-package>=1,<2"'])
def test_other_versions_are_no_substitute(checkout: Path, line: str) -> None:
    """A container may have mcp 1 installed: its modules are there, and nothing works with it."""
    project = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    assert has_packages(checkout)
    changed = re.sub(r'"mcp>=[^"]*"', line, project)
    assert changed != project
    (checkout / "pyproject.toml").write_text(changed, encoding="utf-8")
    assert not has_packages(checkout)


def test_a_bare_copy_has_no_bounds_to_keep(tmp_path: Path) -> None:
    assert has_packages(tmp_path)


def test_a_missing_package_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MODULES", (*bootstrap.MODULES, "no_such_module"))
    assert not has_packages()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The checkout without its environment, in an awkward place."""
    root = tmp_path / "课程 copy"
    root.mkdir()
    for name in ("selftest.py", "Makefile", *bootstrap.SOURCES):
        shutil.copy(ROOT / name, root)
    shutil.copytree(ROOT / "shared", root / "shared", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.parametrize("flags", [[], ["-I"], ["-S", "-I"]], ids=["plain", "isolated", "bare"])
def test_selftest_works_from_anywhere_and_builds_nothing_needlessly(
    copy: Path, tmp_path: Path, flags: list[str]
) -> None:
    if "-S" in flags:  # no packages to be seen: the environment of the copy is entered
        python = venv_python(copy)
        python.parent.mkdir(parents=True)
        python.write_text('#!/bin/sh\necho entered "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        bootstrap.write_state(copy, bootstrap.wanted_state(copy, (), sys.version_info[:2]))
    result = subprocess.run(
        [sys.executable, *flags, str(copy / "selftest.py"), "--help"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    if "-S" in flags:
        assert result.stdout == f"entered {copy / 'selftest.py'} --help\n"
    else:
        assert "usage: selftest.py" in result.stdout
        assert not (copy / ".venv").exists()


SHOW = "import sys; print(sys.argv[1:])"


def make(root: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=root,
        env={**ENVIRONMENT, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_make
@pytest.mark.parametrize(
    ("target", "env", "shown"),
    [
        ("lab-23", {}, ["-m", "shared.program", "23"]),
        ("lab-23", {"SELFTEST": "0"}, ["-m", "shared.program", "23"]),
        ("solution-23", {}, ["-m", "shared.program", "23", "--solution"]),
        ("lab-23", {"SELFTEST": "1"}, ["selftest.py", "23"]),
        (
            "solution-7",
            {"SELFTEST": "1", "ITEM": "3 4", "SEED": "9"},
            ["selftest.py", "7", "--solution", "--item", "3", "4", "--seed", "9"],
        ),
        (
            "lab-23",
            {"SELFTEST": "1", "ARGS": "--json 'a 结果.json' --cold"},
            ["selftest.py", "23", "--json", "a 结果.json", "--cold"],
        ),
    ],
)
def test_make_passes_on_what_it_is_given(
    copy: Path, tmp_path: Path, target: str, env: dict[str, str], shown: list[str]
) -> None:
    script = tmp_path / "show.py"
    script.write_text(SHOW, encoding="utf-8")
    result = make(copy, target, "PYTHON=true", f"PY='{sys.executable}' '{script}'", **env)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"{shown}\n"


QUESTION = '查 "SO1" it\'s $5 `x` $(HOME) \\ ; # &'


@needs_make
@pytest.mark.parametrize("by_environment", [True, False])
def test_a_question_may_hold_any_character(
    copy: Path, tmp_path: Path, by_environment: bool
) -> None:
    script = tmp_path / "show.py"
    script.write_text(SHOW, encoding="utf-8")
    command = ["lab-23", "PYTHON=true", f"PY='{sys.executable}' '{script}'"]
    if by_environment:
        result = make(copy, *command, ASK=QUESTION)
    else:
        result = make(copy, *command, f"ASK={QUESTION}")
    assert result.stdout == f"{['-m', 'shared.program', '23', '--ask=' + QUESTION]}\n"


@needs_make
@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_lists_every_target_in_the_learners_language(copy: Path, language: str) -> None:
    told = make(copy, LAB_LANG=language).stdout
    makefile = (copy / "Makefile").read_text(encoding="utf-8")
    documented = re.findall(r"^([a-z%-]+):.* ## (.+) \| (.+)$", makefile, flags=re.MULTILINE)
    assert len(documented) >= 8
    for target, english, chinese in documented:
        name, text = target.replace("%", "23"), chinese if language == "zh" else english
        assert re.search(rf"^  {name} +{re.escape(text)}$", told, flags=re.MULTILINE), target
    assert len(told.splitlines()) == len(documented) + 1


@pytest.mark.slow
@pytest.mark.timeout(600)
@needs_make
def test_a_fresh_clone_in_an_awkward_place(copy: Path) -> None:
    """Really builds an environment, from the package index, with python3, venv, pip and make."""
    for name in ("labs", "solutions"):
        (copy / name).mkdir()
        (copy / name / "__init__.py").touch()
    for name in ("README.md", "LICENSE"):
        (copy / name).write_text("A course.\n", encoding="utf-8")
    first = make(copy, "env", f"PYTHON={sys.executable}")
    assert first.returncode == 0, first.stdout + first.stderr
    for step in (
        "Step 1 of 3",
        "Step 2 of 3",
        "Step 3 of 3",
        "Done in",
        "The environment is ready",
    ):
        assert step in first.stderr
    second = make(copy, "env", f"PYTHON={sys.executable}")
    assert second.returncode == 0
    assert second.stderr.startswith("The environment is ready")
    assert "Step" not in second.stderr
    code = "import mcp, openai, labs, shared.i18n as i18n; print(ascii(i18n.__file__))"
    imported = subprocess.run(
        [venv_python(copy), "-c", code],
        cwd="/",
        env={"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.strip() == ascii(str(copy / "shared" / "i18n.py"))
