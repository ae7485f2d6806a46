"""Which arguments the mock gives: what the schema asks for, and nothing that it does not."""

from __future__ import annotations

from typing import Any

import pytest

from .shop import NO_ARGUMENTS, ORDER_ID, Json, ask, calls, one_property, tool

QUESTION = "帮我查一下订单 SO20260901 现在什么状态"


def filled(question: str, parameters: Json | None) -> list[Json]:
    """The arguments of the calls to one tool that fits the question for certain."""
    message = ask(question, [tool("lookup", "查询订单的状态 order status", parameters)])
    assert message.get("tool_calls"), message["content"]
    return [arguments for _, arguments in calls(message)]


def value(question: str, schema: Json, name: str = "order_id", **more: Any) -> Any:
    [arguments] = filled(question, one_property(schema, name, **more))
    return arguments[name]


@pytest.mark.parametrize("parameters", [NO_ARGUMENTS, None], ids=["hollow", "absent"])
def test_a_schema_without_properties_gets_an_empty_object(parameters):
    assert filled(QUESTION, parameters) == [{}]


@pytest.mark.parametrize(
    ("question", "schema", "expected"),
    [
        (QUESTION, ORDER_ID, "SO20260901"),
        ("订单SO20260901的状态", {"type": "string", "pattern": r"^SO\d{8}$"}, "SO20260901"),
        ("订单 SO20260901 的状态", {"type": "string", "pattern": "[0-9]{8}"}, "SO20260901"),
        ("订单 SO-20260901 的状态", {"type": "string"}, "SO-20260901"),
        ("order SO 20260901 status", {"type": "string"}, "SO 20260901"),
        ("order 20260901 status", {"type": "string"}, "20260901"),
        ("2026-09-01 的订单 77001 状态", {"type": "string"}, "77001"),
        ("订单 SO20260901 状态", {"type": ["string", "null"]}, "SO20260901"),
        ("订单 SO20260901 状态", {"anyOf": [{"type": "null"}, ORDER_ID]}, "SO20260901"),
        ("订单 42 的状态", {"type": "integer"}, 42),
        ("订单 SO20260901 金额 12.5 状态", {"type": "number"}, 12.5),
        ("订单 SO20260901 状态 7", {"type": "integer", "minimum": 5}, 7),
        ("已签收的订单状态", {"enum": ["待发货", "已签收"]}, "已签收"),
        ("订单状态 Shipped", {"type": "string", "enum": ["pending", "shipped"]}, "shipped"),
        ("订单状态", {"type": "string", "enum": ["pending", "shipped"]}, "pending"),
        ("订单状态", {"const": "v1"}, "v1"),
        ("订单状态", {"type": "string", "default": "SO1"}, "SO1"),
        ("订单 SO20260901 状态", {"type": "string", "default": "SO1"}, "SO20260901"),
        ("订单状态", {"type": "boolean"}, False),
        ("订单 A1 B2 状态", {"type": "array", "items": {"type": "string"}}, ["A1", "B2"]),
    ],
)
def test_a_required_property_takes_what_fits(question, schema, expected):
    assert value(question, schema) == expected


@pytest.mark.parametrize(
    ("name", "schema", "question", "expected"),
    [
        ("timezone", {"type": "string"}, "订单状态 Asia/Shanghai", "Asia/Shanghai"),
        ("repo_path", {"type": "string"}, "订单状态 /srv/a/b 的", "/srv/a/b"),
        ("folder", {"type": "string"}, r"订单状态 C:\data\shop", r"C:\data\shop"),
        (
            "page_url",
            {"type": "string"},
            "订单状态 https://a.example/x?y=1。",
            "https://a.example/x?y=1",
        ),
        ("date", {"type": "string"}, "2026-09-01 的订单状态", "2026-09-01"),
        ("编号", {"type": "string"}, "订单状态 SO20260901", "SO20260901"),
        ("wanted", {"type": "string", "description": "订单号"}, QUESTION, "SO20260901"),
        ("query", {"type": "string"}, QUESTION, QUESTION),
        ("text", {"type": "string", "description": "any words, or a number"}, QUESTION, QUESTION),
    ],
)
def test_name_and_description_say_what_a_string_is(name, schema, question, expected):
    assert value(question, schema, name) == expected


def test_a_default_time_zone_is_read_from_the_description():
    schema = {"type": "string", "description": "IANA name. Use 'UTC' if the user gives none."}
    assert value("订单状态", schema, "timezone") == "UTC"


@pytest.mark.parametrize(
    "question",
    [
        "订单 SO2026090 的状态",
        "订单 SO202609011 的状态",
        "订单 SO２０２６０９０１ 的状态",
        "订单的状态",
    ],
    ids=["short", "long", "other-digits", "none"],
)
@pytest.mark.parametrize("pattern", ["^SO[0-9]{8}$", r"^SO\d{8}$"])
def test_it_asks_for_a_value_that_the_question_does_not_have(question, pattern):
    schema = one_property({**ORDER_ID, "pattern": pattern})
    message = ask(question, [tool("lookup", "查询订单的状态", schema)])
    assert "tool_calls" not in message
    assert "order_id（订单号）" in message["content"]
    assert pattern in message["content"]


def test_it_asks_in_english_too():
    schema = {"type": "string", "description": "order number"}
    message = ask("What is the order status?", [tool("q", "order status", one_property(schema))])
    assert "I need order_id (order number)" in message["content"]


def test_optional_properties_are_left_out_unless_the_question_has_them():
    schema = one_property(ORDER_ID)
    schema["properties"] |= {
        "limit": {"type": "integer"},
        "note": {"type": "string"},
        "kind": {"enum": ["full", "short"]},
        "old_id": {"type": "string", "default": "x"},
    }
    assert filled(QUESTION, schema) == [{"order_id": "SO20260901"}]
    [arguments] = filled("订单 SO20260901 最近 5 条状态，short", schema)
    assert arguments == {"order_id": "SO20260901", "limit": 5, "kind": "short"}


def test_an_optional_property_does_not_take_what_a_required_one_needs():
    schema = one_property({"type": "string"})
    schema["properties"] = {"old_id": {"type": "string"}, **schema["properties"]}
    assert filled(QUESTION, schema) == [{"order_id": "SO20260901"}]


@pytest.mark.parametrize(("name", "reference"), [("Id", "Id"), ("shop/Id", "shop~1Id")])
def test_references_are_followed(name, reference):
    schema = one_property({"$ref": f"#/$defs/{reference}"}, "x", **{"$defs": {name: ORDER_ID}})
    assert filled(QUESTION, schema) == [{"x": "SO20260901"}]


def test_an_object_inside_is_filled_too():
    inner = one_property({"$ref": "#/$defs/Id"})
    schema = one_property(inner, "request", **{"$defs": {"Id": ORDER_ID}})
    message = ask(QUESTION, [tool("lookup", "查询订单的状态", schema)])
    assert calls(message) == [("lookup", {"request": {"order_id": "SO20260901"}})]


def test_a_schema_that_refers_to_itself_ends():
    tree = one_property({"$ref": "#/$defs/Tree"}, "child")
    schema = one_property({"$ref": "#/$defs/Tree"}, "child", **{"$defs": {"Tree": tree}})
    message = ask(QUESTION, [tool("lookup", "查询订单的状态", schema)])
    assert "child" in message["content"]


def test_two_properties_of_one_kind_share_the_values_out():
    schema: Json = {
        "type": "object",
        "properties": {"old_id": {"type": "string"}, "new_id": {"type": "string"}},
        "required": ["old_id", "new_id"],
    }
    assert filled("比较订单 A1 和 B2 的状态", schema) == [{"old_id": "A1", "new_id": "B2"}]


def test_several_values_are_one_call_each():
    arguments = filled("订单 SO20260901、SO20260915 和 SO20260901 的状态", one_property(ORDER_ID))
    assert arguments == [{"order_id": "SO20260901"}, {"order_id": "SO20260915"}]


def test_never_more_than_four_calls():
    question = "订单 SO10000001 SO10000002 SO10000003 SO10000004 SO10000005 的状态"
    assert len(filled(question, one_property(ORDER_ID))) == 4


def test_a_pattern_that_python_cannot_read_is_no_pattern():
    schema = {"type": "string", "pattern": r"^\p{Lu}+$"}
    assert value(QUESTION, schema) == "SO20260901"
