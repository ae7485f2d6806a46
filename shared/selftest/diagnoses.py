"""What can be wrong in any lab: a stable code, the cause in a sentence, and one next step."""

from __future__ import annotations

from dataclasses import dataclass

from shared.i18n import Text


@dataclass(frozen=True)
class Diagnosis:
    """A known mistake. `cause` and `step` may have placeholders, which the check fills."""

    cause: Text
    step: Text


CATALOGUE: dict[str, Diagnosis] = {
    "exercise.not-started": Diagnosis(
        Text(
            en="Exercise {exercise} is not started yet. As it stands: {cause}",
            zh="练习 {exercise} 还没有开始。现在的情况：{cause}",
        ),
        Text(en="Open {file}:{line}", zh="打开 {file}:{line}"),
    ),
    "item.waits": Diagnosis(
        Text(en="Waits for {items}.", zh="等{items}通过后再检查。"),
        Text(en="", zh=""),
    ),
    "item.not-selected": Diagnosis(
        Text(en="Not asked for (--item).", zh="这次没有选中（--item）。"), Text(en="", zh="")
    ),
    "wire.stray-line": Diagnosis(
        Text(
            en="Line {line} of the server's stdout is no JSON-RPC message: {quoted}",
            zh="server stdout 的第 {line} 行不是 JSON-RPC 消息：{quoted}",
        ),
        Text(
            en="stdout belongs to the protocol: log on stderr, "
            "with print(…, file=sys.stderr) or the logging module.",
            zh="stdout 是协议专用的管道：日志请写到 stderr，"
            "用 print(…, file=sys.stderr) 或 logging 模块。",
        ),
    ),
    "wire.pretty-printed": Diagnosis(
        Text(
            en="From line {line} on, one JSON message is spread over several lines: {quoted}",
            zh="从 stdout 第 {line} 行起，server 把一条 JSON 消息拆成了好几行：{quoted}",
        ),
        Text(
            en="On stdio one message is one line: write it without indent.",
            zh="stdio 上一条消息就是一行：输出时不要缩进。",
        ),
    ),
    "wire.not-utf8": Diagnosis(
        Text(
            en="Line {line} of the server's stdout is not UTF-8: {quoted}",
            zh="server stdout 的第 {line} 行不是 UTF-8：{quoted}",
        ),
        Text(
            en='MCP is UTF-8 in every locale: write bytes, or open stdout with encoding="utf-8".',
            zh='MCP 一律用 UTF-8，与系统区域无关：直接写字节，或以 encoding="utf-8" 打开 stdout。',
        ),
    ),
    "wire.no-newline": Diagnosis(
        Text(
            en="The last message of the server's stdout is not ended by a newline: {quoted}",
            zh="server stdout 的最后一条消息没有以换行结束：{quoted}",
        ),
        Text(
            en="The newline is what ends a message; write one after each, and flush.",
            zh="换行就是消息的边界：每条消息后面都要写一个，并且 flush。",
        ),
    ),
    "wire.no-handshake": Diagnosis(
        Text(
            en="The client never sent `initialize`; it began with {first}.",
            zh="client 从没有发过 `initialize`；它发的第一条是 {first}。",
        ),
        Text(
            en="Call initialize() before anything else.",
            zh="先调用 initialize()，再做别的事。",
        ),
    ),
    "wire.handshake-order": Diagnosis(
        Text(
            en="The handshake is out of order: after the answer to `initialize` "
            "the client sent {got}, not `notifications/initialized`.",
            zh="握手的顺序不对：收到 `initialize` 的回复之后，"
            "client 发的是 {got}，而不是 `notifications/initialized`。",
        ),
        Text(
            en="initialize, its answer, notifications/initialized; only then the rest.",
            zh="initialize、它的回复、notifications/initialized，然后才轮到别的。",
        ),
    ),
    "wire.does-not-end": Diagnosis(
        Text(
            en="The server was still running {seconds} s after its stdin had ended.",
            zh="stdin 已经结束 {seconds} 秒，server 还在运行。",
        ),
        Text(
            en="The end of stdin is the sign to go: leave the read loop, and end every thread.",
            zh="stdin 结束就是退出的信号：要跳出读循环，并结束所有线程。",
        ),
    ),
    "wire.no-answer": Diagnosis(
        Text(
            en="The server did not answer `{method}` within {seconds} s.",
            zh="server 在 {seconds} 秒内没有回复 `{method}`。",
        ),
        Text(
            en="Look for an endless loop, a branch that answers nothing, "
            "or code that reads stdin itself.",
            zh="检查是不是写成了死循环、有的分支什么都不回，或者有别的代码在读 stdin。",
        ),
    ),
    "wire.client-stray": Diagnosis(
        Text(
            en="Line {line} of what the client sent is no JSON-RPC message on a line of its own: "
            "{quoted}",
            zh="client 发出的第 {line} 行不是独占一行的 JSON-RPC 消息：{quoted}",
        ),
        Text(
            en="One message is one line: json.dumps without indent, a newline, a flush.",
            zh="一条消息就是一行：json.dumps 不带缩进，加一个换行，再 flush。",
        ),
    ),
    "wire.nothing-sent": Diagnosis(
        Text(
            en="The server was started, and in {seconds} s not a byte from the client reached it.",
            zh="server 已经启动，但 {seconds} 秒内没有从 client 收到任何字节。",
        ),
        Text(
            en="Write and flush the request before you wait for its answer: what stays in the "
            "client's buffer is never answered.",
            zh="先把请求写出去并 flush，再等回复：留在 client 缓冲区里的东西不会有人回复。",
        ),
    ),
    "wire.no-flush": Diagnosis(
        Text(
            en="The answer to `{method}` left the server only after its stdin had ended.",
            zh="server 对 `{method}` 的回复，直到 stdin 结束之后才出来。",
        ),
        Text(
            en="It stood in a buffer all the while: flush after each message, "
            "with print(…, flush=True) or sys.stdout.flush().",
            zh="它一直待在缓冲区里：每写一条消息都要 flush，"
            "用 print(…, flush=True) 或 sys.stdout.flush()。",
        ),
    ),
    "wire.waits-for-the-dead": Diagnosis(
        Text(
            en="The server had ended (exit code {code}), and its client waited on "
            "for an answer to `{method}`.",
            zh="server 已经退出（退出码 {code}），client 还在等它对 `{method}` 的回复。",
        ),
        Text(
            en="The end of the server's stdout (an empty read) means that nothing will come "
            "any more: leave the loop and raise.",
            zh="server 的 stdout 到头（读到空）就表示什么都不会再来：跳出循环，抛出异常。",
        ),
    ),
    "wire.error-answer": Diagnosis(
        Text(
            en="The server refused `{method}`: {error}",
            zh="server 拒绝了 `{method}`：{error}",
        ),
        Text(
            en="Compare the request with the lesson, field by field.",
            zh="请逐个字段对照课文里的报文。",
        ),
    ),
    "wire.malformed-answer": Diagnosis(
        Text(
            en="The answer to `{method}` has not the shape that MCP gives it: {fault}.",
            zh="对 `{method}` 的回复不符合 MCP 规定的形状：{fault}。",
        ),
        Text(
            en="Let the SDK build it, or compare it with the lesson, field by field.",
            zh="让 SDK 来生成它，或者逐个字段对照课文。",
        ),
    ),
    "process.ended-early": Diagnosis(
        Text(
            en="The process ended by itself (exit code {code}) {when}.",
            zh="进程{when}自己退出了（退出码 {code}）。",
        ),
        Text(
            en="Look for exit(), os._exit() or an end of the program that comes too soon.",
            zh="看看是不是有 exit()、os._exit()，或者程序过早走到了末尾。",
        ),
    ),
    "process.timeout": Diagnosis(
        Text(
            en="Still running after {seconds} s, and ended by the self-test.",
            zh="运行了 {seconds} 秒还没有结束，被自检终止。",
        ),
        Text(
            en="Look for a loop without an end, a read that waits for ever, or input().",
            zh="看看是不是有死循环、永远等不到的读取，或者 input()。",
        ),
    ),
    "process.memory": Diagnosis(
        Text(
            en="Took more than {limit} MiB of memory, and was ended.",
            zh="占用内存超过 {limit} MiB，已被终止。",
        ),
        Text(en="Look for a list that only grows.", zh="看看是不是有只增不减的列表。"),
    ),
    "process.processes": Diagnosis(
        Text(
            en="Started more than {limit} processes, and was ended.",
            zh="启动的进程超过 {limit} 个，已被终止。",
        ),
        Text(en="One server needs one process.", zh="一个 server 只需要一个进程。"),
    ),
    "process.output": Diagnosis(
        Text(
            en="Wrote more than {limit} MiB of output, and was ended.",
            zh="输出超过 {limit} MiB，已被终止。",
        ),
        Text(en="Look for a print in a loop.", zh="看看循环里是不是有 print。"),
    ),
    "code.syntax-error": Diagnosis(
        Text(
            en="{file}, line {line} is not valid Python: {error}.",
            zh="{file} 第 {line} 行不是合法的 Python：{error}。",
        ),
        Text(
            en="Look at that line and the one before it. {quoted}",
            zh="请看这一行和它的上一行。{quoted}",
        ),
    ),
    "code.missing-name": Diagnosis(
        Text(en="{file} has no `{name}`{instead}.", zh="{file} 里没有 `{name}`{instead}。"),
        Text(
            en="Other files and the self-test rely on this name: define it, or rename it back.",
            zh="别的文件和自检都依赖这个名字：请定义它，或者改回原来的名字。",
        ),
    ),
    "code.missing-module": Diagnosis(
        Text(
            en="{file}, line {line}: there is no module `{name}`.",
            zh="{file} 第 {line} 行：没有名为 `{name}` 的模块。",
        ),
        Text(
            en="Correct the import: look at the spelling, and at what the lesson's files import.",
            zh="改正这条 import：检查拼写，并对照其他文件的写法。",
        ),
    ),
    "code.missing-file": Diagnosis(
        Text(en="{file} is missing.", zh="缺少 {file}。"),
        Text(
            en="`git checkout -- {file}` brings this one file back as it came.",
            zh="`git checkout -- {file}` 可以找回这一个文件的原样。",
        ),
    ),
    "code.shadows-package": Diagnosis(
        Text(
            en="{file} has the name of a package, and is imported in its place.",
            zh="{file} 和某个包同名，被当成那个包导入了。",
        ),
        Text(en="Give it another name.", zh="请给它换个名字。"),
    ),
    "sdk.wrong-major": Diagnosis(
        Text(
            en="{file}, line {line} imports `{name}`, which SDK 2 does not have; "
            "found is mcp {found}, the course needs {expected}.",
            zh="{file} 第 {line} 行导入了 `{name}`，SDK 2 里没有它；"
            "现在装的是 mcp {found}，本课程需要 {expected}。",
        ),
        Text(
            en="Since SDK 2 it is `from mcp.server import MCPServer` (once FastMCP).",
            zh="从 SDK 2 起应写作 `from mcp.server import MCPServer`（以前叫 FastMCP）。",
        ),
    ),
    "code.legacy-encoding": Diagnosis(
        Text(
            en="{file}, line {line} raised {error}: not every text fits into that encoding.",
            zh="{file} 第 {line} 行抛出了 {error}：这种编码装不下所有文字。",
        ),
        Text(
            en="MCP is UTF-8 in every locale: read and write bytes, or call "
            'sys.stdout.reconfigure(encoding="utf-8"); the same for stdin.',
            zh="MCP 一律用 UTF-8，与系统区域无关：直接读写字节，或者调用 "
            'sys.stdout.reconfigure(encoding="utf-8")，stdin 也一样。',
        ),
    ),
    "code.raised": Diagnosis(
        Text(
            en="{file}, line {line} raised {error}",
            zh="{file} 第 {line} 行抛出了 {error}",
        ),
        Text(
            en="--verbose shows the whole traceback.",
            zh="加 --verbose 可以看到完整的 traceback。",
        ),
    ),
    "code.no-json": Diagnosis(
        Text(
            en="{target} returned something that cannot be written as JSON: {value}",
            zh="{target} 返回的值无法写成 JSON：{value}",
        ),
        Text(
            en="Return dicts, lists, texts, numbers, booleans and None only.",
            zh="只返回字典、列表、文本、数字、布尔值和 None。",
        ),
    ),
    "config.unusable": Diagnosis(
        Text(en="{reason}", zh="{reason}"),
        Text(en="", zh=""),
    ),
    "model.refused": Diagnosis(
        Text(
            en="The model refused the agent's request: {reason}",
            zh="模型拒绝了 agent 的请求：{reason}",
        ),
        Text(
            en="A real provider refuses it too, with a 400. Compare the messages with the lesson.",
            zh="真实的服务商同样会用 400 拒绝它。请对照课文检查 messages。",
        ),
    ),
    "grader.fault": Diagnosis(
        Text(
            en="The self-test itself failed, not your code: {error}",
            zh="出错的是自检程序本身，不是你的代码：{error}",
        ),
        Text(
            en="Run it again; if it stays, report it with the output of --verbose.",
            zh="请再运行一次；如果仍然这样，请附上 --verbose 的输出来报告。",
        ),
    ),
}
