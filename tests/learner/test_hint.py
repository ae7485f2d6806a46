"""Hints: one step at a time, for the first red item, remembered, in both languages."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest

from shared.authoring.regions import parse
from shared.i18n import Language, Text
from shared.learner import hint
from shared.processes.supervisor import ROOT
from shared.selftest.discover import load_checks
from solutions.day23_mcp_server.hints import HINTS

from .course import LAB, Course, end_of

CHECKS = load_checks(LAB)


@pytest.fixture(scope="module")
def starter_record(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The record that a real run of the untouched starter leaves."""
    course = Course(tmp_path_factory.mktemp("starter"))
    course.selftest()
    return course.state("runs/day23.jsonl").read_bytes()


@pytest.fixture
def fresh(tmp_path: Path) -> Course:
    """A checkout in which nothing was run yet."""
    return Course(tmp_path)


@pytest.fixture
def course(fresh: Course, starter_record: bytes) -> Course:
    """A checkout whose starter was judged once."""
    record = fresh.state("runs/day23.jsonl")
    record.parent.mkdir(parents=True)
    record.write_bytes(starter_record)
    return fresh


# -- what the hints are ---------------------------------------------------------------------------


def test_every_item_has_three_steps() -> None:
    assert list(HINTS) == [item.id for item in CHECKS.items]
    for steps in HINTS.values():
        assert len(steps) == 3


def code_lines(text: str) -> list[str]:
    return [line for line in text.splitlines()[1:] if "…" in line and re.search(r"[=(]", line)]


@pytest.mark.parametrize("item", [item for item in CHECKS.items if item.exercise])
def test_no_step_has_a_line_of_the_solution(item: object) -> None:
    exercise = item.exercise
    path = ROOT / "solutions" / LAB / CHECKS.exercises[exercise]
    region = next(one for one in parse(path.read_text("utf-8"), path) if one.exercise == exercise)
    source = path.read_text("utf-8").splitlines()
    body = source[region.first_line - 1 : region.last_line]
    secret = {line.strip() for line in body if len(line.strip()) > 12 and "#" not in line}
    assert secret
    for step in HINTS[item.id]:
        for words in (step.en, step.zh):
            assert not secret & {line.strip() for line in words.splitlines()}


def test_both_languages_name_the_same_code() -> None:
    for steps in HINTS.values():
        for step in steps:
            names = [
                sorted(set(re.findall(r"[\w.]*\w+\.(?:py|json)|`[^`]+`|\b\w+_\w+\b", words)))
                for words in (step.en, step.zh)
            ]
            assert names[0] == names[1]


# -- one at a time --------------------------------------------------------------------------------

WORDS: dict[Language, tuple[str, ...]] = {
    "en": ("Hint 1 of 3, where to look", "Hint 2 of 3, what is missing", "Hint 3 of 3, nearly"),
    "zh": ("提示 1/3，看哪里", "提示 2/3，缺什么", "提示 3/3，差一点就是代码"),
}


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def shows(said: str, text: Text, language: Language) -> bool:
    """Whether a step was shown, wherever the terminal broke its lines."""
    return squeezed(text.get(language)) in squeezed(said)


@pytest.mark.parametrize("language", WORDS)
def test_three_steps_and_then_the_third_again(course: Course, language: Language) -> None:
    for number, words in enumerate([*WORDS[language], WORDS[language][2]], start=1):
        said, code = end_of(course.terminal("hint", "23", lang=language))
        assert code == 0
        assert words in said
        shown = [shows(said, step, language) for step in HINTS[2]]
        assert shown == [index == min(number, 3) - 1 for index in range(3)]
        assert ("python selftest.py hint 23 --item 2" in said) is (number < 3)
        again = {"en": "already; here is the last one again", "zh": "都已经打开过了"}[language]
        assert (again in said) is (number == 4)
        assert course.held("hints.json") == {"23": {"2": min(number, 3)}}
    assert CHECKS.items[1].title.get(language)[:20] in said


def test_an_item_that_is_named_has_hints_of_its_own(course: Course) -> None:
    course.run("hint", "23")
    code, said, _ = course.run("hint", "23", "--item", "5")
    assert code == 0
    assert "Item 5: " in said
    assert "Hint 1 of 3" in said
    assert course.held("hints.json") == {"23": {"2": 1, "5": 1}}


def test_again_opens_nothing(course: Course) -> None:
    _, none, _ = course.run("hint", "23", "--again")
    assert "No hint is open yet for item 2" in none
    assert not course.state("hints.json").exists()
    for _ in range(2):
        course.run("hint", "23")
    _, said, _ = course.run("hint", "23", "--again")
    assert [shows(said, step, "en") for step in HINTS[2]] == [True, True, False]
    assert course.held("hints.json") == {"23": {"2": 2}}


def test_a_blank_as_it_came_is_no_mistake_to_repeat(course: Course) -> None:
    _, said, _ = course.run("hint", "23")
    assert "latest run says" not in said


REPEATED: dict[Language, str] = {
    "en": "Your latest run says: `query_order`: the field `",
    "zh": "你最近一次自检说：`query_order`：inputSchema 的字段 `",
}


def test_a_mistake_is_repeated_before_the_hint(fresh: Course) -> None:
    fresh.solve("mcp_server.py", "bridge.py")
    bridge = fresh.root / "labs" / LAB / "bridge.py"
    whole = '{"type": "object", "properties": {}, **tool["inputSchema"]}'
    half = '{"type": "object", **{k: tool["inputSchema"].get(k) for k in ("properties",)}}'
    text = bridge.read_text("utf-8")
    assert whole in text
    bridge.write_text(text.replace(whole, half), encoding="utf-8")
    fresh.selftest("--item", "3")
    for language, words in REPEATED.items():
        code, said, _ = fresh.run("hint", "23", lang=language)
        assert code == 0
        lines = said.splitlines()
        assert lines[0].startswith(("Item 3: ", "第 3 项："))
        assert lines[1].startswith(words)


# -- when there is nothing to hint at -------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "words"), [("en", "no run of yours"), ("zh", "还没有你的自检记录")]
)
def test_without_a_run(fresh: Course, language: str, words: str) -> None:
    code, said, complained = fresh.run("hint", "23", lang=language)
    assert (code, said) == (1, "")
    assert words in complained
    assert "python selftest.py 23" in complained


def test_a_record_that_is_broken_is_no_run(course: Course) -> None:
    course.state("runs/day23.jsonl").write_text('{"row": "run"', encoding="utf-8")
    code, _, complained = course.run("hint", "23")
    assert code == 1
    assert "no run of yours" in complained


def edit_record(course: Course, **items: str) -> None:
    """Make a record say something else: `status_2="pass"`, `folder="solutions/…"`."""
    path = course.state("runs/day23.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        if row["row"] == "run":
            row["folder"] = items.get("folder", row["folder"])
        elif row["row"] == "item":
            row["diagnosis"] = items.get(f"diagnosis_{row['item']}", row["diagnosis"])
            row["status"] = items.get(f"status_{row['item']}", row["status"])
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def test_what_only_waits_is_passed_over(course: Course) -> None:
    edit_record(course, status_2="pass", status_3="pass")  # 4 and 5 wait, 6 is red
    _, said, _ = course.run("hint", "23")
    assert "Item 6: " in said


@pytest.mark.parametrize(
    ("language", "words"), [("en", "All 6 items pass"), ("zh", "6 项全部通过")]
)
def test_all_green(course: Course, language: str, words: str) -> None:
    edit_record(course, **{f"status_{number}": "pass" for number in range(1, 7)})
    code, said, _ = course.run("hint", "23", lang=language)
    assert code == 0
    assert words in said
    assert "quiz 23" in said


def test_a_run_of_the_solution_says_nothing_of_the_learner(course: Course) -> None:
    edit_record(course, folder=f"solutions/{LAB}")
    code, said, complained = course.run("hint", "23")
    assert (code, said) == (1, "")
    assert "judged the solution" in complained


def test_a_run_of_some_items_is_not_all_green(course: Course) -> None:
    rest = {f"diagnosis_{number}": "item.not-selected" for number in range(2, 7)}
    edit_record(course, **rest)
    code, _, complained = course.run("hint", "23")
    assert code == 1
    assert "did not judge every item" in complained


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("24",), "no day 24"),
        (("23", "--item", "7"), "no item 7"),
        (("23", "--item", "x"), "'x'"),
        (("twenty",), "'twenty'"),
        ((), "day"),
        (("23", "--lang", "fr"), "'fr'"),
    ],
)
def test_wrong_usage(
    words: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        sys.exit(hint.main([*words, *([] if "--lang" in words else ["--lang", "en"])]))
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert named in said.err


def test_a_language_that_there_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_LANG", "fr")
    assert hint.main(["23"]) == 2
    said = capsys.readouterr()
    assert "'fr'" in said.err
    assert "只能是" in said.err


@pytest.mark.parametrize("held", ["no JSON", "[1]", '{"23": {"2": "many"}}'])
def test_a_state_that_makes_no_sense(course: Course, held: str) -> None:
    path = course.state("hints.json")
    path.write_text(held, encoding="utf-8")
    code, said, complained = course.run("hint", "23")
    assert code == 0
    assert "Hint 1 of 3" in said
    assert "Traceback" not in complained
    assert course.held("hints.json") == {"23": {"2": 1}}
    kept = list(course.root.glob(".selftest/hints.json.broken-*"))
    if held.startswith("{"):
        assert kept == [], "what is whole JSON is mended in its place"
    else:
        assert [one.read_text("utf-8") for one in kept] == [held]
        assert "hints.json could not be read" in complained
        assert kept[0].name in complained


def test_a_state_that_cannot_be_written(course: Course) -> None:
    course.state("hints.json").mkdir()  # neither read nor replaced
    code, said, complained = course.run("hint", "23")
    assert code == 0
    assert "Hint 1 of 3" in said
    assert "hints.json could not be" in complained
    assert "Traceback" not in complained


# -- where it is shown ----------------------------------------------------------------------------


@pytest.mark.parametrize("language", WORDS)
def test_without_a_terminal_the_lines_are_plain(course: Course, language: str) -> None:
    _, said, _ = course.run("hint", "23", lang=language)
    assert "\x1b" not in said


def width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("language", WORDS)
def test_sixty_columns_are_enough(course: Course, language: str) -> None:
    for _ in range(3):
        said, code = end_of(
            course.terminal("hint", "23", "--item", "4", lang=language, columns=60, NO_COLOR="1")
        )
        assert code == 0
        assert max(width(line) for line in said.splitlines()) <= 60
