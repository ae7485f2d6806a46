"""The watcher as a learner has it: in a terminal, while files are being saved."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from rich.cells import cell_len

from shared.authoring.regions import replace_region, solution_of
from shared.authoring.starters import starter_tree
from shared.processes.supervisor import ROOT

from .checkout import Checkout
from .terminal import CONTROL, STYLE, Watching, environment

LAB = "day23_mcp_server"
SOLUTION = ROOT / "solutions" / LAB
GREEN = "✔✔✔✔✔✔"
HANG = "while True:\n    pass\n"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose learner's state may be written to."""
    return Checkout.make(tmp_path_factory.mktemp("watch") / "course").root


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    folder = tmp_path / LAB
    shutil.copytree(SOLUTION, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    for path, content in starter_tree(ROOT / "solutions").items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return tmp_path / LAB


@pytest.fixture
def own(checkout: Path, solved: Path) -> Iterator[Watching]:
    """A watcher over one item of the solution, after its first run, for one test alone."""
    with Watching(checkout, "--path", solved, "--item", "6") as watching:
        watching.see_marks("✔")
        watching.forget()
        yield watching


class Shared:
    """A watcher over a solution that is edited and mended again."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.folder = folder
        self._checkout = checkout
        self.watching: Watching | None = None

    def fresh(self) -> Watching:
        """The watcher, with the folder as it should be and all its items green."""
        self.folder.mkdir(exist_ok=True)
        originals = {path.name: path for path in SOLUTION.iterdir() if path.is_file()}
        for name, path in originals.items():
            copy = self.folder / name
            if not copy.exists() or copy.read_bytes() != path.read_bytes():
                shutil.copy(path, copy)
        for path in self.folder.iterdir():
            if path.is_file() and path.name not in originals:
                path.unlink()
        if self.watching is None or not self.watching.child.isalive():
            self.watching = Watching(self._checkout, "--path", self.folder, "--seed", "7")
        self.watching.child.send("a")  # a run after the last of these files
        self.watching.see("Everything again")
        self.watching.see_marks(GREEN)
        self.watching.forget()
        return self.watching


@pytest.fixture(scope="module")
def shared(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    shared = Shared(checkout, tmp_path_factory.mktemp("shared") / LAB)
    yield shared
    if shared.watching is not None:
        assert shared.watching.end() == 0


@pytest.fixture
def green(shared: Shared) -> Watching:
    return shared.fresh()


@pytest.fixture
def folder(shared: Shared) -> Path:
    """The folder that `green` watches."""
    return shared.folder


def append(path: Path, text: str = "# looked at\n") -> None:
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def again(watching: Watching, marks: str) -> None:
    """Another run, and these marks at its end."""
    watching.wait(lambda: bool(watching.were_running()), "a run")
    watching.see_marks(marks)
    watching.forget()


# -- red and green --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Exercise 1 is not started yet", "running", "Saved: mcp_server.py", "quit"]),
        ("zh", ["练习 1 还没有开始", "运行中", "已保存：mcp_server.py", "退出"]),
    ],
)
def test_items_turn_green_and_red_as_files_are_saved(
    checkout: Path, starter: Path, language: str, words: list[str]
) -> None:
    server = starter / "mcp_server.py"
    with Watching(checkout, "--path", starter, LAB_LANG=language) as watching:
        watching.see_marks("✔▷▷○○▷")
        not_started, running, saved, quit_ = words
        for word in (not_started, quit_):
            watching.see(word)
        assert running in STYLE.sub("", watching.raw)
        solution = solution_of((SOLUTION / "mcp_server.py").read_text("utf-8"), 1)
        assert solution is not None
        done = replace_region(server.read_text("utf-8"), 1, solution)
        server.write_text(done, "utf-8")
        watching.see_marks("✔✔▷○○▷")
        watching.see(saved)
        server.write_text(done.replace('description="', 'description="" or "', 1), "utf-8")
        server.write_text(re.sub("def track_shipment", "def track", done), "utf-8")
        watching.see_marks("✔✘▷○○▷")
        watching.see("track_shipment")
        assert watching.end() == 0
        assert "✘ 2" in watching.screen, "the last state stays to be read"


def test_a_save_judges_what_it_can_affect(green: Watching, folder: Path) -> None:
    for name, expected in {
        "should_use_mcp.py": {6},
        "agent.py": {4, 5},
        "bridge.py": {3, 4, 5},
        "mcp_client.py": {1, 2, 3, 4, 5},
        "mcp_server.py": {1, 2, 3, 4, 5},
        "local_tools.py": {1, 2, 3, 4, 5, 6},
    }.items():
        append(folder / name)
        green.see(f"Saved: {name}")
        green.see_marks(GREEN)
        assert green.were_running() == expected, name
        green.forget()
    for name in ("README.md", "checks.py"):
        append(folder / name)
        green.see(f"Saved: {name}. No item depends on it")
    assert green.were_running() == set()


def test_polling(checkout: Path, solved: Path) -> None:
    with Watching(checkout, "--path", solved.parent, "--poll", "--item", "6") as watching:
        watching.see_marks("✔")
        watching.forget()
        (solved / "should_use_mcp.py").write_text("import nonsense\n", "utf-8")
        watching.see_marks("✘")
        watching.see("nonsense")
        assert watching.end() == 0


# -- what it survives -----------------------------------------------------------------------------


def test_a_syntax_error(green: Watching, folder: Path) -> None:
    agent = folder / "agent.py"
    text = agent.read_text("utf-8")
    agent.write_text("def run_agent(:\n", "utf-8")
    green.see_marks("✔✔✔✘○✔")
    green.see("agent.py, line 1 is not valid Python")
    agent.write_text(text, "utf-8")
    green.see_marks(GREEN)


def test_hung_code_is_left_for_a_newer_save(green: Watching, folder: Path) -> None:
    client = folder / "mcp_client.py"
    text = client.read_text("utf-8")
    client.write_text(HANG, "utf-8")
    green.wait(lambda: 1 in green.were_running(), "a run")
    calm = {process.pid for process in green.process.children()}
    hung: set[int] = set()

    def hangs() -> bool:
        family = green.process.children(recursive=True)
        hung.update(process.pid for process in family if process.pid not in calm)
        return bool(hung)

    green.wait(hangs, "a process that hangs")
    client.write_text(text, "utf-8")
    green.see_marks(GREEN, seconds=14)  # the self-test by itself would wait for 15 s
    assert not any(psutil.pid_exists(pid) for pid in hung)


def test_hung_code_and_an_impatient_learner(own: Watching, solved: Path) -> None:
    (solved / "should_use_mcp.py").write_text(HANG, "utf-8")
    own.wait(lambda: 6 in own.were_running(), "a run")
    own.child.send("h")
    own.see("“hint” comes when this run has ended")
    own.child.send("n")
    own.see("Nothing is open")  # by the verdicts that stand
    assert own.end("q") == 0


def test_editors_that_save_by_rename(green: Watching, folder: Path) -> None:
    target = folder / "should_use_mcp.py"
    text = target.read_text("utf-8")
    wrong = text.replace("hosts > 1", "hosts > 2")
    assert wrong != text

    draft = folder / "should_use_mcp.py.tmp"  # most: a file beside it, in its place at once
    draft.write_text(wrong, "utf-8")
    draft.replace(target)
    again(green, "✔✔✔✔✔✘")

    (folder / ".should_use_mcp.py.swp").write_bytes(b"b0VIM")  # vim
    (folder / "4913").touch()
    (folder / "4913").unlink()
    target.rename(folder / "should_use_mcp.py~")
    target.write_text(text, "utf-8")
    again(green, GREEN)
    (folder / "should_use_mcp.py~").unlink()
    (folder / ".should_use_mcp.py.swp").unlink()

    os.utime(target)  # touched, and the same as before
    target.write_text(text, "utf-8")
    append(folder / "agent.py")
    green.see("Saved: agent.py.")
    green.see_marks(GREEN)
    assert green.were_running() == {4, 5}


def test_a_file_that_vanishes_and_comes_back(green: Watching, folder: Path) -> None:
    bridge = folder / "bridge.py"
    away = folder.parent / "bridge.py"
    bridge.rename(away)
    green.see_marks("✔✔✘○○✔")
    green.see("bridge")
    away.rename(bridge)
    green.see_marks(GREEN)


def test_a_folder_that_vanishes_and_comes_back(green: Watching, folder: Path) -> None:
    away = folder.parent.parent / "away"
    shutil.move(folder, away)
    green.see("is not there any more")
    shutil.copytree(away, folder)
    green.see("is back")
    green.see_marks(GREEN)
    green.forget()
    (folder / "should_use_mcp.py").write_text("oops\n", "utf-8")  # and is still being watched
    green.see_marks("✔✔✔✔✔✘")


def test_several_files_saved_at_once(green: Watching, folder: Path) -> None:
    for name in ("should_use_mcp.py", "bridge.py", "agent.py"):
        append(folder / name, "raise RuntimeError('at once')\n")
    green.see_marks("✔✔✘○○✘")
    for name in ("should_use_mcp.py", "bridge.py", "agent.py"):
        shutil.copy(SOLUTION / name, folder / name)
    green.see_marks(GREEN)


def test_code_that_ends_what_it_was_started_from(green: Watching, folder: Path) -> None:
    for supervisor in green.process.children():
        supervisor.kill()
    append(folder / "mcp_server.py")
    again(green, GREEN)


# -- keys -----------------------------------------------------------------------------------------


def test_keys(checkout: Path, starter: Path) -> None:
    with Watching(checkout, "--path", starter) as watching:
        watching.see_marks("✔▷▷○○▷")
        watching.child.send("n")
        watching.see("Exercise 1: ")
        line = (starter / "mcp_server.py").read_text("utf-8").partition("# region exercise 1")[0]
        watching.see(f"mcp_server.py, line {line.count(chr(10)) + 1}.")
        watching.child.send("n")
        watching.see("Exercise 2: ")
        watching.child.send("?")
        watching.see("q or Ctrl-C: quit")
        watching.child.send("x")
        watching.see("No such key: x")
        watching.child.send("\x1b[A")  # an arrow
        watching.child.send("r")
        watching.see("Only labs/ can be reset")
        watching.forget()
        watching.child.send("a")
        again(watching, "✔▷▷○○▷")
        watching.child.send("ｎ")  # as a Chinese input method sends it
        watching.see("Exercise 1: ")


@pytest.mark.parametrize(("key", "word"), [("h", "mcp_server.py"), ("t", "initialize")])
def test_another_command_gets_the_terminal_for_a_while(
    checkout: Path, starter: Path, key: str, word: str
) -> None:
    with Watching(checkout, "--path", starter) as watching:
        watching.see_marks("✔▷▷○○▷")
        watching.forget()
        watching.child.send(key)
        watching.see("Press any key to go on watching")
        assert word in watching.screen
        watching.child.send(" ")
        watching.see_marks("✔▷▷○○▷")
        assert watching.end("Q") == 0


def test_reset_this_exercise(tmp_path: Path) -> None:
    course = Checkout.make(tmp_path / "course")
    server = course.lab("mcp_server.py")
    as_it_came = server.read_text("utf-8")
    with Watching(course.root) as watching:
        watching.see_marks("✔▷▷○○▷")
        server.write_text(replace_region(as_it_came, 1, "1 / 0\n"), "utf-8")
        watching.see_marks("✘○○○○▷")
        server.write_text(replace_region(as_it_came, 1, "wrong = True\n"), "utf-8")
        watching.see_marks("✔✘▷○○▷")
        watching.forget()
        watching.child.send("r")
        watching.see("[y/N]")
        watching.child.send("y\n")
        watching.see("Press any key to go on watching")
        assert server.read_text("utf-8") == as_it_came
        watching.child.send(" ")
        watching.see_marks("✔▷▷○○▷")
        assert watching.end() == 0


# -- ends -----------------------------------------------------------------------------------------


def test_ctrl_c_between_runs(own: Watching) -> None:
    assert own.end("\x03") == 130


def test_ctrl_c_during_a_run(own: Watching, solved: Path) -> None:
    (solved / "should_use_mcp.py").write_text(HANG, "utf-8")
    own.wait(lambda: 6 in own.were_running(), "a run")
    assert own.end("\x03") == 130


def test_ctrl_c_during_the_first_run(checkout: Path, solved: Path) -> None:
    with Watching(checkout, "--path", solved) as watching:
        watching.wait(lambda: bool(watching.were_running()), "the first run")
        assert watching.end("\x03") == 130


def test_ctrl_c_twice(own: Watching) -> None:
    assert own.end("\x03\x03") == 130


def test_ctrl_c_while_another_command_is_open(own: Watching) -> None:
    own.child.send("t")
    own.see("Press any key to go on watching")
    assert own.end("\x03") == 130


def test_a_terminal_that_is_closed(checkout: Path, solved: Path) -> None:
    with Watching(checkout, "--path", solved, "--item", "6") as watching:
        watching.see_marks("✔")
        family = watching.process.children(recursive=True)
        assert family
        watching.child.close(force=False)
        _, alive = psutil.wait_procs([watching.process, *family], timeout=10)
        assert alive == []


def test_ctrl_z_and_fg(own: Watching) -> None:
    own.child.send("\x1a")
    own.wait(lambda: own.process.status() == psutil.STATUS_STOPPED, "that it stops")
    own.wait(lambda: "\x1b[?1049l" in own.raw, "the shell's screen")
    own.forget()
    own.process.send_signal(signal.SIGCONT)
    own.see_marks("✔")
    own.child.send("n")
    own.see("Nothing is open")
    assert own.end() == 0


# -- terminals ------------------------------------------------------------------------------------


def test_narrow_and_resized(checkout: Path, starter: Path) -> None:
    with Watching(checkout, "--path", starter, size=(24, 60), NO_COLOR="1") as watching:
        watching.see_marks("✔▷▷○○▷")
        watching.see("quit")
        for rows, columns in ((40, 90), (12, 44), (24, 60)):
            watching.forget()
            watching.child.setwinsize(rows, columns)

            def fits(rows: int = rows, columns: int = columns) -> bool:
                lines = watching.screen.splitlines() if watching.frames else []
                return 0 < len(lines) < rows and max(map(cell_len, lines)) < columns

            watching.wait(fits, "a frame of the new size")  # the old size may be drawn once more
            watching.see("quit")
            if rows > 12:
                watching.see("not started")
        assert re.findall(r"\x1b\[[0-9;]*3[0-7]m", watching.raw) == []


@pytest.mark.parametrize("how", [{"TERM": "dumb"}, {"arguments": "--plain"}], ids=str)
def test_line_mode_at_a_terminal(checkout: Path, starter: Path, how: dict[str, str]) -> None:
    arguments = [how.pop("arguments")] if "arguments" in how else []
    with Watching(checkout, "--path", starter, *arguments, **how) as watching:
        watching.see("Watching")
        watching.see("1 of 6 items pass")
        watching.child.send("n")
        watching.see("Exercise 1: ")
        watching.forget()
        append(starter / "should_use_mcp.py", "raise RuntimeError('spoken')\n")
        watching.see("✘ item 6, error")
        watching.see("1 of 6 items pass")
        assert watching.end() == 0
        assert CONTROL.findall(watching.raw) == []
        assert "\x1b" not in watching.raw


@pytest.mark.parametrize(
    ("language", "saved", "failed", "closing"),
    [
        ("en", "Saved: should_use_mcp.py.", "✘ item 6, error: ", "5 of 6 items pass."),
        ("zh", "已保存：should_use_mcp.py。", "✘ 第 6 项，报错：", "6 项中通过 5 项。"),
    ],
)
def test_without_a_terminal(
    checkout: Path, solved: Path, language: str, saved: str, failed: str, closing: str
) -> None:
    watcher = subprocess.Popen(
        [sys.executable, "selftest.py", "watch", "23", "--path", str(solved)],
        cwd=checkout,
        env=environment(LAB_LANG=language),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    lines: list[str] = []
    assert watcher.stdout
    timer = threading.Timer(60, watcher.kill)
    timer.start()
    try:
        for line in watcher.stdout:
            lines.append(line.rstrip("\n"))
            if lines[-1].startswith(("6 of 6", "6 项全部通过")):
                (solved / "should_use_mcp.py").write_text("import nonsense\n", "utf-8")
            if lines[-1].startswith(closing):
                family = psutil.Process(watcher.pid).children(recursive=True)
                watcher.send_signal(signal.SIGINT)
    finally:
        timer.cancel()
    assert watcher.wait() == 130, lines
    assert saved in lines
    assert any(line.startswith(failed) for line in lines)
    assert any("nonsense" in line for line in lines)
    assert not any("\x1b" in line or "\r" in line for line in lines)
    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["99"], "There is no day 99"),
        (["23", "--item", "9"], "no item 9"),
        (["23", "--path", "nowhere"], "nowhere is no lab"),
        (["23", "--seed", "x"], "invalid int value: 'x'"),
        (["23", "--lang", "zh", "--path", "nowhere"], "nowhere 不是"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(checkout: Path, arguments: list[str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "selftest.py", "watch", *arguments],
        cwd=checkout,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
