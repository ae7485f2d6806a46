"""The command line of the mock model: a chat endpoint on a port, until Ctrl-C."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Sequence

from ..console import interrupted_quietly, spoken_language, use_unicode_output
from ..i18n import Text
from .server import ChatServer
from .types import Reply

IN_USE = Text(
    en="Port {port} on {host} is in use by another program. Choose another one: --port {next}",
    zh="{host} 的端口 {port} 已被其他程序占用。请换一个：--port {next}",
)
CANNOT_LISTEN = Text(
    en="Cannot listen on {host}, port {port}: {reason}. Try --host 127.0.0.1 --port 8000.",
    zh="无法监听 {host} 的端口 {port}：{reason}。可以试试 --host 127.0.0.1 --port 8000。",
)
LISTENING = Text(
    en="The mock model answers at {url} (Ctrl-C ends it). To use it:\n"
    "  OPENAI_BASE_URL={url} OPENAI_API_KEY={key} MODEL=mock",
    zh="模拟模型已就绪：{url}（按 Ctrl-C 结束）。使用方法：\n"
    "  OPENAI_BASE_URL={url} OPENAI_API_KEY={key} MODEL=mock",
)
ANY_KEY = Text(en="any", zh="any")
THE_KEY = Text(en="<the key of --key>", zh="<--key 给出的密钥>")


def main(reply: Reply, argv: Sequence[str] | None = None) -> int:
    """Serve `reply` over HTTP, and return the exit code: 2 when the address cannot be had.

    Does not return otherwise: Ctrl-C ends the process with 130.
    """
    use_unicode_output()
    options = _parser().parse_args(argv)
    language = spoken_language()
    if language is None:
        return 2
    with interrupted_quietly():
        try:
            server = ChatServer(reply, (options.host, options.port), options.key)
        except OSError as error:
            problem = IN_USE if error.errno == errno.EADDRINUSE else CANNOT_LISTEN
            told = problem(
                host=options.host,
                port=options.port,
                next=options.port + 1 if options.port < 65535 else 8000,
                reason=error.strerror or error,
            )
            print(told.get(language), file=sys.stderr)
            return 2
        try:
            ready = LISTENING(url=server.base_url, key=THE_KEY if options.key else ANY_KEY)
            print(ready.get(language), flush=True)
            server.serve_forever()
        finally:
            server.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m shared.chat.mock",
        description="A deterministic, offline Chat Completions endpoint. "
        "离线、确定性的 Chat Completions 服务。",
    )
    parser.add_argument("--port", type=_port, default=8000, help="default 8000; 0: any free one")
    parser.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1")
    parser.add_argument("--key", help="refuse every other API key with a 401")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port number from 0 to 65535")
    return int(text)
