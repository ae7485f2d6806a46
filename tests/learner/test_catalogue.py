"""The pages of all diagnoses: in step with the catalogues, and no code that nothing produces."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.authoring import catalogue
from shared.i18n import LANGUAGES, Language
from shared.processes.supervisor import ROOT
from shared.selftest.diagnoses import CATALOGUE, Diagnosis
from shared.selftest.discover import days, load_checks
from tests.selftest.test_mistakes import EDITS, MISTAKES

from .test_symptoms import REPORTED

# Produced by tests that are no row of a table, in these files.
OTHER_TESTS = (
    "tests/learner/test_symptoms.py",
    "tests/selftest/test_mistakes.py",
    "tests/selftest/test_verdicts.py",
)
ELSEWHERE = {
    "code.missing-file",
    "code.shadows-package",
    "exercise.not-started",
    "grader.fault",
    "item.not-selected",
    "item.waits",
    "process.ended-early",
    "process.memory",
    "process.output",
    "process.processes",
    "process.timeout",
}
PRODUCED = (
    {mistake.diagnosis for mistake in MISTAKES}
    | {diagnosis for *_, diagnosis, _ in EDITS.values()}
    | {reported.diagnosis for reported in REPORTED}
    | ELSEWHERE
)
OWN = {day: load_checks(lab).diagnoses for day, lab in days().items()}
ALL: dict[str, Diagnosis] = {**CATALOGUE, **{c: d for own in OWN.values() for c, d in own.items()}}


def test_a_test_produces_every_code() -> None:
    assert ALL.keys() - PRODUCED == set()
    assert PRODUCED - ALL.keys() == set()


@pytest.mark.parametrize("code", sorted(ELSEWHERE))
def test_the_codes_from_elsewhere_are_asserted_there(code: str) -> None:
    assert any(f'"{code}"' in (ROOT / name).read_text("utf-8") for name in OTHER_TESTS)


@pytest.mark.parametrize("code", ALL)
def test_a_code_is_used_where_something_is_judged(code: str) -> None:
    sources = [*(ROOT / "shared/selftest").glob("*.py"), *(ROOT / "solutions").rglob("*.py")]
    users = [
        path
        for path in sources
        if path.name != "diagnoses.py"
        and re.search(rf'"{re.escape(code)}"', _with_limits(path.read_text("utf-8")))
    ]
    assert users, f"{code} is in a catalogue, and nothing gives it"


def _with_limits(source: str) -> str:
    """The source, with the one f-string that makes codes written out."""
    made = ", ".join(f'"process.{limit}"' for limit in ("memory", "processes", "output"))
    return source.replace('f"process.{child.limit}"', made)


@pytest.mark.parametrize("code", ALL)
def test_a_diagnosis_has_both_languages_and_the_same_placeholders(code: str) -> None:
    for text in (ALL[code].cause, ALL[code].step):
        fields = [sorted(set(re.findall(r"\{([a-z_]+)", each))) for each in (text.en, text.zh)]
        assert fields[0] == fields[1]
        assert bool(text.en) is bool(text.zh)
        assert bool(re.search(r"[\u4e00-\u9fff]", text.zh)) or text.zh in ("", "{reason}")


def test_no_code_is_in_two_catalogues() -> None:
    assert sum(map(len, OWN.values())) + len(CATALOGUE) == len(ALL)


def test_every_symptom_names_codes_that_there_are() -> None:
    for symptom in catalogue.SYMPTOMS:
        assert set(symptom.codes) <= ALL.keys()
    without = [symptom for symptom in catalogue.SYMPTOMS if not symptom.codes]
    assert len(without) == 1, "silence alone is no fault"
    assert "selftest.py probe 23" in without[0].move.en


def test_every_exercise_of_a_day_has_its_group() -> None:
    for day, lab in days().items():
        checks = load_checks(lab)
        prefixes = {code.partition(".")[0] for code in checks.diagnoses}
        assert catalogue.EXERCISES[day].keys() == prefixes
        assert set(catalogue.EXERCISES[day].values()) == set(checks.exercises)


def test_the_pages_are_in_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert catalogue.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_has_every_code_once_as_a_row(language: Language) -> None:
    text = (ROOT / catalogue.PAGES[language]).read_text("utf-8")
    rows = re.findall(r"^\| `([a-z-]+\.[a-z0-9-]+)` \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert sorted(code for code, _, _ in rows) == sorted(ALL)
    for code, cause, step in rows:
        assert "{" not in cause.replace("{}", ""), code
        assert step


def test_both_pages_have_the_same_shape() -> None:
    shapes = []
    for name in catalogue.PAGES.values():
        text = (ROOT / name).read_text("utf-8")
        marks = re.findall(r"^(#+|\|)", text, re.MULTILINE)
        codes = re.findall(r"`[a-z]+\.[a-z-]+`", text)
        shapes.append((marks, codes))
    assert shapes[0] == shapes[1]


def run(root: Path, *words: str, lang: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shared.authoring.catalogue", *words],
        cwd=root,
        env={"PATH": "", "LAB_LANG": lang, "PYTHONPATH": str(root)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_a_page_that_is_behind_is_named_and_written_anew(tmp_path: Path) -> None:
    for name in ("shared", "solutions", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    run(tmp_path, lang="en")
    page = tmp_path / catalogue.PAGES["zh"]
    whole = page.read_bytes()
    page.write_bytes(whole.replace(b"wire.no-flush", b"wire.flush"))
    behind = run(tmp_path, "--check", lang="zh")
    assert behind.returncode == 1
    assert "docs/diagnoses.zh-CN.md 已经过时" in behind.stdout
    assert b"wire.flush" in page.read_bytes(), "a comparison writes nothing"
    page.unlink()
    assert run(tmp_path, "--check", lang="en").returncode == 1
    written = run(tmp_path, lang="en")
    assert (written.returncode, written.stdout) == (0, "written: docs/diagnoses.zh-CN.md\n")
    assert page.read_bytes() == whole
    assert run(tmp_path, "--check", lang="en").returncode == 0
    assert run(tmp_path, lang="fr").returncode == 2
