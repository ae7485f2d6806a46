"""The lesson of day 23: both languages alike, nothing in it that is not there, and its wire real.

Requests shown in the lesson are sent again, and the answers compared with those shown; the
conversations shown are held again. `…` in a message stands for whatever was left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from shared.authoring.build import starter_tree
from shared.authoring.regions import parse
from shared.i18n import Language
from shared.program import EMPTY, LABELS

ROOT = Path(__file__).resolve().parents[2]
LAB = "day23_mcp_server"
SOLUTION = ROOT / "solutions" / LAB
LESSONS: dict[Language, Path] = {"en": SOLUTION / "README.md", "zh": SOLUTION / "README.zh-CN.md"}
SERVER = f"solutions.{LAB}.mcp_server"
LEFT_OUT = "…"


# -- reading a lesson ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block of code: its language and its lines."""

    language: str
    lines: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a lesson, in order."""
    return [
        Block(language, tuple(body.splitlines()))
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def prose(text: str) -> str:
    """A lesson without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def headings(text: str) -> list[str]:
    """The headings of a lesson, in order."""
    return re.findall(r"^#+ .*$", prose(text), re.MULTILINE)


def without_comment(line: str) -> str:
    """A shell line without its comment, which is in the language of the lesson."""
    return re.sub(r"\s*#.*", "", line)


@pytest.fixture(params=list(LESSONS))
def lesson(request: pytest.FixtureRequest) -> str:
    """The text of the lesson, in each language."""
    return LESSONS[request.param].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def both() -> tuple[str, str]:
    """The text of the lesson, English and Chinese."""
    english, chinese = (path.read_text(encoding="utf-8") for path in LESSONS.values())
    return english, chinese


# -- the two languages -----------------------------------------------------------------------------


def test_both_languages_have_the_same_outline(both: tuple[str, str]) -> None:
    levels = [[heading.split()[0] for heading in headings(text)] for text in both]
    assert levels[0] == levels[1]
    assert len(levels[0]) > 30


def test_both_languages_have_the_same_exercises_and_questions(both: tuple[str, str]) -> None:
    for pattern in (r"^### (?:Exercise|练习) (\d)", r"^<summary>(\d)\."):
        numbers = [re.findall(pattern, text, re.MULTILINE) for text in both]
        assert numbers[0] == numbers[1]
        assert numbers[0] == [str(n + 1) for n in range(len(numbers[0]))] != []


def test_both_languages_have_the_same_tables(both: tuple[str, str]) -> None:
    rows = [re.findall(r"^\|.*\|$", prose(text), re.MULTILINE) for text in both]
    assert [row.count("|") for row in rows[0]] == [row.count("|") for row in rows[1]]


@pytest.mark.parametrize("language", ["bash", "json", "text"])
def test_both_languages_have_the_same_commands_and_messages(
    both: tuple[str, str], language: str
) -> None:
    def shown(text: str) -> list[list[str]]:
        found = [block.lines for block in blocks(text) if block.language == language]
        clean = without_comment if language == "bash" else str
        return [[clean(line) for line in lines] for lines in found]

    assert shown(both[0]) == shown(both[1]) != []


def test_both_languages_link_to_the_same_files(both: tuple[str, str]) -> None:
    english, chinese = (set(links(text)) for text in both)
    assert english - {"README.zh-CN.md"} == chinese - {"README.md"}


# -- what the lesson names is there ----------------------------------------------------------------


def links(text: str) -> list[str]:
    """Where the links of a lesson lead."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(text))


def starter_files() -> set[Path]:
    """The files that labs/ has, from the generator and not from the disk."""
    return {ROOT / "labs" / path for path in starter_tree(ROOT / "solutions")}


def test_links_lead_somewhere_from_both_folders(lesson: str) -> None:
    there = starter_files()
    for link in links(lesson):
        assert "://" not in link, f"{link} cannot be checked offline"
        assert (SOLUTION / link).is_file(), link
        seen_from_lab = Path(os.path.normpath(ROOT / "labs" / LAB / link))
        assert seen_from_lab in there or seen_from_lab.is_file(), link


def code(text: str) -> str:
    """All that a lesson shows as code."""
    fenced = "\n".join("\n".join(block.lines) for block in blocks(text))
    return fenced + "\n" + "\n".join(re.findall(r"`([^`\n]+)`", prose(text)))


def test_make_targets_exist(lesson: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z][\w%-]*):(?!=)", makefile, re.MULTILINE)
    named = set(re.findall(r"\bmake ([a-z][\w-]*)", code(lesson)))
    assert named >= {"lab-23", "solution-23"}
    for name in named:
        assert any(re.fullmatch(target.replace("%", r"\d+"), name) for target in targets), (
            f"make {name}"
        )


def test_programs_exist(lesson: str) -> None:
    there = starter_files()
    modules = set(re.findall(r"python -m ([\w.]+)", code(lesson)))
    modules |= set(re.findall(r'"-m", "([\w.]+)"', code(lesson)))
    assert modules >= {f"labs.{LAB}.host", SERVER}
    for module in modules:
        if module.startswith("labs."):
            assert ROOT / f"{module.replace('.', '/')}.py" in there, module
        else:
            assert find_spec(module), module
    for script in re.findall(r"python ([\w/]+\.py)", code(lesson)):
        assert (ROOT / script).is_file(), script


def test_options_of_the_self_test_exist(lesson: str) -> None:
    used = set(re.findall(r"selftest\.py 23.*?(--[a-z]+)", code(lesson)))
    assert used >= {"--item", "--seed", "--cold", "--verbose"}
    help_text = run([sys.executable, "selftest.py", "--help"])
    for option in used:
        assert option in help_text, option


def test_json_is_json(lesson: str) -> None:
    for block in blocks(lesson):
        if block.language == "json":
            json.loads("\n".join(block.lines))


def test_the_configuration_shown_is_that_of_the_lab(lesson: str) -> None:
    shown = [json.loads("\n".join(b.lines)) for b in blocks(lesson) if b.language == "json"]
    ours = json.loads((SOLUTION / "mcp.json").read_text(encoding="utf-8"))
    assert ours in shown
    larger = [config for config in shown if "clock" in config.get("mcpServers", {})]
    assert [config["mcpServers"]["shop"] for config in larger] == [ours["mcpServers"]["shop"]]


def test_the_exercises_are_not_given_away(lesson: str) -> None:
    shown = code(lesson)
    for path in SOLUTION.glob("*.py"):
        for region in parse(path.read_text(encoding="utf-8"), path):
            for line in region.solution:
                words = line.split("#")[0].strip()
                if len(words) > 25 and not words.startswith('"'):
                    assert words not in shown, f"exercise {region.exercise}: {words}"


# -- the wire --------------------------------------------------------------------------------------

HANDSHAKE: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "day23-client", "version": "1.0.0"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


@dataclass(frozen=True)
class Recording:
    """What the lesson shows of one connection: the server's module and the messages, in order."""

    module: str
    messages: tuple[tuple[str, str], ...]  # arrow and message


def recordings(text: str) -> list[Recording]:
    """The connections that a lesson shows: a block that begins with `$ python -m MODULE` names its
    server, all others are pieces of one conversation with the server of the day.

    What that server is asked before its handshake comes first, and needs no server of its own.
    """
    main: list[tuple[str, str]] = []
    others = []
    for block in blocks(text):
        found = [re.fullmatch(r"(-->|<--) (.*)", line) for line in block.lines]
        messages = [(match[1], match[2]) for match in found if match]
        if not messages:
            continue
        command = re.fullmatch(r"\$ python -m ([\w.]+)", block.lines[0])
        assert len(messages) == len(block.lines) - bool(command), block.lines
        if command and command[1] == SERVER:
            main = messages + main
        elif command:
            others.append(Recording(command[1], tuple(messages)))
        else:
            main += messages
    return [Recording(SERVER, tuple(main)), *others]


def replay(recording: Recording) -> list[tuple[Any, Any]]:
    """Send the requests of a recording again; the answers as shown, and as they really come."""
    pairs = []
    process = subprocess.Popen(
        [sys.executable, "-m", recording.module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert process.stdin
    assert process.stdout

    def send(message: dict[str, Any]) -> None:
        assert process.stdin
        process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        process.stdin.flush()

    with process:
        if '"id":1' not in recording.messages[0][1]:  # the handshake came before what is shown
            for message in HANDSHAKE:
                send(message)
            process.stdout.readline()
        for arrow, text in recording.messages:
            if arrow == "-->":
                send(json.loads(text))
            else:
                pairs.append((read_abbreviated(text), json.loads(process.stdout.readline())))
        process.stdin.close()
        rest = process.stdout.read()
    assert rest == b"", "the server says more than the lesson shows"
    assert process.returncode == 0
    return pairs


def read_abbreviated(text: str) -> Any:
    """Parse a message in which `…` may stand for a value, for members or for elements."""
    whole, inside, quoted = "", [""], False
    for place, char in enumerate(text):
        if char == '"' and text[place - 1] != "\\":
            quoted = not quoted
        if quoted or char == '"':
            whole += char
            continue
        if char in "{[":
            inside.append(char)
        elif char in "}]":
            inside.pop()
        if char != LEFT_OUT:
            whole += char
        elif inside[-1] == "{" and not whole.endswith(":"):
            whole += f'"{LEFT_OUT}":null'  # members
        else:
            whole += f'"{LEFT_OUT}"'  # a value, or elements
    return json.loads(whole)


def differences(shown: Any, real: Any, where: str = "") -> list[str]:
    """Where a message is not what the lesson shows; members may stand in another order."""
    if shown == LEFT_OUT:
        return []
    if isinstance(shown, dict) and isinstance(real, dict):
        found = (
            [] if LEFT_OUT in shown else [f"{where}.{key} not shown" for key in real.keys() - shown]
        )
        for key in shown.keys() - {LEFT_OUT}:
            if key in real:
                found += differences(shown[key], real[key], f"{where}.{key}")
            else:
                found.append(f"{where}.{key} is not there")
        return found
    if isinstance(shown, list) and isinstance(real, list):
        if shown[-1:] == [LEFT_OUT]:
            shown, real = shown[:-1], real[: len(shown) - 1]
        if len(shown) != len(real):
            return [f"{where} has {len(real)} elements"]
        return [
            line
            for place, pair in enumerate(zip(shown, real, strict=True))
            for line in differences(*pair, f"{where}[{place}]")
        ]
    if isinstance(shown, str) and isinstance(real, str):
        pattern = ".*".join(map(re.escape, shown.split(LEFT_OUT)))
        return [] if re.fullmatch(pattern, real, re.DOTALL) else [f"{where} is {real!r}"]
    same = type(shown) is type(real) and shown == real
    return [] if same else [f"{where} is {real!r}"]


# -- conversations ---------------------------------------------------------------------------------

STARTER, FINISHED = "make lab-23", "make solution-23"


def conversations(text: str) -> dict[str, list[str]]:
    """The conversations that a lesson shows, by the make target that holds them."""
    found = {}
    for block in blocks(text):
        if block.language == "console":
            command = re.fullmatch(r"\$ MOCK=1 (make [\w-]+)(?: ASK=\"(.*)\")?", block.lines[0])
            assert command, block.lines[0]
            found[command[1]] = [command[2] or "", *block.lines[1:]]
    return found


def hold(folder: Path, package: str, question: str) -> str:
    """What the day's program prints when it is asked a question, in English."""
    return run(
        [sys.executable, "-m", f"{package}.{LAB}.agent", *filter(None, [question])],
        cwd=folder,
        PYTHONPATH=os.pathsep.join([str(folder), str(ROOT)]),
    )


def run(argv: list[str], cwd: Path = ROOT, **env: str) -> str:
    """The output of a command; its log goes nowhere."""
    told = {**os.environ, "MOCK": "1", "LAB_LANG": "en", "PYTHONUTF8": "1", **env}
    told.pop("SHOP_DATA", None)
    return subprocess.run(
        argv,
        cwd=cwd,
        env=told,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ).stdout


@dataclass(frozen=True)
class Today:
    """What the programs of the lesson do today."""

    answers: list[tuple[Any, Any]]
    conversations: dict[str, str]


@pytest.fixture(scope="module")
def today(both: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Today:
    """Everything that the lesson shows, done again, side by side."""
    folder = tmp_path_factory.mktemp("starter")
    for path, content in starter_tree(ROOT / "solutions").items():
        target = folder / "labs" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    question = conversations(both[0])[FINISHED][0]
    with ThreadPoolExecutor() as pool:
        starter = pool.submit(hold, folder, "labs", "")
        finished = pool.submit(hold, ROOT, "solutions", question)
        replayed = pool.map(replay, recordings(both[0]))
        answers = [pair for pairs in replayed for pair in pairs]
        return Today(answers, {STARTER: starter.result(), FINISHED: finished.result()})


def test_the_wire_says_today_what_the_lesson_shows(today: Today) -> None:
    assert len(today.answers) >= 10
    found = [line for shown, real in today.answers for line in differences(shown, real)]
    assert found == []


@pytest.mark.parametrize("language", LESSONS)
@pytest.mark.parametrize("target", [STARTER, FINISHED])
def test_conversations_go_today_as_the_lesson_shows(
    both: tuple[str, str], today: Today, language: Language, target: str
) -> None:
    shown = conversations(both[list(LESSONS).index(language)])[target][1:]
    in_english = []
    for line in shown:
        for label in LABELS.values():
            mine, english = (f"{word}:" for word in (label.get(language), label.en))
            if line.startswith(mine):
                line = english + line[len(mine) :]
                break
        in_english.append(line.replace(EMPTY.get(language), EMPTY.en))
    real = [line.rstrip() for line in today.conversations[target].splitlines()]
    assert in_english == real


# -- this test itself ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "real", "count"),
    [
        ('{"a":1}', {"a": 1}, 0),
        ('{"a":1}', {"a": 2}, 1),
        ('{"a":false}', {"a": 0}, 1),
        ('{"a":1}', {"a": 1, "b": 2}, 1),
        ('{"a":1,…}', {"a": 1, "b": 2}, 0),
        ('{"a":1,…}', {"b": 2}, 1),
        ('{"a":…}', {"a": {"b": [1]}}, 0),
        ('{"a":{…}}', {"a": {"b": [1]}}, 0),
        ('{"a":[1,…]}', {"a": [1, 2, 3]}, 0),
        ('{"a":[1]}', {"a": [1, 2]}, 1),
        ('{"a":"x \\"…\\" z"}', {"a": 'x "y" z'}, 0),
        ('{"a":"x…"}', {"a": "y"}, 1),
    ],
)
def test_an_abbreviated_message_is_compared_by_what_it_shows(
    shown: str, real: Any, count: int
) -> None:
    assert len(differences(read_abbreviated(shown), real)) == count


# -- the pages for authors -------------------------------------------------------------------------


def first_cells(page: str) -> set[str]:
    """What stands as code in the first column of the tables of a page under docs/."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_map_names_every_module() -> None:
    shared = ROOT / "shared"
    modules = {
        path.relative_to(shared).as_posix()
        for path in shared.rglob("*.py")
        if path.name != "__init__.py"
    }
    named = {name for name in first_cells("architecture.md") if name.endswith(".py")}
    assert named - modules == set(), "docs/architecture.md names what is not there"
    assert modules - named == set(), "docs/architecture.md lacks these modules of shared/"


def test_every_dependency_is_accounted_for() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    packages = set(re.findall(r'^ +"([A-Za-z][\w-]*)[=<>]', project, re.MULTILINE))
    packages = {package.lower() for package in packages}
    assert packages >= {"mcp", "openai", "pytest"}
    assert first_cells("dependencies.md") == packages
