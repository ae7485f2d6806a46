"""The mistakes that day 23 knows: for each code the cause in a sentence, and one next step."""

from shared.selftest.api import Diagnosis, Text

DIAGNOSES: dict[str, Diagnosis] = {
    # exercise 1: the server
    "server.tool-missing": Diagnosis(
        Text(
            en="tools/list does not name `{name}`; it names: {names}.",
            zh="tools/list 里没有 `{name}`，只有：{names}。",
        ),
        Text(
            en="Register it in mcp_server.py with @server.tool, under exactly this name.",
            zh="在 mcp_server.py 里用 @server.tool 注册它，名字要一字不差。",
        ),
    ),
    "server.no-order-id": Diagnosis(
        Text(
            en="The schema of `{name}` has no property `order_id`.",
            zh="`{name}` 的 schema 里没有 `order_id` 这个属性。",
        ),
        Text(
            en="Name the function's parameter order_id: the SDK makes the schema from it.",
            zh="把函数的参数命名为 order_id：SDK 会由它生成 schema。",
        ),
    ),
    "server.invalid-schema": Diagnosis(
        Text(
            en="The inputSchema of `{name}` cannot be used: {reason}.",
            zh="`{name}` 的 inputSchema 无法使用：{reason}。",
        ),
        Text(
            en="It has to be JSON Schema with type object; the SDK makes one from the parameters.",
            zh="它必须是 type 为 object 的 JSON Schema；SDK 会由函数参数生成。",
        ),
    ),
    "server.other-orders": Diagnosis(
        Text(
            en="Asked for order {order}, `{name}` also tells of {other}.",
            zh="查询的是订单 {order}，`{name}` 却把 {other} 也说了出来。",
        ),
        Text(
            en="Answer with the one order that was asked for.",
            zh="只回答被查询的那一笔订单。",
        ),
    ),
    "server.order-id-optional": Diagnosis(
        Text(
            en="`{name}` does not require `order_id`, so a model may leave it out.",
            zh="`{name}` 没有把 `order_id` 列为必填，模型就可能不填。",
        ),
        Text(
            en="Take the parameter's default value away.",
            zh="去掉这个参数的默认值。",
        ),
    ),
    "server.pattern-too-strict": Diagnosis(
        Text(
            en="The schema of `{name}` refuses {value}, which is a well-formed order number.",
            zh="`{name}` 的 schema 拒绝了格式正确的订单号 {value}。",
        ),
        Text(
            en="A number is SO and eight digits; any eight.",
            zh="订单号是 SO 加 8 位数字，任意 8 位都可以。",
        ),
    ),
    "server.pattern-too-loose": Diagnosis(
        Text(
            en="`{name}` takes the order number {value!r}, which is not well-formed.",
            zh="`{name}` 接受了格式不对的订单号 {value!r}。",
        ),
        Text(
            en="Give order_id the type OrderId; without ^ and $ a pattern fits anywhere inside.",
            zh="给 order_id 用上 OrderId 类型；pattern 要写 ^ 和 $，否则只要包含就算匹配。",
        ),
    ),
    "server.pattern-digits": Diagnosis(
        Text(
            en="`{name}` takes {value!r}: these are full-width digits.",
            zh="`{name}` 接受了 {value!r}：这些是全角数字。",
        ),
        Text(
            en="\\d takes every script's digits; write [0-9].",
            zh="\\d 会匹配各种文字的数字；请写 [0-9]。",
        ),
    ),
    "server.no-description": Diagnosis(
        Text(
            en="`{name}` has no description, so a model has to guess from the name.",
            zh="`{name}` 没有描述，模型只能靠名字猜用途。",
        ),
        Text(
            en="Give @server.tool a description: what the tool is for, and what it is not for.",
            zh="给 @server.tool 写上 description：它做什么，不做什么。",
        ),
    ),
    "server.descriptions-alike": Diagnosis(
        Text(
            en="Going by the descriptions alone, a model does not pick `{name}` for: {question}",
            zh="只看描述，模型回答这个问题时没有选 `{name}`：{question}",
        ),
        Text(
            en="Let the descriptions say which is for the order itself and which for the parcel.",
            zh="让两段描述说清楚：哪个查订单本身，哪个查物流。",
        ),
    ),
    "server.wrong-data": Diagnosis(
        Text(
            en="`{name}` does not answer with the data of order {order}.",
            zh="`{name}` 的回答里没有订单 {order} 的数据。",
        ),
        Text(
            en="Read the order with find_order and return what the declared type lists.",
            zh="用 find_order 取出订单，返回声明的类型里列出的字段。",
        ),
    ),
    "server.no-way-out": Diagnosis(
        Text(
            en="For {value}, which no order has, `{name}` should fail and name the nearest number.",
            zh="{value} 这个订单号不存在，`{name}` 应当报错，并给出最接近的订单号。",
        ),
        Text(
            en="find_order raises a ToolError with these words; let it through.",
            zh="find_order 会抛出带这句话的 ToolError，让它传出去就好。",
        ),
    ),
    # exercise 2: the bridge
    "bridge.hollow-schema": Diagnosis(
        Text(
            en="`{name}` reaches the model with no parameters, so the model hands in {{}}.",
            zh="`{name}` 到模型手里时没有任何参数，于是模型交上来 {{}}。",
        ),
        Text(
            en="Carry the whole inputSchema over into parameters.",
            zh="把整个 inputSchema 原样搬进 parameters。",
        ),
    ),
    "bridge.field-lost": Diagnosis(
        Text(
            en="`{name}`: the field `{field}` of inputSchema is missing from parameters.",
            zh="`{name}`：inputSchema 的字段 `{field}` 没有出现在 parameters 里。",
        ),
        Text(
            en="Carry all of it over; a list of fields to copy forgets the ones you do not know.",
            zh="要整个搬过去；逐个挑字段，总会漏掉你不认识的。",
        ),
    ),
    "bridge.field-changed": Diagnosis(
        Text(
            en="`{name}`: the field `{field}` of inputSchema has another value in parameters.",
            zh="`{name}`：字段 `{field}` 在 parameters 里的值和 inputSchema 不一样。",
        ),
        Text(
            en="Both are JSON Schema: nothing needs converting.",
            zh="两边都是 JSON Schema，什么都不用转换。",
        ),
    ),
    "bridge.field-added": Diagnosis(
        Text(
            en="`{name}`: parameters has a field `{field}` that inputSchema does not have.",
            zh="`{name}`：parameters 多出了 inputSchema 里没有的字段 `{field}`。",
        ),
        Text(
            en="Add nothing but an empty `properties` where there is none.",
            zh="除了在缺少时补一个空的 `properties`，什么都不要加。",
        ),
    ),
    "bridge.no-parameters": Diagnosis(
        Text(
            en="`{name}` has no `parameters` after the bridge.",
            zh="`{name}` 经过翻译后没有 `parameters`。",
        ),
        Text(
            en="inputSchema becomes function.parameters.",
            zh="inputSchema 要变成 function.parameters。",
        ),
    ),
    "bridge.no-function-tool": Diagnosis(
        Text(
            en="`{name}`: the result has not the shape of a function tool.",
            zh="`{name}`：结果不是 function tool 的形状。",
        ),
        Text(
            en='Return {{"type": "function", "function": {{"name": …, "description": …, '
            '"parameters": …}}}}.',
            zh='返回 {{"type": "function", "function": {{"name": …, "description": …, '
            '"parameters": …}}}}。',
        ),
    ),
    "bridge.wrong-name": Diagnosis(
        Text(
            en="`{name}` is called {got!r} after the bridge.",
            zh="`{name}` 经过翻译后变成了 {got!r}。",
        ),
        Text(
            en="The name goes back to the server in tools/call: leave it as it is.",
            zh="这个名字还要随 tools/call 发回 server：保持原样。",
        ),
    ),
    "bridge.description-lost": Diagnosis(
        Text(
            en="`{name}`: the description is not that of the MCP tool (none: an empty text).",
            zh="`{name}`：描述和 MCP 工具的不一致（没有描述就用空文本）。",
        ),
        Text(
            en="Carry description over; it is what the model chooses by.",
            zh="把 description 也搬过去：模型就是靠它挑工具的。",
        ),
    ),
    "bridge.input-changed": Diagnosis(
        Text(
            en="to_function_tool changed the tool that it was given (`{name}`).",
            zh="to_function_tool 改动了传给它的工具（`{name}`）。",
        ),
        Text(
            en="Build a new dict; the client still needs the old one.",
            zh="请新建一个字典；client 还要用原来的那份。",
        ),
    ),
    # exercise 3: the client
    "client.nothing-sent": Diagnosis(
        Text(
            en="The model asked for a tool, but no tools/call crossed the wire.",
            zh="模型要求调用工具，但线路上没有出现 tools/call。",
        ),
        Text(
            en="In call_tool, send the request with self._request, the way list_tools does.",
            zh="在 call_tool 里像 list_tools 那样用 self._request 把请求发出去。",
        ),
    ),
    "client.wrong-call": Diagnosis(
        Text(
            en="The params of tools/call are not what the model asked for: {got}",
            zh="tools/call 的 params 和模型要求的不一样：{got}",
        ),
        Text(
            en='Send {{"name": name, "arguments": arguments}}.',
            zh='要发送 {{"name": name, "arguments": arguments}}。',
        ),
    ),
    "client.no-tool-result": Diagnosis(
        Text(
            en="call_tool returned something that is no ToolResult.",
            zh="call_tool 返回的不是 ToolResult。",
        ),
        Text(
            en="Return ToolResult(text, is_error), with a text and a bool.",
            zh="请返回 ToolResult(text, is_error)：一个文本，一个布尔值。",
        ),
    ),
    "client.result-lost": Diagnosis(
        Text(
            en="The text of the tool's result did not reach the model: {text}",
            zh="工具结果里的文本没有到达模型：{text}",
        ),
        Text(
            en="Return the text of the content blocks in ToolResult.text.",
            zh="把内容块里的文本放进 ToolResult.text 返回。",
        ),
    ),
    "client.not-flattened": Diagnosis(
        Text(
            en="The model is told the content blocks themselves, type and all.",
            zh="回填给模型的是原始的内容块，连 type 都在里面。",
        ),
        Text(
            en="Take the text out of each block and join these.",
            zh="取出每个内容块里的文本，再连起来。",
        ),
    ),
    "client.block-lost": Diagnosis(
        Text(
            en="A result can have several blocks; this text was left out: {text}",
            zh="结果可能有好几个内容块；这一段文本被漏掉了：{text}",
        ),
        Text(
            en="Go through all of result['content'], not just the first.",
            zh="要遍历整个 result['content']，不能只取第一个。",
        ),
    ),
    "client.base64": Diagnosis(
        Text(
            en="The base64 of an image was handed to the model as text.",
            zh="图片的 base64 被当作文本交给了模型。",
        ),
        Text(
            en="Name a block that is not text, such as [image], and leave its data out.",
            zh="不是文本的内容块只写个名字（例如 [image]），不要带上数据。",
        ),
    ),
    "client.is-error-lost": Diagnosis(
        Text(
            en="The result's isError did not become ToolResult.is_error, which is {got}.",
            zh="结果里的 isError 没有变成 ToolResult.is_error，后者是 {got}。",
        ),
        Text(
            en="isError tells a failed tool from a good one; no isError means false.",
            zh="isError 用来区分工具成功还是失败；没有这个字段就是 false。",
        ),
    ),
    # exercise 4: the agent
    "agent.model-not-asked": Diagnosis(
        Text(en="The agent never asked the model.", zh="agent 从没有问过模型。"),
        Text(
            en="Every turn of the loop begins with model.complete(messages, tools).",
            zh="循环的每一轮都从 model.complete(messages, tools) 开始。",
        ),
    ),
    "agent.tool-not-offered": Diagnosis(
        Text(
            en="The first model request does not offer `{name}`.",
            zh="第一次模型请求的工具列表里没有 `{name}`。",
        ),
        Text(
            en="Local tools and those of client.list_tools() go into one list.",
            zh="本地工具和 client.list_tools() 的工具要合成一个列表。",
        ),
    ),
    "agent.wrong-tool": Diagnosis(
        Text(
            en="The model did not pick query_order.",
            zh="模型没有选 query_order。",
        ),
        Text(
            en="Look at what the request told it of the tools.",
            zh="看看请求里是怎样向它描述这些工具的。",
        ),
    ),
    "agent.call-repeated": Diagnosis(
        Text(
            en="The tool was called {count} times, and once was enough.",
            zh="工具被调用了 {count} 次，其实一次就够。",
        ),
        Text(
            en="Append the result to messages under the id of its call.",
            zh="把结果按它的调用 id 追加到 messages 里。",
        ),
    ),
    "agent.result-not-returned": Diagnosis(
        Text(
            en="The tool answered, and the model was not asked again.",
            zh="工具已经有结果，却没有再去问模型。",
        ),
        Text(
            en="Append the result, and go on with the loop.",
            zh="把结果追加进去，再继续循环。",
        ),
    ),
    "agent.wrong-call-id": Diagnosis(
        Text(
            en="The result is not given back under the id of its call, {expected}.",
            zh="结果没有按调用的 id（{expected}）回填。",
        ),
        Text(
            en="tool_call_id is the id of the call that the model made.",
            zh="tool_call_id 就是模型发起那次调用的 id。",
        ),
    ),
    "agent.failure-swallowed": Diagnosis(
        Text(
            en="The call failed and the model was told nothing of it. The server's words: {words}",
            zh="调用失败了，模型却什么也没听到。server 的原话：{words}",
        ),
        Text(
            en="In run_tool, return the text of a result with is_error as well.",
            zh="在 run_tool 里，is_error 的结果也要把文本返回。",
        ),
    ),
    "agent.failure-reworded": Diagnosis(
        Text(
            en="The model was told of a failure, but not in the server's words: {words}",
            zh="模型知道失败了，但没听到 server 的原话：{words}",
        ),
        Text(
            en="Give back result.text, or the exception's text: the way out is in these words.",
            zh="把 result.text 或异常的文本回填：纠正的线索就在原话里。",
        ),
    ),
    "agent.protocol-error-uncaught": Diagnosis(
        Text(
            en="The server answered with a JSON-RPC error, and that ended the agent: {words}",
            zh="server 回了一个 JSON-RPC error，agent 就此崩溃：{words}",
        ),
        Text(
            en="Catch McpError around client.call_tool, and return its text.",
            zh="在 client.call_tool 外面接住 McpError，返回它的文本。",
        ),
    ),
    "agent.wrong-calls": Diagnosis(
        Text(
            en="There should be two calls, one wrong and one right; there were: {got}",
            zh="应当恰好有两次调用，先错后对；实际是：{got}",
        ),
        Text(
            en="Call once for each call of the model, and do not try again on your own.",
            zh="模型要一次就调一次，不要自己重试。",
        ),
    ),
    "agent.server-death-uncaught": Diagnosis(
        Text(
            en="The server ended in the middle of a call, and that ended the agent.",
            zh="server 在调用途中退出，agent 也跟着崩溃了。",
        ),
        Text(
            en="ServerExited is an McpError too: catch it, and tell the model.",
            zh="ServerExited 也是 McpError：接住它，告诉模型。",
        ),
    ),
    "agent.server-death-untold": Diagnosis(
        Text(
            en="The server ended in the middle of a call, and the model was told an empty word.",
            zh="server 在调用途中退出，模型听到的却是一句空话。",
        ),
        Text(
            en="Return the text of the exception.",
            zh="返回异常的文本。",
        ),
    ),
    "agent.no-answer": Diagnosis(
        Text(
            en="There is no final answer with the status {status}.",
            zh="最终回答里没有出现状态“{status}”。",
        ),
        Text(
            en="Follow the messages: what was the model told last?",
            zh="顺着 messages 看：模型最后听到的是什么？",
        ),
    ),
    "agent.answer-not-returned": Diagnosis(
        Text(
            en="The model answered, but that is not what the agent returned.",
            zh="模型给出了回答，agent 返回的却不是它。",
        ),
        Text(
            en="run_agent returns the content of the model's last message.",
            zh="run_agent 要返回模型最后一条消息的 content。",
        ),
    ),
    # exercise 5: the decision
    "decision.no-decision": Diagnosis(
        Text(
            en="should_use_mcp does not return a Decision(use=…, reasons=[…]).",
            zh="should_use_mcp 返回的不是 Decision(use=…, reasons=[…])。",
        ),
        Text(
            en="`use` is a bool, `reasons` a list of texts.",
            zh="`use` 是布尔值，`reasons` 是文本列表。",
        ),
    ),
    "decision.yes-by-default": Diagnosis(
        Text(
            en="No criterion holds for {case}, and the answer is still yes.",
            zh="{case} 一条判据都不命中，答案却是“用”。",
        ),
        Text(
            en="Without a criterion, a plain function is the better decision.",
            zh="一条都不命中时，直接写函数才是更好的决定。",
        ),
    ),
    "decision.criterion-ignored": Diagnosis(
        Text(
            en="A criterion holds for {case}, and the answer is no.",
            zh="{case} 命中了判据，答案却是“不用”。",
        ),
        Text(
            en="One of the three is enough; several hosts begin at two.",
            zh="三条里命中任意一条就够；“多个宿主”从两个算起。",
        ),
    ),
    "decision.reason-unnamed": Diagnosis(
        Text(
            en="Where one criterion holds, the reasons do not name just that one.",
            zh="只命中一条判据时，理由里没有恰好写出这一条。",
        ),
        Text(
            en="Add one reason for each criterion that holds.",
            zh="每命中一条判据，就加一条理由。",
        ),
    ),
    "decision.wrong-reasons": Diagnosis(
        Text(
            en="The reasons for {case} are not exactly the criteria that hold.",
            zh="{case} 的理由和命中的判据对不上。",
        ),
        Text(
            en="Test each criterion by itself: with `if`, not with `elif`.",
            zh="每条判据各自判断：用 `if`，不要用 `elif`。",
        ),
    ),
}
