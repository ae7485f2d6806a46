"""Reads the traceback of learner code and says in a sentence what it means."""

from __future__ import annotations

import ast
import difflib
import re
from importlib import metadata
from pathlib import Path

from shared.i18n import Text, same
from shared.processes.launcher import shadowing_files

from .stop import ItemStopped

HEAD = "Traceback (most recent call last):"
FRAME = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d{1,9})', re.MULTILINE)
LAST_LINE = re.compile(r"^(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$", re.MULTILINE)
MISSING_NAME = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'")
MISSING_ATTRIBUTE = re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'")
MISSING_MODULE = re.compile(r"No module named '(?P<module>[\w.]+)'")
EXPECTED_SDK = ">=2.3,<3"


def explain(stderr: str, folder: Path, shown_as: str) -> ItemStopped | None:
    """Why a process with this stderr failed, or None when it shows no traceback.

    `folder` is where the learner's files ran; messages name it `shown_as`.
    """
    syntax = re.search(r"^(SyntaxError|IndentationError|TabError): ", stderr, re.MULTILINE)
    traces = [HEAD + trace for trace in stderr.split(HEAD)[1:]] or ([stderr] if syntax else [])
    if not traces:
        return None
    # Of a chain of exceptions the last one that passed through the learner's code: what libraries
    # make of it on the way up tells less.
    trace = next((one for one in reversed(traces) if _own_frames(one, folder)), traces[-1])
    own = _own_frames(trace, folder)
    path, line = own[-1] if own else (folder, 0)
    where = f"{shown_as}/{path.relative_to(folder)}" if own else shown_as
    kind, text = _last_line(trace)
    shadow = _shadow(trace, text, folder)
    if shadow:
        stop = ItemStopped("error", "code.shadows-package", file=f"{shown_as}/{shadow}")
    else:
        stop = _diagnose(kind, text, folder, path, line, where, shown_as)
    return stop.with_detail(trace.replace(str(folder), shown_as))


def _own_frames(trace: str, folder: Path) -> list[tuple[Path, int]]:
    """The frames of the learner's files, outermost first."""
    frames = [
        (folder / frame["file"], int(frame["line"]))  # a program may be named relative to it
        for frame in FRAME.finditer(trace)
    ]
    return [(path, line) for path, line in frames if path.is_relative_to(folder) and path.is_file()]


def ends_with(stderr: str, exception: str) -> bool:
    """Whether this stderr shows a traceback that ends with an exception of this name."""
    start = stderr.rfind(HEAD)
    return start >= 0 and _last_line(stderr[start:])[0].rpartition(".")[2] == exception


def _shadow(trace: str, text: str, folder: Path) -> str:
    """The learner's file that stands in the way of a package of the same name, if one does here:
    it is among the frames, or the exception speaks of the package."""
    for name in shadowing_files(folder):
        stem = name.removesuffix(".py")
        if f"{folder}/{name}" in trace or re.search(rf"'{re.escape(stem)}[.']", text):
            return name
    return ""


def _diagnose(
    kind: str, text: str, folder: Path, path: Path, line: int, file: str, shown_as: str
) -> ItemStopped:
    """What an exception means that was raised in this line of the learner's code."""
    if kind in ("SyntaxError", "IndentationError", "TabError"):
        return ItemStopped(
            "error",
            "code.syntax-error",
            file=file,
            line=line,
            error=text,
            quoted=_line_of(path, line),
        )
    found = MISSING_NAME.search(text) or MISSING_ATTRIBUTE.search(text)
    if found and (module := _file_of(found["module"], folder)):
        return ItemStopped(
            "error",
            "code.missing-name",
            file=f"{shown_as}/{module.name}",
            name=found["name"],
            instead=_instead(module, found["name"]),
        )
    missing = found or MISSING_MODULE.search(text)
    if missing:
        name = f"{missing['module']}.{found['name']}" if found else missing["module"]
        where = {"file": file, "line": line, "name": name}
        if name.startswith("mcp."):
            found_version = metadata.version("mcp")
            return ItemStopped(
                "error", "sdk.wrong-major", **where, found=found_version, expected=EXPECTED_SDK
            )
        if missing["module"].startswith("labs.") and not _file_of(missing["module"], folder):
            gone = f"{shown_as}/{missing['module'].rpartition('.')[2]}.py"
            return ItemStopped("error", "code.missing-file", file=gone)
        return ItemStopped("error", "code.missing-module", **where)
    error = f"{kind}: {text}" if text else kind
    if kind in ("UnicodeEncodeError", "UnicodeDecodeError") and "utf-8" not in text:
        return ItemStopped("error", "code.legacy-encoding", file=file, line=line, error=error)
    return ItemStopped("error", "code.raised", file=file, line=line, error=error)


def _last_line(trace: str) -> tuple[str, str]:
    """Kind and text of the exception. A message may have several lines; the kind begins the first
    line after the last frame that is not indented."""
    after = trace
    for frame in FRAME.finditer(trace):
        after = trace[frame.end() :]
    match = LAST_LINE.search(after)
    return (match["kind"], match["text"] or "") if match else ("Exception", "")


def _line_of(path: Path, line: int) -> str:
    try:
        return path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""


def _file_of(module: str, folder: Path) -> Path | None:
    path = folder / f"{module.rpartition('.')[2]}.py"
    return path if path.is_file() else None


def _instead(path: Path, name: str) -> Text:
    """What the file defines that looks like the missing name, for the message."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return same("")
    names = [
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    flat = {_flat(one): one for one in names}
    close = difflib.get_close_matches(_flat(name), flat, n=1, cutoff=0.6)
    if not close:
        return same("")
    return Text(en=" (it has `{name}`)", zh="（有的是 `{name}`）")(name=flat[close[0]])


def _flat(name: str) -> str:
    return name.replace("_", "").lower()
