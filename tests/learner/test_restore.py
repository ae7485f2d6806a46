"""Reset, solve and undo, as a person uses them: at a terminal, in a pipe, and with bad luck."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.authoring.regions import solution_of, starter_of
from shared.i18n import Language
from shared.learner import files
from shared.learner.backups import backups, make_backup
from shared.learner.blanks import blanks_of, fill_blanks
from shared.learner.carrying import Deed, carry_out
from shared.learner.command import Printer
from shared.learner.files import Change, FileProblem, write_changes
from shared.learner.state import note_run

from .checkout import LAB, Checkout, ended, plain, verdicts

BRIDGE = f"labs/{LAB}/bridge.py"
MINE = "    parameters = dict(tool['inputSchema'])  # mine\n"
QUESTION = {"en": r"Change it\? \[y/N\] ", "zh": r"要改吗？\[y/N\] "}
UNCHANGED = {"en": "Nothing was changed.", "zh": "什么都没有改动。"}
KEPT = {"en": "How it was before is kept in", "zh": "改动之前的样子保存在"}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout.make(tmp_path / "课程 copy")


def solution(checkout: Checkout, name: str, exercise: int) -> str | None:
    return solution_of(checkout.source(name).read_text("utf-8"), exercise)


def starter(checkout: Checkout, name: str, exercise: int) -> str | None:
    return starter_of(checkout.source(name).read_text("utf-8"), exercise)


# -- at a terminal ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "yes"), [("en", "ＹＥＳ"), ("zh", "是")])
def test_solve_undo_and_undo_again(checkout: Checkout, lang: Language, yes: str) -> None:
    before = checkout.labs()
    checkout.answer(2, MINE)
    mine = checkout.labs()
    assert mine != before

    process = checkout.terminal("solve", "23", lang=lang)
    process.expect(QUESTION[lang])
    shown = plain(process.before)
    assert "- parameters = dict(tool['inputSchema']) # mine" in shown
    assert checkout.labs() == mine
    process.sendline(yes)
    code, said = ended(process)
    assert code == 0, said
    assert KEPT[lang] in said
    (backup,) = checkout.backups()
    assert f".selftest/backups/{backup.name}" in said
    assert re.fullmatch(r"\d{8}-\d{6}-solve", backup.name)
    assert "python selftest.py undo 23" in said
    solved = checkout.labs()
    assert checkout.blank(2) == solution(checkout, "bridge.py", 2)
    assert checkout.blank(5) == solution(checkout, "should_use_mcp.py", 5)

    for expected in (mine, solved, mine):
        process = checkout.terminal("undo", "23", lang=lang)
        process.expect(QUESTION[lang])
        assert BRIDGE in plain(process.before)
        process.sendline("y")
        code, said = ended(process)
        assert code == 0, said
        assert checkout.labs() == expected
    assert len(checkout.backups()) == 4


@pytest.mark.parametrize(
    ("command", "lang"), [("reset", "zh"), ("solve", "en"), ("undo", "en"), ("undo", "zh")]
)
def test_no_changes_nothing(checkout: Checkout, lang: Language, command: str) -> None:
    checkout.answer(2, MINE)
    if command == "undo":
        assert checkout.run("solve", "23", "--yes").returncode == 0
    before, kept = checkout.labs(), checkout.backups()
    process = checkout.terminal(command, "23", lang=lang)
    process.expect(QUESTION[lang])
    process.sendline("n" if lang == "en" else "")  # Enter alone is a no
    code, said = ended(process)
    assert code == 1
    assert UNCHANGED[lang] in said
    assert checkout.labs() == before
    assert checkout.backups() == kept


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_ctrl_c_at_the_question_changes_nothing(checkout: Checkout, lang: Language) -> None:
    before = checkout.labs()
    process = checkout.terminal("solve", "23", lang=lang)
    process.expect(QUESTION[lang])
    process.sendintr()
    code, said = ended(process)
    assert code == 130
    assert UNCHANGED[lang] in said
    assert "Traceback" not in said
    assert checkout.labs() == before
    assert not checkout.backups()


def test_end_of_input_at_the_question_is_a_no(checkout: Checkout) -> None:
    before = checkout.labs()
    process = checkout.terminal("solve", "23", "--exercise", "5")
    process.expect(QUESTION["en"])
    process.sendeof()
    code, _ = ended(process)
    assert code == 1
    assert checkout.labs() == before


def test_what_is_saved_while_the_question_stands_is_not_lost(checkout: Checkout) -> None:
    process = checkout.terminal("solve", "23", "--exercise", "2")
    process.expect(QUESTION["en"])
    checkout.answer(2, MINE)
    before = checkout.labs()
    process.sendline("y")
    code, said = ended(process)
    assert code == 1
    assert f"{BRIDGE} was saved while this was going on" in plain(said)
    assert checkout.labs() == before


def test_a_narrow_terminal_without_colours(checkout: Checkout) -> None:
    process = checkout.terminal("solve", "23", "--yes", columns=60, NO_COLOR="1")
    code, said = ended(process)
    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", said), "a colour"
    assert not re.search(r"\x1b\[[0-9;]*[A-HJKsu]", said), "the cursor moved"


def test_colours_at_a_terminal_that_has_them(checkout: Checkout) -> None:
    process = checkout.terminal("solve", "23", "--exercise", "5", "--yes")
    code, said = ended(process)
    assert code == 0
    assert re.search(r"\x1b\[32m *\+", said)


# -- without a terminal ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "why"), [("en", "no terminal to ask at"), ("zh", "没有终端可以询问")]
)
def test_without_a_terminal_only_with_yes(checkout: Checkout, lang: str, why: str) -> None:
    before = checkout.labs()
    done = checkout.run("solve", "23", lang=lang)
    assert done.returncode == 2
    assert why in done.stderr
    assert "--yes" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert checkout.labs() == before
    assert not checkout.backups()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("reset", "99"), "no day 99"),
        (("reset", "23", "--exercise", "6"), "no exercise 6. Its exercises are: 1, 2, 3, 4, 5"),
        (("solve",), "day"),
        (("undo", "23", "--to", "yesterday"), "no backup yesterday"),
        (("undo", "23", "--to", "x", "--list"), "--list"),
        (("reset", "23", "--all"), "--all"),
    ],
    ids=" ".join,
)
def test_wrong_usage(checkout: Checkout, words: tuple[str, ...], named: str) -> None:
    if "yesterday" in words:
        checkout.run("solve", "23", "--yes")
    done = checkout.run(*words)
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr


# -- what is changed, and what is not --------------------------------------------------------------


def test_only_the_blank_is_replaced(checkout: Checkout) -> None:
    path = checkout.answer(2, MINE)
    checkout.answer(5, "    return None  # mine\n")
    checkout.replace(path, "from typing import Any\n", "from typing import Any  # noted\n")
    path.chmod(0o750)
    expected = path.read_bytes().decode().replace(MINE, starter(checkout, "bridge.py", 2) or "?")
    others = checkout.labs()
    done = checkout.run("reset", "23", "--exercise", "2", "--yes")
    assert done.returncode == 0, done.stderr
    assert path.read_bytes().decode() == expected
    assert "# noted" in expected
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    now = checkout.labs()
    assert {name for name in now if now[name] != others[name]} == {f"{LAB}/bridge.py"}
    manifest = json.loads((checkout.backups()[0] / "manifest.json").read_text("utf-8"))
    assert (manifest["command"], manifest["exercise"]) == ("reset", 2)
    assert [file["path"] for file in manifest["files"]] == [BRIDGE]
    assert manifest["files"][0]["after"] == files.digest(path.read_bytes())


def test_windows_line_ends_stay(checkout: Checkout) -> None:
    path = checkout.lab("bridge.py")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    untouched = checkout.run("reset", "23", "--whole-file")
    assert untouched.returncode == 0
    assert "Nothing to do" in untouched.stdout
    before = path.read_bytes()
    for words in (("--exercise", "2"), ("--exercise", "2", "--whole-file")):
        assert checkout.run("solve", "23", *words, "--yes").returncode == 0
        content = path.read_bytes()
        assert b'**tool["inputSchema"]' in content
        assert content.count(b"\r\n") == content.count(b"\n") > 20
        assert checkout.run("undo", "23", "--yes").returncode == 0
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "Nothing to do: every blank of day 23 is as it came."),
        ("zh", "无需改动：第 23 天所有的空本来就是起始内容。"),
    ],
)
def test_an_untouched_lab_stays_untouched(checkout: Checkout, lang: str, said: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in checkout.lab("").iterdir()}
    done = checkout.run("reset", "23", lang=lang)
    assert done.returncode == 0
    assert said in done.stdout
    assert {path: path.stat().st_mtime_ns for path in checkout.lab("").iterdir()} == before
    assert not checkout.backups()


def test_answers_of_your_own_that_hold_stay(checkout: Checkout) -> None:
    checkout.answer(2, MINE)
    checkout.answer(5, "    return Decision(False, [])  # mine, and wrong\n")
    note_run(verdicts("pass", "fail", "pass", "fail", "not_run", "pass"), checkout.root)
    checkout.answer(5, "    return Decision(False, ['edited'])\n")
    done = checkout.run("solve", "23", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Exercise 2 passed in your latest run, so your own answer stays." in done.stdout
    assert checkout.blank(2) == MINE
    assert checkout.blank(5) == solution(checkout, "should_use_mcp.py", 5)
    again = checkout.run("solve", "23")
    assert again.returncode == 0
    assert "what is left holds already" in again.stdout
    assert checkout.run("solve", "23", "--all", "--yes").returncode == 0
    assert checkout.blank(2) == solution(checkout, "bridge.py", 2)
    checkout.answer(2, MINE)
    assert checkout.run("solve", "23", "--exercise", "2", "--yes").returncode == 0
    assert checkout.blank(2) == solution(checkout, "bridge.py", 2)


@pytest.mark.parametrize(("lang", "words"), [("en", ("23",)), ("zh", ("23", "--exercise", "2"))])
def test_lost_markers_are_told_and_never_guessed(
    checkout: Checkout, lang: str, words: tuple[str, ...]
) -> None:
    checkout.answer(5, "    return None\n")
    path = checkout.answer(2, MINE)
    checkout.replace(path, "    # endregion\n", "")
    before = checkout.labs()
    done = checkout.run("reset", *words, "--yes", lang=lang)
    assert done.returncode == 1
    assert BRIDGE in done.stderr
    assert "region exercise 2" in done.stderr
    assert f"reset {' '.join(words)} --whole-file" in done.stderr
    assert checkout.labs() == before
    assert not checkout.backups()

    done = checkout.run("reset", *words, "--whole-file", "--yes", lang=lang)
    assert done.returncode == 0, done.stderr
    assert checkout.blank(2) == starter(checkout, "bridge.py", 2)
    assert (checkout.blank(5) == "    return None\n") == ("--exercise" in words)
    assert checkout.run("undo", "23", "--yes").returncode == 0
    assert checkout.labs() == before


def test_a_blank_that_is_there_twice(checkout: Checkout) -> None:
    path = checkout.lab("should_use_mcp.py")
    blank = "# region exercise 5: three\n    pass\n    # endregion\n"
    path.write_text(path.read_text("utf-8") + blank, encoding="utf-8")
    before = checkout.labs()
    done = checkout.run("solve", "23", "--exercise", "5", "--yes")
    assert done.returncode == 1
    assert "has two blanks, in lines 24 and 28" in done.stderr
    assert checkout.labs() == before


def test_whole_files_bring_back_what_has_no_blank(checkout: Checkout) -> None:
    checkout.lab("mcp.json").write_text("{}", encoding="utf-8")
    checkout.lab("host.py").unlink()
    checkout.lab("notes.txt").write_text("mine", encoding="utf-8")
    before = checkout.labs()
    done = checkout.run("reset", "23", "--whole-file", "--yes")
    assert done.returncode == 0, done.stderr
    assert checkout.lab("mcp.json").read_bytes() == checkout.source("mcp.json").read_bytes()
    assert checkout.lab("host.py").read_bytes() == checkout.source("host.py").read_bytes()
    assert checkout.lab("notes.txt").read_text("utf-8") == "mine"
    assert checkout.run("undo", "23", "--yes").returncode == 0
    assert checkout.labs() == before


# -- files that are not as they should be ----------------------------------------------------------


def make_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.txt"))
    path.symlink_to("elsewhere.txt")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_gbk(path: Path) -> None:
    path.write_bytes(path.read_bytes() + "# 订单\n".encode("gbk"))


@pytest.mark.parametrize(
    ("spoil", "english", "chinese"),
    [
        (make_link, "is a symbolic link", "是符号链接"),
        (Path.unlink, "is not there", "不存在"),
        (make_folder, "is no plain file", "不是普通文件"),
        (make_pipe, "is no plain file", "不是普通文件"),
        (make_gbk, "line 25: this is not UTF-8", "第 25 行：不是 UTF-8 编码"),
    ],
)
def test_files_that_are_not_as_they_should_be(
    checkout: Checkout, spoil: object, english: str, chinese: str
) -> None:
    assert callable(spoil)
    spoil(checkout.lab("bridge.py"))
    done = checkout.run("solve", "23", "--yes")
    assert done.returncode == 1
    assert BRIDGE in done.stderr
    assert english in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(FileProblem) as problem:
        fill_blanks(checkout.root, blanks_of(checkout.root, LAB).values(), "solution", "solve 23")
    assert chinese in problem.value.text.zh
    assert not checkout.backups()
    assert checkout.blank(5) == starter(checkout, "should_use_mcp.py", 5)


# -- backups ---------------------------------------------------------------------------------------


def test_backups_of_the_same_second_do_not_collide(checkout: Checkout) -> None:
    path = checkout.lab("bridge.py")
    made = []
    for number, command in enumerate(("undo", "reset", "reset")):  # not in order of their names
        change = Change(BRIDGE, path.read_bytes(), b"# %d\n" % number)
        made.append(make_backup(checkout.root, command, 23, None, [change], {}))
        write_changes(checkout.root, [change])
    assert len({backup.name for backup in made}) == 3
    assert [backup.name for backup in backups(checkout.root, 23)] == [
        backup.name for backup in reversed(made)
    ]
    held = [(checkout.root / b.place / "files" / BRIDGE).read_bytes() for b in made[1:]]
    assert held == [b"# 0\n", b"# 1\n"]


def test_undo_does_not_overwrite_later_edits(checkout: Checkout) -> None:
    before = checkout.labs()
    checkout.run("solve", "23", "--yes")
    checkout.answer(2, MINE)
    edited = checkout.labs()
    for lang, said in (("en", "has been edited since"), ("zh", "之后又有改动")):
        done = checkout.run("undo", "23", lang=lang)
        assert done.returncode == 1
        assert said in done.stderr
        assert BRIDGE in done.stderr
        assert checkout.labs() == edited
    assert checkout.run("undo", "23", "--yes").returncode == 0
    assert checkout.labs() == before
    assert checkout.run("undo", "23", "--yes").returncode == 0
    assert checkout.labs() == edited


def test_list_and_an_older_backup(checkout: Checkout) -> None:
    before = checkout.labs()
    checkout.run("solve", "23", "--exercise", "2", "--yes")
    checkout.run("solve", "23", "--exercise", "5", "--yes")
    listed = checkout.run("undo", "23", "--list")
    assert listed.returncode == 0
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert len(names) == 2
    assert checkout.run("undo", "23", "--to", names[1], "--yes").returncode == 0
    assert checkout.lab("bridge.py").read_bytes() == before[f"{LAB}/bridge.py"]
    assert checkout.blank(5) == solution(checkout, "should_use_mcp.py", 5)
    again = checkout.run("undo", "23", "--to", names[1])
    assert again.returncode == 0
    assert "Nothing to do" in again.stdout


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "nothing to undo for day 23"), ("zh", "第 23 天没有可以恢复的")]
)
def test_nothing_to_undo(checkout: Checkout, lang: str, said: str) -> None:
    done = checkout.run("undo", "23", lang=lang)
    assert done.returncode == 1
    assert said in done.stderr


def solve_here(checkout: Checkout, exercise: int, command: str) -> Path:
    """Put in the solution without a process of its own; returns the folder of the backup."""
    blank = blanks_of(checkout.root, LAB)[exercise]
    changes = fill_blanks(checkout.root, [blank], "solution", command)
    backup = make_backup(checkout.root, command, 23, exercise, changes, {})
    write_changes(checkout.root, changes)
    return checkout.root / backup.place


@pytest.mark.parametrize("damage", ["manifest", "content", "missing", "outside"])
def test_a_damaged_backup_is_not_used(checkout: Checkout, damage: str) -> None:
    older, latest = (
        solve_here(checkout, exercise, command)  # the names of the folders are in this order
        for exercise, command in ((2, "a-solve"), (5, "b-solve"))
    )
    manifest = latest / "manifest.json"
    kept = latest / "files" / "labs" / LAB / "should_use_mcp.py"
    if damage == "manifest":
        manifest.write_text('{"schema": 1, "da', encoding="utf-8")
    elif damage == "content":
        kept.write_text("something else", encoding="utf-8")
    elif damage == "missing":
        kept.unlink()
    else:
        text = manifest.read_text("utf-8")
        manifest.write_text(text.replace(f'"labs/{LAB}', f'"labs/../{LAB}'), encoding="utf-8")
    before = checkout.labs()
    done = checkout.run("undo", "23", "--yes")
    assert done.returncode == 1
    assert latest.name in done.stderr
    assert "cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    assert checkout.labs() == before
    assert checkout.run("undo", "23", "--to", older.name, "--yes").returncode == 0
    assert checkout.blank(2) == starter(checkout, "bridge.py", 2)


# -- no room, no right to write --------------------------------------------------------------------


def mount(folder: Path, options: str) -> bool:
    """Mount a small file system in memory, where that is allowed."""
    if os.geteuid() != 0:
        return False
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


@pytest.fixture
def small_disk(checkout: Checkout) -> Iterator[Path]:
    """A `.selftest` of its own, on a file system of 64 kB."""
    folder = checkout.root / ".selftest"
    folder.mkdir()
    if not mount(folder, "size=64k"):
        pytest.skip("only root can mount; the same with a simulated full disk is tested below")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    ("lang", "said", "free_bytes"),
    [("en", "No backup could be", 0), ("zh", "无法把备份写到", 20_000)],
)
def test_a_full_disk(
    checkout: Checkout, small_disk: Path, lang: str, said: str, free_bytes: int
) -> None:
    with pytest.raises(OSError, match="No space"):
        (small_disk / "big").write_bytes(bytes(100_000))
    os.truncate(small_disk / "big", 65536 - free_bytes)
    before = checkout.labs()
    done = checkout.run("solve", "23", "--yes", lang=lang)
    assert done.returncode == 1, done.stdout
    assert said in done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert checkout.labs() == before
    assert not checkout.backups()


@pytest.mark.parametrize("moment", [1, 2, 4])
def test_a_disk_that_fills_up(
    checkout: Checkout,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    moment: int,
) -> None:
    """Full at the first or second file of the backup, or at the second of the learner's."""
    changes = [
        Change(f"labs/{LAB}/{name}", checkout.lab(name).read_bytes(), b"new\n")
        for name in ("bridge.py", "agent.py")
    ]
    before = checkout.labs()
    calls = []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > moment:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", fsync)
    deed = Deed("solve", 23, None, changes)
    assert carry_out(deed, Printer("en"), yes=True, root=checkout.root) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert checkout.labs() == before
    backup_was_made = moment == 4
    assert len(checkout.backups()) == backup_was_made
    assert ("The backup:" in said) == backup_was_made
    assert not list(checkout.root.rglob("*.part"))


def test_a_failure_half_way_puts_back_what_was_written(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("agent.py", "bridge.py", "host.py")
    changes = [
        Change(f"labs/{LAB}/{name}", checkout.lab(name).read_bytes(), b"new\n") for name in names
    ]
    before = checkout.labs()
    replace = Path.replace

    def refuse_bridge(self: Path, target: Path) -> Path:
        if target.name == "bridge.py":
            raise PermissionError(errno.EACCES, "it is open in another program")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse_bridge)
    with pytest.raises(FileProblem, match=r"bridge.py cannot be written: it is open .* Nothing"):
        write_changes(checkout.root, changes)
    assert checkout.labs() == before
    assert not list(checkout.root.rglob("*.part"))


@pytest.mark.parametrize(("lang", "said"), [("en", "No backup could be"), ("zh", "无法把备份写到")])
def test_a_read_only_checkout(tmp_path: Path, lang: str, said: str) -> None:
    folder = tmp_path / "read only"
    folder.mkdir()
    mounted = mount(folder, "size=16m")
    checkout = Checkout.make(folder / "course")
    before = checkout.labs()
    try:
        if mounted:
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        else:
            checkout.root.chmod(0o555)
        done = checkout.run("solve", "23", "--yes", lang=lang, PYTHONDONTWRITEBYTECODE="1")
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert checkout.labs() == before
        shown = checkout.run("progress", lang=lang)
        assert shown.returncode == 0
        assert len(shown.stderr.strip().splitlines()) == 1, shown.stderr
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            checkout.root.chmod(0o755)
