"""The quiz: the lesson's questions, answered at a terminal, repeated at growing intervals."""

from __future__ import annotations

import ast
import datetime
import json
import re
import shutil
from pathlib import Path

import pexpect
import pytest

from shared.i18n import Language, Text
from shared.learner import quiz
from shared.learner.questions import DAYS_UNTIL, Standing
from shared.processes.supervisor import ROOT
from solutions.day23_mcp_server.quiz import CHECKLIST, QUESTIONS

from .course import LAB, Course, end_of, plain

LESSONS: dict[Language, Path] = {
    "en": ROOT / "solutions" / LAB / "README.md",
    "zh": ROOT / "solutions" / LAB / "README.zh-CN.md",
}
DAY = "2026-11-30"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def course(template: Course) -> Course:
    """A checkout without any state; what a test leaves is taken away by the next."""
    shutil.rmtree(template.root / ".selftest", ignore_errors=True)
    return template


# -- what is asked --------------------------------------------------------------------------------


def details(language: Language) -> list[tuple[str, list[str]]]:
    """The interview questions of a lesson, each with its key points."""
    text = LESSONS[language].read_text("utf-8")
    found = []
    for block in re.findall(r"<details>\n(.*?)</details>", text, re.DOTALL):
        asked = re.search(r"<summary>\d+\. (.*?)</summary>", block)
        assert asked
        found.append((asked[1], re.findall(r"^- (.*)$", block, re.MULTILINE)))
    return found


@pytest.mark.parametrize("language", LESSONS)
def test_questions_and_key_points_are_those_of_the_lesson(language: Language) -> None:
    assert [
        (one.question.get(language), [point.get(language) for point in one.points])
        for one in QUESTIONS
    ] == details(language)


@pytest.mark.parametrize("language", LESSONS)
def test_the_checklist_is_that_of_the_lesson(language: Language) -> None:
    ticks = re.findall(r"^- \[ \] (.*)$", LESSONS[language].read_text("utf-8"), re.MULTILINE)
    assert [entry.text.get(language) for entry in CHECKLIST] == ticks


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.id)
def test_a_question_is_whole(question: object) -> None:
    texts: list[Text] = [question.question, *question.reasoning, *question.points]
    assert len(question.reasoning) >= 2
    assert 4 <= len(question.points) <= 6
    for text in texts:
        assert text.en
        assert re.search(r"[\u4e00-\u9fff]", text.zh)
        assert "**" not in text.en + text.zh, "a terminal shows no Markdown"


def names_in(path: Path) -> set[str]:
    """What a module defines at its top, and what its classes define."""
    nodes = ast.parse(path.read_text("utf-8")).body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in nodes if isinstance(node, kinds)}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.id)
def test_code_and_a_test_prove_the_answer(question: object) -> None:
    tests = [place for place in question.proof if "::" in place]
    code = [place for place in question.proof if "#" in place]
    assert tests
    assert code
    assert len(tests) + len(code) == len(question.proof)
    for place in question.proof:
        path, _, name = place.replace("::", "#").partition("#")
        assert name in names_in(ROOT / path), place


def test_ids_are_unique_and_four_are_the_core() -> None:
    assert len({one.id for one in QUESTIONS}) == len(QUESTIONS) == 7
    assert [one.core for one in QUESTIONS] == [True] * 4 + [False] * 3


# -- growing intervals ----------------------------------------------------------------------------


def test_the_intervals_grow_with_good_answers_and_begin_anew_with_a_bad_one() -> None:
    today = datetime.date(2026, 11, 30)
    standing, waited = Standing(), []
    for _ in range(5):
        standing = standing.after(3, 5, "", today)
        assert standing.due is not None
        assert not standing.is_due(standing.due - datetime.timedelta(days=1))
        assert standing.is_due(standing.due)
        waited.append((standing.due - today).days)
        today = standing.due
    assert waited == [*DAYS_UNTIL, DAYS_UNTIL[-1]] == [1, 3, 7, 16, 16]
    assert standing.is_known
    standing = standing.after(2, 5, "", today)
    assert (standing.box, standing.due) == (1, today + datetime.timedelta(days=1))
    assert not standing.is_known


# -- at a terminal --------------------------------------------------------------------------------

SAYS: dict[Language, dict[str, str]] = {
    "en": {
        "question": r"Question {n} of {total}\b",
        "which": "Enter for none: ",
        "bad": "'9' is none of 1 to 6",
        "scored": "4 of 6 points. Again tomorrow, 2026-12-01.",
        "proof": "See for yourself",
        "sentence": r"Yours \(Enter to skip\): ",
        "same": "y/n: ",
        "word": "y or n, please",
        "due": "Nothing is due today; next on 2026-12-01",
        "sum": "4 of 36 points in 7 questions.",
    },
    "zh": {
        "question": r"第 {n} 题，共 {total} 题",
        "which": "直接回车：",
        "bad": "'9' 不在 1 到 6 之间",
        "scored": "6 个要点答到 4 个。明天（2026-12-01）再问。",
        "proof": "自己去看证据",
        "sentence": "你的话（回车跳过）：",
        "same": "y/n：",
        "word": "请输入 y 或 n",
        "due": "今天没有到期的题目，下一次是 2026-12-01",
        "sum": "7 道题，36 个要点共答到 4 个。",
    },
}


def ask(process: pexpect.spawn, says: dict[str, str], number: int, total: int) -> str:
    """Wait for a question; returns what was shown from it to the prompt."""
    process.expect(says["question"].format(n=number, total=total))
    process.expect("> ")
    return plain(process.before)


def answer(process: pexpect.spawn, says: dict[str, str], ticks: str, *lines: str) -> str:
    """Give an answer in lines, then tick points; returns the reasoning and points shown."""
    for line in lines:
        process.sendline(line)
        process.expect("> ")
    process.sendline("")
    process.expect(says["which"])
    shown = plain(process.before)
    process.sendline(ticks)
    return shown


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("language", SAYS)
def test_a_whole_round(course: Course, language: Language) -> None:
    says = SAYS[language]
    process = course.terminal("quiz", "23", lang=language, LAB_TODAY=DAY)
    asked = ask(process, says, 1, 7)
    assert squeezed(QUESTIONS[0].question.get(language)) in squeezed(asked)
    for point in QUESTIONS[0].points:
        assert squeezed(point.get(language)) not in squeezed(asked), "the learner answers first"
    separator = {"en": " ", "zh": "、"}[language]
    shown = answer(process, says, "1 9", "两段链路，two hops", "schema 是搬过去的")
    for text in (*QUESTIONS[0].reasoning, *QUESTIONS[0].points):
        assert squeezed(text.get(language)) in squeezed(shown)
    process.expect(says["bad"])
    process.expect(says["which"])
    process.sendline(separator.join(["1", "3", "3", "4", "6"]))
    process.expect_exact(says["scored"])
    process.expect_exact(says["proof"])
    process.expect_exact(QUESTIONS[0].proof[-1])
    kept = course.held("quiz.json")["23"]["questions"]
    assert kept == {
        "two-hops": {
            "answer": "两段链路，two hops\nschema 是搬过去的",
            "box": 1,
            "due": "2026-12-01",
            "of": 6,
            "points": 4,
        }
    }
    for number in range(2, 8):
        ask(process, says, number, 7)
        answer(process, says, "")
    process.expect_exact(says["sum"])
    process.expect(says["sentence"])
    process.sendline("MCP: more. Skills: better.")
    process.expect(says["same"])
    assert squeezed(CHECKLIST[3].model.get(language)) in squeezed(plain(process.before))
    process.sendline("perhaps")
    process.expect(says["word"])
    process.expect(says["same"])
    process.sendline({"en": "y", "zh": "是"}[language])
    said, code = end_of(process)
    assert code == 0
    assert f"[x] {CHECKLIST[3].text.get(language)}" in said
    assert said.count("[ ] ") == 5
    assert course.held("quiz.json")["23"]["checklist"] == {"skills": DAY}
    again, code = end_of(course.terminal("quiz", "23", lang=language, LAB_TODAY=DAY))
    assert code == 0
    assert says["due"] in again, "and the sentence is not asked for twice"
    assert "[x] " in again


def write_state(course: Course, **questions: tuple[int, str, int]) -> None:
    """State of questions: box, due, points."""
    rows = {
        name.replace("_", "-"): {"box": box, "due": due, "points": points, "of": 5, "answer": "x"}
        for name, (box, due, points) in questions.items()
    }
    path = course.state("quiz.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"23": {"questions": rows}}), encoding="utf-8")


def test_what_has_waited_longest_comes_first_and_moves_on(course: Course) -> None:
    write_state(
        course,
        roles=(3, "2026-11-29", 5),
        criteria=(1, "2026-11-20", 1),
        design=(2, "2026-12-03", 6),  # not due
        a_question_of_last_year=(2, "2025-01-01", 3),
    )
    says = SAYS["en"]
    process = course.terminal("quiz", "23", LAB_TODAY=DAY)
    first = ask(process, says, 1, 6)
    assert QUESTIONS[2].question.en in plain(first).replace("\n", " ")
    assert "last time: 1 of 5 points" in first
    shown = answer(process, says, "1 2 3 4 5")
    assert "What you wrote last time\n  x" in shown
    process.expect_exact("5 of 5 points. Again on 2026-12-03, in 3 days.")
    assert QUESTIONS[1].question.en in ask(process, says, 2, 6).replace("\n", " ")
    answer(process, says, "1")
    process.expect_exact("1 of 5 points. Again tomorrow, 2026-12-01.")
    third = ask(process, says, 3, 6)
    assert QUESTIONS[0].question.en in third.replace("\n", " ")
    process.sendeof()
    said, code = end_of(process)
    assert code == 0
    assert "Checklist" in said
    kept = course.held("quiz.json")["23"]["questions"]
    assert (kept["criteria"]["box"], kept["criteria"]["due"]) == (2, "2026-12-03")
    assert (kept["roles"]["box"], kept["roles"]["due"]) == (1, "2026-12-01")
    assert kept["design"]["due"] == "2026-12-03"
    assert kept["a-question-of-last-year"]["points"] == 3, "nothing is thrown away"


def test_all_asks_what_is_not_due_as_well(course: Course) -> None:
    write_state(course, **{one.id.replace("-", "_"): (4, "2027-01-01", 5) for one in QUESTIONS})
    process = course.terminal("quiz", "23", "--all", LAB_TODAY=DAY)
    ask(process, SAYS["en"], 1, 7)
    process.sendeof()
    assert end_of(process)[1] == 0


@pytest.mark.parametrize("at", ["answer", "ticks"])
def test_ctrl_c_leaves_what_was_scored_and_nothing_half(course: Course, at: str) -> None:
    says = SAYS["en"]
    process = course.terminal("quiz", "23", LAB_TODAY=DAY)
    ask(process, says, 1, 7)
    answer(process, says, "1 2")
    ask(process, says, 2, 7)
    process.sendline("half an answer")
    if at == "ticks":
        process.sendline("")
        process.expect(says["which"])
    process.sendintr()
    said, code = end_of(process)
    assert code == 130
    assert "Traceback" not in said
    assert list(course.held("quiz.json")["23"]["questions"]) == ["two-hops"]
    assert [path.name for path in (course.root / ".selftest").iterdir()] == ["quiz.json"]


# -- the checklist --------------------------------------------------------------------------------


def write_run(course: Course, *passing: int, folder: str = f"labs/{LAB}") -> None:
    rows = [{"row": "run", "folder": folder, "at": "2026-11-30T10:00:00+08:00"}]
    for item in range(1, 7):
        status = "pass" if item in passing else "fail"
        about = {"title": {"en": "t", "zh": "t"}, "cause": {"en": "c", "zh": "c"}}
        rows.append({"row": "item", "item": item, "status": status, "diagnosis": "x", **about})
    path = course.state("runs/day23.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_the_checklist_is_ticked_from_the_latest_run_and_the_scores(course: Course) -> None:
    write_state(
        course,
        roles=(1, "2026-12-01", 4),
        two_hops=(1, "2026-12-01", 5),
        criteria=(1, "2026-12-01", 2),
        third_party=(1, "2026-12-01", 3),
    )
    write_run(course, 1, 2, 3, 4, 5)
    code, said, _ = course.run("quiz", "23", "--checklist", LAB_TODAY=DAY)
    assert code == 0
    lines = said.splitlines()
    assert [line[:3] for line in lines[1::2]] == ["[x]", "[ ]", "[x]", "[ ]", "[ ]", "[x]"]
    assert "(5 of 6 items pass)" in said
    assert "(3 of 4 answered well, 3 needed)" in said
    write_run(course, *range(1, 7), folder=f"solutions/{LAB}")
    _, said, _ = course.run("quiz", "23", "--checklist", lang="zh")
    assert said.count("[x]") == 2, "a run of the solution ticks nothing"
    assert "还没有你的自检记录：python selftest.py 23" in said


# -- without a terminal, and bad input ------------------------------------------------------------


@pytest.mark.parametrize("language", LESSONS)
def test_without_a_terminal_everything_is_printed_plainly(
    course: Course, language: Language
) -> None:
    code, said, _ = course.run("quiz", "23", lang=language)
    assert code == 0
    assert "\x1b" not in said
    assert {"en": "Scoring needs a terminal", "zh": "打分需要在终端里进行"}[language] in said
    for question in QUESTIONS:
        for text in (question.question, *question.points):
            assert re.search(rf"^ *(-|\d\.) {re.escape(text.get(language))}$", said, re.MULTILINE)
    assert not course.state("quiz.json").exists()


@pytest.mark.parametrize("language", LESSONS)
def test_sixty_columns_are_enough(course: Course, language: Language) -> None:
    from .test_hint import width

    process = course.terminal("quiz", "23", lang=language, columns=60, LAB_TODAY=DAY, NO_COLOR="1")
    asked = ask(process, SAYS[language], 1, 7)
    shown = answer(process, SAYS[language], "")
    assert max(width(line) for line in (asked + shown).splitlines()[:-1]) <= 60
    process.sendintr()
    assert end_of(process)[1] == 130


@pytest.mark.parametrize(
    ("env", "words", "named"),
    [
        ({"LAB_TODAY": "yesterday"}, ["23"], "LAB_TODAY is 'yesterday'"),
        ({}, ["24"], "no day 24"),
        ({}, ["23", "--every"], "--every"),
    ],
)
def test_wrong_usage(
    env: dict[str, str],
    words: list[str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(quiz.main([*words, "--lang", "en"]))
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert named in said.err


@pytest.mark.parametrize("held", ['{"23": {"questions"', '{"23": {"questions": {"roles": 3}}}'])
def test_a_state_that_makes_no_sense(course: Course, held: str) -> None:
    path = course.state("quiz.json")
    path.parent.mkdir()
    path.write_text(held, encoding="utf-8")
    process = course.terminal("quiz", "23", LAB_TODAY=DAY)
    ask(process, SAYS["en"], 1, 7)
    answer(process, SAYS["en"], "2")
    ask(process, SAYS["en"], 2, 7)
    process.sendeof()
    said, code = end_of(process)
    assert code == 0
    kept = [one.read_text("utf-8") for one in course.root.glob(".selftest/quiz.json.broken-*")]
    assert kept == ([] if held.endswith("}") else [held])
    assert ("quiz.json could not be read" in said) is bool(kept)
    assert course.held("quiz.json")["23"]["questions"]["two-hops"]["points"] == 1


def test_typing_that_is_no_utf_8_is_kept_as_well_as_can_be(course: Course) -> None:
    process = course.terminal("quiz", "23", LAB_TODAY=DAY)
    ask(process, SAYS["en"], 1, 7)
    process.write("半".encode("gbk").decode("latin-1"))  # a terminal in GBK, roughly
    answer(process, SAYS["en"], "1", "x")
    ask(process, SAYS["en"], 2, 7)
    process.sendeof()
    assert end_of(process)[1] == 0
    assert course.held("quiz.json")["23"]["questions"]["two-hops"]["answer"].endswith("x")
