"""What the tests talk about: the tools of a shop, in both languages, and a shop behind them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from shared.chat.mock import reply
from shared.shop import sample_shop

Json = dict[str, Any]
Run = Callable[[str, Json], str]
"""Runs a tool: name and arguments in, the text of the tool message out."""

NO_ARGUMENTS: Json = {"type": "object", "properties": {}}
ORDER_ID: Json = {"type": "string", "pattern": "^SO[0-9]{8}$", "description": "订单号"}
BY_ORDER: Json = {"type": "object", "properties": {"order_id": ORDER_ID}, "required": ["order_id"]}


def tool(name: str, description: str | None, parameters: Json | None = None) -> Json:
    """A tool in Chat Completions form; parts that are None are left out."""
    function: Json = {"name": name}
    if description is not None:
        function["description"] = description
    if parameters is not None:
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def one_property(schema: Json, name: str = "order_id", **more: Any) -> Json:
    """A parameters schema with one required property."""
    return {"type": "object", "properties": {name: schema}, "required": [name], **more}


TODAY = tool("today", "查询今天的日期和星期几", NO_ARGUMENTS)
ZH = [
    TODAY,
    tool(
        "query_order",
        "按订单号查询一笔订单的状态、金额和下单时间。只查订单本身；物流轨迹请用 track_shipment。",
        BY_ORDER,
    ),
    tool("track_shipment", "按订单号查询物流轨迹与承运商。", BY_ORDER),
]
EN = [
    tool("today", "Tells today's date and the day of the week.", NO_ARGUMENTS),
    tool(
        "query_order",
        "Look up an order by its number: status, amount, time it was placed. "
        "For shipments use track_shipment.",
        BY_ORDER,
    ),
    tool("track_shipment", "Track the parcel of an order: carrier and stations.", BY_ORDER),
]


def ask(question: str, tools: list[Json], **request: Any) -> Json:
    """The mock's first message for a question."""
    messages = [{"role": "user", "content": question}]
    response = reply({"model": "m", "messages": messages, "tools": tools, **request})
    message: Json = response["choices"][0]["message"]
    return message


def calls(message: Json) -> list[tuple[str, Json]]:
    """The calls of an assistant message, as name and arguments."""
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", [])
    ]


def converse(
    question: str, tools: list[Json], run: Run, **request: Any
) -> tuple[list[list[tuple[str, Json]]], str]:
    """Let the mock work on a question until it answers: the calls of each turn, and the answer."""
    messages: list[Json] = [{"role": "user", "content": question}]
    turns: list[list[tuple[str, Json]]] = []
    while True:
        response = reply({"model": "m", "messages": messages, "tools": tools, **request})
        message = response["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return turns, message["content"]
        turns.append(calls(message))
        for call, (name, arguments) in zip(message["tool_calls"], turns[-1], strict=True):
            text = run(name, arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


def serve_shop(name: str, arguments: Json) -> str:
    """The lesson's server: results as indented JSON, failures with the nearest number."""
    if name == "today":
        return "今天是 2026-11-30，星期一"
    shop = sample_shop()
    if "order_id" not in arguments:
        return (
            f"工具报告失败：Error executing tool {name}: 1 validation error for {name}Arguments\n"
            "order_id\n  Field required [type=missing, input_value={}, input_type=dict]\n"
            "    For further information visit https://errors.pydantic.dev/2.14/v/missing"
        )
    order = shop.find(arguments["order_id"])
    if order is None:
        nearest = shop.nearest(arguments["order_id"])
        return f"工具报告失败：订单 {arguments['order_id']} 不存在，最接近的订单号是 {nearest}"
    result: Json = {"order_id": order.order_id, "status": order.status, "amount": order.amount}
    if name == "track_shipment":
        shipment = order.shipment
        result = {"carrier": shipment.carrier, "stations": list(shipment.stations)}
    return json.dumps(result, ensure_ascii=False, indent=2)


def serve_shop_in_english(name: str, arguments: Json) -> str:
    """The same with failures in English, as the MCP SDK words a ToolError."""
    wanted = arguments["order_id"]
    if sample_shop().find(wanted):
        return serve_shop(name, arguments)
    nearest = sample_shop().nearest(wanted)
    return f"Error executing tool {name}: order {wanted} does not exist. Did you mean {nearest}?"
