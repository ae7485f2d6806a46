"""Messages in both languages, for any terminal, and code that any Python can read."""

from __future__ import annotations

import ast
import io
import string
from pathlib import Path

import pytest

from shared import bootstrap_words
from shared.bootstrap import ROOT
from shared.bootstrap_words import MESSAGES, Voice, choose_language

OLD_PYTHON_READS = [
    ROOT / "selftest.py",
    ROOT / "shared" / "__init__.py",
    *sorted((ROOT / "shared").glob("bootstrap*.py")),
]


@pytest.mark.parametrize("key", sorted(MESSAGES))
def test_both_languages_say_the_same(key: str) -> None:
    assert sorted(MESSAGES[key]) == ["en", "zh"]
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        for text in MESSAGES[key].values()
    ]
    assert fields[0] == fields[1]


@pytest.mark.parametrize(
    ("env", "language"),
    [
        ({"LAB_LANG": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LAB_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LAB_LANG": "fr", "LANG": "zh_CN.UTF-8"}, "zh"),
    ],
)
def test_the_language_is_chosen(env: dict[str, str], language: str) -> None:
    assert choose_language(env) == language


def test_without_any_variable_the_system_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "Chinese (Simplified)_China"  # as Windows says it
    monkeypatch.setattr(bootstrap_words.locale, "getlocale", lambda: (name, "936"))
    assert choose_language({}) == "zh"
    monkeypatch.setattr(bootstrap_words.locale, "getlocale", lambda: (None, None))
    assert choose_language({}) == "en"


@pytest.mark.parametrize(("encoding", "bytes_as"), [("ascii", "utf-8"), ("gbk", "gbk")])
def test_chinese_reaches_a_terminal_of_any_locale(encoding: str, bytes_as: str) -> None:
    raw = io.BytesIO()
    voice = Voice(io.TextIOWrapper(raw, encoding=encoding), {"LAB_LANG": "zh"})
    voice.say("waiting")
    assert raw.getvalue().decode(bytes_as) == MESSAGES["waiting"]["zh"] + "\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_news_shares_one_line_of_a_terminal() -> None:
    terminal = Terminal()
    voice = Voice(terminal, {"LAB_LANG": "en"})
    voice.news("fetching", what="a" * 500)
    voice.news("fetching", what="b")
    voice.print("a line that stays")
    pieces = terminal.getvalue().split("\r")
    assert terminal.getvalue().count("\n") == 1
    assert pieces[-1] == "a line that stays\n"
    assert max(map(len, pieces)) <= 72
    assert pieces[1].strip() == ""
    assert len(pieces[1]) >= len(pieces[0])  # covers what was there


@pytest.mark.parametrize("path", OLD_PYTHON_READS, ids=lambda path: path.name)
def test_python_3_6_can_read_this(path: Path) -> None:
    """Then an old Python says in one sentence what is wrong, instead of SyntaxError."""
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module != "__future__"  # annotations: Python 3.7
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            annotations = [each.annotation for each in arguments if each] + [node.returns]
            for annotation in annotations:  # evaluated when the function is defined
                assert annotation is None or isinstance(annotation, (ast.Name, ast.Constant))
        if isinstance(node, (ast.Module, ast.ClassDef)):
            assert not any(isinstance(each, ast.AnnAssign) for each in node.body)
