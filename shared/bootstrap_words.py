"""What `bootstrap` says, in both languages, and how.

Standard library and the syntax of Python 3.6, as `bootstrap` explains.
"""

import locale
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

MESSAGES = {
    "too_old": {
        "en": "Python {found} ({executable}) is too old: the course needs Python {oldest} to "
        "{newest}. Install one and name it: `make PYTHON=python{newest} lab-23`, or "
        "`python{newest} selftest.py 23`.",
        "zh": "Python {found}（{executable}）版本太旧：本课程需要 Python {oldest} 到 {newest}。"
        "请安装后指明它：`make PYTHON=python{newest} lab-23`，或 `python{newest} selftest.py 23`。",
    },
    "too_new": {
        "en": "Python {found} is newer than those the course is tested with ({oldest} to "
        "{newest}). Trying all the same; if a step fails, use `make PYTHON=python{newest} lab-23`.",
        "zh": "Python {found} 比本课程测试过的版本（{oldest} 到 {newest}）新。仍会尝试；"
        "如果某一步失败，请用 `make PYTHON=python{newest} lab-23`。",
    },
    "no_venv": {
        "en": "Python {found} cannot make environments here: its module `{module}` is missing. On "
        "Debian and Ubuntu run `sudo apt install python3-venv` (for a Python of another version, "
        "python{found}-venv), then try again.",
        "zh": "这里的 Python {found} 无法创建虚拟环境：缺少模块 `{module}`。在 Debian 和 Ubuntu 上"
        "请运行 `sudo apt install python3-venv`（其他版本的 Python 则是 python{found}-venv），"
        "然后重试。",
    },
    "no_access": {
        "en": "{path} cannot be written ({reason}). Move the checkout to a folder of your own, or "
        "close the programs that use .venv, then try again.",
        "zh": "无法写入 {path}（{reason}）。请把仓库移到你自己的文件夹，或关闭正在使用 .venv 的"
        "程序，然后重试。",
    },
    "no_network": {
        "en": "{tool} cannot reach the package index. Check the network, or name a proxy "
        "(HTTPS_PROXY) or a mirror (PIP_INDEX_URL, UV_DEFAULT_INDEX), then try again. "
        "All that {tool} said: {log}",
        "zh": "{tool} 无法连接软件包索引。请检查网络，或设置代理（HTTPS_PROXY）或镜像"
        "（PIP_INDEX_URL、UV_DEFAULT_INDEX），然后重试。{tool} 的完整输出：{log}",
    },
    "failed": {
        "en": "{tool} failed with exit code {code}; its last lines are above. Mend what they name, "
        "then try again. All that it said: {log}",
        "zh": "{tool} 失败，退出码 {code}，最后几行见上。请解决其中指出的问题后重试。"
        "完整输出：{log}",
    },
    "waiting": {
        "en": "Another call is building the environment; waiting for it.",
        "zh": "另一个进程正在构建环境；等待它完成。",
    },
    "new": {
        "en": "Building the course's environment in {venv}; later calls start at once.",
        "zh": "正在 {venv} 中构建课程环境；以后会立即启动。",
    },
    "half": {
        "en": "{venv} was left half built; building it anew.",
        "zh": "{venv} 上次没有构建完；重新构建。",
    },
    "moved": {
        "en": "{venv} was made for another Python or another place; building it anew.",
        "zh": "{venv} 是为另一个 Python 或另一个位置创建的；重新构建。",
    },
    "changed": {
        "en": "Bringing {venv} up to date.",
        "zh": "正在更新 {venv}。",
    },
    "step_venv": {
        "en": "Step 1 of 3: making an environment of Python {found} with {tool}",
        "zh": "第 1 步（共 3 步）：用 {tool} 创建 Python {found} 环境",
    },
    "step_kept": {
        "en": "Step 1 of 3: keeping the environment of Python {found}",
        "zh": "第 1 步（共 3 步）：沿用 Python {found} 环境",
    },
    "step_backend": {
        "en": "Step 2 of 3: installing the build backend with {tool}",
        "zh": "第 2 步（共 3 步）：用 {tool} 安装构建后端",
    },
    "step_packages": {
        "en": "Step 3 of 3: installing the packages of constraints.txt with {tool}; the first "
        "time, that takes about a minute",
        "zh": "第 3 步（共 3 步）：用 {tool} 安装 constraints.txt 中的软件包；第一次约需一分钟",
    },
    "uv_failed": {
        "en": "uv failed; trying once more, with pip.",
        "zh": "uv 失败；改用 pip 再试一次。",
    },
    "fetching": {"en": "fetching {what}", "zh": "获取 {what}"},
    "installing": {"en": "installing {count} packages", "zh": "安装 {count} 个软件包"},
    "at_work": {"en": "at work for {seconds:.0f} s", "zh": "已进行 {seconds:.0f} 秒"},
    "done": {"en": "Done in {seconds:.0f} s.", "zh": "完成，用时 {seconds:.0f} 秒。"},
    "ready": {
        "en": "The environment is ready: {venv} (Python {found}).",
        "zh": "环境已就绪：{venv}（Python {found}）。",
    },
    "usage": {
        "en": "Not understood: {wrong}. Usage: python3 shared/bootstrap.py [--dev] [--quiet]",
        "zh": "无法理解：{wrong}。用法：python3 shared/bootstrap.py [--dev] [--quiet]",
    },
}

NEWS_EVERY = 1.0  # seconds, where each piece of news takes a line of its own
LINE_WIDTH = 72


class Voice:
    """Tells the learner what happens: on stderr, since stdout may carry somebody's JSON.

    `news` is what will soon be old: on a terminal all news share one line, in a log they are few.
    """

    def __init__(
        self, stream: "TextIO | None" = None, env: "Mapping[str, str]" = os.environ
    ) -> None:
        self.stream = stream or sys.stderr
        self.language = choose_language(env)
        self._news_shown = 0  # characters of it on the terminal's current line
        self._last_news = 0.0

    def text(self, key: str, **values: object) -> str:
        """A message in the learner's language."""
        return MESSAGES[key][self.language].format(**values)

    def say(self, key: str, **values: object) -> None:
        """Print a message."""
        self.print(self.text(key, **values))

    def print(self, line: str) -> None:
        """Print a line that stays."""
        self._write(self._wiped() + line + "\n")

    def news(self, key: str, **values: object) -> None:
        """Print a message that the next one may replace."""
        line = "  " + self.text(key, **values)
        if self.stream.isatty():
            self._write(self._wiped() + line[:LINE_WIDTH])
            self._news_shown = len(line[:LINE_WIDTH])
        elif key == "installing" or time.monotonic() - self._last_news >= NEWS_EVERY:
            self._write(line + "\n")
            self._last_news = time.monotonic()

    def _wiped(self) -> str:
        """What overwrites the news on the terminal's line. Spaces, since not every Windows console
        knows escape codes; two for a character, as a Chinese one is that wide."""
        columns = min(2 * self._news_shown, LINE_WIDTH)
        self._news_shown = 0
        return "\r" + " " * columns + "\r" if columns else ""

    def _write(self, text: str) -> None:
        encoding = self.stream.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:  # a locale without Chinese; terminals speak UTF-8 all the same
            self.stream.flush()
            self.stream.buffer.write(text.encode("utf-8"))
        else:
            self.stream.write(text)
        self.stream.flush()


def choose_language(env: "Mapping[str, str]" = os.environ) -> str:
    """`en` or `zh`: LAB_LANG, else the locale, else English, as `shared.i18n` chooses. A LAB_LANG
    that is neither is refused by the program that is started in the end, not here."""
    if env.get("LAB_LANG") in ("en", "zh"):
        return env["LAB_LANG"]
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if env.get(name):
            return "zh" if env[name].lower().startswith("zh") else "en"
    system = locale.getlocale()[0] or ""
    return "zh" if system.lower().startswith(("zh", "chinese")) else "en"
