"""Wrong answers: each fails its own item, with its own diagnosis, and nothing that it leaves alone.

And right answers in other words, which pass in full.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.selftest.result import Result, Status

from .conftest import Statuses, Work

SERVER = "mcp_server.py"
TOOL = "@server.tool(description='查询物流轨迹：承运商、运单号和站点')\n"
BODY = """
    order = find_order(order_id)
    return {
        "order_id": order.order_id,
        "carrier": order.shipment.carrier,
        "waybill": order.shipment.waybill,
        "stations": list(order.shipment.stations),
    }
"""


@dataclass(frozen=True)
class Mistake:
    """What stands in the blank of an exercise, or what is edited, and what it has to get."""

    name: str
    exercise: int
    body: str
    diagnosis: str
    status: Status = "fail"


MISTAKES = [
    # exercise 1
    Mistake(
        "misspelt-tool",
        1,
        f"{TOOL}def trackShipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
        "server.tool-missing",
    ),
    Mistake(
        "not-registered",
        1,
        f"def track_shipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
        "server.tool-missing",
    ),
    Mistake(
        "parameter-named-id",
        1,
        f"{TOOL}def track_shipment(id: OrderId) -> ShipmentTrack:\n    order_id = id{BODY}",
        "server.no-order-id",
    ),
    Mistake(
        "optional-order-id",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId = 'SO00000000') -> ShipmentTrack:{BODY}",
        "server.order-id-optional",
    ),
    Mistake(
        "no-pattern",
        1,
        f"{TOOL}def track_shipment(order_id: str) -> ShipmentTrack:{BODY}",
        "server.pattern-too-loose",
    ),
    Mistake(
        "no-anchors",
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str, Field(pattern='SO[0-9]{{8}}')])"
        f" -> ShipmentTrack:{BODY}",
        "server.pattern-too-loose",
    ),
    Mistake(
        "any-case",
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str, Field(pattern='^[Ss][Oo][0-9]{{8}}$')])"
        f" -> ShipmentTrack:{BODY}",
        "server.pattern-too-loose",
    ),
    Mistake(
        "digits-of-every-script",
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str, Field(pattern=r'^SO\\d{{8}}$')])"
        f" -> ShipmentTrack:{BODY}",
        "server.pattern-digits",
    ),
    Mistake(
        "this-year-only",
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str, Field(pattern='^SO2026[0-9]{{4}}$')])"
        f" -> ShipmentTrack:{BODY}",
        "server.pattern-too-strict",
    ),
    Mistake(
        "no-description",
        1,
        f"@server.tool()\ndef track_shipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
        "server.no-description",
    ),
    Mistake(
        "copied-description",
        1,
        "@server.tool(description='按订单号查询一笔订单的状态、金额和下单时间。')\n"
        f"def track_shipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
        "server.descriptions-alike",
    ),
    Mistake(
        "vague-description",
        1,
        f"@server.tool(description='查询')\n"
        f"def track_shipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
        "server.descriptions-alike",
    ),
    Mistake(
        "hard-coded",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:\n"
        "    return {'order_id': order_id, 'carrier': '顺丰速运', 'waybill': 'SF1029384756',"
        " 'stations': ['杭州已揽收', '武汉中转', '成都派送中']}",
        "server.wrong-data",
    ),
    Mistake(
        "last-station-only",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:"
        + BODY.replace("list(order.shipment.stations)", "[order.shipment.stations[-1]]"),
        "server.wrong-data",
    ),
    Mistake(
        "unknown-order-is-no-failure",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> str:\n"
        "    order = shop.find(order_id)\n"
        "    if order is None: return '没有这个订单'\n"
        "    return f'{order.shipment.carrier} {order.shipment.waybill} {order.shipment.stations}'",
        "server.no-way-out",
    ),
    Mistake(
        "bare-exception",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:\n"
        "    if shop.find(order_id) is None: raise ValueError(shop.nearest(order_id))" + BODY,
        "server.no-way-out",
    ),
    Mistake(
        "print-in-tool",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:\n"
        f"    print('tracking', order_id){BODY}",
        "wire.stray-line",
    ),
    Mistake(
        "all-orders-at-once",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> str:\n"
        "    find_order(order_id)\n    return str(shop)",
        "server.other-orders",
    ),
    Mistake(
        "newest-station-first",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:"
        + BODY.replace("list(order.shipment.stations)", "list(order.shipment.stations)[::-1]"),
        "server.wrong-data",
    ),
    Mistake(
        "attribute-of-the-wrong-object",
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:"
        + BODY.replace("order.shipment.carrier", "order.carrier"),
        "code.raised",
        status="error",
    ),
    Mistake(
        "pattern-that-is-none",
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str,"
        " Field(json_schema_extra={'pattern': '^SO[0-9{8}('})]) -> ShipmentTrack:" + BODY,
        "server.invalid-schema",
    ),
    Mistake(
        "type-that-is-none",
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str,"
        " Field(json_schema_extra={'type': 'str'})]) -> ShipmentTrack:" + BODY,
        "server.invalid-schema",
    ),
    # exercise 2
    Mistake("empty-parameters", 2, "parameters = {}", "bridge.hollow-schema"),
    Mistake(
        "seven-keys-only",
        2,
        "keys = ('type', 'properties', 'required', '$defs', 'additionalProperties', 'title',"
        " 'description', '$schema', 'minProperties')\n"
        "parameters = {key: value for key, value in tool['inputSchema'].items() if key in keys}",
        "bridge.field-lost",
    ),
    Mistake(
        "table-by-name",
        2,
        "from .foreign_tools import FOREIGN_TOOLS\n"
        "known = {each['name']: each['inputSchema'] for each in FOREIGN_TOOLS}\n"
        "parameters = known.get(tool['name'].rpartition('_')[0]) or tool['inputSchema']",
        "bridge.field-changed",
    ),
    Mistake(
        "strict-promised",
        2,
        "return {'type': 'function', 'function': {'name': tool['name'], 'strict': True,"
        " 'description': tool.get('description', ''), 'parameters': tool['inputSchema']}}",
        "bridge.field-added",
    ),
    Mistake(
        "hollow-again",
        2,
        "parameters = {'type': 'object', 'properties': {}, 'required': []}",
        "bridge.hollow-schema",
    ),
    Mistake(
        "three-fields-only",
        2,
        "schema = tool['inputSchema']\n"
        "parameters = {'type': 'object', 'properties': schema.get('properties', {}),"
        " 'required': schema.get('required', [])}",
        "bridge.field-lost",
    ),
    Mistake(
        "required-lost",
        2,
        "parameters = {'properties': {}, **tool['inputSchema']}\nparameters.pop('required', None)",
        "bridge.field-lost",
    ),
    Mistake(
        "refs-deleted",
        2,
        "def clean(node):\n"
        "    if isinstance(node, dict):\n"
        "        return {k: clean(v) for k, v in node.items() if k != '$ref'}\n"
        "    return node\n"
        "parameters = clean(tool['inputSchema'])",
        "bridge.field-changed",
    ),
    Mistake(
        "unions-flattened",
        2,
        "def clean(node):\n"
        "    if isinstance(node, list):\n"
        "        return [clean(one) for one in node]\n"
        "    if isinstance(node, dict):\n"
        "        return {'type': 'object'} if 'anyOf' in node"
        " else {k: clean(v) for k, v in node.items()}\n"
        "    return node\n"
        "schema = tool['inputSchema']\n"
        "parameters = {**schema, 'properties': clean(schema.get('properties', {}))}",
        "bridge.field-changed",
    ),
    Mistake(
        "everything-required",
        2,
        "parameters = {**tool['inputSchema']}\n"
        "parameters['required'] = list(parameters.get('properties', {}))",
        "bridge.field-changed",
    ),
    Mistake(
        "strict-added",
        2,
        "parameters = {'additionalProperties': False, **tool['inputSchema']}",
        "bridge.field-added",
    ),
    Mistake(
        "input-mutated",
        2,
        "parameters = tool['inputSchema']\nparameters.setdefault('properties', {})",
        "bridge.input-changed",
    ),
    Mistake("schema-as-text", 2, "parameters = str(tool['inputSchema'])", "bridge.no-parameters"),
    Mistake(
        "snake-case-key", 2, "parameters = tool['input_schema']", "code.raised", status="error"
    ),
    Mistake(
        "properties-assumed",
        2,
        "parameters = {**tool['inputSchema'], 'properties': tool['inputSchema']['properties']}",
        "code.raised",
        status="error",
    ),
    Mistake(
        "flat-shape",
        2,
        "return {'type': 'function', 'name': tool['name'], 'parameters': tool['inputSchema']}",
        "bridge.no-function-tool",
    ),
    Mistake(
        "prefixed-name",
        2,
        "parameters = tool['inputSchema']\ntool = {**tool, 'name': 'mcp__' + tool['name']}",
        "bridge.wrong-name",
    ),
    Mistake(
        "description-lost",
        2,
        "parameters = tool['inputSchema']\ntool = {'name': tool['name']}",
        "bridge.description-lost",
    ),
    # exercise 3
    Mistake(
        "invented-result",
        3,
        'return ToolResult(\'{"status": "已发货"}\', is_error=False)',
        "client.nothing-sent",
    ),
    Mistake(
        "method-misspelt",
        3,
        "result = self._request('tool/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult(result['content'][0]['text'], False)",
        "client.nothing-sent",
    ),
    Mistake(
        "arguments-called-args",
        3,
        "result = self._request('tools/call', {'name': name, 'args': arguments})\n"
        "return ToolResult(result['content'][0]['text'], False)",
        "client.wrong-call",
    ),
    Mistake(
        "arguments-as-text",
        3,
        "import json\n"
        "result = self._request('tools/call', {'name': name, 'arguments': json.dumps(arguments)})\n"
        "return ToolResult(result['content'][0]['text'], False)",
        "client.wrong-call",
    ),
    Mistake(
        "blocks-as-repr",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult(str(result['content']), result.get('isError', False))",
        "client.not-flattened",
    ),
    Mistake(
        "blocks-as-json",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult(json.dumps(result['content'], ensure_ascii=False),"
        " result.get('isError', False))",
        "client.not-flattened",
    ),
    Mistake(
        "first-block-only",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult(result['content'][0]['text'], result.get('isError', False))",
        "client.block-lost",
    ),
    Mistake(
        "base64-as-text",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "texts = [block.get('text') or block.get('data', '') for block in result['content']]\n"
        "return ToolResult('\\n'.join(texts), result.get('isError', False))",
        "client.base64",
    ),
    Mistake(
        "every-block-has-text",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "texts = [block['text'] for block in result['content']]\n"
        "return ToolResult('\\n'.join(texts), result.get('isError', False))",
        "code.raised",
        status="error",
    ),
    Mistake(
        "empty-text",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult('', result.get('isError', False))",
        "client.result-lost",
    ),
    Mistake(
        "never-an-error",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "texts = [block.get('text', '[image]') for block in result['content']]\n"
        "return ToolResult('\\n'.join(texts), is_error=False)",
        "client.is-error-lost",
    ),
    Mistake(
        "error-by-its-words",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "text = '\\n'.join(b.get('text', '[image]') for b in result['content'])\n"
        "return ToolResult(text, is_error='rror' in text)",
        "client.is-error-lost",
    ),
    Mistake(
        "arguments-made-text",
        3,
        "arguments = {key: str(value) for key, value in arguments.items()}\n"
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "texts = [block.get('text', '[image]') for block in result['content']]\n"
        "return ToolResult('\\n'.join(texts), result.get('isError', False))",
        "client.wrong-call",
    ),
    Mistake(
        "three-blocks-at-most",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "texts = [block.get('text', '[image]') for block in result['content'][:3]]\n"
        "return ToolResult('\\n'.join(texts), result.get('isError', False))",
        "client.block-lost",
    ),
    Mistake(
        "text-without-result",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return result['content'][0]['text']",
        "client.no-tool-result",
    ),
    Mistake(
        "blocks-as-they-are",
        3,
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult(result['content'], result.get('isError', False))",
        "client.not-flattened",
    ),
    Mistake(
        "method-of-the-client-misspelt",
        3,
        "result = self.request('tools/call', {'name': name, 'arguments': arguments})\n"
        "return ToolResult(result['content'][0]['text'], False)",
        "code.raised",
        status="error",
    ),
    Mistake(
        "called-twice",
        3,
        "self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "result = self._request('tools/call', {'name': name, 'arguments': arguments})\n"
        "texts = [block.get('text', '[image]') for block in result['content']]\n"
        "return ToolResult('\\n'.join(texts), result.get('isError', False))",
        "agent.call-repeated",
    ),
    # exercise 4
    Mistake(
        "is-error-alone",
        4,
        "return client.call_tool(name, values).text",
        "agent.protocol-error-uncaught",
    ),
    Mistake(
        "exception-alone",
        4,
        "try:\n"
        "    result = client.call_tool(name, values)\n"
        "except McpError as error:\n"
        "    return str(error)\n"
        "return '' if result.is_error else result.text",
        "agent.failure-swallowed",
    ),
    Mistake(
        "exception-swallowed",
        4,
        "try:\n    return client.call_tool(name, values).text\nexcept McpError:\n    return ''",
        "agent.failure-swallowed",
    ),
    Mistake(
        "own-words",
        4,
        "try:\n"
        "    result = client.call_tool(name, values)\n"
        "except McpError:\n"
        "    return '出错了'\n"
        "return '失败，请检查参数' if result.is_error else result.text",
        "agent.failure-reworded",
    ),
    Mistake(
        "code-without-message",
        4,
        "try:\n"
        "    return client.call_tool(name, values).text\n"
        "except McpError as error:\n"
        "    return f'错误码 {getattr(error, \"code\", 0)}'",
        "agent.failure-reworded",
    ),
    Mistake(
        "protocol-error-alone",
        4,
        "from .mcp_client import ProtocolError\n"
        "try:\n"
        "    return client.call_tool(name, values).text\n"
        "except ProtocolError as error:\n"
        "    return str(error)",
        "agent.server-death-uncaught",
    ),
    Mistake(
        "silent-on-death",
        4,
        "from .mcp_client import ServerExited\n"
        "try:\n"
        "    return client.call_tool(name, values).text\n"
        "except ServerExited:\n"
        "    return ' '\n"
        "except McpError as error:\n"
        "    return str(error)",
        "agent.server-death-untold",
    ),
    Mistake(
        "retries-by-itself",
        4,
        "try:\n"
        "    result = client.call_tool(name, values)\n"
        "    if result.is_error:\n"
        "        result = client.call_tool(name, values)\n"
        "    return result.text\n"
        "except McpError as error:\n"
        "    return str(error)",
        "agent.wrong-calls",
    ),
    Mistake(
        "raises-on-failure",
        4,
        "try:\n"
        "    result = client.call_tool(name, values)\n"
        "except McpError as error:\n"
        "    return str(error)\n"
        "if result.is_error:\n"
        "    raise RuntimeError(result.text)\n"
        "return result.text",
        "code.raised",
        status="error",
    ),
    Mistake(
        "death-called-success",
        4,
        "from .mcp_client import ServerExited\n"
        "try:\n"
        "    return client.call_tool(name, values).text\n"
        "except ServerExited:\n"
        "    return '成功，一切正常'\n"
        "except McpError as error:\n"
        "    return str(error)",
        "agent.server-death-untold",
    ),
    Mistake(
        "printed-and-not-returned",
        4,
        "try:\n    return client.call_tool(name, values).text\n"
        "except McpError as error:\n    print(error)",
        "model.refused",
    ),
    # exercise 5
    Mistake(
        "one-host-or-none",
        5,
        "reasons = [text for text, holds in ((SEVERAL_HOSTS, hosts != 1),"
        " (OTHER_OWNERS, maintained_by_others), (HOT_SWAP, hot_swappable)) if holds]\n"
        "return Decision(bool(reasons), reasons)",
        "decision.yes-by-default",
    ),
    Mistake(
        "one-reason-for-all",
        5,
        "reasons = ['host'] * ((hosts > 1) + maintained_by_others"
        " + hot_swappable)\nreturn Decision(bool(reasons), reasons)",
        "decision.reason-unnamed",
    ),
    Mistake(
        "a-dict",
        5,
        "reasons = [text for text, holds in ((SEVERAL_HOSTS, hosts > 1),"
        " (OTHER_OWNERS, maintained_by_others), (HOT_SWAP, hot_swappable)) if holds]\n"
        "return {'use': bool(reasons), 'reasons': reasons}",
        "decision.no-decision",
    ),
    Mistake("always-yes", 5, "return Decision(True, [HOT_SWAP])", "decision.yes-by-default"),
    Mistake("always-no", 5, "return Decision(False, [])", "decision.criterion-ignored"),
    Mistake(
        "one-host-is-enough",
        5,
        "reasons = [text for text, holds in ((SEVERAL_HOSTS, hosts >= 1),"
        " (OTHER_OWNERS, maintained_by_others), (HOT_SWAP, hot_swappable)) if holds]\n"
        "return Decision(bool(reasons), reasons)",
        "decision.yes-by-default",
    ),
    Mistake(
        "two-hosts-are-not-several",
        5,
        "reasons = [text for text, holds in ((SEVERAL_HOSTS, hosts > 2),"
        " (OTHER_OWNERS, maintained_by_others), (HOT_SWAP, hot_swappable)) if holds]\n"
        "return Decision(bool(reasons), reasons)",
        "decision.criterion-ignored",
    ),
    Mistake(
        "all-three-needed",
        5,
        "use = hosts > 1 and maintained_by_others and hot_swappable\n"
        "return Decision(use, [SEVERAL_HOSTS, OTHER_OWNERS, HOT_SWAP] if use else [])",
        "decision.criterion-ignored",
    ),
    Mistake(
        "first-reason-only",
        5,
        "if hosts > 1: return Decision(True, [SEVERAL_HOSTS])\n"
        "elif maintained_by_others: return Decision(True, [OTHER_OWNERS])\n"
        "elif hot_swappable: return Decision(True, [HOT_SWAP])\n"
        "return Decision(False, [])",
        "decision.wrong-reasons",
    ),
    Mistake(
        "no-reasons",
        5,
        "return Decision(hosts > 1 or maintained_by_others or hot_swappable, [])",
        "decision.reason-unnamed",
    ),
    Mistake(
        "reasons-mixed-up",
        5,
        "reasons = [text for text, holds in ((HOT_SWAP, hosts > 1),"
        " (OTHER_OWNERS, maintained_by_others), (SEVERAL_HOSTS, hot_swappable)) if holds]\n"
        "return Decision(bool(reasons), reasons)",
        "decision.reason-unnamed",
    ),
    Mistake("a-bare-bool", 5, "return hosts > 1", "decision.no-decision"),
    Mistake("nothing-returned", 5, "pass", "decision.no-decision"),
    Mistake("a-set", 5, "return {SEVERAL_HOSTS}", "code.no-json"),
]
ITEM_OF = {1: 2, 2: 3, 3: 4, 4: 5, 5: 6}
STANDS_ON = {2: {1}, 3: {1}, 4: {1, 2, 3}, 5: {1, 2, 3, 4}, 6: set()}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_wrong_answer_fails_its_item_with_its_diagnosis(
    solution: Work, solved: Result, mistake: Mistake
) -> None:
    number = ITEM_OF[mistake.exercise]
    # no tool is called before item 4: what stands in call_tool or run_tool cannot matter to these
    kept = {n: solved.items[n - 1] for n in (1, 2, 3) if mistake.exercise in (3, 4)}
    assert all(item.status == "pass" for item in kept.values())
    result = solution.exercise(mistake.exercise, mistake.body).judge(number, kept=kept)
    item = result.items[number - 1]
    assert (item.status, item.diagnosis) == (mistake.status, mistake.diagnosis), item.message.en
    for ground in STANDS_ON[number]:
        assert result.items[ground - 1].status == "pass"
    for text in (item.message.en, item.message.zh):
        assert text
        assert not re.search(r"\{[a-z_]+\}", text)  # every placeholder is filled


RIGHT_ANSWERS = {
    "english-descriptions": (
        1,
        "@server.tool(description='Track the parcel of an order: carrier, waybill, stations.')\n"
        f"def track_shipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
    ),
    "plain-text-result": (
        1,
        f"{TOOL}def track_shipment(order_id: OrderId) -> str:\n"
        "    parcel = find_order(order_id).shipment\n"
        "    return f'{parcel.carrier}，运单 {parcel.waybill}：' + ' → '.join(parcel.stations)",
    ),
    "async-tool": (
        1,
        f"{TOOL}async def track_shipment(order_id: OrderId) -> ShipmentTrack:{BODY}",
    ),
    "stricter-schema-and-a-third-tool": (
        1,
        f"{TOOL}def track_shipment(order_id: Annotated[str, Field(pattern='^SO[0-9]{{8}}$',"
        f" min_length=10, max_length=10)]) -> ShipmentTrack:{BODY}\n"
        "@server.tool(description='列出仓库')\ndef list_warehouses() -> str:\n    return '杭州'",
    ),
    "logs-on-stderr": (
        1,
        f"import sys\n{TOOL}def track_shipment(order_id: OrderId) -> ShipmentTrack:\n"
        f"    print('tracking', order_id, file=sys.stderr){BODY}",
    ),
    "verbatim-schema": (2, "parameters = tool['inputSchema']"),
    "deep-copy": (2, "import copy\nparameters = copy.deepcopy(tool['inputSchema'])"),
    "properties-filled-in-a-copy": (
        2,
        "parameters = dict(tool['inputSchema'])\nparameters.setdefault('properties', {})\n"
        "parameters.setdefault('required', [])",
    ),
    "loop-over-blocks": (
        3,
        "answer = self._request('tools/call', dict(name=name, arguments=arguments))\n"
        "text = ''\n"
        "for block in answer['content']:\n"
        "    if block['type'] == 'text':\n"
        "        text += block['text'] + '\\n'\n"
        "return ToolResult(text, bool(answer.get('isError')))",
    ),
    "with-progress-token": (
        3,
        "params = {'name': name, 'arguments': arguments, '_meta': {'progressToken': 1}}\n"
        "answer = self._request('tools/call', params)\n"
        "texts = [b['text'] for b in answer['content'] if 'text' in b]\n"
        "return ToolResult('\\n\\n'.join(texts), answer.get('isError') is True)",
    ),
    "bare-words": (
        4,
        "try:\n    return client.call_tool(name, values).text\n"
        "except McpError as error:\n    return str(error)",
    ),
    "as-json": (
        4,
        "try:\n    result = client.call_tool(name, values)\n"
        "except Exception as error:\n    return f'Error: {error}'\n"
        "return ('Error: ' if result.is_error else '') + result.text",
    ),
    "own-reasons": (
        5,
        "why = {'复用：多个宿主都要用': hosts > 1, '由别的团队维护': maintained_by_others,"
        " '热插拔': hot_swappable}\n"
        "reasons = [text for text, holds in why.items() if holds]\n"
        "return Decision(len(reasons) > 0, reasons)",
    ),
    "reasons-with-numbers": (
        5,
        "reasons = []\n"
        "if hosts > 1: reasons.append(f'{hosts} applications share it')\n"
        "if maintained_by_others: reasons.append('别的部门负责')\n"
        "if hot_swappable: reasons.append('Needs to be replaceable at runtime')\n"
        "return Decision(use=bool(reasons), reasons=reasons)",
    ),
    "escaped-json": (
        1,
        "import json\n"
        f"{TOOL}def track_shipment(order_id: OrderId) -> str:\n"
        "    parcel = find_order(order_id).shipment\n"
        "    return json.dumps([parcel.carrier, parcel.waybill, *parcel.stations])",
    ),
    "errors-as-json": (
        4,
        "try:\n    result = client.call_tool(name, values)\n"
        "except McpError as error:\n    return json.dumps({'error': str(error)})\n"
        "return json.dumps({'error': result.text}) if result.is_error else result.text",
    ),
    "keys-in-another-order": (
        2,
        "import json\nparameters = json.loads(json.dumps(tool['inputSchema'], sort_keys=True))",
    ),
    "reasons-in-another-order": (
        5,
        "reasons = []\n"
        "if hot_swappable: reasons.append(HOT_SWAP)\n"
        "if maintained_by_others: reasons.append(OTHER_OWNERS)\n"
        "if hosts >= 2: reasons.append(SEVERAL_HOSTS)\n"
        "return Decision(use=reasons != [], reasons=reasons)",
    ),
}


@pytest.mark.parametrize("name", RIGHT_ANSWERS)
def test_a_right_answer_in_other_words_passes_in_full(
    solution: Work, statuses: Statuses, name: str
) -> None:
    result = solution.exercise(*RIGHT_ANSWERS[name]).judge()
    reasons = [(item.diagnosis, item.message.en) for item in result.items if item.diagnosis]
    assert statuses(result) == ["pass"] * 6, reasons


EDITS = {
    "banner-at-start": (
        SERVER,
        "shop = load_shop()",
        "print('shop server', flush=True)\nshop = load_shop()",
        "wire.stray-line",
        "fail",
    ),
    "banner-left-in-the-buffer": (
        SERVER,
        "shop = load_shop()",
        "print('shop server')\nshop = load_shop()",
        "wire.stray-line",
        "fail",
    ),
    "pretty-printed": (
        SERVER,
        "    server.run()",
        "    import json, sys\n"
        "    for line in sys.stdin:\n"
        "        request = json.loads(line)\n"
        "        if 'id' in request:\n"
        "            reply = {'jsonrpc': '2.0', 'id': request['id'], 'result': {}}\n"
        "            print(json.dumps(reply, indent=2), flush=True)",
        "wire.pretty-printed",
        "fail",
    ),
    "gbk-on-the-wire": (
        SERVER,
        "shop = load_shop()",
        "import sys\nsys.stdout.buffer.write('订单服务\\n'.encode('gbk'))\n"
        "sys.stdout.flush()\nshop = load_shop()",
        "wire.not-utf8",
        "fail",
    ),
    "initialized-never-sent": (
        "mcp_client.py",
        'self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})',
        "pass",
        "wire.handshake-order",
        "fail",
    ),
    "no-handshake": (
        "host.py",
        "                    client.initialize()\n",
        "",
        "wire.no-handshake",
        "fail",
    ),
    "outlives-its-stdin": (
        SERVER,
        "    server.run()",
        "    server.run()\n    import time\n    time.sleep(60)",
        "wire.does-not-end",
        "fail",
    ),
    "syntax-error": (
        SERVER,
        "def find_order(order_id: str) -> Order:",
        "def find_order(order_id: str) -> Order",
        "code.syntax-error",
        "error",
    ),
    "import-of-sdk-1": (
        SERVER,
        "from mcp.server import MCPServer",
        "from mcp.server.fastmcp import FastMCP as MCPServer",
        "sdk.wrong-major",
        "error",
    ),
    "module-that-is-not-there": (
        SERVER,
        "from shared.shop import",
        "from shared.warehouse import",
        "code.missing-module",
        "error",
    ),
    "raises-at-start": (
        SERVER,
        "shop = load_shop()",
        "shop = load_shop()['orders']",
        "code.raised",
        "error",
    ),
    "client-class-renamed": (
        "mcp_client.py",
        "class McpClient:",
        "class MCPClient:",
        "code.missing-name",
        "error",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_broken_connection_fails_item_1_with_its_diagnosis(solution: Work, name: str) -> None:
    file, old, new, diagnosis, status = EDITS[name]
    item = solution.edit(file, old, new).item(1)
    assert (item.status, item.diagnosis) == (status, diagnosis), (item.message.en, item.detail)


def test_a_stray_line_is_quoted_with_its_number_and_the_advice(solution: Work) -> None:
    solution.edit(SERVER, "shop = load_shop()", "print('你好', flush=True)\nshop = load_shop()")
    message = solution.item(1).message
    assert "Line 1 " in message.en
    assert "你好" in message.en
    assert "stderr" in message.en
    assert "第 1 行" in message.zh
    assert "stderr" in message.zh


def test_a_function_under_another_name_is_pointed_out(solution: Work) -> None:
    solution.edit("bridge.py", "def to_function_tool", "def toFunctionTool")
    item = solution.item(3)
    assert (item.status, item.diagnosis) == ("error", "code.missing-name")
    assert "labs/day23_mcp_server/bridge.py has no `to_function_tool`" in item.message.en
    assert "it has `toFunctionTool`" in item.message.en


def test_an_sdk_import_says_what_is_found_and_expected(solution: Work) -> None:
    solution.edit(
        SERVER,
        "from mcp.server import MCPServer",
        "from mcp.server.fastmcp import FastMCP as MCPServer",
    )
    text = solution.item(1).message.en
    assert "mcp 2.3" in text
    assert ">=2.3,<3" in text


def test_a_file_with_a_syntax_error_leaves_the_others_judged(
    solution: Work, statuses: Statuses
) -> None:
    solution.edit("should_use_mcp.py", "    reasons = []", "    reasons = [")
    result = solution.judge()
    assert statuses(result) == ["pass"] * 5 + ["error"]
    assert result.items[5].diagnosis == "code.syntax-error"
    assert "should_use_mcp.py, line" in result.items[5].message.en


def test_the_exception_that_a_tool_raised_is_shown_with_its_line(solution: Work) -> None:
    solution.edit(SERVER, '"carrier": order.shipment.carrier', '"carrier": order.carrier')
    line = solution.files[SERVER].splitlines().index('        "carrier": order.carrier,') + 1
    item = solution.item(2)
    assert f"{SERVER}, line {line} raised AttributeError" in item.message.en
    assert "Traceback" in item.detail


def test_a_missing_file_is_named_and_no_other_is_put_at_risk(solution: Work) -> None:
    (solution.folder / "bridge.py").unlink()
    item = solution.item(3)
    assert (item.status, item.diagnosis) == ("error", "code.missing-file")
    assert "`git checkout -- labs/day23_mcp_server/bridge.py`" in item.message.en


def test_a_script_that_is_not_there_is_named(solution: Work) -> None:
    (solution.folder / SERVER).unlink()
    item = solution.item(1)
    assert (item.status, item.diagnosis) == ("error", "config.unusable")
    assert "no file mcp_server.py" in item.message.en


@pytest.mark.parametrize("name", ["json.py", "mcp.py"])
def test_a_file_with_the_name_of_a_package_is_pointed_out(solution: Work, name: str) -> None:
    (solution.folder / name).touch()
    item = solution.item(1)
    assert (item.status, item.diagnosis) == ("error", "code.shadows-package"), item.message.en
    assert f"labs/day23_mcp_server/{name}" in item.message.en


def test_a_folder_of_any_name_with_anything_in_it_is_judged(
    solution: Work, statuses: Statuses, tmp_path: Path
) -> None:
    folder = tmp_path / "王小明 (2)"
    solution.folder.rename(folder)
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(folder)
    (folder / "gone").symlink_to("nowhere")
    (folder / "__main__.py").write_text("print('hi')", encoding="utf-8")
    (folder / "huge.bin").write_bytes(bytes(3_000_000))
    assert statuses(Work(folder, solution.launcher).judge()) == ["pass"] * 6
