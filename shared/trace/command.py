"""`python selftest.py trace 23`: draws what crossed the wires in the latest run of a day.

    trace 23 [--item N …] [--html [FILE]] [--mermaid [FILE]] [--file RECORD] [--lang zh|en]

In the terminal unless a page or a diagram is asked for; without --item the first item that did not
pass, else all (the page has all in any case). Exit codes: 0 drawn, 1 there is nothing to draw yet,
2 wrong usage, or a file that cannot be read or written.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from rich.console import Console

from shared.console import interrupted_quietly, spoken_language, use_unicode_output
from shared.i18n import LANGUAGES, Language, Text
from shared.selftest.cli import NOT_WRITTEN, OK, RED, USAGE, UsageParser
from shared.selftest.record import STATE, record_path

from .lines import shown
from .mermaid import diagram
from .reading import NoRecord, Recording, Section, read_recording
from .terminal import draw

NO_DAY = Text(
    en="Name a day first, as in `trace 23 --html`, or a record with --file.",
    zh="请先写第几天，例如 `trace 23 --html`，或者用 --file 给出记录文件",
)
NOT_YET = Text(
    en="There is no record of day {day} yet. Run `python selftest.py {day}` first: every run "
    "leaves one.",
    zh="还没有第 {day} 天的记录。请先运行 `python selftest.py {day}`：每次运行都会留下一份。",
)
BROKEN = Text(
    en="{path} holds no record. Run `python selftest.py {day}` again: it writes a new one.",
    zh="{path} 里没有可用的记录。请再运行一次 `python selftest.py {day}`，它会写一份新的。",
)
NO_RECORD = Text(
    en="{path} is no record: no line of it is a row of one. Give a file that a run or a tap wrote.",
    zh="{path} 不是记录文件：没有一行读得懂。请给出自检或 tap 写下的文件。",
)
NOT_READ = Text(
    en="{path} cannot be read: {reason}. Give the path of a record.",
    zh="{path} 无法读取：{reason}。请给出一份记录的路径。",
)
UNREAD = Text(
    en="({count} lines of {path} could not be read and are left out.)",
    zh="（{path} 中有 {count} 行无法读取，已略过。）",
)
NO_ITEM = Text(
    en="{path} has no item {number}. It has: {numbers}.",
    zh="{path} 里没有第 {number} 项。有：{numbers}。",
)
PAGE_AT = Text(
    en="The page is in {path}: open it in a browser.", zh="网页在 {path}，用浏览器打开即可。"
)
DIAGRAM_AT = Text(
    en="The diagram is in {path}: paste it where Mermaid is drawn.",
    zh="时序图在 {path}，粘贴到支持 Mermaid 的地方即可。",
)
DEFAULT = "-"  # an option without its FILE


def main(argv: list[str]) -> int:
    """Run the command line and return the exit code."""
    use_unicode_output()
    language = spoken_language(argv)
    if language is None:
        return USAGE
    options = _parser(language).parse_args(argv)
    with interrupted_quietly():
        return _trace(options, language)


def _trace(options: argparse.Namespace, language: Language) -> int:
    if options.file is None and options.day is None:
        return _refuse(NO_DAY, language)
    path = options.file or record_path(options.day)
    try:
        recording = read_recording(path)
    except FileNotFoundError as error:
        if options.file is None:
            return _refuse(NOT_YET(day=options.day), language, RED)
        return _refuse(NOT_READ(path=path, reason=error.strerror), language)
    except OSError as error:
        return _refuse(NOT_READ(path=path, reason=error.strerror or error), language)
    except NoRecord:
        if options.file is None:
            return _refuse(BROKEN(path=path, day=options.day), language, RED)
        return _refuse(NO_RECORD(path=path), language)
    if recording.unread:
        _refuse(UNREAD(count=recording.unread, path=path), language)
    known = {section.number: section for section in recording.sections}
    for number in options.item:
        if number not in known:
            numbers = ", ".join(map(str, known))
            return _refuse(NO_ITEM(path=path, number=number, numbers=numbers), language)
    chosen = [known[number] for number in dict.fromkeys(options.item)]
    return _draw(recording, chosen, options, language)


def _draw(
    recording: Recording, chosen: list[Section], options: argparse.Namespace, language: Language
) -> int:
    in_short = chosen or recording.to_look_at()
    written = Path()
    try:
        if options.html:
            from .page import page  # templates take as long to import as all the rest

            written = _page_path(options, recording)
            _write(written, page(recording, chosen or recording.sections, language))
            print(PAGE_AT(path=written.absolute()).get(language))
        if options.mermaid:
            text = diagram(in_short, language)
            if options.mermaid == DEFAULT:
                print(text, end="")
            else:
                written = Path(options.mermaid)
                is_markdown = written.suffix.lower() in (".md", ".markdown")
                _write(written, f"```mermaid\n{text}```\n" if is_markdown else text)
                print(DIAGRAM_AT(path=written.absolute()).get(language))
    except OSError as error:
        return _refuse(NOT_WRITTEN(path=written, reason=error.strerror or error), language)
    if not options.html and not options.mermaid:
        console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
        draw(recording, in_short, console, language)
    return OK


def _page_path(options: argparse.Namespace, recording: Recording) -> Path:
    if options.html != DEFAULT:
        return Path(options.html)
    name = f"day{options.day}" if options.file is None else options.file.stem
    STATE.mkdir(parents=True, exist_ok=True)
    return STATE / f"trace-{name}.html"


def _write(path: Path, text: str) -> None:
    """Written whole or not at all. Raises OSError."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _parser(language: Language) -> UsageParser:
    def say(en: str, zh: str) -> str:
        return Text(en, zh).get(language)

    parser = UsageParser(
        prog="selftest.py trace",
        description=say(
            "Draw what crossed the wires in the latest run of a day.",
            "画出某一天最近一次自检时线路上的报文。",
        ),
    )
    parser.language = language
    parser.add_argument(
        "day", type=int, nargs="?", help=say("the day, such as 23", "第几天，例如 23")
    )
    parser.add_argument(
        "--item",
        type=int,
        nargs="+",
        action="extend",
        default=[],
        metavar="N",
        help=say(
            "only these (else the first that did not pass)", "只画这些项（默认第一个未通过的）"
        ),
    )
    parser.add_argument(
        "--html",
        nargs="?",
        const=DEFAULT,
        metavar="FILE",
        help=say("as one page to open in a browser", "生成一个可用浏览器打开的网页"),
    )
    parser.add_argument(
        "--mermaid",
        nargs="?",
        const=DEFAULT,
        metavar="FILE",
        help=say("as a sequence diagram to paste", "生成可粘贴的 Mermaid 时序图"),
    )
    parser.add_argument(
        "--file",
        type=Path,
        metavar="RECORD",
        help=say("another record, such as a tap's", "另一份记录，例如 tap 写下的"),
    )
    parser.add_argument("--lang", choices=LANGUAGES, help=say("language", "语言"))
    return parser


def _refuse(text: Text, language: Language, code: int = USAGE) -> int:
    print(shown(text.get(language), 2000), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
