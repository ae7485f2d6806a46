"""The official SDK's client drives the day-23 server, in both eras of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, TextContent, Tool

from .conftest import ROOT, SERVER

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@dataclass(frozen=True)
class SdkClient:
    """An open client, asked from a test that is not async."""

    portal: BlockingPortal
    client: Client

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        result: CallToolResult = self.portal.call(self.client.call_tool, name, arguments)
        return result


@pytest.fixture(scope="module", params=ERAS)
def sdk(request: pytest.FixtureRequest) -> Iterator[SdkClient]:
    server = StdioServerParameters(
        command=sys.executable,
        args=[SERVER.name],
        cwd=SERVER.parent,
        env={"PYTHONPATH": str(ROOT)},  # it passes on little of its own environment
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=request.param)) as client,
    ):
        assert client.protocol_version == ERAS[request.param]
        yield SdkClient(portal, client)


def text(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def test_lists_both_tools(sdk: SdkClient) -> None:
    tools = sdk.tools()
    assert list(tools) == ["query_order", "track_shipment"]
    for tool in tools.values():
        assert tool.input_schema["required"] == ["order_id"]
        assert tool.input_schema["properties"]["order_id"]["pattern"] == "^SO[0-9]{8}$"
        assert tool.description


def test_a_good_call(sdk: SdkClient) -> None:
    order = sdk.call("query_order", {"order_id": "SO20260901"})
    assert not order.is_error
    assert order.structured_content == {
        "order_id": "SO20260901",
        "status": "已发货",
        "amount": 329.0,
        "placed_at": "2026-09-01 10:24",
    }
    assert "已发货" in text(order)
    parcel = sdk.call("track_shipment", {"order_id": "SO20260901"})
    assert not parcel.is_error
    assert parcel.structured_content == {
        "order_id": "SO20260901",
        "carrier": "顺丰速运",
        "waybill": "SF1029384756",
        "stations": ["杭州已揽收", "武汉中转", "成都派送中"],
    }


@pytest.mark.parametrize("name", ["query_order", "track_shipment"])
def test_an_unknown_order_is_told_the_nearest(sdk: SdkClient, name: str) -> None:
    result = sdk.call(name, {"order_id": "SO20260902"})
    assert result.is_error
    assert "订单 SO20260902 不存在，最接近的订单号是 SO20260901" in text(result)


@pytest.mark.parametrize(
    "arguments", [{}, {"order_id": "20260901"}, {"order_id": 20260901}, {"order": "SO20260901"}]
)
def test_arguments_that_break_the_schema(sdk: SdkClient, arguments: dict[str, Any]) -> None:
    result = sdk.call("query_order", arguments)
    assert result.is_error
    assert "order_id" in text(result)


def test_an_unknown_tool(sdk: SdkClient) -> None:
    result = sdk.call("cancel_order", {"order_id": "SO20260901"})
    assert result.is_error  # the specification says -32602; the SDK does not
    assert "Unknown tool: cancel_order" in text(result)
