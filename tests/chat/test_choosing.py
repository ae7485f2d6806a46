"""Which tools the mock picks: by description first, by name if it must, in both languages."""

from __future__ import annotations

import pytest

from shared.chat.mock import reply

from .shop import BY_ORDER, EN, NO_ARGUMENTS, ORDER_ID, TODAY, ZH, ask, calls, tool

QUERY = [("query_order", {"order_id": "SO20260901"})]
TRACK = [("track_shipment", {"order_id": "SO20260901"})]
LESSON = "帮我查一下订单 SO20260901 现在什么状态"


@pytest.mark.parametrize("tools", [ZH, EN], ids=["zh-tools", "en-tools"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (LESSON, QUERY),
        ("What is the status of order SO20260901?", QUERY),
        ("SO20260901 多少钱？", QUERY),
        ("订单SO20260901什么时候下的单", QUERY),
        ("How much did order SO20260901 cost?", QUERY),
        ("帮我看看 order SO20260901 的 status", QUERY),
        ("我今天下的订单 SO20260901 现在什么状态", QUERY),
        ("订单 SO20260901 的包裹到哪了", TRACK),
        ("Where is the parcel of order SO20260901?", TRACK),
        ("Where is order SO20260901?", TRACK),
        ("订单 SO20260901 的物流状态", TRACK),
        ("请问订单 SO20260901 什么时候能到", TRACK),
        ("Which carrier delivers SO20260901?", TRACK),
        ("今天几号", [("today", {})]),
        ("今天星期几？", [("today", {})]),
        ("What day is it today?", [("today", {})]),
        ("订单 SO20260901 现在什么状态，包裹到哪了？", QUERY + TRACK),
        ("What's the status of order SO20260901 and where is it?", QUERY + TRACK),
        ("SO20260901 的金额和物流", QUERY + TRACK),
        ("今天几号？顺便查一下订单 SO20260901 的状态", [("today", {}), *QUERY]),
    ],
)
def test_picks_what_the_question_asks_for(question, expected, tools):
    assert calls(ask(question, tools)) == expected


def test_two_orders_are_two_calls_in_one_turn():
    message = ask("SO20260901 和 SO20260915 各是什么状态？", ZH)
    assert calls(message) == [*QUERY, ("query_order", {"order_id": "SO20260915"})]
    assert [call["id"] for call in message["tool_calls"]] == ["call_1_0", "call_1_1"]


def test_each_order_goes_to_the_tool_it_was_named_for():
    message = ask("SO20260901 多少钱，SO20260915 的快递到哪了", ZH)
    assert calls(message) == [*QUERY, ("track_shipment", {"order_id": "SO20260915"})]


@pytest.mark.parametrize(
    "question", ["讲个笑话", "Tell me a joke", "现在几点", "hello", "北京天气怎么样", "谢谢你"]
)
def test_answers_in_text_when_no_tool_fits(question):
    message = ask(question, ZH)
    assert "tool_calls" not in message
    expected = "none of the tools" if question.isascii() else "都不适合"
    assert expected in message["content"].lower()


def test_without_tools_it_says_so():
    assert "没有任何工具" in ask("订单 SO20260901 什么状态", None)["content"]  # type: ignore[arg-type]


def test_a_request_to_do_something_is_no_question_and_the_reverse():
    refund = tool("refund_order", "给一笔订单退款", BY_ORDER)
    assert calls(ask(LESSON, [refund, *ZH])) == QUERY
    assert calls(ask("给订单 SO20260901 退款", [*ZH, refund])) == [
        ("refund_order", {"order_id": "SO20260901"})
    ]
    assert "都不适合" in ask("取消订单 SO20260901", ZH)["content"]


@pytest.mark.parametrize(
    "description",
    [
        "查询订单本身；物流轨迹请用 track_shipment",
        "查询订单。要看包裹到哪了，请用 track_shipment。",
        "Looks up an order; for the parcel and its shipment use track_shipment.",
        "Looks up an order. To follow the parcel, use track_shipment instead.",
        "查询订单，不含物流",
        "Looks up an order, not its shipment.",
    ],
)
@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not-listed"])
def test_a_pointer_to_another_tool_does_not_count(description, listed):
    """Neither for a tool in the list, nor for one that a server has not registered yet."""
    pointing = tool("lookup", description, BY_ORDER)
    shipping = tool("parcels", "查询包裹的位置", BY_ORDER)
    others = [tool("track_shipment", "按订单号查询物流轨迹", BY_ORDER)] if listed else [shipping]
    [(name, _)] = calls(ask("订单 SO20260901 的包裹到哪了", [pointing, *others]))
    assert name == others[0]["function"]["name"]


def test_a_pointer_is_known_by_the_name_without_the_prefix_of_its_server():
    tools = [
        tool("shop__query_order", "查询订单；包裹的物流看 track_shipment", BY_ORDER),
        tool("shop__track_shipment", "按订单号查询物流轨迹", BY_ORDER),
    ]
    [(name, _)] = calls(ask("包裹 SO20260901 的物流", tools))
    assert name == "shop__track_shipment"


def test_a_plain_word_is_no_tool_unless_it_is_introduced_as_one():
    named = tool("today", "Tells the date", NO_ARGUMENTS)
    orders = tool("lookup", "The status of an order placed today", BY_ORDER)
    assert calls(ask(LESSON, [named, orders])) == [("lookup", {"order_id": "SO20260901"})]
    pointing = tool("lookup", "Looks up an order, for the date use today", BY_ORDER)
    assert calls(ask("今天几号", [pointing, named])) == [("today", {})]


def test_two_servers_may_have_a_tool_of_one_name():
    """Naming itself is not pointing at the other one."""
    tools = [
        tool("crm__query_order", "query_order 查询订单的客户", BY_ORDER),
        tool("shop__query_order", "query_order 查询订单的状态", BY_ORDER),
    ]
    assert calls(ask(LESSON, tools)) == [("shop__query_order", {"order_id": "SO20260901"})]


def test_of_equals_the_one_that_does_least_besides_is_chosen():
    tools = [
        tool("compare", "Shows differences between branches of a repository"),
        tool("branches", "Lists the branches of a repository"),
    ]
    assert calls(ask("仓库有哪些分支", tools)) == [("branches", {})]


def test_naming_a_parameter_is_not_pointing_elsewhere():
    hollow = tool("lookup", "用 order_id 查询订单的状态", NO_ARGUMENTS)
    assert calls(ask(LESSON, [TODAY, hollow])) == [("lookup", {})]


@pytest.mark.parametrize("description", ["", None])
def test_without_a_description_only_the_name_speaks(description):
    nameless = [tool("query_order", description, BY_ORDER), tool("x1", description, BY_ORDER)]
    assert calls(ask(LESSON, nameless)) == QUERY
    assert "都不适合" in ask(LESSON, nameless[1:])["content"]


def test_a_description_outweighs_a_name():
    tools = [tool("order_status", "", BY_ORDER), tool("x1", "The status of an order", BY_ORDER)]
    assert calls(ask(LESSON, tools)) == [("x1", {"order_id": "SO20260901"})]


def test_the_order_of_the_tools_does_not_decide():
    assert calls(ask(LESSON, ZH[::-1])) == QUERY
    assert calls(ask("订单 SO20260901 的包裹到哪了", ZH[::-1])) == TRACK


def test_names_mean_nothing_to_it():
    """The same lesson with every tool renamed."""
    renamed = [
        tool("a", "查询今天的日期", NO_ARGUMENTS),
        tool("b", "按订单号查询物流轨迹与承运商；订单本身请用 c", BY_ORDER),
        tool("c", "按订单号查询一笔订单的状态、金额和下单时间", BY_ORDER),
    ]
    assert calls(ask(LESSON, renamed)) == [("c", {"order_id": "SO20260901"})]


def test_matters_beyond_the_shop():
    """Servers of later days: descriptions in English, questions in Chinese."""
    repo = {"type": "object", "properties": {"repo_path": {"type": "string"}}}
    repo["required"] = ["repo_path"]
    zone = {"type": "object", "properties": {"timezone": {"type": "string"}}}
    zone["required"] = ["timezone"]
    tools = [
        *ZH,
        tool("git_status", "Shows the working tree status", repo),
        tool("git_create_branch", "Creates a new branch from an optional base branch", repo),
        tool("git_log", "Shows the commit logs", repo),
        tool("get_current_time", "Get current time in a specific timezone", zone),
    ]
    assert calls(ask(LESSON, tools)) == QUERY
    assert calls(ask("仓库 /srv/shop 最近的提交是什么", tools)) == [
        ("git_log", {"repo_path": "/srv/shop"})
    ]
    assert calls(ask("Asia/Shanghai 现在几点", tools)) == [
        ("get_current_time", {"timezone": "Asia/Shanghai"})
    ]
    assert calls(ask("仓库 /srv/shop 的状态，还有订单 SO20260901 的状态", tools)) == [
        ("query_order", {"order_id": "SO20260901"}),
        ("git_status", {"repo_path": "/srv/shop"}),
    ]


def test_only_the_last_question_counts():
    messages = [
        {"role": "system", "content": "查订单状态用 query_order"},
        {"role": "user", "content": "订单 SO20260915 的包裹到哪了"},
        {"role": "assistant", "content": "在路上"},
        {"role": "user", "content": [{"type": "text", "text": LESSON}]},
    ]
    message = reply({"model": "m", "messages": messages, "tools": ZH})["choices"][0]["message"]
    assert calls(message) == QUERY
    assert message["tool_calls"][0]["id"] == "call_4_0"


class TestToolChoice:
    def test_none_forbids(self):
        message = ask(LESSON, ZH, tool_choice="none")
        assert "tool_calls" not in message
        assert "tool_choice" in message["content"]

    def test_required_calls_even_when_nothing_fits(self):
        assert calls(ask("讲个笑话", [TODAY], tool_choice="required")) == [("today", {})]
        assert calls(ask(LESSON, ZH, tool_choice="required")) == QUERY

    def test_a_named_function_is_called(self):
        choice = {"type": "function", "function": {"name": "track_shipment"}}
        assert calls(ask(LESSON, ZH, tool_choice=choice)) == TRACK

    def test_a_forced_call_leaves_out_what_the_question_does_not_say(self):
        schema = {
            "type": "object",
            "properties": {"order_id": ORDER_ID, "note": {"type": "string"}},
            "required": ["order_id", "note"],
        }
        message = ask("你好", [tool("lookup", "查询订单", schema)], tool_choice="required")
        assert calls(message) == [("lookup", {"note": "你好"})]
