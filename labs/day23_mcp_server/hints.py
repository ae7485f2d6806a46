"""Hints for day 23, three steps an item: where to look, what is missing, nearly the code.

Stop reading here unless you want all of them at once: `python selftest.py hint 23` opens one at a
time, for the first item that does not pass.
"""

from shared.selftest.api import Text

Steps = tuple[Text, Text, Text]

HINTS: dict[int, Steps] = {
    # the connection: it works as it came
    1: (
        Text(
            en="Nothing has to be written for this item: it passes in the lab as it came. So the "
            "fault lies in something that was changed since. Three files have a part in it: "
            "mcp_server.py (it has to start, and to leave), mcp_client.py (`initialize`, `_send`, "
            "`_receive`) and mcp.json (which command is started). `git diff labs` shows what is "
            "new in them.",
            zh="这一项什么都不用写，实验刚拿到手时它就是通过的。所以毛病出在之后改过的地方。"
            "有关的文件有三个：mcp_server.py（要能启动，也要能退出）、mcp_client.py"
            "（`initialize`、`_send`、`_receive`）和 mcp.json（启动哪个命令）。"
            "`git diff labs` 会列出你改了什么。",
        ),
        Text(
            en="One of four promises is broken. The server starts without an exception. On its "
            "stdout there is nothing but messages, one a line, in UTF-8, each flushed. The client "
            "sends `initialize`, waits for the answer, then sends `notifications/initialized`, "
            "and only then anything else. Once stdin has ended, the server ends as well. "
            "`python selftest.py probe 23` shows the lines that cross.",
            zh="四条约定里有一条没守住：server 启动时不抛异常；它的 stdout 上只有消息，一条一行，"
            "UTF-8，每条都 flush；client 先发 `initialize`，等到回复，再发 "
            "`notifications/initialized`，然后才发别的；stdin 结束，server 也跟着结束。"
            "`python selftest.py probe 23` 会把线路上的每一行都显示出来。",
        ),
        Text(
            en="Look for the one that fits:\n"
            "- a print in mcp_server.py: print(…, file=sys.stderr)\n"
            "- an exception at the start: the line that the self-test names\n"
            "- the handshake: in `initialize`, first self._request(…), then self._send(…) with a "
            "method and no id\n"
            "- a server that stays: nothing stands after server.run(), and no thread is left\n"
            "Or take that one file back: git checkout -- labs/day23_mcp_server/FILE",
            zh="对号入座：\n"
            "- mcp_server.py 里有 print：改成 print(…, file=sys.stderr)\n"
            "- 启动时抛异常：看自检指出的那一行\n"
            "- 握手：`initialize` 里先 self._request(…)，再 self._send(…)，"
            "后者只有 method，没有 id\n"
            "- server 不退出：server.run() 之后不该再有别的，也不能留下线程\n"
            "或者只把那一个文件恢复原样：git checkout -- labs/day23_mcp_server/FILE",
        ),
    ),
    # exercise 1
    2: (
        Text(
            en="The blank is in mcp_server.py, right below `query_order`, and `query_order` is the "
            "pattern to follow. See what the server offers at present: "
            "python selftest.py probe 23",
            zh="空白在 mcp_server.py 里，就在 `query_order` 下面，而 `query_order` 正是可以照着写"
            "的样子。看看 server 眼下提供了什么：python selftest.py probe 23",
        ),
        Text(
            en="A second function with the decorator is missing. The SDK takes the tool's name "
            "from the function's name, the schema from the parameter and its type (`OrderId` "
            "brings the pattern along), the output schema from the return type. Let `find_order` "
            "look the order up, so that an unknown number fails in words that help. And a model "
            "that sees both descriptions, but no names, has to choose right.",
            zh="缺的是第二个带装饰器的函数。SDK 用函数名当工具名，用参数和它的类型生成 schema"
            "（`OrderId` 自带 pattern），用返回类型生成输出的 schema。查订单交给 `find_order`，"
            "这样订单号不存在时，报错里就有能帮上忙的话。另外，模型只看两段描述、不看名字，"
            "也得选得对。",
        ),
        Text(
            en="Fill in what stands as …:\n"
            '@server.tool(description="… the parcel: … ; not for the order\'s …")\n'
            "def track_shipment(order_id: …) -> …:\n"
            "    order = …(order_id)\n"
            '    return {"order_id": …, "carrier": …, "waybill": …, "stations": list(…)}\n'
            "The last three are attributes of order.shipment.",
            zh="把 … 补上：\n"
            '@server.tool(description="查……物流：……；不查订单的……")\n'
            "def track_shipment(order_id: …) -> …:\n"
            "    order = …(order_id)\n"
            '    return {"order_id": …, "carrier": …, "waybill": …, "stations": list(…)}\n'
            "后三样都是 order.shipment 的属性。",
        ),
    ),
    # exercise 2
    3: (
        Text(
            en="The blank is in bridge.py. Compare what goes in with what comes out: `tool` is one "
            "entry of tools/list, and under item 3 the self-test shows what was made of it. Which "
            "key of `tool` is not used yet?",
            zh="空白在 bridge.py 里。比一比进去的和出来的：`tool` 是 tools/list 里的一项，"
            "自检的第 3 项下面列出了它变成了什么。`tool` 的哪个键还没有用上？",
        ),
        Text(
            en="`parameters` is to be `tool['inputSchema']`, all of it: both are JSON Schema, so "
            "there is nothing to convert, and a list of the fields that you know would forget "
            "`$defs` and whatever else others put in. Two details: `tool` must stay as it was, so "
            "build a new dict; and where a schema has no `properties`, an empty one is added, "
            "since providers refuse a schema without.",
            zh="`parameters` 就应该是 `tool['inputSchema']`，完整的一份：两边都是 JSON Schema，"
            "没有什么要转换；逐个挑字段，就会漏掉 `$defs` 和别人写进去的其他东西。"
            "还有两个细节：`tool` 要保持原样，所以请新建一个字典；schema 里没有 `properties` 时"
            "补一个空的，因为服务商不收没有它的 schema。",
        ),
        Text(
            en="A dict display that spreads another one keeps everything of it, and what stands "
            "later wins:\n"
            'parameters = {"properties": {}, **…}\n'
            "In the place of … stands the schema that the tool brought.",
            zh="在字典里展开另一个字典，它的内容就全都保留下来，同名的以后写的为准：\n"
            'parameters = {"properties": {}, **…}\n'
            "… 处是工具带来的那份 schema。",
        ),
    ),
    # exercise 3
    4: (
        Text(
            en="The blank is `call_tool` in mcp_client.py. Right above it, `list_tools` shows how "
            "a request is sent and how its result is read. What has to cross stands in the lesson "
            'under "Do it".',
            zh="空白是 mcp_client.py 里的 `call_tool`。它上面的 `list_tools` 演示了怎样发一个"
            "请求、怎样读它的结果。线路上该出现什么，看课文“去做吧”一节。",
        ),
        Text(
            en="Two things are missing. First the request: its method is `tools/call`, its params "
            "are an object with the tool's name and the arguments as they came. Then the text: "
            "`result['content']` is a list of blocks; blocks of type `text` have a `text`, any "
            "other is only named, such as [image]. All of them, not just the first. And `isError` "
            "may be left out, which means false.",
            zh="缺两件事。先是请求：方法是 `tools/call`，params 是一个对象，装着工具名和原样的"
            "参数。然后是文本：`result['content']` 是一串块，`text` 类型的块有 `text`，"
            "其他类型只写个名字，例如 [image]；每一块都要，不能只取第一块。"
            "另外 `isError` 可以不写，不写就是 false。",
        ),
        Text(
            en="Fill in what stands as …:\n"
            'result = self._request("tools/call", {"name": …, "arguments": …})\n'
            "texts = []\n"
            'for block in result["content"]:\n'
            '    texts.append(block["text"] if … else f"[{…}]")\n'
            'return ToolResult("\\n".join(…), is_error=result.get("isError", …))',
            zh="把 … 补上：\n"
            'result = self._request("tools/call", {"name": …, "arguments": …})\n'
            "texts = []\n"
            'for block in result["content"]:\n'
            '    texts.append(block["text"] if … else f"[{…}]")\n'
            'return ToolResult("\\n".join(…), is_error=result.get("isError", …))',
        ),
    ),
    # exercise 4
    5: (
        Text(
            en="The blank is at the end of `run_tool` in agent.py. What `run_tool` returns is all "
            "that the model hears of a call. Try it: MOCK=1 make lab-23 "
            'ASK="订单 SO20260902 现在什么状态". What stands after "result"?',
            zh="空白在 agent.py 的 `run_tool` 末尾。`run_tool` 返回什么，模型对这次调用就只知道"
            "什么。试一试：MOCK=1 make lab-23 "
            'ASK="订单 SO20260902 现在什么状态"。“结果”后面是什么？',
        ),
        Text(
            en="There are two kinds of failure, and both have to become text. A tool that says so "
            "itself comes back as a result whose `is_error` is true: its text is the answer to "
            "give. A call that brought no result raises an McpError (a JSON-RPC error, or a server "
            "that is gone): catch it, and return what it says. In both cases in the server's own "
            "words; some of yours may stand before them. Do not try again by yourself.",
            zh="失败有两种，都要变成文本。工具自己说失败的，会带回一个 `is_error` 为真的结果："
            "把它的文本交回去。没有带回结果的，会抛出 McpError（JSON-RPC error，或者 server "
            "没了）：接住它，把它的话交回去。两种都用 server 的原话，前面可以加几个你自己的字。"
            "不要自己重试。",
        ),
        Text(
            en="Fill in what stands as …:\n"
            "try:\n"
            "    result = …\n"
            "except … as error:\n"
            '    return f"…{error}"\n'
            "return …\n"
            "The last line may be the same whether the tool failed or not: the text of the result.",
            zh="把 … 补上：\n"
            "try:\n"
            "    result = …\n"
            "except … as error:\n"
            '    return f"…{error}"\n'
            "return …\n"
            "最后一行不管工具成没成功都可以一样：结果的文本。",
        ),
    ),
    # exercise 5
    6: (
        Text(
            en="The blank is in should_use_mcp.py; the criteria stand in the lesson under "
            '"When to use MCP", and as constants at the top of the file. Which answer does the '
            "function give when none of them holds?",
            zh="空白在 should_use_mcp.py 里；判据在课文“什么时候用 MCP”一节，也是文件开头的那几个"
            "常量。一条都不命中时，这个函数给的是什么答案？",
        ),
        Text(
            en="Three tests that know nothing of one another, each adding its reason when it "
            "holds; so there can be none, one, two or three. Several hosts begin at two. `use` "
            "follows from the reasons: without any it is False.",
            zh="三个互不相干的判断，命中一个就加一条理由，所以理由可能是零条、一条、两条或三条。"
            "“好几个宿主”从两个算起。`use` 由理由决定：一条都没有就是 False。",
        ),
        Text(
            en="Fill in what stands as …:\n"
            "why = {SEVERAL_HOSTS: hosts … , OTHER_OWNERS: … , HOT_SWAP: …}\n"
            "reasons = [reason for reason, holds in why.items() if …]\n"
            "return Decision(use=… , reasons=…)",
            zh="把 … 补上：\n"
            "why = {SEVERAL_HOSTS: hosts … , OTHER_OWNERS: … , HOT_SWAP: …}\n"
            "reasons = [reason for reason, holds in why.items() if …]\n"
            "return Decision(use=… , reasons=…)",
        ),
    ),
}
