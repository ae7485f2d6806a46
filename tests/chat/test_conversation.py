"""What the mock makes of tool messages: it corrects itself, goes round in circles, or answers."""

from __future__ import annotations

import copy
import json

import pytest

from shared.chat.mock import reply

from .shop import (
    BY_ORDER,
    EN,
    NO_ARGUMENTS,
    ZH,
    Json,
    converse,
    one_property,
    serve_shop,
    serve_shop_in_english,
    tool,
)

LESSON = "帮我查一下订单 SO20260901 现在什么状态"
GOOD = ("query_order", {"order_id": "SO20260901"})
MISTYPED = ("query_order", {"order_id": "SO20260902"})


class TestAnswer:
    def test_the_lesson(self):
        turns, answer = converse(LESSON, ZH, serve_shop)
        assert turns == [[GOOD]]
        assert "SO20260901" in answer
        assert "status: 已发货" in answer
        assert "amount: 329.0" in answer

    def test_in_the_language_of_the_question_whatever_the_tool_speaks(self):
        _, chinese = converse(LESSON, EN, serve_shop)
        _, english = converse("What is the status of order SO20260901?", ZH, serve_shop)
        assert "查询结果" in chinese
        assert english.startswith("SO20260901: ")
        assert "status: 已发货" in english

    def test_plain_text_is_quoted_as_it_is(self):
        assert converse("今天几号", ZH, serve_shop) == (
            [[("today", {})]],
            "今天是 2026-11-30，星期一",
        )

    def test_several_results_have_a_line_each(self):
        turns, answer = converse("SO20260901 和 SO20260915 的状态", ZH, serve_shop)
        assert len(turns) == 1
        first, second = answer.splitlines()
        assert "SO20260901" in first
        assert "已发货" in first
        assert "SO20260915" in second
        assert "待发货" in second

    def test_two_tools_two_lines(self):
        _, answer = converse("订单 SO20260901 什么状态，包裹到哪了", ZH, serve_shop)
        status, track = answer.splitlines()
        assert "已发货" in status
        assert "stations: 杭州已揽收、武汉中转、成都派送中" in track

    @pytest.mark.parametrize(
        ("result", "expected"),
        [
            ('{"status": "已取消", "note": "error"}', "status: 已取消，note: error。"),
            ('{"result": "待发货"}', "待发货"),
            ('{"amount": 58.50, "paid": true}', "amount: 58.50，paid: true。"),
            ('{"a": {"b": [1, 2]}}', "a.b: 1、2。"),
            ('[{"id": 1}, {"id": 2}]', "id: 1。\nid: 2。"),
            ('{"content": [{"type": "text", "text": "待发货"}], "isError": false}', "待发货"),
            ("错误码 E1 表示缺纸", "错误码 E1 表示缺纸"),
            ("记录：\n1\n2\n3\nfix error handling", "记录：\n1\n2\n3\nfix error handling"),
        ],
    )
    def test_a_good_result_is_good_whatever_words_are_in_it(self, result, expected):
        turns, answer = converse(LESSON, ZH, lambda name, arguments: result)
        assert turns == [[GOOD]]
        assert answer == f"SO20260901 的查询结果：{expected}"


class TestCorrection:
    def test_the_nearest_number_is_tried_and_named(self):
        turns, answer = converse("订单 SO20260902 现在什么状态", ZH, serve_shop)
        assert turns == [[MISTYPED], [GOOD]]
        assert answer.startswith("没有找到 SO20260902，按最接近的 SO20260901 查到：")
        assert "已发货" in answer

    def test_in_english(self):
        question = "What is the status of order SO20260902?"
        turns, answer = converse(question, EN, serve_shop_in_english)
        assert turns == [[MISTYPED], [GOOD]]
        assert answer.startswith("SO20260902 was not found; the closest, SO20260901, gave: ")

    def test_in_both_languages_at_once(self):
        turns, answer = converse("订单 SO20260902 现在什么状态", EN, serve_shop_in_english)
        assert turns == [[MISTYPED], [GOOD]]
        assert "按最接近的 SO20260901" in answer

    def test_each_of_two_tools_corrects_itself(self):
        turns, answer = converse("订单 SO20260902 什么状态，包裹到哪了", ZH, serve_shop)
        assert [[name for name, _ in turn] for turn in turns] == [
            ["query_order", "track_shipment"],
            ["query_order", "track_shipment"],
        ]
        assert answer.count("没有找到 SO20260902") == 2

    @pytest.mark.parametrize(
        ("error", "next_value"),
        [
            ("订单不存在。库里有 SO20260915 等；最接近的是 SO20260901", "SO20260901"),
            ("no such order. Known: SO20260915, SO20261003", "SO20260915"),
            ("SO20260902 not found, known are SO20260915; did you mean SO20261003?", "SO20261003"),
            ("格式不对，应为 SO20260915", "SO20260915"),
            ('{"error": "unknown order", "nearest": "SO20260915"}', "SO20260915"),
        ],
    )
    def test_the_value_after_a_hint_goes_first(self, error, next_value):
        def run(name: str, arguments: Json) -> str:
            return "已发货" if arguments["order_id"] == next_value else error

        turns, answer = converse("订单 SO20260902 什么状态", ZH, run)
        assert [arguments["order_id"] for [(_, arguments)] in turns] == ["SO20260902", next_value]
        assert next_value in answer

    def test_without_a_pattern_an_identifier_of_the_error_is_tried(self):
        free = [tool("lookup", "查询订单的状态", one_property({"type": "string"}))]

        def run(name: str, arguments: Json) -> str:
            if arguments["order_id"] == "SO20260901":
                return "已发货"
            return "-32602: lookup: order_id is invalid (HTTP 404), expected e.g. SO20260901, see https://x.example/v2"

        turns, _ = converse("订单 SO-20260901 的状态", free, run)
        assert turns == [
            [("lookup", {"order_id": "SO-20260901"})],
            [("lookup", {"order_id": "SO20260901"})],
        ]

    def test_a_status_code_is_no_order_number(self):
        free = [tool("lookup", "查询订单的状态", one_property({"type": "string"}))]
        turns, answer = converse("订单 20260901 的状态", free, lambda *_: "HTTP 404 (not found)")
        assert len(turns) == 1
        assert "HTTP 404 (not found)" in answer

    @pytest.mark.parametrize(
        ("schema", "question", "error"),
        [
            ({"type": "string"}, "订单 A-1 的状态", "A-1 not found: https://x.example/?see=E404"),
            ({"type": "string", "pattern": "^[0-9]{5}$"}, "订单 10001 的状态", "-32602 invalid"),
        ],
    )
    def test_nor_are_links_and_error_codes(self, schema, question, error):
        lookup = tool("lookup", "查询订单的状态", one_property(schema))
        turns, _ = converse(question, [lookup], lambda *_: error)
        assert len(turns) == 1

    def test_another_tool_that_the_error_names_is_called(self):
        def run(name: str, arguments: Json) -> str:
            if name == "query_order":
                return "这里无法查询，请改用 track_shipment"
            return serve_shop(name, arguments)

        turns, answer = converse(LESSON, ZH, run)
        assert turns == [[GOOD], [("track_shipment", {"order_id": "SO20260901"})]]
        assert "改用 track_shipment 查到" in answer
        assert "顺丰速运" in answer

    def test_a_value_is_not_tried_twice(self):
        error = "没有这个订单，最接近的是 SO20260902 或 SO20260901"
        turns, answer = converse("订单 SO20260902 什么状态", ZH, lambda *_: error)
        assert turns == [[MISTYPED], [GOOD]]
        assert error in answer

    def test_four_calls_are_the_end(self):
        seen: list[str] = []

        def run(name: str, arguments: Json) -> str:
            seen.append(arguments["order_id"])
            return f"不存在，是否是 SO{int(arguments['order_id'][2:]) + 1}"

        _, answer = converse("订单 SO20260902 什么状态", ZH, run)
        assert seen == ["SO20260902", "SO20260903", "SO20260904", "SO20260905"]
        assert answer.startswith("SO20260902 没能查到")
        assert "是否是 SO20260906" in answer


class TestFailure:
    def test_a_hollow_schema_ends_in_the_error_of_the_server(self):
        hollow = [
            tool(t["function"]["name"], t["function"]["description"], NO_ARGUMENTS) for t in ZH
        ]
        turns, answer = converse(LESSON, hollow, serve_shop)
        assert turns == [[("query_order", {})]]
        assert "Field required" in answer
        assert "没能查到" in answer

    @pytest.mark.parametrize(
        "text",
        [
            "ProtocolError -32602: Unknown tool query_order",
            "工具调用失败：服务器已退出",
            "The server stopped; the connection is no longer open.",
            "order does not exist",
            "没有订单",
            "订单号无效",
            "服务不可用",
            '{"error": {"message": "x"}}',
            '{"isError": true, "content": []}',
            '{"ok": false}',
        ],
    )
    @pytest.mark.parametrize("question", [LESSON, "What is the status of order SO20260901?"])
    def test_a_failure_is_told_in_the_words_of_the_tool(self, text, question):
        turns, answer = converse(question, ZH, lambda *_: text)
        assert turns == [[GOOD]]
        assert text in answer
        assert ("could not get SO20260901" if question.isascii() else "没能查到") in answer

    def test_one_good_and_one_bad(self):
        _, answer = converse("SO20260901 和 SO20260902 的状态", ZH, serve_shop)
        good, bad = answer.splitlines()
        assert "已发货" in good
        assert bad.startswith("SO20260902 没能查到")


class TestNothing:
    @pytest.mark.parametrize("text", ["", "  \n", "null", "None"])
    def test_an_empty_message_makes_it_go_round_in_circles(self, text):
        turns, answer = converse(LESSON, ZH, lambda *_: text)
        assert turns == [[GOOD]] * 3
        assert "调用了 3 次" in answer

    def test_in_english(self):
        _, answer = converse("What is the status of order SO20260901?", ZH, lambda *_: "")
        assert "nothing back for SO20260901: 3 calls of query_order" in answer

    def test_a_word_in_the_second_round_ends_the_circle(self):
        texts = iter(["", "订单不存在，最接近的是 SO20260915", "待发货"])
        turns, answer = converse(LESSON, ZH, lambda *_: next(texts))
        assert turns == [[GOOD], [GOOD], [("query_order", {"order_id": "SO20260915"})]]
        assert answer.startswith("没有找到 SO20260901，按最接近的 SO20260915 查到")

    def test_an_empty_message_on_the_way_does_not_make_it_forget(self):
        texts = iter(["订单不存在，最接近的是 SO20260915", "", "待发货"])
        _, answer = converse(LESSON, ZH, lambda *_: next(texts))
        assert answer.startswith("没有找到 SO20260901，按最接近的 SO20260915 查到")

    def test_two_empty_calls_end_after_four(self):
        turns, answer = converse("订单 SO20260901 什么状态，包裹到哪了", ZH, lambda *_: "")
        assert [len(turn) for turn in turns] == [2, 2]
        assert answer.count("调用了 2 次") == 2


def test_one_call_a_turn_when_parallel_calls_are_off():
    turns, answer = converse(
        "SO20260901 和 SO20260902 的状态", ZH, serve_shop, parallel_tool_calls=False
    )
    assert turns == [[GOOD], [MISTYPED]]
    assert len(answer.splitlines()) == 2


def test_a_forced_choice_ends_after_four_calls():
    turns, answer = converse(LESSON, ZH, serve_shop, tool_choice="required")
    assert turns == [[GOOD]] * 4
    assert answer.count("已发货") == 1


def test_earlier_questions_do_not_count():
    """Four calls for the first question leave all four for the second."""
    call = {"name": "query_order", "arguments": json.dumps(GOOD[1])}
    messages: list[Json] = [{"role": "user", "content": LESSON}]
    for number in range(4):
        one = {"id": f"c{number}", "type": "function", "function": call}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [one]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "错误"},
        ]
    messages += [{"role": "assistant", "content": "?"}, {"role": "user", "content": LESSON}]
    message = reply({"model": "m", "messages": messages, "tools": ZH})["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "query_order"


def test_the_answer_comes_from_the_messages_alone():
    """It says what the tool message says, even where the lesson's data say otherwise."""
    _, answer = converse(LESSON, ZH, lambda *_: '{"status": "待付款"}')
    assert "待付款" in answer
    assert "已发货" not in answer


def test_the_same_request_gets_the_same_reply_and_stays_as_it_was():
    request: Json = {"model": "m", "messages": [{"role": "user", "content": LESSON}], "tools": ZH}
    before = copy.deepcopy(request)
    first, second = reply(request), reply(copy.deepcopy(request))
    assert first == second
    assert request == before
    assert first["created"] == 0
    assert first["choices"][0]["finish_reason"] == "tool_calls"
    assert first["usage"]["total_tokens"] > 0
    other = reply({**request, "messages": [{"role": "user", "content": "今天几号"}]})
    assert other["id"] != first["id"]


def test_result_parts_are_read_as_one_text():
    messages: list[Json] = [
        {"role": "user", "content": LESSON},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "query_order", "arguments": "no json"},
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "a",
            "content": [{"type": "text", "text": "状态："}, {"type": "text", "text": "待付款"}],
        },
    ]
    tools = [tool("query_order", "查询订单的状态", BY_ORDER)]
    message = reply({"model": "m", "messages": messages, "tools": tools})["choices"][0]["message"]
    assert message["content"] == "状态：\n待付款"
