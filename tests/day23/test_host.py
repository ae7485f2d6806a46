"""Several servers in one mcp.json are one list of tools, and no line of the host knows of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.chat.model import ChatModel
from shared.mcp_config import ConfigError
from solutions.day23_mcp_server.agent import run_agent
from solutions.day23_mcp_server.host import Host
from solutions.day23_mcp_server.mcp_client import ProtocolError

from .conftest import ROOT, SERVER, children, command
from .native import native
from .scripted import ECHO, write_server

pytestmark = pytest.mark.timeout(60)

Json = dict[str, Any]


def write_config(path: Path, **servers: Json) -> Path:
    path.write_text(json.dumps({"mcpServers": servers}, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host with the shop and, by one more line in its mcp.json, a server from elsewhere."""
    shop = {"command": "python", "args": [str(SERVER)]}
    clock = {"command": command("mcp-server-time"), "args": ["--local-timezone", "UTC"]}
    config = write_config(tmp_path_factory.mktemp("host") / "mcp.json", shop=shop, clock=clock)
    with Host(config) as host:
        yield host


# -- one list -------------------------------------------------------------------------------------


def test_the_tools_of_both_in_the_order_of_the_file(host: Host) -> None:
    names = [tool["name"] for tool in host.list_tools()]
    assert names == ["query_order", "track_shipment", "get_current_time", "convert_time"]


def test_each_call_goes_to_its_owner(host: Host) -> None:
    host.list_tools()
    assert "已发货" in host.call_tool("query_order", {"order_id": "SO20260901"}).text
    assert "+08:00" in host.call_tool("get_current_time", {"timezone": "Asia/Shanghai"}).text
    assert "SF1029384756" in host.call_tool("track_shipment", {"order_id": "SO20260901"}).text


def test_a_tool_that_no_server_has(host: Host) -> None:
    host.list_tools()
    with pytest.raises(ProtocolError, match="no server has a tool named cancel_order") as refused:
        host.call_tool("cancel_order", {})
    assert refused.value.code == -32602


# -- the agent over one list ----------------------------------------------------------------------


class Watched:
    """The mock model; keeps the tools that it was offered."""

    def __init__(self) -> None:
        self.model = ChatModel.from_env({"MOCK": "1"})
        self.offered: list[list[Json]] = []

    def complete(self, messages: list[Json], tools: list[Json]) -> Json:
        self.offered.append(tools)
        return self.model.complete(messages, tools)


def ask(host: Host, question: str) -> tuple[list[tuple[str, Json]], list[str], str]:
    """The calls that the model made for a question, what it was told, and its answer."""
    seen: list[Json] = []
    answer = run_agent(question, Watched(), host, seen.append)
    calls = [call["function"] for message in seen for call in message.get("tool_calls", [])]
    told = [message["content"] for message in seen if message["role"] == "tool"]
    return [(call["name"], json.loads(call["arguments"])) for call in calls], told, answer


def test_the_lessons_question_goes_to_the_shop(host: Host) -> None:
    calls, [told], answer = ask(host, "帮我查一下订单 SO20260901 现在什么状态")
    assert calls == [("query_order", {"order_id": "SO20260901"})]
    assert json.loads(told)["status"] == "已发货"
    assert "已发货" in answer


def test_the_time_elsewhere_goes_to_the_second_server(host: Host) -> None:
    calls, [told], answer = ask(host, "现在 Asia/Shanghai 几点？")
    assert calls == [("get_current_time", {"timezone": "Asia/Shanghai"})]
    assert json.loads(told)["datetime"] in answer


def test_the_date_goes_to_the_local_tool(host: Host) -> None:
    calls, [told], answer = ask(host, "今天几号？")
    assert calls == [("today", {})]
    assert told.startswith("今天是 20")
    assert told in answer


def test_the_model_cannot_tell_local_tools_from_those_of_servers(host: Host) -> None:
    model = Watched()
    run_agent("今天几号？", model, host)
    tools = model.offered[0]
    assert [tool["function"]["name"] for tool in tools] == [
        "today",
        "query_order",
        "track_shipment",
        "get_current_time",
        "convert_time",
    ]
    for tool in tools:
        assert list(tool) == ["type", "function"]
        assert tool["type"] == "function"
        assert list(tool["function"]) == ["name", "description", "parameters"]
        assert tool["function"]["parameters"]["type"] == "object"
        assert isinstance(tool["function"]["parameters"]["properties"], dict)
    assert all(offered == tools for offered in model.offered)


class Scripted:
    """A model that says what it is told to say, and keeps what it heard."""

    def __init__(self, *answers: Json) -> None:
        self.answers = list(answers)
        self.heard: list[Json] = []

    def complete(self, messages: list[Json], tools: list[Json]) -> Json:
        self.heard = list(messages)
        return self.answers.pop(0)


def calling(*calls: tuple[str, str]) -> Json:
    """An answer with these calls: name, and arguments as a model writes them."""
    return {
        "role": "assistant",
        "tool_calls": [
            {
                "id": f"call_{name}_{n}",
                "type": "function",
                "function": {"name": name, "arguments": a},
            }
            for n, (name, a) in enumerate(calls)
        ],
    }


def test_a_model_that_gets_it_wrong_is_told_and_goes_on(host: Host) -> None:
    """Against real servers: every way in which a call fails, and then one that does not."""
    wrong = [
        ("cancel_order", '{"order_id": "SO20260901"}', "no server has a tool named cancel_order"),
        ("query_order", '{"order_id": "SO2026', "参数不是合法的 JSON"),
        ("query_order", '["SO20260901"]', "-32602"),
        ("query_order", '{"order_id": "20260901"}', "string_pattern_mismatch"),
        ("query_order", '{"order_id": "SO20260902"}', "最接近的订单号是 SO20260901"),
        ("get_current_time", '{"timezone": "Asia/Atlantis"}', "Atlantis"),
        ("get_current_time", '{"timezone": "\\ud83d"}', "?"),
    ]
    model = Scripted(
        *(calling((name, arguments)) for name, arguments, _ in wrong[:3]),
        calling(*((name, arguments) for name, arguments, _ in wrong[3:])),
        calling(("query_order", '{"order_id": "SO20260901"}')),
        {"role": "assistant", "content": "已发货"},
    )
    assert run_agent("?", model, host) == "已发货"
    told = [message["content"] for message in model.heard if message["role"] == "tool"]
    assert len(told) == len(wrong) + 1
    for (_, _, words), text in zip(wrong, told, strict=False):
        assert words in text
        assert "失败" in text or "不是合法的 JSON" in text
    assert json.loads(told[-1])["status"] == "已发货"


# -- what can be wrong with a configuration -------------------------------------------------------


@pytest.fixture
def echo(tmp_path: Path) -> Json:
    """The entry of a server that starts at once, and has one tool: echo."""
    return {"command": "python", "args": ["-S", str(write_server(tmp_path / "echo.py", ECHO))]}


@pytest.mark.usefixtures("no_child_left")
def test_the_same_tool_in_two_servers(tmp_path: Path, echo: Json) -> None:
    config = write_config(tmp_path / "mcp.json", one=echo, two=echo)
    with Host(config) as host, pytest.raises(ConfigError) as twice:
        host.list_tools()
    for language in ("en", "zh"):
        assert "echo" in twice.value.text.get(language)
        assert str(config) in twice.value.text.get(language)


BAD_SERVERS: dict[str, tuple[Json, str]] = {
    "a command that does not exist": ({"command": "no-such-program"}, "no-such-program"),
    "a folder as command": ({"command": os.curdir}, os.curdir),
    "ended at once": ({"command": "python", "args": ["-c", "raise SystemExit(4)"]}, "exit code 4"),
    "another version": ({"command": "python", "args": ["other.py"]}, "2024-11-05"),
}


@pytest.mark.usefixtures("no_child_left")
@pytest.mark.parametrize("name", BAD_SERVERS)
def test_a_server_that_cannot_be_used_takes_the_others_down(
    tmp_path: Path, echo: Json, name: str
) -> None:
    bad, words = BAD_SERVERS[name]
    write_server(tmp_path / "other.py", "shake_hands('2024-11-05')\nreceive()")
    config = write_config(tmp_path / "mcp.json", one=echo, two=echo, 坏=bad, four=echo)
    before = children()
    with pytest.raises(ConfigError) as failed, Host(config):
        pytest.fail("the block was entered")
    assert children() == before
    for language in ("en", "zh"):
        sentence = failed.value.text.get(language)
        assert str(config) in sentence
        assert "坏" in sentence
        assert words in sentence
    assert "\n" not in str(failed.value)


def test_the_entry_decides_folder_and_environment(tmp_path: Path) -> None:
    folder = tmp_path / native("我的 servers")
    folder.mkdir()
    body = "shake_hands()\nreceive()\nanswer(receive(), tools=[tool(os.environ['NAME'])])\n"
    write_server(folder / "mine.py", body + "tell(receive(), ' '.join(sorted(os.listdir())))")
    entry = {"command": "python3", "args": ["-S", "mine.py"], "env": {"NAME": "mine"}}
    with Host(write_config(folder / "mcp.json", mine=entry)) as host:
        assert [tool["name"] for tool in host.list_tools()] == ["mine"]
        assert host.call_tool("mine", {}).text == "mcp.json mine.py"


# -- the host as a program ------------------------------------------------------------------------


def run_host(*arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "solutions.day23_mcp_server.host", *arguments],
        cwd=ROOT,
        env={**os.environ, "LAB_LANG": "en", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )


def test_as_a_program_it_lists_and_calls(tmp_path: Path, echo: Json) -> None:
    config = write_config(tmp_path / "mcp.json", one=echo)
    listed = run_host("--config", str(config))
    assert [tool["name"] for tool in json.loads(listed.stdout)] == ["echo"]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    called = run_host("--config", str(config), "echo", '{"a": "\\u8ba2"}', **locale)
    assert called.returncode == 0, called.stderr
    [result] = json.loads(called.stdout.decode())
    assert result == {"text": '{"a": "订"}', "is_error": False}


def test_as_a_program_it_says_what_is_wrong_with_its_file(tmp_path: Path) -> None:
    missing = run_host("--config", str(tmp_path / "none.json"))
    assert missing.returncode == 2
    assert missing.stdout == b""
    [sentence] = missing.stderr.decode().splitlines()
    assert str(tmp_path / "none.json") in sentence
