"""Course updates: nothing of the learner's is overwritten, and what changed is told."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.i18n import Language
from shared.learner.merging import NoGit, merge
from shared.learner.starters import SEEN, starter_notices, survey
from shared.learner.state import note_run

from .checkout import LAB, Checkout, ended, plain, verdicts

BRIDGE = f"labs/{LAB}/bridge.py"
MINE = "    parameters = dict(tool['inputSchema'])  # mine\n"
OLD = (
    '"""The bridge: a tool as MCP describes it in, a tool as function calling describes it out."""'
)
NEW = '"""The bridge between a tool of MCP and a tool of function calling."""'
QUESTION = {"en": r"Change it\? \[y/N\] ", "zh": r"要改吗？\[y/N\] "}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout in which the learner has answered exercise 2, and looked at the progress."""
    made = Checkout.make(tmp_path / "课程 copy")
    made.answer(2, MINE)
    survey(made.root)
    return made


def course_changes(checkout: Checkout) -> None:
    """The course changes the head of bridge.py, outside the blank: in `solutions/` only, as when
    git kept the learner's side of `labs/`, or a new course was unpacked over the old one."""
    checkout.replace(checkout.source("bridge.py"), OLD, NEW)


# -- through git -----------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Checkout, Checkout]:
    """The course's repository, and the learner's clone of it with exercise 2 answered."""
    course = Checkout.make(tmp_path / "course")
    course.git("init", "--quiet", "--initial-branch=main")
    course.commit_all("The course")
    learner = Checkout(tmp_path / "learner")
    course.git("clone", "--quiet", str(course.root), str(learner.root))
    learner.git("config", "pull.rebase", "false")
    learner.answer(2, MINE)
    survey(learner.root)
    note_run(verdicts("pass", "fail", "pass", "fail", "not_run", "fail"), learner.root)
    return course, learner


def test_a_pull_that_merges(clone: tuple[Checkout, Checkout]) -> None:
    course, learner = clone
    learner.commit_all()
    course_changes(course)
    course.generate()
    course.commit_all("The bridge is told anew")
    learner.git("pull", "--quiet", "--no-edit")
    assert NEW in learner.lab("bridge.py").read_text("utf-8")

    shown = learner.run("progress")
    assert shown.returncode == 0, shown.stderr
    assert "✔ 3 " in shown.stdout
    assert "first green" in shown.stdout
    assert f"A course update has changed {BRIDGE}, and your files have it already." in shown.stdout
    assert learner.blank(2) == MINE
    assert "course update" not in learner.run("progress").stdout  # said once
    changes = learner.run("progress", "--changes", lang="zh").stdout
    assert f"{BRIDGE}：课程更新了它的起始内容，你的文件里已经有了。" in changes
    assert f"-{OLD}" in changes
    assert f"+{NEW}" in changes
    assert "无需改动" in learner.run("update", "23", lang="zh").stdout


def test_a_pull_that_git_refuses_changes_nothing(clone: tuple[Checkout, Checkout]) -> None:
    course, learner = clone
    course_changes(course)
    course.generate()
    course.commit_all("The bridge is told anew")
    before = learner.labs()
    with pytest.raises(subprocess.CalledProcessError):
        learner.git("pull", "--quiet")  # git does not overwrite edits that are not committed
    assert learner.labs() == before
    learner.git("stash")
    learner.git("pull", "--quiet")
    learner.git("stash", "pop")
    assert "your files have it already" in learner.run("progress").stdout
    assert learner.blank(2) == MINE


def test_a_pull_in_which_the_learners_side_was_kept(clone: tuple[Checkout, Checkout]) -> None:
    course, learner = clone
    learner.replace(learner.lab("bridge.py"), OLD, '"""Mine."""')
    learner.commit_all()
    course_changes(course)
    course.replace(course.source("bridge.py"), "# without it the model", "# without it, a model")
    course.generate()
    course.commit_all("The bridge is told anew")
    learner.git("pull", "--quiet", "--no-edit", "-X", "ours")
    content = learner.lab("bridge.py").read_text("utf-8")
    assert '"""Mine."""' in content
    assert "# without it, a model" in content  # git merged what did not conflict

    done = learner.run("update", "23")
    assert done.returncode == 1
    assert f"{BRIDGE}, line 1: you and the course have changed the same place" in done.stdout
    assert f"+{NEW}" in done.stdout
    assert "update 23 --keep-mine" in done.stderr
    assert learner.lab("bridge.py").read_text("utf-8") == content


# -- without git's help ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "told", "blanks"),
    [
        ("en", "The course has changed the starter of", "What you wrote in the blanks stays"),
        ("zh", "课程更新了", "你在空里写的内容保持不变"),
    ],
)
def test_an_update_at_a_terminal(
    checkout: Checkout, lang: Language, told: str, blanks: str
) -> None:
    course_changes(checkout)
    mine = checkout.labs()
    for text in starter_notices(23, LAB, checkout.root):
        assert told in text.get(lang)
        assert BRIDGE in text.get(lang)
    shown = checkout.run("progress", lang=lang).stdout
    assert told in shown
    assert "selftest.py update 23" in shown
    changes = checkout.run("progress", "--changes", lang=lang).stdout
    assert f"+{NEW}" in changes

    for answer, code in (("n", 1), ("^C", 130), ("y", 0)):
        process = checkout.terminal("update", "23", lang=lang)
        process.expect(QUESTION[lang])
        assert blanks in plain(process.before)
        assert NEW in plain(process.before)
        assert checkout.labs() == mine
        if answer == "^C":
            process.sendintr()
        else:
            process.sendline(answer)
        assert ended(process)[0] == code
    content = checkout.lab("bridge.py").read_text("utf-8")
    assert content == mine[f"{LAB}/bridge.py"].decode().replace(OLD, NEW)
    assert checkout.blank(2) == MINE
    assert starter_notices(23, LAB, checkout.root) == []


def test_an_update_that_is_undone_is_offered_again(checkout: Checkout) -> None:
    course_changes(checkout)
    mine = checkout.labs()
    assert checkout.run("update", "23", "--yes").returncode == 0
    assert checkout.labs() != mine
    assert checkout.run("undo", "23", "--yes").returncode == 0
    assert checkout.labs() == mine
    assert len(starter_notices(23, LAB, checkout.root)) == 1  # it can be taken over again
    assert checkout.run("undo", "23", "--yes").returncode == 0
    assert starter_notices(23, LAB, checkout.root) == []


def test_without_a_terminal_only_with_yes(checkout: Checkout) -> None:
    course_changes(checkout)
    mine = checkout.labs()
    done = checkout.run("update", "23")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert checkout.labs() == mine
    assert checkout.run("update", "23", "--yes").returncode == 0
    assert checkout.labs() != mine
    assert len(checkout.backups()) == 1


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "line 1: you and the course have changed"), ("zh", "第 1 行：你和课程改了同一处")],
)
def test_a_conflict_writes_nothing_and_says_where(checkout: Checkout, lang: str, said: str) -> None:
    checkout.replace(checkout.lab("bridge.py"), OLD, '"""Mine."""')
    course_changes(checkout)
    readme = checkout.source("README.md")
    readme.write_text(readme.read_text("utf-8") + "\nOne more line.\n", encoding="utf-8")
    mine = checkout.labs()
    done = checkout.run("update", "23", "--yes", lang=lang)
    assert done.returncode == 1
    assert said in done.stdout
    assert BRIDGE in done.stdout
    assert checkout.labs() == mine  # the README, too, though it would merge
    assert not checkout.backups()

    done = checkout.run("update", "23", "--yes", "--keep-mine", lang=lang)
    assert done.returncode == 0, done.stderr
    now = checkout.labs()
    assert {name for name in now if now[name] != mine[name]} == {f"{LAB}/README.md"}
    assert starter_notices(23, LAB, checkout.root) == []


def test_blanks_stay_and_untouched_ones_follow(checkout: Checkout) -> None:
    checkout.replace(
        checkout.source("bridge.py"),
        "# starter: # TODO: this hollow",
        "# starter: # TODO: a hollow",
    )
    source = checkout.source("should_use_mcp.py")
    checkout.replace(source, "# starter: # TODO: three criteria", "# starter: # TODO: 3 criteria")
    done = checkout.run("update", "23", "--yes")
    assert done.returncode == 0, done.stderr
    assert checkout.blank(2) == MINE
    assert "# TODO: 3 criteria" in checkout.blank(5)


def test_windows_line_ends_stay(checkout: Checkout) -> None:
    path = checkout.lab("bridge.py")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    path.chmod(0o700)
    mine = path.read_bytes().decode()
    course_changes(checkout)
    assert checkout.run("update", "23", "--yes").returncode == 0
    assert path.read_bytes().decode() == mine.replace(OLD, NEW)
    assert path.stat().st_mode & 0o777 == 0o700


def test_files_that_come_and_go(checkout: Checkout) -> None:
    checkout.source("local_tools.py").unlink()
    checkout.source("extra.py").write_text('"""New."""\n', encoding="utf-8")
    checkout.lab("foreign_tools.py").unlink()
    text = checkout.source("foreign_tools.py").read_text("utf-8")
    checkout.source("foreign_tools.py").write_text(f"# changed\n{text}", encoding="utf-8")
    shown = checkout.run("progress", "--changes").stdout
    assert f"labs/{LAB}/extra.py: is new in the course." in shown
    assert f"labs/{LAB}/local_tools.py: the course no longer has it" in shown
    done = checkout.run("update", "23", "--yes")
    assert done.returncode == 0, done.stderr
    assert "you have removed it, so it is left out" in done.stdout
    assert checkout.lab("extra.py").read_text("utf-8") == '"""New."""\n'
    assert checkout.lab("local_tools.py").exists()
    assert not checkout.lab("foreign_tools.py").exists()
    again = checkout.run("progress", "--changes").stdout
    assert "local_tools.py" not in again


def test_an_exercise_that_the_course_drops_does_not_take_the_answer_along(
    checkout: Checkout,
) -> None:
    path = checkout.source("bridge.py")
    text = path.read_text("utf-8")
    path.write_text(
        re.sub(r" *# region.*?# endregion\n", "    parameters = {}\n", text, flags=re.DOTALL),
        encoding="utf-8",
    )
    mine = checkout.labs()
    done = checkout.run("update", "23", "--yes")
    assert done.returncode == 1
    assert BRIDGE in done.stdout
    assert checkout.labs() == mine


def test_without_git(checkout: Checkout, tmp_path: Path) -> None:
    checkout.replace(
        checkout.lab("bridge.py"), "def to_function_tool", "# mine\ndef to_function_tool"
    )
    course_changes(checkout)
    mine = checkout.labs()
    (tmp_path / "no git").mkdir()
    for lang, said in (("en", "merging needs git"), ("zh", "合并需要 git")):
        done = checkout.run("update", "23", "--yes", lang=lang, PATH=str(tmp_path / "no git"))
        assert done.returncode == 1
        assert said in done.stdout
        assert f"+{NEW}" in done.stdout
        assert "Traceback" not in done.stderr
        assert checkout.labs() == mine
    assert checkout.run("update", "23", "--yes").returncode == 0


# -- the state -------------------------------------------------------------------------------------


def test_a_starter_that_is_no_longer_kept(checkout: Checkout) -> None:
    shutil.rmtree(checkout.root / ".selftest" / "starters" / "texts")
    course_changes(checkout)
    assert "The former starter is not kept" in checkout.run("progress", "--changes").stdout
    done = checkout.run("update", "23", "--yes")
    assert done.returncode == 1
    assert "what it began from is not kept any more" in done.stdout


@pytest.mark.parametrize("content", [b"{", b'{"schema": 1, "files": {"labs/x": 3, "../y": {}}}'])
def test_a_broken_memory_begins_anew(checkout: Checkout, content: bytes) -> None:
    (checkout.root / SEEN).write_bytes(content)
    before = checkout.labs()
    done = checkout.run("progress")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("begins anew" in done.stderr) == (content == b"{")
    seen = json.loads((checkout.root / SEEN).read_text("utf-8"))
    assert BRIDGE in seen["files"]
    assert checkout.labs() == before


def test_a_course_that_is_broken_itself(checkout: Checkout) -> None:
    path = checkout.source("bridge.py")
    path.write_text(path.read_text("utf-8").replace("# endregion", ""), encoding="utf-8")
    for words in (("progress",), ("update", "23"), ("reset", "23")):
        done = checkout.run(*words)
        assert "course's own files cannot be read" in done.stderr
        assert "bridge.py" in done.stderr
        assert "Traceback" not in done.stderr


# -- merging ---------------------------------------------------------------------------------------

BASE = """one
# region exercise 1: x
starter
# endregion
two
three
"""


def test_the_lines_of_conflicts_are_those_of_the_learners_file() -> None:
    mine = BASE.replace("one\n", "0\none\n0\n").replace("three", "mine")
    now = BASE.replace("three", "theirs").replace("one\n", "first\n")
    merged = merge(mine, BASE, now)
    assert [mine.splitlines()[line - 1] for line in merged.conflicts] == ["0", "mine"]


@pytest.mark.parametrize(
    ("old", "new"), [("starter\n", "a\nb\n"), ("starter\n", ""), ("# endregion\n", "")]
)
def test_a_blank_takes_no_part(old: str, new: str) -> None:
    mine = BASE.replace(old, new)
    now = BASE.replace("starter", "another starter").replace("three", "3")
    assert merge(mine, BASE, now).text == mine.replace("three", "3")


def test_the_learners_own_line_ends_stay_where_they_are_mixed() -> None:
    mine = BASE.replace("two\n", "two\r\n").replace("starter\n", "a\r\nb\n")
    merged = merge(mine, BASE, BASE.replace("three", "3"))
    assert merged.text == mine.replace("three", "3")


def test_a_git_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\necho broken >&2\nexit 255\n", encoding="utf-8")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(NoGit, match="broken"):
        merge(BASE.replace("two", "2"), BASE, BASE.replace("one", "1"))
