"""The shapes of MCP answers, so that who reads a recorded one can rely on them."""

from __future__ import annotations

from typing import Any


def fault_in(method: str, answer: dict[str, Any]) -> str:
    """What is wrong with the shape of an answer to a request of this method; empty when nothing is.

    Looks at what the specification (2025-06-18, Tools) requires and the checks read, not at all.
    """
    if "error" in answer:
        error = answer["error"]
        if not isinstance(error, dict):
            return "error is no object"
        if not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
            return "error needs an integer code and a text message"
        return ""
    result = answer["result"]
    if not isinstance(result, dict):
        return "result is no object"
    if method == "tools/list":
        return _fault_in_tools(result.get("tools"))
    if method == "tools/call":
        return _fault_in_content(result)
    return ""


def _fault_in_tools(tools: Any) -> str:
    if not isinstance(tools, list):
        return "result.tools is no list"
    for number, tool in enumerate(tools):
        where = f"result.tools[{number}]"
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            return f"{where} has no name"
        if not isinstance(tool.get("description", ""), str):
            return f"{where}.description is no text"
        schema = tool.get("inputSchema")
        if not isinstance(schema, dict):
            return f"{where}.inputSchema is no object"
        if not isinstance(schema.get("properties", {}), dict):
            return f"{where}.inputSchema.properties is no object"
        if not isinstance(schema.get("required", []), list):
            return f"{where}.inputSchema.required is no list"
    return ""


def _fault_in_content(result: dict[str, Any]) -> str:
    content = result.get("content")
    if not isinstance(content, list):
        return "result.content is no list"
    for number, block in enumerate(content):
        where = f"result.content[{number}]"
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            return f"{where} has no type"
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            return f"{where} is a text block without a text"
    if not isinstance(result.get("isError", False), bool):
        return "result.isError is neither true nor false"
    return ""
