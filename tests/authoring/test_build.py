"""`labs/` is what `solutions/` gives, or the build says where it is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from shared.authoring.build import main, starter_tree
from shared.authoring.drift import find_drift

FILES = {
    "__init__.py",
    "day01_shop/__init__.py",
    "day01_shop/README.md",
    "day01_shop/README.zh-CN.md",
    "day01_shop/bridge.py",
    "day01_shop/mcp.json",
    "day01_shop/shop.py",
}


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_LANG", "en")


@pytest.fixture
def labs(course: Path) -> Path:
    """`labs/` as it is generated."""
    assert main([], course) == 0
    return course / "labs"


def git(folder: Path, *command: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *command], cwd=folder, check=True, capture_output=True)


def backups(course: Path) -> list[Path]:
    return [path for path in (course / ".selftest/backups").rglob("*") if path.is_file()]


def test_a_starter_is_made_in_memory(course: Path) -> None:
    tree = starter_tree(course / "solutions")
    assert set(tree) == FILES
    assert b"return 0\n" in tree["day01_shop/bridge.py"]
    assert b"sum(" not in tree["day01_shop/bridge.py"]
    assert tree["day01_shop/README.zh-CN.md"] == "# 第 1 天\n".encode()


def test_what_is_written_has_no_drift(
    course: Path, labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = {path.relative_to(labs).as_posix() for path in labs.rglob("*") if path.is_file()}
    assert written == FILES
    capsys.readouterr()
    assert main(["--check"], course) == 0
    assert capsys.readouterr().out == "labs/ is what solutions/ gives (7 files).\n"
    assert backups(course) == []


@pytest.mark.parametrize("name", ["day01_shop/bridge.py", "day01_shop/README.zh-CN.md"])
def test_one_changed_character_is_drift(
    course: Path, labs: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (labs / name).read_text(encoding="utf-8")
    (labs / name).write_text(text[:-2] + "!" + text[-1:], encoding="utf-8")
    last = text.count("\n")
    assert main(["--check"], course) == 1
    told = capsys.readouterr().out
    assert f"labs/{name}: line {last} is not what solutions/ gives." in told
    assert f"-{text.splitlines()[-1]}\n" in told
    assert "!\n" in told


@pytest.mark.parametrize(
    ("change", "line"),
    [(lambda text: text.replace("\n", "\r\n"), 1), (lambda text: text[:-1], 10)],
    ids=["CRLF", "no last line end"],
)
def test_line_ends_count(
    course: Path, labs: Path, change: object, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labs / "day01_shop/bridge.py"
    assert callable(change)
    path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
    assert main(["--check"], course) == 1
    assert f"bridge.py: line {line} " in capsys.readouterr().out


@pytest.mark.parametrize("content", ["x = 1\n", ""])
def test_a_file_without_a_source_is_drift(
    course: Path, labs: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (labs / "day01_shop/extra.py").write_text(content, encoding="utf-8")
    assert main(["--check"], course) == 1
    assert "labs/day01_shop/extra.py: has no source in solutions/." in capsys.readouterr().out


def test_a_missing_file_is_drift(
    course: Path, labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (labs / "day01_shop/mcp.json").unlink()
    assert main(["--check"], course) == 1
    assert "labs/day01_shop/mcp.json: is missing." in capsys.readouterr().out


def test_drift_is_told_in_chinese(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    assert main(["--check"], course) == 1
    assert "labs/day01_shop/mcp.json：缺少该文件。" in capsys.readouterr().out


def test_caches_and_what_git_ignores_are_no_drift(course: Path, labs: Path) -> None:
    git(course, "init", "-q")
    (course / ".gitignore").write_text(".env\n", encoding="utf-8")
    (labs / "day01_shop/__pycache__").mkdir()
    (labs / "day01_shop/__pycache__/bridge.pyc").write_bytes(b"\0")
    (labs / ".DS_Store").write_bytes(b"\0")
    (labs / "day01_shop/.env").write_text("MODEL=x\n", encoding="utf-8")
    (course / "solutions/day01_shop/.env").write_text("MODEL=y\n", encoding="utf-8")
    assert find_drift(course) == []
    (course / ".gitignore").write_text("", encoding="utf-8")
    assert [drift.path for drift in find_drift(course)] == ["day01_shop/.env"]


def test_a_binary_file_differs_without_an_excerpt(course: Path, labs: Path, day: Path) -> None:
    (day / "picture.png").write_bytes(b"\x89PNG\n\xff")
    (labs / "day01_shop/picture.png").write_bytes(b"\x89PNG\n\xfe")
    (drift,) = find_drift(course)
    assert (drift.kind, drift.line, drift.excerpt) == ("changed", 2, "")


def test_an_excerpt_is_short(course: Path, labs: Path) -> None:
    (labs / "day01_shop/bridge.py").write_text("x\n" * 500, encoding="utf-8")
    (drift,) = find_drift(course)
    assert drift.excerpt.count("\n") == 12


def test_the_work_of_a_learner_is_backed_up_and_the_learner_told(
    course: Path, labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labs / "day01_shop/bridge.py"
    generated = path.read_bytes()
    path.write_text("mine = 1\n", encoding="utf-8")
    (labs / "day01_shop/notes.txt").write_text("mine too\n", encoding="utf-8")
    assert main([], course) == 0
    told = capsys.readouterr().out
    assert path.read_bytes() == generated
    assert not (labs / "day01_shop/notes.txt").exists()
    kept = {backup.name: backup for backup in backups(course)}
    assert kept["bridge.py"].read_text(encoding="utf-8") == "mine = 1\n"
    assert kept["notes.txt"].read_text(encoding="utf-8") == "mine too\n"
    for backup in kept.values():
        assert backup.relative_to(course).as_posix() in told
    assert len({backup.parent for backup in kept.values()}) == 1


def test_two_backups_never_overwrite_one_another(course: Path, labs: Path) -> None:
    for text in ("first\n", "second\n", "third\n"):  # within one second
        (labs / "day01_shop/bridge.py").write_text(text, encoding="utf-8")
        assert main([], course) == 0
    kept = {backup.read_text(encoding="utf-8") for backup in backups(course)}
    assert kept == {"first\n", "second\n", "third\n"}


def test_a_starter_that_was_generated_before_needs_no_backup(
    course: Path, labs: Path, day: Path
) -> None:
    source = (day / "bridge.py").read_text(encoding="utf-8")
    (day / "bridge.py").write_text(source.replace("return 0", "return -1"), encoding="utf-8")
    (day / "mcp.json").unlink()
    assert main([], course) == 0
    assert b"return -1" in (labs / "day01_shop/bridge.py").read_bytes()
    assert not (labs / "day01_shop/mcp.json").exists()
    assert backups(course) == []


def test_nor_does_the_starter_of_the_last_commit_in_a_fresh_clone(
    course: Path, labs: Path, day: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    git(course, "init", "-q")
    git(course, "add", "solutions", "labs")
    git(course, "commit", "-qm", "a day")
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", str(course), ".")
    source = clone / "solutions/day01_shop/bridge.py"
    source.write_text(source.read_text(encoding="utf-8").replace("return 0", "return 1"), "utf-8")
    (clone / "labs/day01_shop/shop.py").write_text("mine = 1\n", encoding="utf-8")
    assert main([], clone) == 0
    assert b"return 1" in (clone / "labs/day01_shop/bridge.py").read_bytes()
    assert [backup.name for backup in backups(clone)] == ["shop.py"]


def test_a_damaged_record_costs_backups_and_nothing_else(course: Path, labs: Path) -> None:
    (course / ".selftest/generated.json").write_text("{", encoding="utf-8")
    (labs / "day01_shop/bridge.py").write_text("mine = 1\n", encoding="utf-8")
    assert main([], course) == 0
    assert [backup.name for backup in backups(course)] == ["bridge.py"]
    assert main(["--check"], course) == 0


def test_a_lab_that_is_refused_is_not_written(
    course: Path, day: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (day / "README.zh-CN.md").unlink()
    for arguments in ([], ["--check"]):
        assert main(arguments, course) == 1
        told = capsys.readouterr().out
        assert "solutions/day01_shop/README.zh-CN.md: is missing" in told
        assert "Problems in solutions/: 1." in told
    assert not (course / "labs").exists()


def test_what_belongs_to_no_day_is_checked_too(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "solutions/__init__.py").write_text("x = 1\n# endregion\n", encoding="utf-8")
    assert main([], course) == 1
    assert "solutions/__init__.py:2: endregion without a region" in capsys.readouterr().out


def test_wrong_usage(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--nonsense"], course)
    assert stopped.value.code == 2
    monkeypatch.setenv("LAB_LANG", "fr")
    assert main([], course) == 2
    assert "LAB_LANG is 'fr'" in capsys.readouterr().err
