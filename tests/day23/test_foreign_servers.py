"""The day-23 client against servers that nobody here wrote, and one that refuses the other way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from solutions.day23_mcp_server.mcp_client import McpClient, ProtocolError, ServerExited

from .conftest import ROOT, command
from .native import native

pytestmark = pytest.mark.timeout(60)


# -- mcp-server-time ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clock() -> Iterator[McpClient]:
    with McpClient(command("mcp-server-time"), ["--local-timezone", "UTC"]) as client:
        about = client.initialize()
        assert about["protocolVersion"] == "2025-06-18"
        assert about["serverInfo"]["name"] == "mcp-time"
        yield client


def test_time_lists_its_tools(clock: McpClient) -> None:
    tools = {tool["name"]: tool for tool in clock.list_tools()}
    assert sorted(tools) == ["convert_time", "get_current_time"]
    assert tools["get_current_time"]["inputSchema"]["required"] == ["timezone"]


def test_time_tells_the_time(clock: McpClient) -> None:
    result = clock.call_tool("get_current_time", {"timezone": "Asia/Shanghai"})
    assert not result.is_error
    told = json.loads(result.text)
    assert told["timezone"] == "Asia/Shanghai"
    assert told["datetime"].endswith("+08:00")


def test_time_converts(clock: McpClient) -> None:
    given = {"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Shanghai"}
    result = clock.call_tool("convert_time", given)
    assert not result.is_error
    told = json.loads(result.text)
    assert "T00:30:00+08:00" in told["target"]["datetime"]
    assert told["time_difference"] == "+8.0h"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("get_current_time", {"timezone": "Asia/Atlantis"}, "Atlantis"),
        ("get_current_time", {}, "timezone"),
        (
            "convert_time",
            {"source_timezone": "UTC", "time": "25 o'clock", "target_timezone": "UTC"},
            "time",
        ),
    ],
)
def test_time_says_that_a_tool_failed(
    clock: McpClient, name: str, arguments: dict[str, str], words: str
) -> None:
    result = clock.call_tool(name, arguments)
    assert result.is_error
    assert words in result.text


def test_time_answers_an_unknown_tool_with_an_error(clock: McpClient) -> None:
    with pytest.raises(ProtocolError) as refused:
        clock.call_tool("stop_time", {})
    assert refused.value.code == -32602
    assert "stop_time" in refused.value.message
    assert str(refused.value) == f"{refused.value.message} (JSON-RPC error -32602)"
    assert [tool["name"] for tool in clock.list_tools()], "the connection is as good as before"


# -- mcp-server-git -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, and a file that is not in it."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "orders.txt").write_text("SO20260901\n", encoding="utf-8")
    (folder / "new.txt").write_text("SO20260915\n", encoding="utf-8")
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_NAME": native("小明") for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ming@example.com" for who in ("AUTHOR", "COMMITTER")},
    }
    message = native("第一笔订单")
    for arguments in (["init", "-q"], ["add", "orders.txt"], ["commit", "-q", "-m", message]):
        subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **settings}, check=True)
    return folder


@pytest.fixture(scope="module")
def git(repository: Path) -> Iterator[McpClient]:
    with McpClient(command("mcp-server-git"), ["--repository", str(repository)]) as client:
        assert client.initialize()["protocolVersion"] == "2025-06-18"
        yield client


def test_git_lists_its_tools(git: McpClient) -> None:
    names = [tool["name"] for tool in git.list_tools()]
    assert {"git_status", "git_log", "git_commit"} <= set(names)
    assert len(names) == len(set(names)) == 12


def test_git_shows_the_status(git: McpClient, repository: Path) -> None:
    result = git.call_tool("git_status", {"repo_path": str(repository)})
    assert not result.is_error
    assert "new.txt" in result.text
    assert "orders.txt" not in result.text


def test_git_shows_the_log(git: McpClient, repository: Path) -> None:
    result = git.call_tool("git_log", {"repo_path": str(repository)})
    assert not result.is_error
    assert "第一笔订单" in result.text
    assert "小明" in result.text


def test_git_refuses_another_repository(git: McpClient, tmp_path: Path) -> None:
    result = git.call_tool("git_status", {"repo_path": str(tmp_path)})
    assert result.is_error
    assert str(tmp_path) in result.text


# -- a server that refuses with JSON-RPC errors, and one that dies in mid-call --------------------


def strict(*options: str) -> McpClient:
    arguments = ["-m", "shared.peers.strict_server", *options]
    return McpClient(sys.executable, arguments, cwd=str(ROOT))


def test_a_json_rpc_error_is_a_protocol_error() -> None:
    with strict("--blocks") as client:
        client.initialize()
        with pytest.raises(ProtocolError) as refused:
            client.call_tool("query_order", {"order_id": "SO-20260901"})
        assert refused.value.code == -32602
        assert "did you mean SO20260901?" in refused.value.message
        with pytest.raises(ProtocolError, match="Unknown tool: cancel_order"):
            client.call_tool("cancel_order", {})
        result = client.call_tool("query_order", {"order_id": "SO20260901"})
    assert not result.is_error
    facts, image, placed, *_ = result.text.split("\n")
    assert json.loads(facts)["status"] == "已发货"
    assert image == "[image]"
    assert placed == "placed_at: 2026-09-01 10:24"


@pytest.mark.usefixtures("no_child_left")
def test_a_server_that_dies_in_mid_call() -> None:
    with strict("--exit-on-call") as client:
        client.initialize()
        assert [tool["name"] for tool in client.list_tools()] == ["query_order"]
        called = time.monotonic()
        with pytest.raises(ServerExited, match="exit code 3"):
            client.call_tool("query_order", {"order_id": "SO20260901"})
        assert time.monotonic() - called < 2
        called = time.monotonic()
        for _ in range(3):
            with pytest.raises(ServerExited, match="exit code 3"):
                client.call_tool("query_order", {"order_id": "SO20260901"})
            with pytest.raises(ServerExited, match="exit code 3"):
                client.list_tools()
        assert time.monotonic() - called < 1
