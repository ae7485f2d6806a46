"""`python selftest.py doctor`: is this machine ready, and if not, what is the one thing to do?"""

from __future__ import annotations

import datetime
import json
import platform
import sys
from collections.abc import Callable, Iterator

from shared.console import interrupted_quietly, spoken_language, use_unicode_output
from shared.i18n import LANGUAGES, Text, same
from shared.selftest.cli import OK, RED, USAGE, UsageParser

from .command import LANGUAGE, Printer
from .findings import Finding, Status

SCHEMA = 1

ABOUT = Text(
    en="Look at what the course stands on, and say what to do where something is amiss.",
    zh="检查课程依赖的环境，并说明有问题的地方该怎么办。",
)
JSON = Text(en="as JSON, to paste into an issue", zh="输出 JSON，可以粘贴到 issue 里")
MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("✔", "green"),
    "note": ("!", "yellow"),
    "bad": ("✘", "red"),
}
HEALTHY = Text(en="All is well.", zh="一切正常。")
USABLE = Text(
    en="The course works; {notes} of these lines say what could be better.",
    zh="课程可以正常使用；其中 {notes} 行可以改进。",
)
ILL = Text(
    en="{bad} of these lines must be mended first: follow their arrows, then ask again.",
    zh="其中 {bad} 行必须先解决：按箭头操作后再检查一次。",
)
BROKEN = Text(
    en="This could not be looked at ({error}). Paste this line into an issue.",
    zh="这一项无法检查（{error}）。请把这一行粘贴到 issue 里。",
)


def main(argv: list[str]) -> int:
    """`doctor [--json]`: 0 when nothing must be mended, 1 when something must, 2 on wrong usage."""
    use_unicode_output()
    with interrupted_quietly():
        language = spoken_language(argv)
        if language is None:
            return USAGE
        parser = UsageParser(prog="selftest.py doctor", description=ABOUT.get(language))
        parser.language = language
        parser.add_argument("--json", action="store_true", help=JSON.get(language))
        parser.add_argument("--lang", choices=LANGUAGES, help=LANGUAGE.get(language))
        options = parser.parse_args(argv)
        if options.json:
            found = list(examine())
            print(json.dumps(_document(found), ensure_ascii=False, indent=1))
        else:
            found = _show(examine(), Printer(language))
        return RED if any(finding.status == "bad" for finding in found) else OK


def examine() -> Iterator[Finding]:
    """All findings, one after the other as they are made."""
    from . import examinations as at

    examinations: list[tuple[str, Callable[[], list[Finding]]]] = [
        ("python", at.python),
        ("environment", at.environment),
        ("packages", at.packages),
        ("encoding", at.encoding),
        ("server-python", at.server_python),
        ("labs", at.labs),
        ("course-files", at.course_files),
        ("model", at.model),
        ("state-folder", at.state_folder),
        ("disk", at.disk),
        ("leftovers", at.left_behind),
        ("start", at.start),
        ("tools", at.tools),
    ]
    for name, look in examinations:
        try:
            yield from look()
        except Exception as error:  # one thing that cannot be seen must not hide the others
            reason = f"{type(error).__name__}: {error}"
            yield Finding(name, "note", BROKEN(error=reason))


def _show(findings: Iterator[Finding], out: Printer) -> list[Finding]:
    shown = []
    for finding in findings:
        mark, style = MARKS[finding.status]
        out.line(same(f"{mark} {finding.found.get(out.language)}"), style)
        if finding.step is not None:
            out.line(same(f"→ {finding.step.get(out.language)}"), "cyan", indent=2)
        shown.append(finding)
    count = {status: sum(one.status == status for one in shown) for status in MARKS}
    out.line()
    if count["bad"]:
        out.line(ILL(bad=count["bad"]), "bold")
    else:
        out.line(USABLE(notes=count["note"]) if count["note"] else HEALTHY, "bold")
    return shown


def _document(findings: list[Finding]) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "at": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "platform": platform.platform(),
        "findings": [finding.as_json() for finding in findings],
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
