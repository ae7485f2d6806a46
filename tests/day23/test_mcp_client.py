"""What the day-23 client does when a server has habits of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from solutions.day23_mcp_server import mcp_client
from solutions.day23_mcp_server.mcp_client import (
    McpClient,
    ProtocolError,
    ServerExited,
    ToolResult,
)

from .conftest import SERVER, Serve
from .native import native
from .scripted import ECHO, write_server

pytestmark = [pytest.mark.timeout(20), pytest.mark.usefixtures("no_child_left")]


# -- the handshake --------------------------------------------------------------------------------


def test_the_handshake_in_its_order(serve: Serve, tmp_path: Path) -> None:
    heard = tmp_path / "heard.jsonl"
    client = serve(
        f"""
heard = open({str(heard)!r}, "w")
for _ in range(3):
    request = receive()
    print(json.dumps(request), file=heard, flush=True)
    if request["method"] == "initialize":
        answer(request, protocolVersion="2025-06-18", capabilities={{}}, serverInfo={{}})
answer(request, tools=[])
"""
    )
    assert client.initialize()["protocolVersion"] == "2025-06-18"
    assert client.list_tools() == []
    client.close()
    first, second, third = map(json.loads, heard.read_text("utf-8").splitlines())
    assert first["params"]["protocolVersion"] == "2025-06-18"
    assert second == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (third["method"], third["params"]) == ("tools/list", {})
    assert third["id"] != first["id"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_a_server_of_another_version(serve: Serve, version: str) -> None:
    client = serve(f"shake_hands({version!r})\nreceive()")
    with pytest.raises(ProtocolError, match=version):
        client.initialize()


def test_a_refused_handshake(serve: Serve) -> None:
    client = serve('send(id=receive()["id"], error={"code": -32000, "message": "closed today"})')
    with pytest.raises(ProtocolError, match=r"closed today \(JSON-RPC error -32000\)") as refused:
        client.initialize()
    assert refused.value.code == -32000


# -- what comes before the answer -----------------------------------------------------------------


def test_a_notification_before_the_answer(serve: Serve) -> None:
    client = serve(
        """
shake_hands()
receive()
request = receive()
send(method="notifications/message", params={"level": "info", "data": "looking"})
send(method="notifications/tools/list_changed")
tell(request, "found")
"""
    )
    client.initialize()
    assert client.call_tool("look", {}) == ToolResult("found", is_error=False)


def test_the_servers_own_request_is_not_the_answer(serve: Serve) -> None:
    """Both sides count their requests from 1: the same id in both directions is the rule."""
    client = serve(
        """
shake_hands()
receive()
request = receive()
send(id=request["id"], method="ping")
send(id=request["id"], method="roots/list", params={})
tell(request, "the real answer")
"""
    )
    client.initialize()
    assert client.call_tool("look", {}).text == "the real answer"


def test_the_answer_to_another_request_is_not_ours(serve: Serve) -> None:
    client = serve(
        """
shake_hands()
receive()
request = receive()
send(id=request["id"] + 100, result={"content": [{"type": "text", "text": "not ours"}]})
send(id=None, error={"code": -32700, "message": "not ours"})
tell(request, "ours")
"""
    )
    client.initialize()
    assert client.call_tool("look", {}).text == "ours"


@pytest.mark.parametrize(
    "stray",
    [b"server ready", b"", b"\xb6\xa9\xb5\xa5", b"[1, 2]", b'"text"', b"17", b'{"jsonrpc":'],
    ids=ascii,
)
def test_a_stray_line_is_skipped_and_reported(
    serve: Serve, capsys: pytest.CaptureFixture[str], stray: bytes
) -> None:
    client = serve(f"shake_hands()\nreceive()\nwrite({stray!r} + b'\\n')\ntell(receive(), 'found')")
    client.initialize()
    assert client.call_tool("look", {}).text == "found"
    assert f"skipped: {stray + os.linesep.encode()[-1:]!r}\n" in capsys.readouterr().err


# -- results --------------------------------------------------------------------------------------


def test_a_list_in_several_pages(serve: Serve) -> None:
    client = serve(
        """
shake_hands()
receive()
pages = {None: ("a", "two"), "two": ("b", ""), "": ("c", None)}
for _ in pages:
    request = receive()
    name, following = pages[request["params"].get("cursor")]
    more = {} if following is None else {"nextCursor": following}
    answer(request, tools=[tool(name)], **more)
"""
    )
    client.initialize()
    assert [tool["name"] for tool in client.list_tools()] == ["a", "b", "c"]


def test_content_blocks_become_one_text(serve: Serve) -> None:
    client = serve(
        """
shake_hands()
receive()
image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
words = [{"type": "text", "text": text} for text in ("第一段", "第二段")]
answer(receive(), content=[words[0], image, words[1]], isError=True)
answer(receive(), content=[])
"""
    )
    client.initialize()
    assert client.call_tool("look", {}) == ToolResult("第一段\n[image]\n第二段", is_error=True)
    assert client.call_tool("look", {}) == ToolResult("", is_error=False)


def test_a_tool_is_listed_as_the_server_describes_it(serve: Serve) -> None:
    client = serve(
        """
shake_hands()
receive()
answer(receive(), tools=[{**tool("look"), "title": "看", "annotations": {"x": [1, None]}}])
"""
    )
    client.initialize()
    assert client.list_tools() == [
        {
            "name": "look",
            "inputSchema": {"type": "object"},
            "title": "看",
            "annotations": {"x": [1, None]},
        }
    ]


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_a_long_line(serve: Serve, size: int) -> None:
    """Longer than any pipe: whoever writes it all before reading waits for ever."""
    client = serve(ECHO)
    client.initialize()
    given = {"text": "长" * (size // 3)}
    assert json.loads(client.call_tool("echo", given).text) == given


def test_what_is_no_text_is_still_sent(serve: Serve) -> None:
    """A model can write half of an emoji; no UTF-8 can carry it, and no client may die of it."""
    client = serve(ECHO)
    client.initialize()
    assert json.loads(client.call_tool("echo", {"text": "好\ud83d"}).text) == {"text": "好?"}


CLIENT = """
import json, sys
from solutions.day23_mcp_server.mcp_client import McpClient

def told(script, *calls):
    with McpClient(sys.executable, [script]) as client:
        client.initialize()
        return [client.call_tool(*call).text for call in calls]

echo, shop = sys.argv[1:]
texts = told(echo, ("echo", {"词": "订单 ✓"}))
texts += told(shop, *(("query_order", {"order_id": id}) for id in ("订单一号", "SO20260901")))
print(json.dumps(texts))
"""


def test_chinese_both_ways_in_the_c_locale(tmp_path: Path) -> None:
    """Messages are UTF-8, whatever the locale of client and server."""
    echo = write_server(tmp_path / "echo.py", ECHO)
    client = tmp_path / "client.py"
    client.write_text(CLIENT, encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, str(client), str(echo), str(SERVER)],
        env={**os.environ, **locale},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    echoed, refused, found = json.loads(done.stdout)
    assert json.loads(echoed) == {"词": "订单 ✓"}
    assert "订单一号" in refused
    assert "已发货" in found


# -- the process ----------------------------------------------------------------------------------


def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        McpClient("no-such-program", [])


def test_env_reaches_the_child_with_all_the_rest(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_THE_PARENT", "p")
    monkeypatch.setenv("BOTH", "p")
    client = serve(
        """
shake_hands()
receive()
names = ("FROM_THE_PARENT", "BOTH", "FROM_THE_ENTRY")
tell(receive(), " ".join(os.environ[name] for name in names))
""",
        env={"BOTH": "b", "FROM_THE_ENTRY": "e"},
    )
    client.initialize()
    assert client.call_tool("look", {}).text == "p b e"
    assert "FROM_THE_ENTRY" not in os.environ


def test_cwd_is_where_the_child_runs(tmp_path: Path) -> None:
    folder = tmp_path / native("一 folder")
    folder.mkdir()
    write_server(folder / "server.py", "shake_hands()\nreceive()\ntell(receive(), os.listdir()[0])")
    with McpClient(sys.executable, ["server.py"], cwd=str(folder)) as client:
        client.initialize()
        assert client.call_tool("look", {}).text == "server.py"


def test_a_server_that_floods_stderr(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    """A client that made stderr a pipe, and did not read it, would wait here for ever."""
    client = serve(
        """
shake_hands()
receive()
request = receive()
for _ in range(20_000):
    print("x" * 100, file=sys.stderr)
tell(request, "done")
"""
    )
    client.initialize()
    assert client.call_tool("look", {}).text == "done"
    assert capfd.readouterr().err.count("x" * 100 + "\n") == 20_000


def test_a_server_that_ends_before_it_answers(serve: Serve) -> None:
    client = serve("receive()\nsys.exit(7)")
    with pytest.raises(ServerExited, match="exit code 7"):
        client.initialize()


def test_a_server_that_ended_unasked(serve: Serve) -> None:
    client = serve("shake_hands()\nreceive()\nsys.exit(0)")
    client.initialize()
    for _ in range(2):
        with pytest.raises(ServerExited, match="exit code 0"):
            client.list_tools()


def test_a_server_that_hangs_up_and_stays(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_client, "STOP_SECONDS", 0.2)
    client = serve("shake_hands()\nreceive()\nreceive()\nos.close(1)\nsys.stdin.read()")
    client.initialize()
    with pytest.raises(ServerExited, match="closed its stdout"):
        client.list_tools()


def test_closing_ends_a_server_with_its_stdin(serve: Serve, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    client = serve(
        f"""
shake_hands()
receive()
sys.stdin.buffer.read()
open({str(ended)!r}, "w").close()
"""
    )
    client.initialize()
    client.close()
    assert ended.exists(), "it was killed, where the end of its stdin would have done"
    client.close()  # once more does no harm


def test_a_server_that_ignores_the_end_of_its_stdin_is_killed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_client, "STOP_SECONDS", 0.2)
    client = serve("import time\nshake_hands()\nreceive()\nwhile True: time.sleep(60)")
    client.initialize()
    [child] = psutil.Process().children()
    closing = time.monotonic()
    client.close()
    assert 0.2 <= time.monotonic() - closing < 2
    assert not child.is_running()


def test_the_block_ends_the_server_when_it_raises(tmp_path: Path) -> None:
    path = write_server(tmp_path / "server.py", ECHO)
    client = McpClient(sys.executable, [str(path)])
    [child] = psutil.Process().children()
    with pytest.raises(LookupError), client:
        raise LookupError
    assert not child.is_running()
