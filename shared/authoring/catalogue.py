"""The page of all diagnoses, in both languages, from the catalogues of the self-test.

python -m shared.authoring.catalogue            write docs/diagnoses*.md
python -m shared.authoring.catalogue --check    only compare; exit code 1 when a page is behind
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.console import spoken_language, use_unicode_output
from shared.i18n import LANGUAGES, Language, Text
from shared.processes.supervisor import ROOT
from shared.selftest.checks import Checks
from shared.selftest.diagnoses import CATALOGUE, Diagnosis
from shared.selftest.discover import days, load_checks

PAGES: dict[Language, str] = {"en": "docs/diagnoses.md", "zh": "docs/diagnoses.zh-CN.md"}

# What the part of a code before its dot is about.
GROUPS: dict[str, Text] = {
    "exercise": Text(en="Blanks", zh="空白"),
    "item": Text(en="Items that were not judged", zh="没有检查的项"),
    "wire": Text(en="The MCP wire", zh="MCP 线路"),
    "process": Text(en="Processes", zh="进程"),
    "code": Text(en="Code that raises", zh="抛出异常的代码"),
    "sdk": Text(en="The SDK", zh="SDK"),
    "config": Text(en="mcp.json", zh="mcp.json"),
    "model": Text(en="The model wire", zh="模型线路"),
    "grader": Text(en="The self-test itself", zh="自检程序自身"),
    "server": Text(en="The server", zh="server"),
    "bridge": Text(en="The bridge", zh="桥"),
    "client": Text(en="The client", zh="client"),
    "agent": Text(en="The agent", zh="agent"),
    "decision": Text(en="The decision", zh="判断"),
}

# Which exercise of a day a group of its own diagnoses belongs to.
EXERCISES: dict[int, dict[str, int]] = {
    23: {"server": 1, "bridge": 2, "client": 3, "agent": 4, "decision": 5},
}


@dataclass(frozen=True)
class Symptom:
    """What a learner sees and says, the codes that the self-test gives it, and what to do where no
    code can: silence is no fault."""

    seen: Text
    codes: tuple[str, ...]
    move: Text


SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        Text(
            en="`No module named 'mcp.server.fastmcp'`, after a fresh install or an update",
            zh="刚安装或更新之后，`No module named 'mcp.server.fastmcp'`",
        ),
        ("sdk.wrong-major", "code.missing-module"),
        Text(
            en="The code is for SDK 1, installed is SDK 2: `from mcp.server import MCPServer`.",
            zh="代码是按 SDK 1 写的，装的是 SDK 2：`from mcp.server import MCPServer`。",
        ),
    ),
    Symptom(
        Text(
            en="The server is started by hand, and nothing happens",
            zh="手动启动 server，什么都没发生",
        ),
        (),
        Text(
            en="That is right: it waits for a line on stdin. "
            "`python selftest.py probe 23` asks it, and shows what crosses.",
            zh="这是对的：它在等 stdin 上来一行。"
            "`python selftest.py probe 23` 会去问它，并显示线路上的每一行。",
        ),
    ),
    Symptom(
        Text(
            en="A banner or a debugging print on stdout; it works by hand and fails in a host",
            zh="stdout 上有横幅或调试用的 print；手动跑没事，接进宿主就坏",
        ),
        ("wire.stray-line",),
        Text(en="Log on stderr.", zh="日志写到 stderr。"),
    ),
    Symptom(
        Text(en="JSON printed with indent", zh="JSON 带缩进打印"),
        ("wire.pretty-printed", "wire.client-stray"),
        Text(en="One message, one line.", zh="一条消息，一行。"),
    ),
    Symptom(
        Text(
            en="Written by hand, server or client wait for each other for ever: no flush",
            zh="自己写的 server 或 client 互相等个没完：没有 flush",
        ),
        ("wire.no-flush", "wire.nothing-sent"),
        Text(en="Flush after each message.", zh="每写一条消息就 flush。"),
    ),
    Symptom(
        Text(en="A message without its newline", zh="消息后面没有换行"),
        ("wire.no-newline", "wire.client-stray"),
        Text(en="The newline ends a message.", zh="换行才是消息的结尾。"),
    ),
    Symptom(
        Text(
            en="The server has died, and its client waits without end",
            zh="server 已经死了，client 还在没完没了地等",
        ),
        (
            "wire.waits-for-the-dead",
            "agent.server-death-uncaught",
            "agent.server-death-untold",
            "process.ended-early",
        ),
        Text(
            en="The end of its stdout is the end of all answers: raise, and tell the model.",
            zh="它的 stdout 到头，就再不会有回复：抛出异常，并告诉模型。",
        ),
    ),
    Symptom(
        Text(en="The server does not answer at all", zh="server 根本不回复"),
        ("wire.no-answer", "process.timeout"),
        Text(
            en="Look for an endless loop, or code that reads stdin itself.",
            zh="检查是不是有死循环，或者有别的代码在读 stdin。",
        ),
    ),
    Symptom(
        Text(
            en="Chinese arrives garbled, or a no-break space kills the answer (GBK, cp1252)",
            zh="中文变成乱码，或者一个不换行空格就让回复出不来（GBK、cp1252）",
        ),
        ("wire.not-utf8", "code.legacy-encoding"),
        Text(
            en="UTF-8 at both ends, whatever the locale.",
            zh="两端一律 UTF-8，与系统区域无关。",
        ),
    ),
    Symptom(
        Text(
            en="The prompt says `query_order`, the tool is registered under another name",
            zh="提示里说的是 `query_order`，注册的工具却叫别的名字",
        ),
        ("server.tool-missing", "bridge.wrong-name"),
        Text(
            en="One name on all wires, letter by letter.",
            zh="几条线路上用同一个名字，一字不差。",
        ),
    ),
    Symptom(
        Text(
            en="Several calls in one turn, and fewer results; a 400 that names `tool_call_id`",
            zh="一轮里有几次调用，结果却少了；返回 400，提到 `tool_call_id`",
        ),
        ("model.refused", "agent.wrong-call-id"),
        Text(
            en="One tool message for each call, under its own id, after the assistant's message.",
            zh="每次调用一条 tool 消息，用它自己的 id，放在 assistant 的消息之后。",
        ),
    ),
    Symptom(
        Text(
            en="The model asks for a call, and it is printed, but never made",
            zh="模型要求调用，程序只是打印出来，并没有真的调用",
        ),
        ("client.nothing-sent",),
        Text(en="`call_tool` has to send `tools/call`.", zh="`call_tool` 必须发出 `tools/call`。"),
    ),
)

TITLE = Text(en="Diagnoses", zh="诊断")
INTRO = Text(
    en="What the self-test can say, by code. Generated from the catalogues by "
    "`python -m shared.authoring.catalogue`; a test keeps it in step. `…` stands for what the run "
    "fills in.",
    zh="自检可能给出的全部诊断，按编号排列。由 `python -m shared.authoring.catalogue` 从目录生成，"
    "有测试保证两者一致。`…` 处由当次运行填入。",
)
SYMPTOMS_TITLE = Text(en="Symptoms that learners report", zh="学习者常说的症状")
SYMPTOMS_HEAD = Text(
    en="| what you see | codes | what to do |\n|---|---|---|",
    zh="| 你看到的 | 编号 | 怎么办 |\n|---|---|---|",
)
SHARED_TITLE = Text(en="In every lab", zh="所有实验共有")
DAY_TITLE = Text(en="Day {day}", zh="第 {day} 天")
CODES_HEAD = Text(
    en="| code | cause | next step |\n|---|---|---|",
    zh="| 编号 | 原因 | 下一步 |\n|---|---|---|",
)
EXERCISE = Text(
    en="Exercise {exercise}, `{file}`, item {item}.", zh="练习 {exercise}，`{file}`，第 {item} 项。"
)
ABOUT = Text(en="Generate the pages of all diagnoses.", zh="生成全部诊断的页面。")
ABOUT_CHECK = Text(en="only compare", zh="只比较")
BEHIND = Text(
    en="{path} is behind: run `python -m shared.authoring.catalogue`.",
    zh="{path} 已经过时：请运行 `python -m shared.authoring.catalogue`。",
)
WRITTEN = Text(en="written: {path}", zh="已写入：{path}")
IN_STEP = Text(en="The pages of diagnoses are in step.", zh="诊断页面与目录一致。")
FIELD = re.compile(r"\{[a-z_]+(?:![rsa])?(?::[^{}]*)?\}")


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Write or compare the pages: exit code 0, 1 when `--check` finds one behind, 2 wrong usage."""
    use_unicode_output()
    language = spoken_language()
    if language is None:
        return 2
    parser = argparse.ArgumentParser(
        prog="python -m shared.authoring.catalogue", description=ABOUT.get(language)
    )
    parser.add_argument("--check", action="store_true", help=ABOUT_CHECK.get(language))
    only_check: bool = parser.parse_args(argv).check
    behind = [name for each, name in PAGES.items() if _held(root / name) != page(each)]
    for each, name in PAGES.items():
        if name not in behind:
            continue
        if only_check:
            print(BEHIND(path=name).get(language))
        else:
            draft = (root / name).with_name(f"{Path(name).name}.new")
            draft.write_text(page(each), encoding="utf-8", newline="\n")
            draft.replace(root / name)
            print(WRITTEN(path=name).get(language))
    if not behind:
        print(IN_STEP.get(language))
    return 1 if behind and only_check else 0


def page(language: Language) -> str:
    """The whole page in one language, as Markdown."""
    other = next(each for each in LANGUAGES if each != language)
    link = {"en": "English", "zh": "中文"}[other]
    parts = [
        f"# {TITLE.get(language)}",
        f"[{link}]({Path(PAGES[other]).name})",
        INTRO.get(language),
        f"## {SYMPTOMS_TITLE.get(language)}",
        _symptoms(language),
        f"## {SHARED_TITLE.get(language)}",
        *_groups(CATALOGUE, None, language),
    ]
    for day, lab in days().items():
        checks = load_checks(lab)
        title = f"{DAY_TITLE(day=day).get(language)}: {checks.title.get(language)}"
        parts += [f"## {title}", *_groups(checks.diagnoses, checks, language)]
    return "\n\n".join(parts) + "\n"


def _symptoms(language: Language) -> str:
    rows = [SYMPTOMS_HEAD.get(language)]
    for symptom in SYMPTOMS:
        codes = ", ".join(f"`{code}`" for code in symptom.codes) or "–"
        seen, move = (_cell(text.get(language)) for text in (symptom.seen, symptom.move))
        rows.append(f"| {seen} | {codes} | {move} |")
    return "\n".join(rows)


def _groups(
    catalogue: dict[str, Diagnosis], checks: Checks | None, language: Language
) -> list[str]:
    """A heading and a table for each group, in the order of the catalogue."""
    groups: dict[str, list[str]] = {}
    for code, diagnosis in catalogue.items():
        cause, step = (
            _cell(_blanked(text.get(language))) for text in (diagnosis.cause, diagnosis.step)
        )
        row = f"| `{code}` | {cause or '–'} | {step or '–'} |"
        groups.setdefault(code.partition(".")[0], []).append(row)
    parts = []
    for prefix, rows in groups.items():
        parts.append(f"### {GROUPS[prefix].get(language)}")
        if checks is not None:
            parts.append(_exercise(checks, prefix).get(language))
        parts.append("\n".join([CODES_HEAD.get(language), *rows]))
    return parts


def _exercise(checks: Checks, prefix: str) -> Text:
    exercise = EXERCISES[checks.day][prefix]
    item = next(item.id for item in checks.items if item.exercise == exercise)
    return EXERCISE(exercise=exercise, file=checks.exercises[exercise], item=item)


def _blanked(template: str) -> str:
    """The text with `…` for what a run fills in, and plain braces."""
    return FIELD.sub("…", template).replace("{{", "{").replace("}}", "}")


def _cell(text: str) -> str:
    """A text that a Markdown table takes as one cell."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _held(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return None


if __name__ == "__main__":
    sys.exit(main())
