"""What a person can get wrong: one sentence that names it and the next step, and no traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.i18n import LANGUAGES, Language, Text
from shared.mcp_config import ConfigError, read_servers
from shared.program import main, run_day
from solutions.day23_mcp_server.agent import run_agent
from solutions.day23_mcp_server.host import Host

from .conftest import AGENT, PROGRAM, run

pytestmark = pytest.mark.timeout(60)


# -- mcp.json -------------------------------------------------------------------------------------

NO_JSON = '{"mcpServers": {\n  "shop": {"command": "python",}\n}}'
CONFIGS = {
    "a folder": ("", Text(en="cannot be read", zh="无法读取")),
    "no JSON": (NO_JSON, Text(en="line 2", zh="第 2 行")),
    "no server": ('{"mcpServers": {}}', Text(en="names no server", zh="没有任何 server")),
    "no such command": (
        '{"mcpServers": {"商店": {"command": "no-such-program"}}}',
        Text(
            en='server "商店": the command "no-such-program"',
            zh="“商店” 的命令 “no-such-program”",
        ),
    ),
}


def write(folder: Path, name: str) -> Path:
    config = folder / "mcp.json"
    if text := CONFIGS[name][0]:
        config.write_text(text, encoding="utf-8")
    else:
        config.mkdir()  # what nobody can read as a file, not even root
    return config


@pytest.mark.parametrize("name", ["no JSON", "no such command"])
def test_a_configuration_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    config, words = write(tmp_path, name), CONFIGS[name][1]
    argv = (*AGENT, "a question", "--config", config)
    done = run(*argv, MOCK="1", LAB_LANG="zh")
    assert done.code == 2
    sentence = done.sentence()
    assert str(config) in sentence
    assert words.zh in sentence
    assert done.out == []


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_told_in_both_languages(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    language: Language,
) -> None:
    """The same in this process, where it costs nothing."""
    config, words = write(tmp_path, name), CONFIGS[name][1]
    monkeypatch.setenv("LAB_LANG", language)
    monkeypatch.setenv("MOCK", "1")
    monkeypatch.setenv("PYTHONPATH", "")  # it adds to it, which is undone after the test
    assert main(run_agent, Host, ["--config", str(config)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert str(config) in err
    assert words.get(language) in err


def test_a_server_that_ends_at_once(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(
        '{"mcpServers": {"shop": {"command": "python", "args": ["-c", "raise SystemExit(4)"]}}}',
        encoding="utf-8",
    )
    done = run(*PROGRAM, "--config", config, MOCK="1")
    assert done.code == 2
    sentence = done.sentence()
    for word in (str(config), '"shop"', "exit code 4"):
        assert word in sentence


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "line 1"),
        ("[]", "names no server"),
        ('{"mcpServers": ["shop"]}', "names no server"),
        ('{"servers": {"shop": {"command": "python"}}}', "names no server"),
        ('{"mcpServers": {"shop": "python"}}', "must be an object"),
        ('{"mcpServers": {"shop": {}}}', '"command"'),
        ('{"mcpServers": {"shop": {"command": ""}}}', '"command"'),
        ('{"mcpServers": {"shop": {"command": ["python"]}}}', '"command"'),
        ('{"mcpServers": {"shop": {"command": "python", "args": "server.py"}}}', '"args"'),
        ('{"mcpServers": {"shop": {"command": "python", "args": [1]}}}', '"args"'),
        ('{"mcpServers": {"shop": {"command": "python", "env": {"A": 1}}}}', '"env"'),
        ('{"mcpServers": {"shop": {"command": "python", "env": ["A=1"]}}}', '"env"'),
    ],
)
def test_every_shape_that_is_none(tmp_path: Path, text: str, word: str) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as wrong:
        read_servers(config)
    for language in ("en", "zh"):
        assert str(config) in wrong.value.text.get(language)
    assert word in wrong.value.text.en


def test_a_configuration_in_another_encoding(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_bytes('{"mcpServers": {"商店": {"command": "python"}}}'.encode("gbk"))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_servers(config)


def test_the_mark_of_windows_editors_does_no_harm(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    text = '{"mcpServers": {"商店": {"command": "x", "args": ["订单"], "env": {"A": "1"}}}}'
    config.write_text(text, encoding="utf-8-sig")
    [(name, entry)] = read_servers(config).items()
    assert (name, entry.command, entry.args, entry.env) == ("商店", "x", ["订单"], {"A": "1"})
    assert entry.folder == os.path.realpath(tmp_path)


# -- the command line -----------------------------------------------------------------------------


def test_no_such_day() -> None:
    done = run("-m", "shared.program", "99", MOCK="1", LAB_LANG="zh")
    assert done.code == 2
    assert "没有第 99 天。现有：23" in done.sentence()


def test_no_such_day_in_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB_LANG", "en")
    assert run_day(["99"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("There is no day 99. There is: 23")


def test_no_such_language() -> None:
    done = run(*PROGRAM, MOCK="1", LAB_LANG="fr")
    assert done.code == 2
    assert done.out == []
    english, chinese = done.err  # neither is known to be theirs
    assert "LAB_LANG is 'fr'" in english
    assert "LAB_LANG 是 'fr'" in chinese


# -- the learner's own files ----------------------------------------------------------------------


@pytest.fixture
def bridge(checkout: Path) -> Iterator[Path]:
    """A file of the learner's, which is as it was after the test."""
    path = checkout / "labs" / "day23_mcp_server" / "bridge.py"
    before = path.read_bytes()
    yield path
    path.write_bytes(before)


def test_the_starter_runs_and_shows_what_its_blanks_do(checkout: Path, tiny: Path) -> None:
    """The hollow schema: the model hands in nothing, and nothing comes of it."""
    done = run("-m", "shared.program", "23", "--config", tiny, cwd=checkout, MOCK="1")
    assert (done.code, done.err) == (0, [])
    assert "model: query_order({})" in done.out
    assert done.out[-1].startswith("answer: ")
    assert "已发货" not in done.out[-1]


def test_a_file_of_the_learner_that_is_no_python(checkout: Path, bridge: Path, tiny: Path) -> None:
    bridge.write_text("def to_function_tool(tool:", encoding="utf-8")
    done = run("-m", "shared.program", "23", "--config", tiny, cwd=checkout, MOCK="1")
    assert done.code == 1
    assert "labs/day23_mcp_server/bridge.py, line 1 is not valid Python" in done.sentence()


def test_a_server_of_the_learner_that_is_no_python(checkout: Path) -> None:
    """It speaks in a process of its own, and what it says there is a traceback."""
    path = checkout / "labs" / "day23_mcp_server" / "mcp_server.py"
    before = path.read_bytes()
    path.write_text("def (:", encoding="utf-8")
    try:
        done = run("-m", "shared.program", "23", cwd=checkout, MOCK="1")
    finally:
        path.write_bytes(before)
    assert done.code == 2
    assert done.out == []
    explained, blamed = done.err
    assert "labs/day23_mcp_server/mcp_server.py, line 1 is not valid Python" in explained
    assert 'server "shop" did not finish the handshake' in blamed


def test_an_exception_in_a_file_of_the_learner(checkout: Path, bridge: Path, tiny: Path) -> None:
    """With the traceback that --verbose asks for, and the sentence after it."""
    bridge.write_text("def to_function_tool(tool):\n    raise LookupError('here')", "utf-8")
    argv = ("-m", "shared.program", "23", "--config", tiny, "--verbose")
    done = run(*argv, cwd=checkout, MOCK="1", LAB_LANG="zh")
    assert done.code == 1
    assert done.err[0] == "Traceback (most recent call last):"
    assert "LookupError: here" in done.err
    assert "labs/day23_mcp_server/bridge.py 第 2 行抛出了 LookupError: here" in done.err[-1]
