"""The blanks of the starter hold the traps that the lesson speaks of, and nothing crashes in them.

All of it runs in one child process, on a starter made from the solutions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shared.authoring.starters import starter_tree

from .conftest import ROOT
from .scripted import PRELUDE

Json = dict[str, Any]

PROBE = '''
import json
import sys

from labs.day23_mcp_server import agent, bridge, mcp_client, should_use_mcp
from labs.day23_mcp_server.mcp_client import McpClient, ProtocolError, ServerExited, ToolResult

server, heard = sys.argv[1:]


class Fake:
    """A source of tools that answers every call with the same result or error."""

    def __init__(self, outcome):
        self.outcome = outcome

    def call_tool(self, name, arguments):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def told(outcome):
    try:
        return agent.run_tool(Fake(outcome), "look", "{}")
    except mcp_client.McpError as error:
        return type(error).__name__


tool = {
    "name": "query_order",
    "description": "查订单",
    "inputSchema": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
    },
}
with McpClient(sys.executable, ["-S", server, heard]) as client:
    client.initialize()
    called = client.call_tool("look", {"order_id": "SO20260901"})
decision = should_use_mcp.should_use_mcp(1, False, False)
print(json.dumps({
    "file": bridge.__file__,
    "function_tool": bridge.to_function_tool(tool),
    "called": [called.text, called.is_error],
    "good": told(ToolResult("已发货", is_error=False)),
    "is_error": told(ToolResult("没有这个订单", is_error=True)),
    "protocol_error": told(ProtocolError(-32602, "no")),
    "exited": told(ServerExited("gone")),
    "decision": [decision.use, decision.reasons],
}))
'''

LISTENER = """
with open(sys.argv[1], "w") as heard:
    while True:
        request = receive()
        print(request["method"], file=heard, flush=True)
        if request["method"] == "initialize":
            answer(request, protocolVersion="2025-06-18", capabilities={}, serverInfo={})
        elif "id" in request:
            tell(request, "已发货")
"""


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("heard") / "methods"


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory, heard: Path) -> Json:
    """What the functions of the starter do."""
    folder = tmp_path_factory.mktemp("starter")
    for path, content in starter_tree(ROOT / "solutions").items():
        (folder / "labs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "labs" / path).write_bytes(content)
    server = folder / "server.py"
    server.write_text(PRELUDE + LISTENER, encoding="utf-8")
    (folder / "probe.py").write_text(PROBE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "probe.py", str(server), str(heard)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    did: Json = json.loads(done.stdout)
    assert Path(did["file"]).is_relative_to(folder), "this is not the starter"
    return did


def test_the_bridge_tells_the_model_of_no_argument(starter: Json) -> None:
    assert starter["function_tool"] == {
        "type": "function",
        "function": {
            "name": "query_order",
            "description": "查订单",
            "parameters": {"type": "object", "properties": {}},
        },
    }


def test_the_client_sends_no_call(starter: Json, heard: Path) -> None:
    assert starter["called"] == ["", True]
    assert heard.read_text("utf-8").split() == ["initialize", "notifications/initialized"]


def test_the_agent_swallows_what_a_tool_says_of_its_failure(starter: Json) -> None:
    assert starter["good"] == "已发货"
    assert starter["is_error"] == ""


def test_the_agent_lets_a_call_without_a_result_end_the_program(starter: Json) -> None:
    assert (starter["protocol_error"], starter["exited"]) == ("ProtocolError", "ServerExited")


def test_the_decision_is_always_yes(starter: Json) -> None:
    use, reasons = starter["decision"]
    assert use is True
    assert reasons
