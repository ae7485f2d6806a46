"""The program at a terminal: it goes on asking until the person has enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from .conftest import C_LOCALE, PROGRAM, ROOT, settings
from .terminal import Terminal

pytestmark = [
    pytest.mark.timeout(90),
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
]

PROMPT = {"en": "Another question (Enter to leave): ", "zh": "再问一句（直接回车退出）："}


def at_a_terminal(*options: str | Path, **env: str) -> Terminal:
    argv = [sys.executable, *PROGRAM, *map(str, options)]
    return Terminal(argv, ROOT, settings(MOCK="1", **env))


def expect_gone(children: list[psutil.Process]) -> None:
    assert children, "there was no server to begin with"
    _, alive = psutil.wait_procs(children, timeout=0.1)
    assert alive == []


@pytest.mark.parametrize(
    ("language", "env"), [("en", {}), ("zh", C_LOCALE)], ids=["en", "zh, C locale"]
)
def test_takes_another_question_and_leaves_on_enter(
    tiny: Path, language: str, env: dict[str, str]
) -> None:
    with at_a_terminal("--config", tiny, LAB_LANG=language, **env) as terminal:
        terminal.until(PROMPT[language])
        children = terminal.children()
        terminal.type("今天几号？\n")
        terminal.until(PROMPT[language], times=2)
        assert "today({})" in terminal.text
        assert "今天是 20" in terminal.text
        assert terminal.children() == children, "the servers of the first question serve the second"
        terminal.type("\n")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text
        expect_gone(children)


def test_ctrl_c_at_the_prompt() -> None:
    """With the real shop, whose SDK would print a long traceback if the signal reached it."""
    with at_a_terminal() as terminal:
        terminal.until(PROMPT["en"])
        children = terminal.children()
        terminal.until_it_listens()
        terminal.type("\x03")
        assert terminal.end() == 130
        assert terminal.text.rpartition(PROMPT["en"])[2].strip() in ("", "^C")
        expect_gone(children)


def test_ctrl_d_at_the_prompt(tiny: Path) -> None:
    with at_a_terminal("--config", tiny) as terminal:
        terminal.until(PROMPT["en"])
        terminal.type("\x04")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text


def test_ctrl_c_while_a_tool_works(tmp_path: Path, tiny: Path) -> None:
    """The server is in the middle of a call that takes for ever, and ends with the program."""
    body = tiny.with_name("shop.py").read_text("utf-8")
    answers = "tell(request, json.dumps("
    assert body.count(answers) == 1
    slow = f'print("working", file=sys.stderr, flush=True); receive(); {answers}'
    (tmp_path / "shop.py").write_text(body.replace(answers, slow), encoding="utf-8")
    (tmp_path / "mcp.json").write_bytes(tiny.read_bytes())
    with at_a_terminal("--config", tmp_path / "mcp.json") as terminal:
        terminal.until("working")
        children = terminal.children()
        terminal.until_it_listens()
        terminal.type("\x03")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.text
        expect_gone(children)


def test_without_any_stdin_it_answers_once(tiny: Path) -> None:
    """As when a scheduler starts it."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, *PROGRAM, "--config", str(tiny)],
        cwd=ROOT,
        env=settings(MOCK="1"),
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("answer: ")
