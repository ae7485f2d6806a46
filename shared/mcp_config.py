"""`mcp.json`, the file in which a host is told of its servers."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .i18n import Text


class ConfigError(Exception):
    """A configuration that cannot be used; `text` names the file, the value and the next step."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text

    @classmethod
    def cannot_start(
        cls, path: Path, name: str, server: ServerEntry, error: OSError
    ) -> ConfigError:
        """The command of a server does not exist or may not be run."""
        return cls(
            Text(
                en='{path}: server "{name}": the command "{command}" cannot be started ({reason}). '
                "Write the full path of the program, or install it.",
                zh="{path}：server “{name}” 的命令 “{command}” 无法启动（{reason}）。"
                "请写出程序的完整路径，或先安装它。",
            )(path=path, name=name, command=server.command, reason=error.strerror or error)
        )

    @classmethod
    def no_handshake(cls, path: Path, name: str, error: Exception) -> ConfigError:
        """A server started, and then ended or spoke another version of the protocol."""
        return cls(
            Text(
                en='{path}: server "{name}" did not finish the handshake: {reason}. '
                "What it wrote on stderr stands above; run its command by hand to see more.",
                zh="{path}：server “{name}” 没有完成握手：{reason}。"
                "它写到 stderr 的内容在上面；也可以手动运行它的命令来排查。",
            )(path=path, name=name, reason=error)
        )

    @classmethod
    def same_tool_twice(cls, path: Path, tool: str) -> ConfigError:
        """Two servers offer a tool of the same name, and a call could not tell which is meant."""
        return cls(
            Text(
                en='{path}: two servers have a tool named "{tool}". Take one of them out.',
                zh="{path}：有两个 server 都提供名为 “{tool}” 的工具。请去掉其中一个。",
            )(path=path, tool=tool)
        )


@dataclass(frozen=True)
class ServerEntry:
    """One entry of `mcpServers`: the program to start, in which folder."""

    command: str
    args: list[str]
    folder: str
    env: dict[str, str] = field(default_factory=dict)


def read_servers(path: Path) -> dict[str, ServerEntry]:
    """The servers of a host, by name, in the order of the file.

    Programs run in the folder of the file, so that the file can name its neighbours. `python` means
    the interpreter that reads this, which is the one that has the SDK, whether or not its
    environment is activated.

    Raises ConfigError when the file cannot be read or does not have the shape
    `{"mcpServers": {NAME: {"command": TEXT, "args": [TEXT, …], "env": {TEXT: TEXT}}}}`.
    """
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "this is no regular file")  # reading a pipe would never end
        text = path.read_text(encoding="utf-8-sig")  # Windows editors put a mark in front
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            Text(
                en="{path} cannot be read: {reason}. `git checkout -- {path}` brings it back.",
                zh="{path} 无法读取：{reason}。可以用 `git checkout -- {path}` 找回它。",
            )(path=path, reason=getattr(error, "strerror", None) or error)
        ) from error
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            Text(
                en="{path}, line {line}, column {column}: this is no JSON ({reason}). "
                "Look for a missing or superfluous comma, quote or bracket just before.",
                zh="{path} 第 {line} 行第 {column} 列：不是合法的 JSON（{reason}）。"
                "请检查这之前是否少了或多了逗号、引号、括号。",
            )(path=path, line=error.lineno, column=error.colno, reason=error.msg)
        ) from error
    entries = config.get("mcpServers") if isinstance(config, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(
            Text(
                en='{path} names no server. It needs {{"mcpServers": {{"shop": {{"command": …, '
                '"args": […]}}}}}}.',
                zh='{path} 里没有任何 server。应当是 {{"mcpServers": {{"shop": {{"command": …, '
                '"args": […]}}}}}}。',
            )(path=path)
        )
    return {name: _entry(path, name, entry) for name, entry in entries.items()}


def _entry(path: Path, name: str, entry: Any) -> ServerEntry:
    def wrong(what: str) -> ConfigError:
        return ConfigError(
            Text(
                en='{path}: server "{name}": {what}. Compare it with the entry of the lesson.',
                zh="{path}：server “{name}”：{what}。请对照课文里的写法。",
            )(path=path, name=name, what=_WRONG[what])
        )

    if not isinstance(entry, dict):
        raise wrong("entry")
    command, args, env = entry.get("command"), entry.get("args", []), entry.get("env", {})
    if not isinstance(command, str) or not command:
        raise wrong("command")
    if not isinstance(args, list) or not all(isinstance(value, str) for value in args):
        raise wrong("args")
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise wrong("env")
    if command in ("python", "python3"):
        command = sys.executable
        if args and args[0].endswith(".py") and not (path.parent / args[0]).is_file():
            raise ConfigError(
                Text(
                    en='{path}: server "{name}": there is no file {file} beside it. '
                    "Correct the name, or bring the file back with `git checkout -- {file}`.",
                    zh="{path}：server “{name}”：旁边没有文件 {file}。"
                    "请改正名字，或者用 `git checkout -- {file}` 找回它。",
                )(path=path, name=name, file=args[0])
            )
    return ServerEntry(command, args, str(path.resolve().parent), env)


_WRONG = {
    "entry": Text(en="the entry must be an object", zh="这一项必须是一个对象"),
    "command": Text(en='"command" must be a text that is not empty', zh="“command” 必须是非空文本"),
    "args": Text(en='"args" must be a list of texts', zh="“args” 必须是文本列表"),
    "env": Text(en='"env" must map names to texts', zh="“env” 必须是名字到文本的映射"),
}
