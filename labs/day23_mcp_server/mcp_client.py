"""An MCP client by hand, with nothing but the standard library: one client, one server.

The server is a child process. One message is one line of JSON: requests go to its stdin, answers
come from its stdout. This is protocol 2025-06-18, which begins with a handshake.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

PROTOCOL_VERSION = "2025-06-18"
STOP_SECONDS = 3.0  # how long a server may take to end once its stdin has ended


class McpError(Exception):
    """A call that brought no result. The message is for the model as much as for people."""


class ProtocolError(McpError):
    """The server answered with a JSON-RPC error in place of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} (JSON-RPC error {code})")
        self.code = code
        self.message = message


class ServerExited(McpError):
    """The server ended while an answer was owed."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered, as text. `is_error` is the tool's own word that it failed: the call
    itself went well."""

    text: str
    is_error: bool


class McpClient:
    """Starts a server, shakes hands with it, and calls its tools.

        with McpClient("python", ["mcp_server.py"]) as client:
            client.initialize()
            client.call_tool("query_order", {"order_id": "SO20260901"})

    Leaving the block ends the server.
    """

    def __init__(
        self,
        command: str,
        args: list[str],
        env: dict[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        """Start the server. `env` is added to this process's own environment.

        Raises OSError when there is no such command.
        """
        self._process = subprocess.Popen(
            [command, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # stderr stays ours: the server's log is for people to read
            env={**os.environ, **(env or {})},
            cwd=cwd,
            start_new_session=True,  # Ctrl-C is for this program, which then ends the server
        )
        self._last_id = 0

    def __enter__(self) -> "McpClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the server: the end of its stdin is the sign to go; one that stays is killed."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # it may be gone already, with something of ours unread
            self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def initialize(self) -> dict[str, Any]:
        """Shake hands, always in this order: `initialize`, its answer, `notifications/initialized`.

        Returns what the server says of itself. Raises ProtocolError when it speaks another version.
        """
        answer = self._request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "capabilities": {},
                "clientInfo": {"name": "day23-client", "version": "1.0.0"},
            },
        )
        if answer["protocolVersion"] != PROTOCOL_VERSION:
            raise ProtocolError(-32602, f"the server speaks {answer['protocolVersion']} only")
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def list_tools(self) -> list[dict[str, Any]]:
        """Every tool of the server, as it describes them: a long list comes in pages."""
        tools: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        while True:
            page = self._request("tools/list", params)
            tools += page["tools"]
            if "nextCursor" not in page:
                return tools
            params = {"cursor": page["nextCursor"]}

    def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool, and flatten the content blocks of its result into one text.

        A tool that fails still answers: `is_error` is true and the text says why. Raises
        ProtocolError when the server answers with an error, ServerExited when it is gone.
        """
        # region exercise 3: really send tools/call, and flatten the result
        # TODO: nothing is sent yet. Send `tools/call` the way list_tools sends its
        # request, and turn the list of content blocks into one text.
        return ToolResult("", is_error=True)
        # endregion

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer: the message with the same id."""
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message or message.get("id") != self._last_id:
                continue  # the server's own business: a notification, or a request for us
            if "error" in message:
                raise ProtocolError(message["error"]["code"], message["error"]["message"])
            result: dict[str, Any] = message["result"]
            return result

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        line = json.dumps(message, ensure_ascii=False) + "\n"  # the newline ends the message
        try:
            self._process.stdin.write(line.encode(errors="replace"))  # half an emoji is no text
            self._process.stdin.flush()  # what waits in a buffer is never answered
        except BrokenPipeError:
            raise self._exited() from None

    def _receive(self) -> dict[str, Any]:
        """The next message. Whatever else stands on the server's stdout is reported and skipped."""
        assert self._process.stdout
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                return message
            print(f"not a message, skipped: {line!r}", file=sys.stderr)
        raise self._exited()  # the end of the stream: nothing will ever come

    def _exited(self) -> ServerExited:
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return ServerExited("the server has closed its stdout, and will not answer any more")
        return ServerExited(f"the server has ended (exit code {code}) and cannot answer any more")
