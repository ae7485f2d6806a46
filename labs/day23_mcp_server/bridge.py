"""The bridge: a tool as MCP describes it in, a tool as function calling describes it out."""

from typing import Any


def to_function_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Translate one entry of `tools/list` into one entry of the model's `tools`.

    `inputSchema` is JSON Schema and so is `parameters`: nothing is converted, everything is
    carried over. What is dropped here, the model never hears of. `tool` itself stays as it is.
    """
    # region exercise 2: carry the whole inputSchema over
    # TODO: this hollow schema tells the model that the tool takes nothing. Carry the
    # whole inputSchema over. (Run it once as it is, and watch what the model hands in.)
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    # endregion
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool.get("description", ""),  # without it the model has only the name
            "parameters": parameters,
        },
    }
