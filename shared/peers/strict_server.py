"""A shop server that refuses in the other way: with JSON-RPC errors, as 2025-06-18 has it.

Built on the SDK's low-level server, which leaves the checking of arguments to its user. Its schema
has no pattern, so a model that copies what a customer typed learns the right form from the refusal
only. `--exit-on-call` ends the process in the middle of a call; `--blocks` answers `query_order`
with several content blocks; `--marked` refuses with `isError` and nothing else that would tell.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    INVALID_PARAMS,
    AudioContent,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ImageContent,
    ListToolsResult,
    ResourceLink,
    TextContent,
    Tool,
)

from shared.shop import load_shop

EXIT_CODE = 3  # of --exit-on-call

TOOL = Tool(
    name="query_order",
    description="按订单号查询一笔订单的状态、金额和下单时间",
    input_schema={
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "订单号"},
            "limit": {"type": "integer"},
        },
        "required": ["order_id"],
    },
)

IMAGE = base64.b64encode(bytes(range(48))).decode()


def call(arguments: dict[str, Any], *, blocks: bool, marked: bool) -> CallToolResult:
    """Answer `query_order`. Raises MCPError (-32602) for a number that is no order's, unless
    failures are to be `marked`."""
    shop = load_shop()
    order_id = str(arguments.get("order_id", ""))
    order = shop.find(order_id)
    if marked:
        found = f"last_error: none, failed: 0, status: {order.status}" if order else "请稍等"
        content: list[ContentBlock] = [TextContent(type="text", text=found)]
        return CallToolResult(content=content, is_error=order is None)
    if order is None:
        compact = re.sub(r"[^0-9A-Z]", "", order_id.upper())
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"Invalid params: order_id {order_id!r} is not of the form SO########; "
            f"did you mean {shop.nearest(compact)}?",
        )
    facts = {"order_id": order.order_id, "status": order.status, "amount": order.amount}
    text = json.dumps(facts, ensure_ascii=False)
    if not blocks:
        return CallToolResult(content=[TextContent(type="text", text=text)])
    return CallToolResult(
        content=[
            TextContent(type="text", text=text),
            ImageContent(type="image", data=IMAGE, mime_type="image/png"),
            TextContent(type="text", text=f"placed_at: {order.placed_at}"),
            AudioContent(type="audio", data=IMAGE, mime_type="audio/wav"),
            ResourceLink(type="resource_link", name="invoice", uri=f"shop://invoice/{order_id}"),
            TextContent(type="text", text=f"waybill: {order.shipment.waybill}"),
        ]
    )


def main() -> None:
    """Serve on stdio until stdin ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exit-on-call", action="store_true")
    parser.add_argument("--blocks", action="store_true")
    parser.add_argument("--marked", action="store_true")
    options = parser.parse_args()

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[TOOL])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        if options.exit_on_call:
            os._exit(EXIT_CODE)
        if params.name != TOOL.name:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        return call(params.arguments or {}, blocks=options.blocks, marked=options.marked)

    server = Server("strict-shop", on_list_tools=list_tools, on_call_tool=call_tool)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


if __name__ == "__main__":
    main()
