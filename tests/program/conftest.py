"""The day's program as a real child process, away from whatever is set where the tests run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.authoring.starters import starter_tree

from ..day23.native import native
from ..day23.scripted import write_server

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = ("-m", "shared.program", "23", "--solution")
AGENT = ("-m", "solutions.day23_mcp_server.agent")

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


class Done:
    """How a program ended, and the lines that it printed."""

    def __init__(self, done: subprocess.CompletedProcess[bytes], encoding: str) -> None:
        self.code = done.returncode
        self.out = done.stdout.decode(encoding).splitlines()
        self.err = done.stderr.decode(encoding).splitlines()

    def sentence(self) -> str:
        """What a program that failed says: one line on stderr, no more, and no answer on stdout."""
        assert not any(line.startswith(("answer: ", "回答: ")) for line in self.out), self.out
        [line] = self.err
        assert "Traceback" not in line
        return line


def settings(**chosen: str) -> dict[str, str]:
    """The environment of a program: nothing of Python's, the model's or the course's but what is
    chosen. A name that the checkout's own .env may have is set to nothing, which wins over it."""
    prefixes = ("PYTHON", "OPENAI_", "LC_", "LANG")
    names = ("CHAT_SOCKET", "LAB_LANG", "MOCK", "MODEL", "SHOP_DATA")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(prefixes) and name not in names
    }
    nothing = ("MOCK", "MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_TIMEOUT")
    return {**kept, **dict.fromkeys(nothing, ""), "LAB_LANG": "en", **chosen}


def run(*argv: str | Path, cwd: str | Path = ROOT, encoding: str = "utf-8", **env: str) -> Done:
    """Run Python with these arguments to its end, with no terminal and nothing to read."""
    done = subprocess.run(
        [sys.executable, *(native(str(argument)) for argument in argv)],
        cwd=cwd,
        env=settings(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Done(done, encoding)


TINY = """\
shake_hands()
while True:
    request = receive()
    if request["method"] == "tools/list":
        schema = {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^SO[0-9]{8}$"}},
            "required": ["order_id"],
        }
        about = {"description": "按订单号查询一笔订单的状态", "inputSchema": schema}
        answer(request, tools=[{"name": "query_order", **about}])
    elif request["method"] == "tools/call":
        tell(request, json.dumps({"status": "已发货"}))
"""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An mcp.json whose shop starts at once, for tests of anything but the shop."""
    folder = tmp_path_factory.mktemp("tiny")
    write_server(folder / "shop.py", TINY)
    entry = {"command": "python", "args": ["-S", "shop.py"]}
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"shop": entry}}), encoding="utf-8")
    return config


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of the course in which a test may write; its path is not an easy one."""
    root = tmp_path_factory.mktemp("checkout") / native("我的 课程")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("shared", "solutions"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for path, content in starter_tree(ROOT / "solutions").items():
        (root / "labs" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "labs" / path).write_bytes(content)
    return root
