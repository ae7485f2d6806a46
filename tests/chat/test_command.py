"""`python -m shared.chat.mock` as a person starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openai
import pytest

from shared.chat.model import ChatModel

from .shop import ZH, calls

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "shared.chat.mock")
LESSON = {"role": "user", "content": "帮我查一下订单 SO20260901 现在什么状态"}


def environment(lang: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**env, "LAB_LANG": lang, "PYTHONIOENCODING": "utf-8"}


@contextmanager
def started(*options: str, lang: str = "en") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and the base URL that it printed."""
    process = subprocess.Popen(
        [*COMMAND, *options],
        cwd=ROOT,
        env=environment(lang),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        try:
            assert process.stdout is not None
            ready, usage = process.stdout.readline(), process.stdout.readline()
            found = re.search(r"OPENAI_BASE_URL=(http://\S+/v1) ", usage)
            assert found, (ready, usage)
            assert found[1] in ready
            yield process, found[1]
        finally:
            process.kill()


def run(*options: str, lang: str = "en") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options],
        cwd=ROOT,
        env=environment(lang),
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )


def test_serves_until_ctrl_c():
    with started("--port", "0", "--key", "sk-one") as (process, url):
        model = ChatModel.from_env({"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-one"})
        assert calls(model.complete([LESSON], ZH)) == [("query_order", {"order_id": "SO20260901"})]
        client = openai.OpenAI(base_url=url, api_key="sk-two")
        with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
            client.models.list()
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert process.stdout is not None
            assert process.stderr is not None
            assert (process.stdout.read(), process.stderr.read()) == ("", "")


@pytest.mark.parametrize(("lang", "words"), [("en", "is in use"), ("zh", "已被其他程序占用")])
def test_a_port_in_use(tcp_server, lang, words):
    port = tcp_server.base_url.removesuffix("/v1").rpartition(":")[2]
    result = run("--port", port, lang=lang)
    assert result.returncode == 2
    assert result.stdout == ""
    [sentence] = result.stderr.splitlines()
    assert words in sentence
    assert port in sentence
    assert "--port" in sentence


def test_an_address_that_is_not_ours():
    result = run("--host", "no-such-host.invalid", lang="en")
    assert result.returncode == 2
    [sentence] = result.stderr.splitlines()
    assert "Cannot listen on no-such-host.invalid, port 8000" in sentence


@pytest.mark.parametrize("port", ["70000", "-1", "x"])
def test_no_port_number(port):
    result = run(f"--port={port}")
    assert result.returncode == 2
    assert f"'{port}' is no port number" in result.stderr


def test_a_language_that_is_none():
    result = run("--port", "0", lang="fr")
    assert result.returncode == 2
    assert "fr" in result.stderr
    assert "Traceback" not in result.stderr
