"""`python selftest.py probe 23`: what a stdio server says when it is asked; unasked, it is silent.

Starts a server of the day's mcp.json on a copy of the folder, plays the client (handshake,
tools/list, end of stdin), and prints every line that crossed with what it means.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from shared.i18n import Text
from shared.processes import Launcher, Program
from shared.selftest.diagnoses import CATALOGUE
from shared.selftest.discover import Target, UsageError, days, find_target
from shared.selftest.lab import Lab
from shared.selftest.stage import make_stage
from shared.selftest.stop import ItemStopped
from shared.shop.data import sample_shop
from shared.wire.transcript import Event, Transcript

from .command import OK, RED, USAGE, Asked, Printer, Say, refuse, run

SHOWN = 400  # characters of one line, before it is cut

ABOUT = Text(
    en="Ask a server a few things, and show every line that crosses.",
    zh="问 server 几句话，并显示线路上的每一行。",
)
SILENCE = Text(
    en="A stdio server has no port, no page and no prompt: it waits for a line on its stdin and "
    "answers with a line on its stdout. Started by hand, it is silent, and that is right. "
    "Here is what a client says to it, and what comes back.",
    zh="stdio 的 server 没有端口，没有网页，也没有提示符：它等着 stdin 上来一行，再往 stdout 上回"
    "一行。手动启动时它一声不响，这是对的。下面是 client 会对它说的话，以及它的回复。",
)
STARTED = Text(
    en='{folder}/mcp.json, server "{name}": {command}',
    zh="{folder}/mcp.json，server “{name}”：{command}",
)
NO_SUCH_SERVER = Text(
    en='{folder}/mcp.json has no server "{name}". It has: {names}.',
    zh="{folder}/mcp.json 里没有名为 “{name}” 的 server。有的是：{names}。",
)
NO_ROOM = Text(
    en="There is no room to work: {reason}. Free some disk space, or set TMPDIR elsewhere.",
    zh="没有地方可用：{reason}。请腾出磁盘空间，或把 TMPDIR 设成别的文件夹。",
)
CUT = Text(en="{count} more characters; --verbose", zh="还有 {count} 个字符；加 --verbose 可看全")

ASKS: dict[str, Text] = {
    "initialize": Text(
        en="the client opens: the revision that it speaks, what it can do, who it is",
        zh="client 开口：说哪个版本的协议、自己能做什么、是谁",
    ),
    "notifications/initialized": Text(
        en="the client is ready; a notification, so nothing comes back",
        zh="client 准备好了；这是通知，不会有回复",
    ),
    "tools/list": Text(en="the client asks what there is", zh="client 问有哪些工具"),
}
AGREED = Text(
    en="the server answers: revision {version}, and its name, {name}",
    zh="server 回复：版本 {version}，名字是 {name}",
)
TOOLS = Text(en="the server names its tools: {names}", zh="server 报出它的工具：{names}")
OTHER_ANSWER = Text(en="the server's answer", zh="server 的回复")
ERROR = Text(en="the server refuses: {message}", zh="server 拒绝了：{message}")
UNASKED = Text(
    en="the server's own business: no answer to anything",
    zh="server 自己发来的，不是对哪条请求的回复",
)
STRAY = Text(en="no message: it does not belong on stdout", zh="不是消息：不该出现在 stdout 上")
STDIN_ENDS = Text(
    en="the end of the server's stdin, the sign to go",
    zh="server 的 stdin 到此结束，这是让它退出的信号",
)
STDOUT_ENDS = Text(en="the end of its stdout", zh="它的 stdout 也结束了")
WELL = Text(
    en="The server answers, and leaves when it should. A host sends it just these lines.",
    zh="server 有问有答，该退出时也退出了。宿主发给它的正是这些。",
)
NOT_WELL = Text(en="Something is wrong: {cause}", zh="有问题：{cause}")


def main(argv: list[str]) -> int:
    """Ask the server: exit code 0 when it answers and ends well, 1 when not, 2 on wrong usage."""
    return run(argv, "probe", ABOUT, _declare, _answer)


def _declare(parser: argparse.ArgumentParser, say: Say) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--solution", action="store_true", help=say("the solution, not labs/", "改问参考答案")
    )
    where.add_argument(
        "--path", type=Path, metavar="DIR", help=say("another folder of the day", "另一个文件夹")
    )
    parser.add_argument(
        "--server", metavar="NAME", help=say("this one of mcp.json", "mcp.json 里的这一个")
    )
    parser.add_argument(
        "--verbose", action="store_true", help=say("whole lines", "显示完整的每一行")
    )


def _answer(asked: Asked) -> int:
    options = asked.options
    try:
        target = find_target(asked.day, options.path, solution=options.solution)
    except UsageError as error:
        return refuse(error.text, asked.language, USAGE)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="probe-", ignore_cleanup_errors=True) as folder,
            Launcher(cold=True) as launcher,
        ):
            stage = make_stage(
                Path(folder), target.folder, days()[target.checks.day], target.shown_as
            )
            shop = sample_shop()
            shop.save(Path(folder, "shop.json"))
            lab = Lab(launcher, stage, shop, "probe")
            return _probe(asked, target, lab)
    except UsageError as error:
        return refuse(error.text, asked.language, USAGE)
    except OSError as error:
        return refuse(NO_ROOM(reason=error.strerror or error), asked.language, RED)


def _probe(asked: Asked, target: Target, lab: Lab) -> int:
    out, options = asked.printer, asked.options
    stop = None
    try:
        name, program = _chosen(lab, options.server, target.shown_as)
        command = " ".join(["python" if part == sys.executable else part for part in program.argv])
        out.line(SILENCE)
        out.line()
        out.line(STARTED(folder=target.shown_as, name=name, command=command), "bold")
        with lab.server(program, name) as server:
            server.list_tools()
        lab.expect_clean_stdout(name)
        if server.process.stopped_after is None:
            seconds = int(server.process.STOP_SECONDS)
            stop = ItemStopped("fail", "wire.does-not-end", seconds=seconds)
    except ItemStopped as found:
        stop = found
    _print_wire(out, lab.transcript, None if options.verbose else SHOWN)
    out.line()
    if stop is None:
        out.line(WELL, "green")
        return OK
    diagnosis = stop.texts(target.checks.diagnoses.get(stop.code) or CATALOGUE[stop.code])
    out.line(NOT_WELL(cause=diagnosis.cause), "red")
    if diagnosis.step.get(asked.language):
        out.line(f"→ {diagnosis.step.get(asked.language)}", "cyan")
    if options.verbose and stop.detail:
        out.line(stop.detail.rstrip(), "dim", 2)
    return RED


def _chosen(lab: Lab, name: str | None, shown_as: str) -> tuple[str, Program]:
    programs = lab.programs()
    if name is None:
        name = "shop" if "shop" in programs else next(iter(programs))
    if name not in programs:
        names = ", ".join(programs)
        raise UsageError(NO_SUCH_SERVER(folder=shown_as, name=name, names=names))
    return name, programs[name]


def _print_wire(out: Printer, transcript: Transcript, width: int | None) -> None:
    for event in transcript:
        arrow = "-->" if event.sender == "client" else "<--"
        line = event.raw if event.kind != "end" else "(EOF)"
        if width is not None and len(line) > width:
            line = f"{line[:width]}… ({CUT(count=len(line) - width).get(out.language)})"
        out.line()
        out.line(f"{arrow} {_printable(line)}", "red" if event.kind == "stray" else "")
        out.line(_meaning(event, transcript), "dim", 4)


def _printable(line: str) -> str:
    """A server may print anything, even what would command the terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)


def _meaning(event: Event, transcript: Transcript) -> Text:
    if event.kind == "end":
        return STDIN_ENDS if event.sender == "client" else STDOUT_ENDS
    if event.kind == "stray":
        return STRAY
    if event.sender == "client":
        return ASKS[event.method]
    if event.method:
        return UNASKED
    asked = [request for request in transcript.mcp(event.channel, "client") if request.is_request]
    for request in asked:
        if transcript.answer_to(request) is event:
            return _answer_meaning(request.method, event)
    return UNASKED


def _answer_meaning(method: str, answer: Event) -> Text:
    read: dict[str, Callable[[], Text]] = {
        "initialize": lambda: AGREED(
            version=answer.message["result"]["protocolVersion"],
            name=answer.message["result"]["serverInfo"]["name"],
        ),
        "tools/list": lambda: TOOLS(
            names=", ".join(tool["name"] for tool in answer.message["result"]["tools"]) or "—"
        ),
    }
    try:
        if "error" in answer.message:
            return ERROR(message=answer.message["error"]["message"])
        return read[method]()
    except (KeyError, TypeError):
        return OTHER_ANSWER  # of another shape than MCP gives it, which the verdict below says


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
