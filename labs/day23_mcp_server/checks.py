"""What day 23 asks for: six items, judged by what crossed the two wires.

    model wire (Chat Completions)            MCP wire (JSON-RPC lines)
    model <------------------- your agent -------------------> relay --> your server

None of this runs in your process, and the orders are drawn anew from the seed of each run.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from shared.chat.planning.reading import Outcome, judge
from shared.selftest.api import AgentRun, Asked, Checks, Evidence, Lab, Text, script
from shared.wire.messages import (
    answer_of,
    arguments_of,
    is_failure,
    says,
    text_of,
    tool_calls,
    tool_messages,
)
from shared.wire.transcript import Event

from .diagnoses import DIAGNOSES
from .foreign_tools import draw_foreign_tools
from .should_use_mcp import HOT_SWAP, OTHER_OWNERS, SEVERAL_HOSTS

# an exception over a result that is no ToolResult
MISSING_FIELD = re.compile(r"object has no attribute '(is_error|text)'\s*$")

TOOLS = ("query_order", "track_shipment")
QUESTION = "帮我查一下订单 {} 现在什么状态"
STRICT_SERVER = "shared.peers.strict_server"
CRITERIA = (SEVERAL_HOSTS, OTHER_OWNERS, HOT_SWAP)

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


# -- item 1: the connection -----------------------------------------------------------------------


@checks.item(
    1,
    Text(
        en="the server starts, shakes hands in order, keeps stdout clean, ends with its stdin",
        zh="server 能启动，按固定顺序握手，stdout 上只有协议，stdin 结束它就退出",
    ),
)
def handshake(lab: Lab) -> None:
    run = lab.host()
    channels = list(lab.programs())
    for channel in channels:
        lab.expect_clean_stdout(channel)
        _expect_initialize_first(lab, channel)
        _expect_no_refusal(lab, channel)
    lab.expect_success(run)
    for channel in channels:
        _expect_handshake(lab, channel)
    for server in run.servers:
        if server.stopped_after is None:
            lab.fail("wire.does-not-end", seconds=int(server.STOP_SECONDS))


def _sent(lab: Lab, channel: str) -> list[Event]:
    return [event for event in lab.transcript.mcp(channel, "client") if event.kind == "message"]


def _expect_initialize_first(lab: Lab, channel: str) -> None:
    for first in _sent(lab, channel)[:1]:
        if first.method != "initialize" or not first.is_request:
            lab.fail("wire.no-handshake", [Evidence(FIRST, first)], first=first.method)


def _expect_no_refusal(lab: Lab, channel: str) -> None:
    """Nothing in a handshake and a list of tools gives a server a reason to refuse."""
    for request in _sent(lab, channel):
        answer = lab.answer_to(request) if request.is_request else None
        if answer is not None and "error" in answer.message:
            shown = [Evidence(SENT, request), Evidence(ANSWERED, answer)]
            error = answer.message["error"]["message"]
            lab.fail("wire.error-answer", shown, method=request.method, error=error)


def _expect_handshake(lab: Lab, channel: str) -> None:
    sent = _sent(lab, channel)
    if not sent:
        lab.fail("wire.no-handshake", first="—")
    answer = lab.answer_to(sent[0])
    if answer is None:
        lab.fail("wire.error-answer", method="initialize", error="—")
    second = sent[1] if len(sent) > 1 else None
    if (
        second is None
        or second.method != "notifications/initialized"
        or second.number < answer.number
    ):
        shown = [Evidence(OUT_OF_ORDER, second)] if second else []
        lab.fail("wire.handshake-order", shown, got=second.method if second else "—")


# -- item 2, exercise 1: the server ---------------------------------------------------------------


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
    lab.hold_all(_listed_for_unchanged_host, _tools_keep_their_promises)


def _listed_for_unchanged_host(lab: Lab) -> None:
    """The host as it came has only to be started again to see what your server can do now."""
    lab.expect_success(lab.host("starter", lab.programs()))
    named = []
    listed = None
    for request in lab.transcript.requests("tools/list"):
        listed = lab.answer_to(request)
        if listed is not None:
            named += [tool["name"] for tool in listed.message.get("result", {}).get("tools", [])]
    for name in TOOLS:
        if name not in named:
            shown = [Evidence(LISTED, listed)] if listed else []
            lab.fail("server.tool-missing", shown, name=name, names=", ".join(named) or "—")


def _tools_keep_their_promises(lab: Lab) -> None:
    with lab.server() as server:
        tools = {tool["name"]: tool for tool in server.list_tools()}
        if not all(name in tools for name in TOOLS):
            return  # the other half of the item says so
        for name in TOOLS:
            _expect_order_id(lab, name, tools[name]["inputSchema"])
        _expect_descriptions_apart(lab, tools)
        for name in TOOLS:
            _expect_service(lab, server, name)
    lab.expect_clean_stdout("shop")  # a print in a tool may come out as late as at the end


def _expect_order_id(lab: Lab, name: str, schema: dict[str, Any]) -> None:
    """The schema as a host reads it, judged by what it takes and what it refuses."""
    shown = [Evidence(SCHEMA, text=_json(schema))]
    if "order_id" not in schema.get("properties", {}):
        lab.fail("server.no-order-id", shown, name=name)
    if "order_id" not in schema.get("required", []):
        lab.fail("server.order-id-optional", shown, name=name)
    good, bad = list(lab.shop.orders), _malformed(lab)
    judged = lab.judge_schema(schema, [{"order_id": value} for value in (*good, *bad)])
    if "fault" in judged:
        lab.fail("server.invalid-schema", shown, name=name, reason=judged["fault"])
    for value, taken in zip((*good, *bad), judged["takes"], strict=True):
        if value in good and not taken:
            lab.fail("server.pattern-too-strict", shown, name=name, value=value)
        if value in bad and taken:
            lab.fail(_pattern_fault(value), shown, name=name, value=value)


def _malformed(lab: Lab) -> list[str]:
    """Numbers that are no order numbers, each wrong in one way."""
    good = lab.draw.choice(sorted(lab.shop.orders))
    full_width = good[:2] + "".join(chr(ord(digit) + 0xFEE0) for digit in good[2:])
    return ["", good.lower(), good[2:], good[:-1], good + "0", f"x{good}", f"{good} ", full_width]


def _pattern_fault(value: str) -> str:
    return "server.pattern-too-loose" if value.isascii() else "server.pattern-digits"


def _expect_descriptions_apart(lab: Lab, tools: dict[str, dict[str, Any]]) -> None:
    """A model that knows the descriptions alone, and no names, has to pick the right tool."""
    for name in TOOLS:
        if not tools[name].get("description", "").strip():
            lab.fail("server.no-description", name=name)
    alias = {"query_order": "tool_a", "track_shipment": "tool_b"}
    offered = []
    for name in TOOLS:
        description = tools[name]["description"]
        for real, other in alias.items():
            description = description.replace(real, other)
        parameters = {"properties": {}, **tools[name]["inputSchema"]}
        function = {"name": alias[name], "description": description, "parameters": parameters}
        offered.append({"type": "function", "function": function})
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    questions = [
        ("query_order", f"订单 {order_id} 现在是什么状态？"),
        ("query_order", f"What is the status of order {order_id}?"),
        ("track_shipment", f"订单 {order_id} 的物流到哪了？"),
        ("track_shipment", f"Where is the parcel of order {order_id}?"),
    ]
    replies = lab.ask_mock([question for _, question in questions], offered)
    for (name, question), reply in zip(questions, replies, strict=True):
        if "refusal" in reply:
            lab.fail("server.invalid-schema", name=name, reason=reply["refusal"])
        picked = [call["name"] for call in reply["calls"]]
        if picked != [alias[name]]:
            shown = [Evidence(DESCRIBED, text=tools[each]["description"]) for each in TOOLS]
            lab.fail("server.descriptions-alike", shown, name=name, question=question)


def _expect_service(lab: Lab, server: Asked, name: str) -> None:
    """The tool as it behaves: right numbers are served, malformed and unknown ones refused."""

    def answered() -> list[Evidence]:
        return [Evidence(ANSWERED, lab.transcript.mcp("shop", "server")[-1])]

    for order_id in lab.draw.sample(sorted(lab.shop.orders), 2):
        order = lab.shop.orders[order_id]
        parcel = order.shipment
        facts = {
            "query_order": [order.status, order.placed_at],
            "track_shipment": [parcel.carrier, parcel.waybill],
        }
        answer = server.call(name, {"order_id": order_id})
        if is_failure(answer):
            lab.expect_no_exception(server)
            lab.fail("server.wrong-data", answered(), name=name, order=order_id)
        text = text_of(answer)
        for other in lab.shop.orders.values():
            if other is not order and (other.order_id in text or other.shipment.waybill in text):
                values = {"name": name, "order": order_id, "other": other.order_id}
                lab.fail("server.other-orders", answered(), **values)
        in_order = name == "query_order" or _stand_in_order(text, parcel.stations)
        if not in_order or not all(says(text, fact) for fact in facts[name]):
            lab.fail("server.wrong-data", answered(), name=name, order=order_id)
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    for value in [*_malformed(lab), f"{order.order_id}\n"]:
        if not is_failure(server.call(name, {"order_id": value})):
            lab.fail(_pattern_fault(value), answered(), name=name, value=value)
    unknown = _unknown_number(lab)
    answer = server.call(name, {"order_id": unknown})
    if not is_failure(answer) or lab.shop.nearest(unknown) not in text_of(answer):
        lab.fail("server.no-way-out", answered(), name=name, value=unknown)


def _stand_in_order(text: str, words: Sequence[str]) -> bool:
    """Whether a text has these words, one after the other, as they are or escaped as JSON."""
    for shape in (text, text.encode().decode("unicode_escape", errors="replace")):
        places = [shape.find(word) for word in words]
        if -1 not in places and places == sorted(places):
            return True
    return False


# -- item 3, exercise 2: the bridge ---------------------------------------------------------------


@checks.item(
    3,
    Text(
        en="parameters equals inputSchema field by field, for our tools and for foreign ones",
        zh="parameters 与 inputSchema 逐字段相等，自家工具和外来工具都一样",
    ),
    exercise=2,
    needs=(1,),
)
def whole_schema(lab: Lab) -> None:
    with lab.server() as server:
        tools = [*server.list_tools(), *draw_foreign_tools(lab.draw)]
        for call in lab.calls("bridge:to_function_tool", [[tool] for tool in tools]):
            (tool,) = call.given
            if call.arguments_after != [tool]:
                lab.fail("bridge.input-changed", name=tool["name"])
            _expect_function_tool(lab, server, tool, call.value)


def _expect_function_tool(lab: Lab, server: Asked, tool: dict[str, Any], made: Any) -> None:
    name, schema = tool["name"], tool["inputSchema"]
    shown = [Evidence(MADE, text=_json(made))]
    function = made.get("function") if isinstance(made, dict) else None
    if not isinstance(function, dict) or made.get("type") != "function":
        lab.fail("bridge.no-function-tool", shown, name=name)
    if function.get("name") != name:
        lab.fail("bridge.wrong-name", shown, name=name, got=function.get("name"))
    if (function.get("description") or "") != tool.get("description", ""):
        lab.fail("bridge.description-lost", shown, name=name)
    for field in function:
        if field not in ("name", "description", "parameters", "strict") or (
            field == "strict" and function["strict"]  # a promise that foreign schemas do not keep
        ):
            lab.fail("bridge.field-added", shown, name=name, field=field)
    parameters = function.get("parameters")
    if not isinstance(parameters, dict):
        lab.fail("bridge.no-parameters", shown, name=name)
    if schema.get("properties") and not parameters.get("properties"):
        lab.fail("bridge.hollow-schema", shown + _show_hollow(lab, server, tool, made), name=name)
    # a schema that has neither may be given the empty ones that providers ask for
    added = {"type": "object", "properties": {}, "required": []}
    for field in {**schema, **parameters}:
        if field not in parameters:
            lab.fail("bridge.field-lost", shown, name=name, field=field)
        elif field in schema and _sorted(schema[field]) != _sorted(parameters[field]):
            lab.fail("bridge.field-changed", shown, name=name, field=field)
        elif field not in schema and added.get(field) != parameters[field]:
            lab.fail("bridge.field-added", shown, name=name, field=field)


def _show_hollow(lab: Lab, server: Asked, tool: dict[str, Any], made: Any) -> list[Evidence]:
    """What becomes of a hollow schema: the model hands in nothing, and the server refuses that."""
    if tool["name"] not in TOOLS:
        return []
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    (reply,) = lab.ask_mock([QUESTION.format(order_id)], [made])
    if "refusal" in reply:
        return [Evidence(NOT_EVEN_TAKEN, text=reply["refusal"])]
    shown = []
    for call in reply["calls"]:
        server.call(tool["name"], json.loads(call["arguments"]))
        shown.append(Evidence(HANDED_IN, text=f"{tool['name']}({call['arguments']})"))
        shown.append(Evidence(REFUSED, lab.transcript.mcp("shop", "server")[-1]))
    return shown


# -- item 4, exercise 3: the client in the whole chain --------------------------------------------


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
    lab.hold_all(
        _question_is_answered, _blocks_become_text, _failure_is_marked, _every_call_is_answered
    )


def _question_is_answered(lab: Lab) -> None:
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    run = lab.agent(QUESTION.format(order.order_id))
    sent = lab.transcript.requests("tools/call")
    if sent and MISSING_FIELD.search(run.stderr):
        lab.fail("client.no-tool-result", [Evidence(SENT, sent[0])])
    lab.expect_success(run)
    if not sent and tool_calls(_first_reply(lab)):
        others = [event for event in lab.transcript.mcp(sender="client") if event.is_request]
        shown = [
            Evidence(TOLD, _first_reply(lab)),
            *(Evidence(SENT, event) for event in others[2:]),
        ]
        lab.fail("client.nothing-sent", shown)
    requests = lab.transcript.model_requests()
    if not requests:
        lab.fail("agent.model-not-asked")
    offered = [tool["function"]["name"] for tool in requests[0].message.get("tools", [])]
    for name in TOOLS:
        if name not in offered:
            lab.fail("agent.tool-not-offered", [Evidence(ASKED, requests[0])], name=name)
    picked = tool_calls(lab.transcript.reply_to(requests[0]))
    if [call["function"]["name"] for call in picked] != ["query_order"]:
        lab.fail("agent.wrong-tool", [Evidence(ASKED, requests[0])])
    wanted = {"name": "query_order", "arguments": {"order_id": order.order_id}}
    params = sent[0].message.get("params")
    if not isinstance(params, dict) or {**params, "_meta": None} != {**wanted, "_meta": None}:
        lab.fail("client.wrong-call", [Evidence(SENT, sent[0])], got=_json(params))
    _expect_given_back(lab, picked[0]["id"], lab.answer_to(sent[0]))
    if len(sent) != 1:
        lab.fail("agent.call-repeated", [Evidence(SENT, event) for event in sent], count=len(sent))
    _expect_answer(lab, run, order.status)


def _expect_given_back(lab: Lab, call_id: str, answer: Event | None) -> None:
    """The result of a call stands in the next model request, as text, under the id of the call."""
    following = [
        request
        for request in lab.transcript.model_requests()
        if answer is not None and request.number > answer.number
    ]
    if answer is None or not following:
        lab.fail("agent.result-not-returned", [Evidence(ANSWERED, answer)] if answer else [])
    told = tool_messages(following[0])
    shown = [Evidence(ANSWERED, answer), Evidence(ASKED, following[0])]
    if not told or told[-1].call_id != call_id:
        lab.fail("agent.wrong-call-id", shown, expected=call_id)
    content = told[-1].text
    text = text_of(answer.message)
    if not told[-1].is_text:
        lab.fail("client.not-flattened", shown)
    if text not in content:
        longest = max(text.splitlines(), key=len, default="")
        there = _letters(longest) in _letters(content)  # but among quotes and escapes
        lab.fail("client.not-flattened" if there else "client.result-lost", shown, text=text)
    if content.lstrip().startswith(("[{", '{"content"')):
        lab.fail("client.not-flattened", shown)


def _blocks_become_text(lab: Lab) -> None:
    """A result of several blocks: all of its texts arrive, and no base64."""
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    arguments = {"order_id": order_id, "limit": lab.draw.randrange(2, 6)}
    run = lab.agent(
        "再查一次",  # the number stands in the model's call alone
        servers={"blocks": lab.peer(STRICT_SERVER, "--blocks")},
        model=script(("query_order", arguments), "好的。"),
    )
    sent = lab.transcript.requests("tools/call", "blocks")
    answer = lab.answer_to(sent[0]) if sent else None
    if answer is None:
        lab.expect_success(run)
        lab.fail("client.nothing-sent", [Evidence(TOLD, _first_reply(lab))])
    if arguments_of(sent[0]) != arguments:
        got = _json(arguments_of(sent[0]))
        lab.fail("client.wrong-call", [Evidence(SENT, sent[0])], got=got)
    lab.expect_success(run)
    last = lab.transcript.model_requests()[-1]
    content = "".join(message.text for message in tool_messages(last))
    shown = [Evidence(ANSWERED, answer), Evidence(ASKED, last)]
    for block in answer.message["result"]["content"]:  # the peer's own, so it is there
        if block["type"] == "text" and block["text"] not in content:
            lab.fail("client.block-lost", shown, text=block["text"])
        if block["type"] in ("image", "audio") and block["data"] in content:
            lab.fail("client.base64", shown)


def _failure_is_marked(lab: Lab) -> None:
    """`is_error` is the tool's own word, which only the client hears: words do not tell here, since
    this server's good answers speak of errors and its bad ones do not."""
    known = lab.draw.choices(sorted(lab.shop.orders), k=3)
    numbers = [*known, *(_unknown_number(lab) for _ in range(3))]
    lab.draw.shuffle(numbers)
    marked = {"marked": lab.peer(STRICT_SERVER, "--marked")}
    calls = [("query_order", {"order_id": number}) for number in numbers]
    results = lab.tool_results(calls, marked)
    sent = lab.transcript.requests("tools/call", "marked")
    if [arguments_of(event).get("order_id") for event in sent] != numbers:
        lab.fail("client.nothing-sent", [Evidence(SENT, event) for event in sent[:1]])
    for event, result in zip(sent, results, strict=False):
        answer = lab.answer_to(event)
        if answer is None or result.get("is_error") is not is_failure(answer.message):
            shown = [Evidence(ANSWERED, answer)] if answer else []
            lab.fail("client.is-error-lost", shown, got=result.get("is_error"))
    if len(results) != len(sent):
        lab.fail("client.nothing-sent")


def _every_call_is_answered(lab: Lab) -> None:
    """A model may want several calls at once: each result goes back under the id of its call."""
    numbers = lab.draw.sample(sorted(lab.shop.orders), 2)
    run = lab.agent(QUESTION.format(" 和 ".join(numbers)))
    lab.expect_success(run)
    reply = _first_reply(lab)
    asked = lab.transcript.model_requests()[-1:]
    told = {
        message.call_id: message.text for request in asked for message in tool_messages(request)
    }
    answers = {
        arguments_of(sent).get("order_id"): lab.answer_to(sent)
        for sent in lab.transcript.requests("tools/call")
    }
    for call in tool_calls(reply):
        answer = answers.get(json.loads(call["function"]["arguments"]).get("order_id"))
        if answer is None:
            lab.fail("client.nothing-sent", [Evidence(TOLD, reply)])
        if text_of(answer.message) not in told.get(call["id"], ""):
            shown = [Evidence(ANSWERED, answer), *(Evidence(ASKED, request) for request in asked)]
            lab.fail("agent.wrong-call-id", shown, expected=call["id"])


# -- item 5, exercise 4: failures in the agent ----------------------------------------------------


@checks.item(
    5,
    Text(
        en="failures go back to the model in the server's own words, and it corrects itself",
        zh="失败原文被回填给模型，模型自己换对参数；server 中途退出也有明确的答复",
    ),
    exercise=4,
    needs=(4,),
)
def failures_go_back(lab: Lab) -> None:
    lab.hold_all(_corrected_after_is_error, _corrected_after_json_rpc_error, _answered_after_death)


def _corrected_after_is_error(lab: Lab) -> None:
    unknown = _unknown_number(lab)
    right = lab.shop.orders[lab.shop.nearest(unknown)]
    run = lab.agent(QUESTION.format(unknown))
    _expect_two_calls(lab, run, [unknown, right.order_id], right.status)


def _corrected_after_json_rpc_error(lab: Lab) -> None:
    order = lab.shop.orders[lab.draw.choice(sorted(lab.shop.orders))]
    typed = f"SO-{order.order_id[2:]}"  # this server's schema has no pattern that would forbid it
    run = lab.agent(QUESTION.format(typed), servers={"strict": lab.peer(STRICT_SERVER)})
    _expect_two_calls(lab, run, [typed, order.order_id], order.status)


def _expect_two_calls(lab: Lab, run: AgentRun, numbers: list[str], status: str) -> None:
    """One call that failed, its words told to the model, one call that was right, the answer."""
    sent = lab.transcript.requests("tools/call")
    failed = lab.answer_to(sent[0]) if sent else None
    if failed is None:
        lab.expect_success(run)
        lab.fail("client.nothing-sent", [Evidence(TOLD, _first_reply(lab))])
    words = text_of(failed.message)
    if run.code != 0 and run.ended_with("ProtocolError"):
        lab.fail("agent.protocol-error-uncaught", [Evidence(ANSWERED, failed)], words=words)
    lab.expect_success(run)
    following = [r for r in lab.transcript.model_requests() if r.number > failed.number][:1]
    told = [message.text for request in following for message in tool_messages(request)]
    shown = [Evidence(ANSWERED, failed), *(Evidence(ASKED, request) for request in following)]
    if not told or not told[0].strip():
        lab.fail("agent.failure-swallowed", shown, words=words)
    if not says(told[0], words):
        lab.fail("agent.failure-reworded", shown, words=words)
    asked_for = [arguments_of(event).get("order_id") for event in sent]
    if asked_for != numbers:
        lab.fail("agent.wrong-calls", shown, got=", ".join(map(str, asked_for)))
    _expect_answer(lab, run, status)


def _answered_after_death(lab: Lab) -> None:
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    peer = lab.peer(STRICT_SERVER, "--exit-on-call")
    run = lab.agent(QUESTION.format(order_id), servers={"dying": peer})
    shown = [Evidence(SENT, event) for event in lab.transcript.requests("tools/call")[:1]]
    if run.code != 0 and run.ended_with("ServerExited"):
        lab.fail("agent.server-death-uncaught", shown)
    lab.expect_success(run)
    last = lab.transcript.model_requests()[-1]
    told = [message.text for message in tool_messages(last)]
    if not told or judge(told[0]) is not Outcome.FAILED:
        lab.fail("agent.server-death-untold", [*shown, Evidence(ASKED, last)])
    _expect_answer(lab, run, "")


def _expect_answer(lab: Lab, run: AgentRun, status: str) -> None:
    """The model's last word has the status, and whoever asked gets to see it."""
    reply = lab.transcript.reply_to(lab.transcript.model_requests()[-1])
    answer = answer_of(reply)
    shown = [Evidence(TOLD, reply)] if reply else []
    if not answer or status not in answer:
        lab.fail("agent.no-answer", shown, status=status)
    if answer not in run.stdout:
        lab.fail("agent.answer-not-returned", shown)


# -- item 6, exercise 5: the decision -------------------------------------------------------------


@checks.item(
    6,
    Text(
        en="should_use_mcp: no unless a criterion holds, and the reasons are the ones that do",
        zh="should_use_mcp：一条判据都不命中就不用，理由正是命中的那几条",
    ),
    exercise=5,
)
def when_to_use_mcp(lab: Lab) -> None:
    several = lab.draw.randrange(3, 1000)
    cases = [
        (hosts, others, swap)
        for hosts in (0, 1, 2, several)
        for others in (False, True)
        for swap in (False, True)
    ]
    calls = lab.calls("should_use_mcp:should_use_mcp", [list(case) for case in cases])
    reasons: dict[tuple[int, bool, bool], list[str]] = {}
    for case, call in zip(cases, calls, strict=True):
        shown = [Evidence(DECIDED, text=f"should_use_mcp{case}: {_json(call.value)}")]
        decision = call.value if call.type == "Decision" else {}
        if not isinstance(decision.get("use"), bool) or not _is_texts(decision.get("reasons")):
            lab.fail("decision.no-decision", shown)
        holds = case[0] > 1 or case[1] or case[2]
        if decision["use"] != holds:
            code = "decision.criterion-ignored" if holds else "decision.yes-by-default"
            lab.fail(code, shown, case=case)
        # a reason may tell how many hosts there are
        reasons[case] = [reason.replace(str(case[0]), "N") for reason in decision["reasons"]]
    _expect_reasons(lab, reasons, several)


def _expect_reasons(
    lab: Lab, reasons: dict[tuple[int, bool, bool], list[str]], several: int
) -> None:
    """Each criterion has a reason, in whatever words, and stands for no other: what it is called
    where it holds alone, it is called wherever it holds."""
    alone = [reasons[several, False, False], reasons[1, True, False], reasons[1, False, True]]
    named = [given[0].strip() if len(given) == 1 else "" for given in alone]
    for given, own in zip(alone, CRITERIA, strict=True):
        if len(given) != 1 or not given[0].strip() or given[0] in set(CRITERIA) - {own}:
            lab.fail("decision.reason-unnamed", [Evidence(DECIDED, text=_json(given))])
    if len(set(named)) < len(named):
        lab.fail("decision.reason-unnamed", [Evidence(DECIDED, text=_json(named))])
    for case, given in reasons.items():
        holding = (case[0] > 1, case[1], case[2])
        expected = [reason for reason, holds in zip(named, holding, strict=True) if holds]
        if sorted(reason.strip() for reason in given) != sorted(expected):
            shown = [Evidence(DECIDED, text=f"should_use_mcp{case}: {_json(given)}")]
            lab.fail("decision.wrong-reasons", shown, case=case)


# -- what the items share -------------------------------------------------------------------------


def _unknown_number(lab: Lab) -> str:
    """A well-formed number that no order has: an order's own with one digit changed."""
    order_id = lab.draw.choice(sorted(lab.shop.orders))
    place = lab.draw.randrange(3, 10)
    digit = (int(order_id[place]) + lab.draw.randrange(1, 10)) % 10
    return f"{order_id[:place]}{digit}{order_id[place + 1 :]}"


def _first_reply(lab: Lab) -> Event | None:
    requests = lab.transcript.model_requests()
    return lab.transcript.reply_to(requests[0]) if requests else None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _sorted(value: Any) -> str:
    """A value as JSON that is the same for the same value: True is not 1 there, as it is in Python,
    and the order of keys does not count."""
    return json.dumps(value, sort_keys=True)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FIRST = Text(en="the client's first message", zh="client 发的第一条消息")
OUT_OF_ORDER = Text(en="sent after `initialize`", zh="在 `initialize` 之后发出")
LISTED = Text(en="the server's answer to tools/list", zh="server 对 tools/list 的回复")
SCHEMA = Text(en="the schema", zh="这份 schema")
DESCRIBED = Text(en="a description", zh="描述")
ANSWERED = Text(en="the server's answer", zh="server 的回复")
MADE = Text(en="what to_function_tool made of it", zh="to_function_tool 得到的结果")
NOT_EVEN_TAKEN = Text(en="a provider refuses it with a 400", zh="服务商会直接用 400 拒绝它")
HANDED_IN = Text(en="with that, the model hands in", zh="于是模型交上来的是")
REFUSED = Text(en="and the server refuses it", zh="然后被 server 挡了回来")
ASKED = Text(en="what the agent sent to the model", zh="agent 发给模型的请求")
TOLD = Text(en="what the model answered", zh="模型的回复")
SENT = Text(en="what the client sent", zh="client 发出的消息")
DECIDED = Text(en="what was decided", zh="得到的结论")
