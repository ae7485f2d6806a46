"""The host's side of MCP: which servers there are, and one client for each.

Servers are named in `mcp.json` and nowhere else; a further one is a further entry there. Run as a
program, it shows what the servers offer, or calls one tool, without any model:

    python -m labs.day23_mcp_server.host
    python -m labs.day23_mcp_server.host query_order '{"order_id": "SO20260901"}'
"""

import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from shared.mcp_config import ConfigError, read_servers

from .mcp_client import McpClient, McpError, ProtocolError, ToolResult

CONFIG = Path(__file__).with_name("mcp.json")


class Host:
    """All the servers of an `mcp.json` as if they were one: the tools of all, and each call to the
    server whose tool it is. Starts them when the `with` block begins, ends them when it ends."""

    def __init__(self, config: Path = CONFIG) -> None:
        """Read the configuration. Raises ConfigError when it names no servers."""
        self._config = config
        self._servers = read_servers(config)
        self._clients: list[McpClient] = []
        self._owners: dict[str, McpClient] = {}  # tool name: the client of its server
        self._cleanup = ExitStack()

    def __enter__(self) -> "Host":
        # A server that fails to start takes those before it down: leaving this block closes all
        # that has been entered, unless pop_all, with every server there, keeps it for __exit__.
        with self._cleanup:
            for name, server in self._servers.items():
                try:
                    client = McpClient(server.command, server.args, server.env, cwd=server.folder)
                    self._clients.append(self._cleanup.enter_context(client))
                    client.initialize()
                except OSError as error:
                    raise ConfigError.cannot_start(self._config, name, server, error) from error
                except McpError as error:
                    raise ConfigError.no_handshake(self._config, name, error) from error
            self._cleanup = self._cleanup.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._cleanup.close()

    def list_tools(self) -> list[dict[str, Any]]:
        """The tools of all servers, in the order of the configuration.

        Raises ConfigError when two servers have a tool of the same name.
        """
        tools = []
        owners: dict[str, McpClient] = {}
        for client in self._clients:
            for tool in client.list_tools():
                if tool["name"] in owners:
                    raise ConfigError.same_tool_twice(self._config, tool["name"])
                owners[tool["name"]] = client
                tools.append(tool)
        self._owners = owners
        return tools

    def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Hand the call to the server that has this tool.

        Raises ProtocolError when none has: a model can make a name up.
        """
        if name not in self._owners:
            raise ProtocolError(-32602, f"no server has a tool named {name}")
        return self._owners[name].call_tool(name, arguments)


if __name__ == "__main__":
    from shared.program import show_tools

    sys.exit(show_tools(Host, McpError))
