"""The shop as an MCP server: a program of its own, which speaks JSON-RPC on stdin and stdout.

Its stdout belongs to the protocol. Whatever is meant for people goes to stderr.
"""

import logging
from typing import Annotated, TypedDict

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from shared.shop import Order, load_shop

# [0-9] and not \d: in most pattern languages \d also takes the digits of other scripts.
OrderId = Annotated[
    str,
    Field(pattern=r"^SO[0-9]{8}$", description="订单号：SO 加 8 位数字，例如 SO20260901"),
]


class OrderStatus(TypedDict):
    """What `query_order` answers; the SDK derives the tool's output schema from it."""

    order_id: str
    status: str
    amount: float
    placed_at: str


class ShipmentTrack(TypedDict):
    """What `track_shipment` answers."""

    order_id: str
    carrier: str
    waybill: str
    stations: list[str]


logging.basicConfig(level=logging.WARNING)  # on stderr; without it the SDK logs in boxes
shop = load_shop()
server = MCPServer("shop", version="1.0.0")


def find_order(order_id: str) -> Order:
    """The order, or a ToolError in words that a model can act on.

    A ToolError is a result with `isError` and its text; any other exception would reach the client
    as a bare "Error executing tool", with the reason on stderr only.
    """
    order = shop.find(order_id)
    if order is None:
        raise ToolError(f"订单 {order_id} 不存在，最接近的订单号是 {shop.nearest(order_id)}")
    return order


@server.tool(
    description="按订单号查询一笔订单的状态、金额和下单时间。"
    "只查订单本身；物流轨迹请用 track_shipment。"
)
def query_order(order_id: OrderId) -> OrderStatus:
    """Look up the order itself."""
    order = find_order(order_id)
    return {
        "order_id": order.order_id,
        "status": order.status,
        "amount": order.amount,
        "placed_at": order.placed_at,
    }


# region exercise 1: register track_shipment
# TODO: register a second tool, `track_shipment`, beside `query_order`: the same kind of
# order_id in, a ShipmentTrack out (an Order has a `shipment`). A model chooses by the
# description: say what the tool is for, and what it is not for.
# endregion


if __name__ == "__main__":
    server.run()
