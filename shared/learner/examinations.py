"""What a doctor looks at. Each function here looks at one thing and says what it has found."""

from __future__ import annotations

import locale
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from shared.authoring.regions import find_region
from shared.bootstrap import (
    NEWEST,
    OLDEST,
    dotted,
    inside_venv,
    lack,
    venv_python,
    wanted_state,
)
from shared.chat.model import ChatError, load_environment
from shared.i18n import Text, same
from shared.mcp_config import ConfigError, read_servers
from shared.processes.supervisor import ROOT
from shared.selftest.discover import days, load_checks
from shared.selftest.record import STATE

from .blanks import blanks_of
from .findings import Finding
from .leftovers import leftovers

WINDOWS = os.name == "nt"
BUILD = "python shared/bootstrap.py"

LOW_MEBIBYTES, TOO_LOW_MEBIBYTES = 500, 50

# Programs beside Python, the names they go by, and the days that need them.
TOOLS = {
    "node": (("node",), (30,)),
    "Chromium": (
        ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
        (30,),
    ),
}

# -- Python and its packages ----------------------------------------------------------------------


def python() -> list[Finding]:
    """The interpreter that runs this."""
    running = sys.version_info[:2]
    found = Text(en="Python {version}: {path}", zh="Python {version}：{path}")(
        version=platform_version(), path=sys.executable
    )
    if OLDEST <= running <= NEWEST:
        return [Finding("python", "ok", found)]
    step = Text(
        en="Install a Python between {oldest} and {newest}, then: make env PYTHON=python{newest}",
        zh="请安装 {oldest} 到 {newest} 之间的 Python，然后运行：make env PYTHON=python{newest}",
    )(oldest=dotted(OLDEST), newest=dotted(NEWEST))
    return [Finding("python", "bad", found, step)]


def platform_version() -> str:
    """The version of this Python, such as `3.12.4`."""
    return ".".join(map(str, sys.version_info[:3]))


def environment() -> list[Finding]:
    """The virtual environment: whose it is, and whether it is up to date."""
    if inside_venv(ROOT):
        missing = lack(ROOT, wanted_state(ROOT, (), sys.version_info[:2]))
        if not missing:
            found = Text(en="The course's own environment: {path}", zh="课程自己的环境：{path}")
            return [Finding("environment", "ok", found(path=ROOT / ".venv"))]
        found = Text(
            en="The course's environment is not what this checkout asks for: {path}",
            zh="课程的环境与当前代码的要求不一致：{path}",
        )
        step = Text(en="Bring it up to date: {command}", zh="更新它：{command}")(command=BUILD)
        return [Finding("environment", "note", found(path=ROOT / ".venv"), step)]
    if sys.prefix == sys.base_prefix:
        found = Text(
            en="No virtual environment: this Python's own packages are used ({path}).",
            zh="没有使用虚拟环境，用的是这个 Python 自带的包（{path}）。",
        )
    else:
        found = Text(
            en="A virtual environment that is not this course's: {path}",
            zh="当前虚拟环境不属于本课程：{path}",
        )
    found = found(path=sys.prefix)
    if venv_python(ROOT).exists():
        step = Text(
            en="Leave it (`deactivate`), then call: {python} selftest.py doctor",
            zh="先退出（`deactivate`），再运行：{python} selftest.py doctor",
        )(python=venv_python(ROOT))
        return [Finding("environment", "note", found, step)]
    return [Finding("environment", "ok", found)]


def packages() -> list[Finding]:
    """The packages that the course imports: found, and expected."""
    bounds = _bounds()
    if not bounds:
        found = Text(
            en="pyproject.toml is not there, so the packages are not compared.",
            zh="没有 pyproject.toml，无法核对包的版本。",
        )
        return [Finding("packages", "note", found())]
    pins = _pins()
    first = [name for name in ("mcp", "openai") if name in bounds]
    findings = [_package(name, bounds.pop(name), pins) for name in first]
    rest = [_package(name, span, pins) for name, span in bounds.items()]
    wrong = [finding for finding in rest if finding.status != "ok"]
    if wrong:
        return findings + wrong
    versions = ", ".join(f"{name} {version(name)}" for name in bounds)
    found = Text(en="The other packages: {versions}", zh="其余的包：{versions}")
    return [*findings, Finding("packages", "ok", found(versions=versions))]


def _package(name: str, span: tuple[str, str], pins: dict[str, set[str]]) -> Finding:
    low, high = span
    pinned = sorted(pins.get(name, set()))
    expected = f">={low},<{high}"
    step = Text(
        en='Install what is expected: "{python}" -m pip install -c constraints.txt "{spec}"',
        zh='安装需要的版本："{python}" -m pip install -c constraints.txt "{spec}"',
    )(python=sys.executable, spec=f"{name}{expected}")
    try:
        installed = version(name)
    except PackageNotFoundError:
        found = Text(
            en="{name} is not installed; expected is {expected}.",
            zh="没有安装 {name}；需要 {expected}。",
        )
        return Finding("packages", "bad", found(name=name, expected=expected), step)
    values = {"name": name, "installed": installed, "expected": expected}
    if not _numbers(low) <= _numbers(installed) < _numbers(high):
        found = Text(
            en="{name} {installed}; expected is {expected}: with another line of it, imports die.",
            zh="{name} {installed}；需要 {expected}：版本线不对，import 就会失败。",
        )
        return Finding("packages", "bad", found(**values), step)
    if pinned and installed not in pinned:
        found = Text(
            en="{name} {installed} ({expected}); tested with {pinned}.",
            zh="{name} {installed}（{expected}）；测试所用版本是 {pinned}。",
        )
        return Finding("packages", "ok", found(**values, pinned=", ".join(pinned)))
    return Finding("packages", "ok", same("{name} {installed} ({expected})")(**values))


def _bounds() -> dict[str, tuple[str, str]]:
    """The packages of pyproject.toml, each from (including) and up to (excluding) a version."""
    try:
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    needed = project.partition("\ndependencies = [")[2].partition("\n]")[0]
    rows = re.findall(r'"([\w.-]+)>=([\d.]+),<([\d.]+)"', needed)
    return {name: (low, high) for name, low, high in rows}


def _pins() -> dict[str, set[str]]:
    """The exact versions of constraints.txt; a name may have several, for different Pythons."""
    pins: dict[str, set[str]] = {}
    path = ROOT / "constraints.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if match := re.match(r"([\w.-]+)==([^\s;]+)", line):
            pins.setdefault(match[1], set()).add(match[2])
    return pins


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"(?:^|\.)(\d+)", text))


# -- text and programs ----------------------------------------------------------------------------


def encoding() -> list[Finding]:
    """Encodings, as Python chooses them here by itself: our own stdout has been changed by now, and
    a server's is a pipe in any case."""
    ask = "import sys; print(sys.stdout.encoding)"
    stdout = _output_of([sys.executable, "-c", ask]) or "—"
    names = {
        "stdout": stdout,
        "files": sys.getfilesystemencoding(),
        "locale": locale.getpreferredencoding(False),
    }
    found = Text(
        en="Encodings: stdout of a server {stdout}, file names {files}, locale {locale}",
        zh="编码：server 的 stdout {stdout}，文件名 {files}，locale {locale}",
    )(**names)
    if all(_carries_chinese(name) for name in (stdout, names["files"])):
        return [Finding("encoding", "ok", found)]
    step = (
        Text(
            en="Chinese text cannot pass: set PYTHONUTF8=1 (`setx PYTHONUTF8 1`, new terminal).",
            zh="无法输出中文：请设置 PYTHONUTF8=1（运行 `setx PYTHONUTF8 1` 后打开新终端）。",
        )
        if WINDOWS
        else Text(
            en="Chinese text cannot pass: export LC_ALL=C.UTF-8 (or PYTHONUTF8=1) in your shell.",
            zh="无法输出中文：请在 shell 里 export LC_ALL=C.UTF-8（或 PYTHONUTF8=1）。",
        )
    )
    return [Finding("encoding", "note", found, step())]


def _carries_chinese(name: str) -> bool:
    try:
        "订单".encode(name)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def server_python() -> list[Finding]:
    """The command of each server in the learner's mcp.json, and what `python` would be in a shell.

    In mcp.json, `python` is the interpreter of the host; other people's hosts ask PATH.
    """
    findings = []
    for lab in days().values():
        config = ROOT / "labs" / lab / "mcp.json"
        try:
            servers = read_servers(config)
        except ConfigError as error:
            step = Text(
                en="Mend it, or bring the original back: git checkout {path}",
                zh="修好它，或恢复原来的文件：git checkout {path}",
            )(path=config.relative_to(ROOT).as_posix())
            findings.append(Finding("server-python", "bad", error.text, step))
            continue
        for name, server in servers.items():
            values = {"name": f"{lab}: {name}", "command": server.command}
            if shutil.which(server.command):
                found = Text(
                    en='Server "{name}" is started by {command}',
                    zh="server “{name}” 由 {command} 启动",
                )(**values)
                findings.append(Finding("server-python", "ok", found))
            else:
                found = Text(
                    en='Server "{name}": its command {command} is not to be found.',
                    zh="server “{name}”：找不到命令 {command}。",
                )(**values)
                step = Text(
                    en="Install it, or write its full path in {path}.",
                    zh="安装它，或在 {path} 里写出完整路径。",
                )(path=config.relative_to(ROOT).as_posix())
                findings.append(Finding("server-python", "bad", found, step))
    return [*findings, _python_on_path()]


def _python_on_path() -> Finding:
    plain = shutil.which("python") or shutil.which("python3")
    step = Text(
        en="In the configuration of desktop hosts, write the full path: {path}",
        zh="在桌面宿主的配置里请写完整路径：{path}",
    )(path=venv_python(ROOT) if venv_python(ROOT).exists() else sys.executable)
    if plain is None:
        found = Text(en="There is no `python` on PATH.", zh="PATH 上没有 `python`。")
        return Finding("path-python", "note", found(), step)
    ask = "import importlib.metadata as m, sys; print(sys.version.split()[0], m.version('mcp'))"
    answer = (_output_of([plain, "-c", ask]) or "").split()
    if len(answer) == 2:
        found = Text(
            en="`python` on PATH is {path} ({version}, with mcp {mcp})",
            zh="PATH 上的 `python` 是 {path}（{version}，带 mcp {mcp}）",
        )(path=plain, version=answer[0], mcp=answer[1])
        return Finding("path-python", "ok", found)
    found = Text(
        en="`python` on PATH is {path}, which has no mcp. Here that does not matter; a desktop "
        "host that starts `python` would fail.",
        zh="PATH 上的 `python` 是 {path}，里面没有 mcp。在这里没有影响；"
        "但桌面宿主若用 `python` 启动 server 会失败。",
    )(path=plain)
    return Finding("path-python", "note", found, step)


def tools() -> list[Finding]:
    """Programs beside Python, and the days that need them."""
    findings = []
    for name, (commands, needed_by) in TOOLS.items():
        path = next(filter(None, map(shutil.which, commands)), None)
        days_text = ", ".join(map(str, needed_by))
        values = {"name": name, "days": days_text, "path": path}
        if path is not None:
            found = Text(en="{name}: {path} (day {days})", zh="{name}：{path}（第 {days} 天用）")
            findings.append(Finding("tools", "ok", found(**values)))
        elif not set(needed_by) & days().keys():
            found = Text(
                en="{name}: not found. No day that is here needs it; day {days} will.",
                zh="{name}：未找到。现有的各天都不需要它；第 {days} 天才会用到。",
            )
            findings.append(Finding("tools", "ok", found(**values)))
        else:
            found = Text(
                en="{name}: not found. Day {days} needs it.",
                zh="{name}：未找到。第 {days} 天需要。",
            )
            step = Text(en="Install {name}.", zh="请安装 {name}。")
            findings.append(Finding("tools", "note", found(**values), step(name=name)))
    return findings


# -- the checkout ---------------------------------------------------------------------------------


def labs() -> list[Finding]:
    """The learner's files: there, and with their blank markers."""
    findings = []
    for day, lab in days().items():
        whole = True
        for blank in blanks_of(ROOT, lab).values():
            path = ROOT / blank.path
            try:
                there = find_region(path.read_text(encoding="utf-8-sig"), blank.exercise)
            except (OSError, UnicodeDecodeError) as error:
                found = Text(en="{path} cannot be read: {reason}", zh="{path} 无法读取：{reason}")
                found = found(path=blank.path, reason=getattr(error, "strerror", None) or "UTF-8")
            else:
                if there is not None:
                    continue
                found = Text(
                    en="{path}: the markers of exercise {exercise} are not a pair any more.",
                    zh="{path}：练习 {exercise} 的标记不再成对。",
                )(path=blank.path, exercise=blank.exercise)
            whole = False
            step = Text(
                en="Bring the file back, with a backup of yours: python selftest.py reset {day} "
                "--exercise {exercise} --whole-file",
                zh="恢复这个文件（会备份你的版本）：python selftest.py reset {day} "
                "--exercise {exercise} --whole-file",
            )(day=day, exercise=blank.exercise)
            findings.append(Finding("labs", "note", found, step))
        if whole:
            found = Text(
                en="labs/{lab}: the markers of all {count} exercises are in place",
                zh="labs/{lab}：{count} 个练习的标记都完好",
            )(lab=lab, count=len(load_checks(lab).exercises))
            findings.append(Finding("labs", "ok", found))
    return findings


def course_files() -> list[Finding]:
    """What git says of the files that are the course's, not the learner's."""
    changed = _git("status", "--porcelain", "-uno", "--", "shared", "solutions", "selftest.py")
    if changed is None:
        found = Text(
            en="This folder is no git checkout (or git is missing): changes cannot be seen.",
            zh="这个文件夹不是 git 仓库（或没有 git），看不出改动。",
        )
        return [Finding("course-files", "ok", found())]
    files = [line[3:] for line in changed.splitlines()]
    if not files:
        found = Text(
            en="shared/ and solutions/ are as the course has them",
            zh="shared/ 和 solutions/ 与课程一致",
        )
        return [Finding("course-files", "ok", found())]
    found = Text(
        en="Files of the course have been changed: {files}. Verdicts may differ from others'.",
        zh="课程自己的文件被改过：{files}。检查结果可能与别人不同。",
    )(files=", ".join(files[:3]) + (" …" if len(files) > 3 else ""))
    step = Text(
        en="Unless you meant to: git stash push -- shared solutions selftest.py",
        zh="如果不是有意的：git stash push -- shared solutions selftest.py",
    )
    return [Finding("course-files", "note", found, step())]


def _git(*arguments: str) -> str | None:
    """What git prints; None when it cannot tell."""
    return _output_of(["git", "-C", str(ROOT), *arguments])


def _output_of(command: list[str]) -> str | None:
    """What a program prints, stripped at its end; None when it fails or is not there."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.rstrip() if done.returncode == 0 else None


def model() -> list[Finding]:
    """The settings of the real model. The key is never printed."""
    path = ROOT / ".env"
    try:
        settings = load_environment(ROOT)
    except ChatError as error:
        step = Text(
            en="Write it anew: copy .env.example to .env, and save it as UTF-8.",
            zh="重新写一份：把 .env.example 复制为 .env，保存为 UTF-8。",
        )
        return [Finding("model", "bad", error.text, step())]
    if path.exists() and _git("ls-files", "--error-unmatch", ".env") is not None:
        found = Text(
            en=".env is in git, and with it whatever key it holds.",
            zh=".env 被 git 跟踪了，里面的密钥也在其中。",
        )
        step = Text(
            en="git rm --cached .env, then have the service give you a new key.",
            zh="git rm --cached .env，然后到服务商处更换密钥。",
        )
        return [Finding("model", "bad", found(), step())]
    key, name = settings.get("OPENAI_API_KEY"), settings.get("MODEL")
    where = _without_secrets(settings.get("OPENAI_BASE_URL", ""))
    if not key and not path.exists():
        found = Text(
            en="No .env: the mock model (MOCK=1) answers, which needs none",
            zh="没有 .env：由模拟模型（MOCK=1）回答，不需要它",
        )
        return [Finding("model", "ok", found())]
    missing = [each for each, value in (("OPENAI_API_KEY", key), ("MODEL", name)) if not value]
    if missing:
        found = Text(
            en="Settings of the real model: {missing} not set",
            zh="真实模型的设置：{missing} 未填写",
        )(missing=", ".join(missing))
        step = Text(
            en="Fill it in in .env, or use the mock with MOCK=1.",
            zh="在 .env 里填好，或用 MOCK=1 使用模拟模型。",
        )
        return [Finding("model", "note", found, step())]
    found = Text(
        en="The real model: key set, service {where}, model {name}",
        zh="真实模型：密钥已填写，服务 {where}，模型 {name}",
    )
    return [Finding("model", "ok", found(where=where or "OpenAI", name=name))]


def _without_secrets(url: str) -> str:
    """An address without user, password, query and fragment, any of which may hold a key."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "?"
    return f"{parts.scheme}://{parts.hostname or '?'}{port}{parts.path}"


# -- this machine ---------------------------------------------------------------------------------


def state_folder() -> list[Finding]:
    """Where progress, records and backups are kept."""
    try:
        STATE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=STATE) as file:
            file.write(b".")
    except OSError as error:
        found = Text(
            en="{path} cannot be written: {reason}. Verdicts work; progress, hints and backups "
            "do not.",
            zh="{path} 无法写入：{reason}。可以检查，但进度、提示和备份无法保存。",
        )(path=STATE, reason=error.strerror)
        step = Text(
            en="Give yourself the right to write there, or clone the course where you have it.",
            zh="给自己加上写权限，或把课程克隆到可写的位置。",
        )
        return [Finding("state-folder", "bad", found, step())]
    found = Text(en="Your progress is kept in {path}", zh="进度保存在 {path}")
    return [Finding("state-folder", "ok", found(path=STATE))]


def disk() -> list[Finding]:
    """Room in the checkout and where runs work."""
    free = {
        folder: shutil.disk_usage(folder).free >> 20
        for folder in (ROOT, Path(tempfile.gettempdir()))
    }
    folder, least = min(free.items(), key=lambda one: one[1])
    found = Text(en="{mebibytes} MiB free in {folder}", zh="{folder} 剩余 {mebibytes} MiB")(
        mebibytes=least, folder=folder
    )
    if least >= LOW_MEBIBYTES:
        return [Finding("disk", "ok", found)]
    step = Text(en="Free some space there.", zh="请在那里腾出空间。")
    return [Finding("disk", "bad" if least < TOO_LOW_MEBIBYTES else "note", found, step())]


def left_behind() -> list[Finding]:
    """Processes of earlier runs."""
    found_processes = leftovers(ROOT)
    if not found_processes:
        found = Text(en="No process of an earlier run is left", zh="没有之前运行留下的进程")
        return [Finding("leftovers", "ok", found())]
    ages = ", ".join(f"{one.pid} ({_age(one.age)})" for one in found_processes)
    found = Text(
        en="Processes of earlier runs, with their ages: {ages}",
        zh="之前运行留下的进程及其时长：{ages}",
    )(ages=ages)
    pids = [str(one.pid) for one in found_processes]
    command = " ".join(
        ["taskkill", "/F", *(f"/PID {pid}" for pid in pids)] if WINDOWS else ["kill", "-9", *pids]
    )
    step = Text(en="End them: {command}", zh="结束它们：{command}")(command=command)
    return [Finding("leftovers", "note", found, step)]


def _age(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def start() -> list[Finding]:
    """How programs are started here."""
    if hasattr(os, "fork") and hasattr(socket, "send_fds"):
        found = Text(
            en="Programs start warm here (forked with their imports done)",
            zh="程序可以热启动（fork 时 import 已完成）",
        )
    else:
        found = Text(
            en="Programs start afresh each time on this system: a run takes some seconds more",
            zh="这个系统上每个程序都要全新启动：一次检查会多花几秒",
        )
    return [Finding("start", "ok", found())]
