"""A lab that is not sound is refused, with the file, the line and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.authoring.build import ROOT, check_lab
from shared.authoring.gate import day_folders


def reasons(day: Path) -> list[str]:
    return [f"{problem.path.name}:{problem.line} {problem.message}" for problem in check_lab(day)]


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_sound_lab_passes(day: Path) -> None:
    assert check_lab(day) == []


def test_the_days_of_the_course_are_found_in_order(course: Path) -> None:
    (course / "solutions/day00_intro").mkdir()
    (course / "solutions/day02_file.py").write_text("", encoding="utf-8")
    (course / "solutions/notes").mkdir()
    assert [day.name for day in day_folders(course / "solutions")] == ["day00_intro", "day01_shop"]


def test_the_labs_of_this_repository_pass() -> None:
    days = day_folders(ROOT / "solutions")
    assert days
    assert [str(problem) for day in days for problem in check_lab(day)] == []


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_both_languages_are_needed(day: Path, name: str) -> None:
    (day / name).unlink()
    assert reasons(day) == [f"{name}:0 is missing; every day is told in both languages"]


@pytest.mark.parametrize("marker", ["# region exercise 3: c", "  # endregion"])
def test_a_blank_in_a_readme(day: Path, marker: str) -> None:
    append(day / "README.md", f"\n```python\n{marker}\n```\n")
    assert reasons(day) == ["README.md:4 a blank belongs into a module, not a README"]


def test_a_readme_may_speak_of_blanks(day: Path) -> None:
    append(day / "README.md", "\nLook for `# region exercise 1` and `# endregion`.\n# Regions\n")
    assert reasons(day) == []


def test_numbers_with_a_gap(day: Path) -> None:
    text = (day / "shop.py").read_text(encoding="utf-8")
    (day / "shop.py").write_text(text.replace("exercise 2", "exercise 5"), encoding="utf-8")
    assert reasons(day) == ["day01_shop:0 exercise numbers have gaps: no file has 2, 3, 4"]


def test_a_number_in_two_files(day: Path) -> None:
    text = (day / "shop.py").read_text(encoding="utf-8")
    (day / "shop.py").write_text(text.replace("exercise 2", "exercise 1"), encoding="utf-8")
    assert reasons(day) == ["shop.py:2 exercise 1 is already in bridge.py"]


@pytest.mark.parametrize(
    "statement",
    [
        "import labs",
        "import solutions.day01_shop.shop as shop",
        "import json, labs.day01_shop",
        "from labs import day01_shop",
        "from solutions.day01_shop.shop import price",
    ],
)
def test_absolute_imports_between_the_trees(day: Path, statement: str) -> None:
    append(day / "bridge.py", f"\n\ndef late() -> None:\n    {statement}\n")
    assert len(reasons(day)) == 2  # in its starter and in its solution
    assert all(f"`{statement}`" in reason for reason in reasons(day))


@pytest.mark.parametrize(
    "statement",
    ["from . import shop", "from .labs import x", "from shared.i18n import Text", "import labsy"],
)
def test_other_imports(day: Path, statement: str) -> None:
    append(day / "bridge.py", f"\n{statement}\n")
    assert reasons(day) == []


def test_a_blank_that_is_not_well_formed(day: Path) -> None:
    append(day / "bridge.py", "# endregion\n")
    assert "bridge.py:11 endregion without a region" in reasons(day)


@pytest.mark.parametrize(
    ("old", "new", "half"),
    [("# starter: return 0", "# starter: return (", "starter"), ("sum(", "sum((", "solution")],
)
def test_a_half_that_is_no_python(day: Path, old: str, new: str, half: str) -> None:
    text = (day / "bridge.py").read_text(encoding="utf-8")
    (day / "bridge.py").write_text(text.replace(old, new), encoding="utf-8")
    (reason,) = reasons(day)
    assert reason.startswith(f"bridge.py:0 its {half} is no Python: ")
    assert f"of the {half})" in reason


def test_a_module_that_is_no_utf_8(day: Path) -> None:
    (day / "latin.py").write_bytes(b"# caf\xe9\n")
    assert reasons(day) == ["latin.py:0 is not UTF-8"]
