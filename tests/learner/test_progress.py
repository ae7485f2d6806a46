"""Where the learner is: what is remembered of runs, what is shown of it, and what survives."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from rich.cells import cell_len

from shared.i18n import LANGUAGES, Language
from shared.learner.goals import load_goals
from shared.learner.starters import starter_notices
from shared.learner.state import PROGRESS, note_run, read_progress
from shared.selftest.discover import load_checks

from .checkout import LAB, ROOT, Checkout, ended, plain, verdicts

MINE = "    parameters = dict(tool['inputSchema'])  # mine\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout.make(tmp_path / "课程 copy")


def item_lines(output: str) -> list[str]:
    """The mark and number of each item, and the line about it."""
    lines = output.splitlines()
    return [
        f"{line[:3]} {lines[number + 1].strip()}"
        for number, line in enumerate(lines)
        if re.match(r"[✔✘○!] \d ", line)
    ]


# -- what is shown ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ["0 of 6 items are green", "not judged yet", "Next: python selftest.py 23"]),
        ("zh", ["6 项中有 0 项是绿的", "还没有检查过", "下一步：python selftest.py 23"]),
    ],
)
def test_before_the_first_run(checkout: Checkout, lang: str, said: list[str]) -> None:
    done = checkout.run("progress", lang=lang)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in said:
        assert words in done.stdout
    assert done.stdout.count("[ ]") == 3
    assert "\x1b" not in done.stdout


def test_after_a_real_run(checkout: Checkout) -> None:
    checkout.answer(1, checkout_solution(checkout, "mcp_server.py"))
    checkout.answer(5, checkout_solution(checkout, "should_use_mcp.py"))
    before = time.strftime("%Y-%m-%d %H:%M")
    assert checkout.judge() == ""
    done = checkout.run("progress")
    assert done.returncode == 0, done.stderr
    when = f"({before}|{time.strftime('%Y-%m-%d %H:%M')})"
    lines = item_lines(done.stdout)
    for line, pattern in zip(
        lines,
        [
            rf"✔ 1 first green {when}",
            rf"✔ 2 first green {when}",
            rf"✘ 3 fail in the run of {when}",
            rf"○ 4 not run in the run of {when}",
            rf"○ 5 not run in the run of {when}",
            rf"✔ 6 first green {when}",
        ],
        strict=True,
    ):
        assert re.fullmatch(pattern, line), line
    assert done.stdout.count("[x]") == 1
    assert "[x] name the roles in MCP" in done.stdout
    bridge = checkout.lab("bridge.py").read_text("utf-8").splitlines()
    number = next(n for n, line in enumerate(bridge, 1) if "region exercise 2" in line)
    assert f"Next: item 3, by exercise 2 in labs/{LAB}/bridge.py, line {number}." in done.stdout
    state = json.loads((checkout.root / PROGRESS).read_text("utf-8"))
    assert state["schema"] == 1
    assert state["days"]["23"]["items"]["3"]["seed"] == 7


def checkout_solution(checkout: Checkout, name: str) -> str:
    """The solution of the one blank of a file."""
    text = checkout.source(name).read_text("utf-8")
    found = re.search(r"# region[^\n]*\n(.*?)^ *# endregion", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return re.sub(r"^ *# starter:.*\n", "", found[1], flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ["first green", "not so in the run of", "All green, but edited since", "[x]"]),
        ("zh", ["首次变绿", "那次检查的结果是：超时", "全部是绿的，但之后又改过", "[x]"]),
    ],
)
def test_in_a_terminal_of_60_columns(checkout: Checkout, lang: Language, said: list[str]) -> None:
    note_run(verdicts(*["pass"] * 6), checkout.root)
    note_run(verdicts("pass", "pass", "pass", "pass", "timeout", "pass"), checkout.root)
    process = checkout.terminal("progress", lang=lang, columns=60, NO_COLOR="1")
    code, lapsed = ended(process)
    assert code == 0
    note_run(verdicts(*["pass"] * 6), checkout.root)
    checkout.answer(2, MINE)
    code, edited = ended(checkout.terminal("progress", lang=lang, columns=60))
    assert code == 0
    for words in said:
        assert words.replace(" ", "") in plain(lapsed + edited).replace(" ", ""), words
    assert not re.search(r"\x1b\[[0-9;]*[A-HJKsu]", lapsed + edited), "the cursor moved"
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", lapsed), "a colour"
    assert all(width(line) <= 60 for line in re.sub(r"\x1b\[[0-9;]*m", "", lapsed).splitlines())


def width(line: str) -> int:
    """Columns of a terminal that a line takes."""
    return cell_len(line)


def test_all_green(checkout: Checkout) -> None:
    note_run(verdicts(*["pass"] * 6), checkout.root)
    done = checkout.run("progress")
    assert "6 of 6 items are green" in done.stdout
    assert done.stdout.count("[x]") == 3
    assert "All days are green. Next: python selftest.py quiz 23" in done.stdout


@pytest.mark.parametrize("words", [("--lang", "fr"), ("23",), ("--lang",)], ids=" ".join)
def test_wrong_usage(checkout: Checkout, words: tuple[str, ...]) -> None:
    done = checkout.run("progress", *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "selftest.py --help" in done.stderr


# -- what is remembered ----------------------------------------------------------------------------


def test_the_first_green_stays_and_the_latest_status_follows(checkout: Checkout) -> None:
    def status() -> dict[int, tuple[str, int]]:
        items = read_progress(checkout.root).days[23].items
        return {number: (item.status, item.seed) for number, item in items.items()}

    def first(item: int) -> str | None:
        return read_progress(checkout.root).days[23].items[item].first_green

    note_run(verdicts("pass", "fail", "pass", "fail", "not_run", "error"), checkout.root)
    path = checkout.root / PROGRESS
    path.write_text(re.sub(r'"first_green": "\d{4}', '"first_green": "2001', path.read_text()))
    began = first(3)
    assert began is not None
    assert began.startswith("2001")
    assert first(2) is None
    note_run(verdicts("pass", "pass", "fail", "limit", "not_run", "error", seed=8), checkout.root)
    assert first(3) == began
    assert first(2) is not None
    assert status()[3] == ("fail", 8)
    note_run(verdicts("pass", "pass", "pass", "fail", "fail", "fail", seed=9), checkout.root)
    assert first(3) == began
    assert status()[3] == ("pass", 9)


def test_items_that_were_not_judged_stay_as_they_were(checkout: Checkout) -> None:
    note_run(verdicts(*["pass"] * 6), checkout.root)
    before = read_progress(checkout.root).days
    result = verdicts(*["grader_fault"] * 6, skipped=(2, 3))
    assert note_run(result, checkout.root) == []
    assert read_progress(checkout.root).days == before


def test_what_was_saved_during_a_run_does_not_count_as_judged(checkout: Checkout) -> None:
    path = checkout.answer(2, MINE)
    result = verdicts(*["pass"] * 6)
    result.duration_ms = 60_000
    note_run(result, checkout.root)
    assert set(read_progress(checkout.root).days[23].blanks) == set()
    long_ago = time.time() - 3600
    for name in checkout.lab("").iterdir():
        if name.is_file():
            os.utime(name, (long_ago, long_ago))
    note_run(result, checkout.root)
    assert set(read_progress(checkout.root).days[23].blanks) == {1, 2, 3, 4, 5}
    assert path.exists()


# -- what survives ---------------------------------------------------------------------------------


def test_a_moved_folder(checkout: Checkout, tmp_path: Path) -> None:
    checkout.answer(2, MINE)
    note_run(verdicts("pass", "fail", "pass", "fail", "fail", "pass"), checkout.root)
    checkout.run("solve", "23", "--exercise", "5", "--yes")
    shown = checkout.run("progress").stdout
    moved = Checkout(tmp_path / "elsewhere" / "课程")
    moved.root.parent.mkdir()
    shutil.move(checkout.root, moved.root)
    assert moved.run("progress").stdout == shown
    assert moved.run("undo", "23", "--yes").returncode == 0
    assert moved.blank(5) == checkout_starter(moved, "should_use_mcp.py")
    for path in (moved.root / ".selftest").rglob("*"):
        if path.is_file() and "files" not in path.parts and "texts" not in path.parts:
            assert str(tmp_path) not in path.read_text("utf-8")


def checkout_starter(checkout: Checkout, name: str) -> str:
    """The starter of the one blank of a file."""
    text = checkout.source(name).read_text("utf-8")
    lines = re.findall(r"^( *)# starter: ?(.*)$", text, re.MULTILINE)
    return "".join(f"{indent}{line}\n" for indent, line in lines)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "begins anew"),
        (b"\xff\xfe", "begins anew"),
        (b"[1]", "begins anew"),
        (b'{"schema": 1, "days": {"23": {"items": {"1": 5}}}}', "could not be understood"),
        (b'{"schema": 1, "days": {"x": {"items": {}}}}', "could not be understood"),
    ],
    ids=["half", "not UTF-8", "a list", "a wrong item", "a wrong day"],
)
def test_a_broken_state_is_kept_aside(checkout: Checkout, content: bytes, said: str) -> None:
    path = checkout.root / PROGRESS
    path.parent.mkdir()
    path.write_bytes(content)
    (notice,) = note_run(verdicts(*["pass"] * 6), checkout.root)
    assert said in notice.en
    assert "progress.json" in notice.zh
    kept = [each for each in path.parent.glob("progress.json.broken*") if each.is_file()]
    assert [each.read_bytes() for each in kept] == [content]
    assert note_run(verdicts(*["pass"] * 6), checkout.root) == []
    assert all(read_progress(checkout.root).days[23].is_green(item) for item in range(1, 7))


@pytest.mark.parametrize(("lang", "said"), [("en", "newer version"), ("zh", "更新版本的课程")])
def test_a_state_of_a_newer_version_is_left_alone(checkout: Checkout, lang: str, said: str) -> None:
    path = checkout.root / PROGRESS
    path.parent.mkdir()
    path.write_text('{"schema": 2, "days": ["something new"]}', encoding="utf-8")
    done = checkout.run("progress", lang=lang)
    assert done.returncode == 0
    assert said in done.stderr
    assert len(note_run(verdicts(*["pass"] * 6), checkout.root)) == 1
    assert path.read_text("utf-8") == '{"schema": 2, "days": ["something new"]}'


def test_a_state_that_cannot_be_written(checkout: Checkout) -> None:
    (checkout.root / ".selftest").write_text("a file, where a folder should be", encoding="utf-8")
    (progress,) = note_run(verdicts(*["pass"] * 6), checkout.root)
    assert "progress.json" in progress.en
    (starters,) = starter_notices(23, LAB, checkout.root)
    assert "starters" in starters.zh
    done = checkout.run("progress")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_state_that_may_not_be_read_is_not_overwritten(checkout: Checkout) -> None:
    (checkout.root / PROGRESS).mkdir(parents=True)  # even root cannot read this as a file
    (notice,) = note_run(verdicts(*["pass"] * 6), checkout.root)
    assert "could not be read" in notice.en
    assert (checkout.root / PROGRESS).is_dir()


def test_a_shown_state_that_is_broken(checkout: Checkout) -> None:
    (checkout.root / PROGRESS).parent.mkdir()
    (checkout.root / PROGRESS).write_text("{", encoding="utf-8")
    done = checkout.run("progress", lang="zh")
    assert done.returncode == 0
    assert "读不出来" in done.stderr
    assert len(done.stderr.splitlines()) == 1


# -- goals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_goals_are_those_of_the_lesson(lang: Language) -> None:
    name = "README.md" if lang == "en" else "README.zh-CN.md"
    lesson = (ROOT / "solutions" / LAB / name).read_text("utf-8")
    section = re.search(r"^## (?:Goals|目标)\n(.*?)^## ", lesson, re.DOTALL | re.MULTILINE)
    assert section is not None
    told = [text.rstrip(";.；。") for text in re.findall(r"^\d\. (.*)$", section[1], re.MULTILINE)]
    assert told == [goal.text.get(lang) for goal in load_goals(LAB)]


def test_every_item_shows_that_one_goal_is_reached() -> None:
    shown = [item for goal in load_goals(LAB) for item in goal.items]
    assert sorted(shown) == [item.id for item in load_checks(LAB).items]


def test_a_day_without_goals() -> None:
    assert load_goals("day99_nothing") == ()
