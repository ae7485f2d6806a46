"""The agent loop: ask the model, run the tools that it picks, tell it what came out, ask again.

MOCK=1 python -m labs.day23_mcp_server.agent "订单 SO20260901 的物流到哪了"
"""

import json
import sys
from collections.abc import Callable
from typing import Any, Protocol

from .bridge import to_function_tool
from .local_tools import FUNCTION_TOOLS, FUNCTIONS
from .mcp_client import McpError, ToolResult

MAX_TURNS = 8  # a model that has not answered by then is going round in circles

SYSTEM = "你是一家网店的客服助手。需要数据时调用工具，不要编造；工具失败时先看清它的说明。"


class Model(Protocol):
    """A chat model: conversation and tools go in, the assistant's next message comes out."""

    def complete(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> dict[str, Any]: ...


class ToolSource(Protocol):
    """Where tools come from: one McpClient, or a Host with several."""

    def list_tools(self) -> list[dict[str, Any]]: ...

    def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolResult: ...


def run_agent(
    question: str,
    model: Model,
    client: ToolSource,
    show: Callable[[dict[str, Any]], None] = lambda message: None,
) -> str:
    """Answer a question with the help of the tools; `show` sees every message as it comes.

    Local tools and MCP tools reach the model as one list.
    """
    tools = [*FUNCTION_TOOLS, *(to_function_tool(tool) for tool in client.list_tools())]
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]

    def say(message: dict[str, Any]) -> None:
        messages.append(message)
        show(message)

    say({"role": "user", "content": question})
    for _ in range(MAX_TURNS):
        answer = model.complete(messages, tools)
        say(answer)
        if not answer.get("tool_calls"):
            return answer.get("content") or ""
        for call in answer["tool_calls"]:  # a model may ask for several at once: answer each
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            text = run_tool(client, name, arguments)
            say({"role": "tool", "tool_call_id": call["id"], "content": text})
    return f"{MAX_TURNS} 轮之后模型仍没有给出答案。"


def run_tool(client: ToolSource, name: str, arguments: str) -> str:
    """Run one call of the model, and return what the model is told about it.

    `arguments` is JSON, written by a model: it can be wrong.
    """
    try:
        values = json.loads(arguments)
    except ValueError as error:
        return f"参数不是合法的 JSON：{error}"
    if name in FUNCTIONS:
        return FUNCTIONS[name](values)
    # region exercise 4: give failures back to the model
    # starter: # TODO: when a tool fails, the model hears an empty text, and a call that brings no
    # starter: # result (an McpError) ends the program. Tell the model what went wrong, both times,
    # starter: # in the server's own words.
    # starter: result = client.call_tool(name, values)
    # starter: return "" if result.is_error else result.text
    try:
        result = client.call_tool(name, values)
    except McpError as error:  # the call brought no result: a JSON-RPC error, or the server is gone
        return f"工具调用失败：{error}"
    if result.is_error:  # the call went well, and the tool says that it failed
        return f"工具报告失败：{result.text}"
    return result.text
    # endregion


if __name__ == "__main__":
    from shared.program import main

    from .host import Host

    sys.exit(main(run_agent, Host))
