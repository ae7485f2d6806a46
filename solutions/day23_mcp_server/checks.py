"""What day 23 asks for: six items, judged by what crossed the two wires.

    model wire (Chat Completions)            MCP wire (JSON-RPC lines)
    model <------------------- your agent -------------------> relay --> your server

None of this runs in your process, and the orders are drawn anew from the seed of each run.
"""

from typing import Any

from jsonschema import Draft202012Validator

from shared.chat import mock
from shared.selftest import AgentRun, Checks, Evidence, Lab, Text
from shared.selftest.script import script
from shared.wire.transcript import Event

from .diagnoses import DIAGNOSES
from .foreign_tools import FOREIGN_TOOLS

checks = Checks(
    day=23,
    title=Text(en="an MCP server in an agent", zh="写一个 MCP server 接入 agent"),
    exercises={
        1: "mcp_server.py",
        2: "bridge.py",
        3: "mcp_client.py",
        4: "agent.py",
        5: "should_use_mcp.py",
    },
    diagnoses=DIAGNOSES,
)

TOOLS = ("query_order", "track_shipment")


@checks.item(
    1,
    Text(
        en="the server starts, shakes hands in order, keeps stdout clean, and ends with its stdin",
        zh="服务器能启动，按固定顺序握手，stdout 上只有协议，stdin 结束它就退出",
    ),
)
def handshake(lab: Lab) -> None:
    run = lab.host()
    for channel in lab.programs():
        lab.expect_clean_stdout(channel)
    lab.expect_success(run)
    for channel in lab.programs():
        sent = [event for event in lab.transcript.mcp(channel, "client") if event.kind == "message"]
        if not sent or sent[0].method != "initialize" or not sent[0].is_request:
            first = sent[0].method if sent else "—"
            lab.fail("wire.no-handshake", [Evidence(FIRST, sent[0])] if sent else [], first=first)
        answer = lab.transcript.answer_to(sent[0])
        if answer is None or "result" not in answer.message:
            error = answer.message.get("error") if answer else "—"
            lab.fail("wire.error-answer", method="initialize", error=error)
        got = sent[1].method if len(sent) > 1 else "—"
        if got != "notifications/initialized" or sent[1].number < answer.number:
            lab.fail(
                "wire.handshake-order", [Evidence(OUT_OF_ORDER, e) for e in sent[1:2]], got=got
            )
    for server in run.servers:
        if server.stopped_after is None:
            lab.fail("wire.does-not-end", seconds=3)


@checks.item(
    2,
    Text(
        en="tools/list names both tools, each with its pattern, with no change to the host",
        zh="tools/list 列出两个工具，order_id 都带格式约束，而宿主代码一行没改",
    ),
    exercise=1,
    needs=(1,),
)
def two_tools(lab: Lab) -> None:
    run = lab.host("starter", lab.programs())  # the host as it came: it has only to be restarted
    lab.expect_success(run)
    tools: dict[str, dict[str, Any]] = {}
    listed = None
    for request in lab.transcript.requests("tools/list"):
        listed = lab.transcript.answer_to(request)
        if listed is not None:
            tools |= {tool["name"]: tool for tool in listed.message["result"]["tools"]}
    evidence = [Evidence(LISTED, listed)] if listed else []
    for name in TOOLS:
        if name not in tools:
            lab.fail("server.tool-missing", evidence, name=name, names=", ".join(tools) or "—")
        _expect_order_id(lab, name, tools[name]["inputSchema"], evidence)
    _expect_descriptions_apart(lab, tools, evidence)
    with lab.server() as server:
        for name in TOOLS:
            _expect_service(lab, server, name)


def _expect_order_id(lab: Lab, name: str, schema: dict[str, Any], evidence: list[Evidence]) -> None:
    """The schema as a host reads it, judged by what it takes and what it refuses."""
    if "order_id" not in schema.get("properties", {}):
        lab.fail("server.no-order-id", evidence, name=name)
    if "order_id" not in schema.get("required", []):
        lab.fail("server.order-id-optional", evidence, name=name)
    takes = Draft202012Validator(schema).is_valid
    for order_id in lab.shop.orders:
        if not takes({"order_id": order_id}):
            lab.fail("server.pattern-too-strict", evidence, name=name, value=order_id)
    for value in _malformed(lab):
        if takes({"order_id": value}):
            lab.fail(_pattern_fault(value), evidence, name=name, value=value)


def _malformed(lab: Lab) -> list[str]:
    """Numbers that are no order numbers, each wrong in one way."""
    good = lab.draw.choice(sorted(lab.shop.orders))
    full_width = good[:2] + "".join(chr(ord(digit) + 0xFEE0) for digit in good[2:])
    return ["", good.lower(), good[2:], good[:-1], good + "0", f"x{good}", f"{good} ", full_width]


def _pattern_fault(value: str) -> str:
    return "server.pattern-digits" if not value.isascii() else "server.pattern-too-loose"


def _expect_descriptions_apart(
    lab: Lab, tools: dict[str, dict[str, Any]], evidence: list[Evidence]
) -> None:
    """A model that knows the descriptions alone has to pick the right tool."""
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    for name in TOOLS:
        if not tools[name].get("description", "").strip():
            lab.fail("server.no-description", evidence, name=name)
    questions = {
        "query_order": (
            f"订单 {order_id} 现在是什么状态？",
            f"What is the status of order {order_id}?",
        ),
        "track_shipment": (
            f"订单 {order_id} 的物流到哪了？",
            f"Where is the parcel of order {order_id}?",
        ),
    }
    offered = [
        {
            "type": "function",
            "function": {
                "name": f"tool_{letter}",  # the names would give it away
                "description": _without_names(tools[name]["description"]),
                "parameters": {"properties": {}, **tools[name]["inputSchema"]},
            },
        }
        for letter, name in zip("ab", TOOLS, strict=True)
    ]
    for letter, name in zip("ab", TOOLS, strict=True):
        for question in questions[name]:
            request = {
                "model": "mock",
                "messages": [{"role": "user", "content": question}],
                "tools": offered,
            }
            message = mock.reply(request)["choices"][0]["message"]
            picked = [call["function"]["name"] for call in message.get("tool_calls") or []]
            if picked != [f"tool_{letter}"]:
                lab.fail("server.descriptions-alike", evidence, name=name, question=question)


def _without_names(description: str) -> str:
    for letter, name in zip("ab", TOOLS, strict=True):
        description = description.replace(name, f"tool_{letter}")
    return description


def _expect_service(lab: Lab, server: Any, name: str) -> None:
    """The tool as it behaves: right numbers are served, others refused, before and by the shop."""
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    expected = {
        "query_order": [order.status],
        "track_shipment": [
            order.shipment.carrier,
            order.shipment.waybill,
            *order.shipment.stations,
        ],
    }[name]
    answer = server.call(name, {"order_id": order.order_id})
    text = _text_of(answer)
    if _failed(answer) or not all(fact in text for fact in expected):
        event = lab.transcript.mcp("shop", "server")[-1]
        lab.fail("server.wrong-data", [Evidence(ANSWERED, event)], name=name, order=order.order_id)
    for value in [*_malformed(lab), f"{order.order_id}\n"]:
        if not _failed(server.call(name, {"order_id": value})):
            event = lab.transcript.mcp("shop", "server")[-1]
            lab.fail(_pattern_fault(value), [Evidence(ANSWERED, event)], name=name, value=value)
    unknown = _unknown_number(lab)
    answer = server.call(name, {"order_id": unknown})
    if not _failed(answer) or lab.shop.nearest(unknown) not in _text_of(answer):
        event = lab.transcript.mcp("shop", "server")[-1]
        lab.fail("server.no-way-out", [Evidence(ANSWERED, event)], name=name, value=unknown)


@checks.item(
    3,
    Text(
        en="parameters equals inputSchema field by field, for our own tools and for foreign ones",
        zh="parameters 与 inputSchema 逐字段相等，自家工具和外来工具都一样",
    ),
    exercise=2,
    needs=(1,),
)
def whole_schema(lab: Lab) -> None:
    with lab.server() as server:
        own = server.list_tools()
        for call in lab.calls(
            "bridge:to_function_tool", [[tool] for tool in [*own, *FOREIGN_TOOLS]]
        ):
            tool = call.given[0]
            if call.arguments_after != [tool]:
                lab.fail("bridge.input-changed", name=tool["name"])
            _expect_function_tool(lab, server, tool, call.value)


def _expect_function_tool(lab: Lab, server: Any, tool: dict[str, Any], made: Any) -> None:
    name, schema = tool["name"], tool["inputSchema"]
    shown = [Evidence(MADE, text=_json(made))]
    function = made.get("function") if isinstance(made, dict) else None
    if not isinstance(function, dict) or made.get("type") != "function":
        lab.fail("bridge.no-function-tool", shown, name=name)
    if function.get("name") != name:
        lab.fail("bridge.wrong-name", shown, name=name, got=function.get("name"))
    if function.get("description", "") != tool.get("description", ""):
        lab.fail("bridge.description-lost", shown, name=name)
    parameters = function.get("parameters")
    if not isinstance(parameters, dict):
        lab.fail("bridge.no-parameters", shown, name=name)
    if schema.get("properties") and not parameters.get("properties"):
        hollow = _show_hollow(lab, server, tool, made)
        lab.fail("bridge.hollow-schema", shown + hollow, name=name)
    # a schema that has neither may be given the empty ones that providers ask for
    added = {"type": "object", "properties": {}, "required": []}
    for field in {**schema, **parameters}:
        if field not in parameters:
            lab.fail("bridge.field-lost", shown, name=name, field=field)
        elif field in schema and schema[field] != parameters[field]:
            lab.fail("bridge.field-changed", shown, name=name, field=field)
        elif field not in schema and added.get(field) != parameters[field]:
            lab.fail("bridge.field-added", shown, name=name, field=field)


def _show_hollow(lab: Lab, server: Any, tool: dict[str, Any], made: Any) -> list[Evidence]:
    """What becomes of a hollow schema: the model hands in nothing, and the server refuses that."""
    if tool["name"] not in TOOLS:
        return []
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    request = {
        "model": "mock",
        "messages": [{"role": "user", "content": QUESTION.format(order_id)}],
        "tools": [made],
    }
    message = mock.reply(request)["choices"][0]["message"]
    if not message.get("tool_calls"):
        return []
    arguments = message["tool_calls"][0]["function"]["arguments"]
    server.call(tool["name"], {})
    refusal = lab.transcript.mcp("shop", "server")[-1]
    return [
        Evidence(HANDED_IN, text=f"{tool['name']}({arguments})"),
        Evidence(REFUSED, refusal),
    ]


QUESTION = "帮我查一下订单 {} 现在什么状态"


@checks.item(
    4,
    Text(
        en="a question crosses the whole chain: model, tools/call, result, model, answer",
        zh="一句话走完整条链路：模型选工具、tools/call、结果回填、模型作答",
    ),
    exercise=3,
    needs=(2, 3),
)
def whole_chain(lab: Lab) -> None:
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    run = lab.agent(QUESTION.format(order.order_id))
    sent = lab.transcript.requests("tools/call")
    if not sent:
        lab.fail("client.nothing-sent", _model_side(lab))
    lab.expect_success(run)
    first = lab.transcript.model_requests()[0]
    offered = [tool["function"]["name"] for tool in first.message.get("tools", [])]
    for name in TOOLS:
        if name not in offered:
            lab.fail("agent.tool-not-offered", [Evidence(ASKED, first)], name=name)
    picked = _tool_calls(lab.transcript.reply_to(first))
    if [call["function"]["name"] for call in picked] != ["query_order"]:
        lab.fail("agent.wrong-tool", [Evidence(ASKED, first)])
    call = sent[0]
    if call.message["params"] != {
        "name": "query_order",
        "arguments": {"order_id": order.order_id},
    }:
        lab.fail("client.wrong-call", [Evidence(SENT, call)], got=_json(call.message.get("params")))
    answer = lab.transcript.answer_to(call)
    _expect_given_back(lab, picked[0]["id"], answer)
    _expect_answer(lab, run, order.status)
    if len(sent) != 1:
        lab.fail("agent.call-repeated", [Evidence(SENT, event) for event in sent], count=len(sent))
    _expect_flattened(lab)


def _expect_given_back(lab: Lab, call_id: str, answer: Event | None) -> None:
    """The result of a call stands in the next model request, as text, under the id of the call."""
    requests = lab.transcript.model_requests()
    if answer is None or len(requests) < 2:
        lab.fail("agent.result-not-returned", _model_side(lab))
    told = [m for m in requests[1].message["messages"] if m["role"] == "tool"]
    evidence = [Evidence(ANSWERED, answer), Evidence(ASKED, requests[1])]
    if not told or told[-1].get("tool_call_id") != call_id:
        lab.fail("agent.wrong-call-id", evidence, expected=call_id)
    text = _text_of(answer.message)
    if text not in told[-1]["content"]:
        lab.fail("client.result-lost", evidence, text=text)
    if '"type"' in told[-1]["content"] or "'type'" in told[-1]["content"]:
        lab.fail("client.not-flattened", evidence)


def _expect_flattened(lab: Lab) -> None:
    """A result of several blocks: all texts arrive, and no base64."""
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    model = script(("query_order", {"order_id": order.order_id}), "好的。")
    peer = lab.peer("shared.peers.strict_server", "--blocks")
    run = lab.agent("再查一次", servers={"blocks": peer}, model=model)
    lab.expect_success(run)
    sent = lab.transcript.requests("tools/call", "blocks")
    answer = lab.transcript.answer_to(sent[0]) if sent else None
    if answer is None:
        lab.fail("client.nothing-sent", _model_side(lab))
    last = lab.transcript.model_requests()[-1]
    content = last.message["messages"][-1].get("content") or ""
    evidence = [Evidence(ANSWERED, answer), Evidence(ASKED, last)]
    for block in answer.message["result"]["content"]:
        if block["type"] == "text" and block["text"] not in content:
            lab.fail("client.block-lost", evidence, text=block["text"])
        if block["type"] == "image" and block["data"] in content:
            lab.fail("client.base64", evidence)


@checks.item(
    5,
    Text(
        en="failures go back to the model in the server's own words, and it corrects itself",
        zh="失败原文被回填给模型，模型自己换对参数；服务器中途退出也有明确的答复",
    ),
    exercise=4,
    needs=(4,),
)
def failures_go_back(lab: Lab) -> None:
    _expect_correction_after_is_error(lab)
    _expect_correction_after_json_rpc_error(lab)
    _expect_answer_after_death(lab)


def _expect_correction_after_is_error(lab: Lab) -> None:
    unknown = _unknown_number(lab)
    right = lab.shop.orders[lab.shop.nearest(unknown)]
    run = lab.agent(QUESTION.format(unknown))
    _expect_two_calls(lab, run, "shop", unknown, right.order_id, right.status)


def _expect_correction_after_json_rpc_error(lab: Lab) -> None:
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    typed = f"SO-{order.order_id[2:]}"
    run = lab.agent(
        QUESTION.format(typed), servers={"strict": lab.peer("shared.peers.strict_server")}
    )
    _expect_two_calls(lab, run, "strict", typed, order.order_id, order.status)


def _expect_two_calls(
    lab: Lab, run: AgentRun, channel: str, wrong: str, right: str, status: str
) -> None:
    sent = lab.transcript.requests("tools/call", channel)
    failed = lab.transcript.answer_to(sent[0]) if sent else None
    if failed is None:
        lab.expect_success(run)
        lab.fail("client.nothing-sent", _model_side(lab))
    words = (
        failed.message["error"]["message"]
        if "error" in failed.message
        else _text_of(failed.message)
    )
    if run.code != 0 and "error" in failed.message:
        lab.fail("agent.protocol-error-uncaught", [Evidence(ANSWERED, failed)], words=words)
    lab.expect_success(run)
    after = [r for r in lab.transcript.model_requests() if r.number > failed.number][:1]
    told = [m["content"] for r in after for m in r.message["messages"] if m["role"] == "tool"]
    evidence = [Evidence(ANSWERED, failed), *(Evidence(ASKED, request) for request in after)]
    if not told or words not in told[0]:
        code = "agent.failure-swallowed" if not told or not told[0] else "agent.failure-reworded"
        lab.fail(code, evidence, words=words)
    asked_for = [event.message["params"]["arguments"].get("order_id") for event in sent]
    if asked_for != [wrong, right]:
        lab.fail("agent.wrong-calls", evidence, got=", ".join(map(str, asked_for)))
    _expect_answer(lab, run, status)


def _expect_answer_after_death(lab: Lab) -> None:
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    peer = lab.peer("shared.peers.strict_server", "--exit-on-call")
    run = lab.agent(QUESTION.format(order_id), servers={"dying": peer})
    sent = lab.transcript.requests("tools/call", "dying")
    evidence = [Evidence(SENT, event) for event in sent[:1]]
    if run.code != 0:
        lab.fail("agent.server-death-uncaught", evidence)
    last = lab.transcript.model_requests()[-1]
    told = [m["content"] for m in last.message["messages"] if m["role"] == "tool"]
    if not told or not told[-1].strip():
        lab.fail("agent.server-death-untold", [*evidence, Evidence(ASKED, last)])
    _expect_answer(lab, run, "")


@checks.item(
    6,
    Text(
        en="should_use_mcp: no unless a criterion holds, and the reasons are the ones that do",
        zh="should_use_mcp：一条判据都不命中就不用，理由正是命中的那几条",
    ),
    exercise=5,
)
def when_to_use_mcp(lab: Lab) -> None:
    several = lab.draw.randrange(2, 9)
    cases = [
        (hosts, others, swap)
        for hosts in (1, 2, several)
        for others in (False, True)
        for swap in (False, True)
    ]
    calls = lab.calls("should_use_mcp:should_use_mcp", [list(case) for case in cases])
    decisions: dict[tuple[int, bool, bool], list[str]] = {}
    for case, call in zip(cases, calls, strict=True):
        shown = [Evidence(DECIDED, text=f"should_use_mcp{case} -> {_json(call.value)}")]
        decision = call.value if isinstance(call.value, dict) else {}
        if not isinstance(decision.get("use"), bool) or not _is_texts(decision.get("reasons")):
            lab.fail("decision.no-decision", shown)
        hits = (case[0] > 1) + case[1] + case[2]
        if decision["use"] != bool(hits):
            code = "decision.yes-by-default" if not hits else "decision.criterion-ignored"
            lab.fail(code, shown, case=_json(list(case)))
        decisions[case] = decision["reasons"]
    alone = [
        (decisions[(several, False, False)], ("host", "宿主")),
        (
            decisions[(1, True, False)],
            ("maint", "team", "own", "other", "third", "维护", "团队", "他人", "第三方"),
        ),
        (
            decisions[(1, False, True)],
            ("swap", "plug", "without", "config", "add", "换", "插拔", "增删", "不改", "配置"),
        ),
    ]
    for reasons, words in alone:
        if len(reasons) != 1 or not any(word in reasons[0].lower() for word in words):
            lab.fail("decision.reason-unnamed", [Evidence(DECIDED, text=_json(reasons))])
    for case, reasons in decisions.items():
        hit = (case[0] > 1, case[1], case[2])
        expected = [own[0] for own, holds in zip((a for a, _ in alone), hit, strict=True) if holds]
        if sorted(reasons) != sorted(expected):
            shown = [Evidence(DECIDED, text=f"should_use_mcp{case} -> {_json(reasons)}")]
            lab.fail("decision.wrong-reasons", shown, case=_json(list(case)))


def _expect_answer(lab: Lab, run: AgentRun, status: str) -> None:
    """The model's last word has the status, and the person at the terminal gets to see it."""
    last = lab.transcript.reply_to(lab.transcript.model_requests()[-1])
    answer = last.message["choices"][0]["message"].get("content") if last else None
    if not answer or status not in answer:
        lab.fail("agent.no-answer", _model_side(lab), status=status)
    if answer not in run.stdout:
        lab.fail("agent.answer-not-returned", [Evidence(TOLD, last)])


def _unknown_number(lab: Lab) -> str:
    """A well-formed number that no order has: an order's own with one digit changed."""
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    place = lab.draw.randrange(3, 10)
    digit = (int(order_id[place]) + lab.draw.randrange(1, 10)) % 10
    return f"{order_id[:place]}{digit}{order_id[place + 1 :]}"


def _tool_calls(reply: Event | None) -> list[dict[str, Any]]:
    return reply.message["choices"][0]["message"].get("tool_calls") or [] if reply else []


def _model_side(lab: Lab) -> list[Evidence]:
    """What the model asked for, when nothing came of it."""
    replies = [lab.transcript.reply_to(request) for request in lab.transcript.model_requests()]
    return [Evidence(TOLD, reply) for reply in replies[:1] if reply]


def _failed(answer: dict[str, Any]) -> bool:
    return "error" in answer or answer["result"].get("isError") is True


def _text_of(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return str(answer["error"].get("message", ""))
    blocks = answer["result"].get("content", [])
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


FIRST = Text(en="the client's first message", zh="client 发的第一条消息")
OUT_OF_ORDER = Text(en="sent after `initialize`", zh="在 `initialize` 之后发出")
LISTED = Text(en="the server's answer to tools/list", zh="服务器对 tools/list 的回复")
ANSWERED = Text(en="the server's answer", zh="服务器的回复")
MADE = Text(en="what to_function_tool made", zh="to_function_tool 得到的结果")
HANDED_IN = Text(en="with that, the model hands in", zh="于是模型交上来的是")
REFUSED = Text(en="and the server refuses it", zh="然后被服务器挡了回来")
ASKED = Text(en="what the agent sent to the model", zh="agent 发给模型的请求")
TOLD = Text(en="what the model answered", zh="模型的回复")
SENT = Text(en="what the client sent", zh="client 发出的消息")
DECIDED = Text(en="what was decided", zh="得到的结论")
