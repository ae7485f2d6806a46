"""The chat model as an agent sees it: messages and tools in, the assistant's next message out.

Behind it is one `openai` client, whatever answers: a real service, the mock model in this process,
or the mock that the self-test listens to. Only the transport differs.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeGuard, cast
from urllib.parse import urlsplit

import dotenv
import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from ..i18n import Text, same
from . import mock
from .exchange import answer
from .types import Json

CHAT_SOCKET = "CHAT_SOCKET"
"""Environment variable: a Unix socket, or a base URL on loopback, where the self-test's mock is."""

SERVICE = "https://api.openai.com/v1"
MODEL = "gpt-4o-mini"
TIMEOUT = 60.0
REAL_RETRIES = 2
SECRET_LENGTH = 8  # a shorter key is a placeholder for a service that wants none
MOCK_MODEL = "mock"
MOCK_KEY = "mock"  # the openai client wants one
MOCK_URL = "http://localhost/v1"  # goes nowhere: these transports know where they lead

_CONFIGURATION, _SERVICE = 2, 1  # exit codes


class ChatError(Exception):
    """The model cannot be asked, or did not answer.

    `text` says the value to blame and the next step, in both languages; `str()` gives the English.
    `exit_code` suits a program that ends with it: 2 for a mistake in the configuration, else 1.
    """

    def __init__(self, text: Text, exit_code: int = _SERVICE) -> None:
        super().__init__(text.en)
        self.text = text
        self.exit_code = exit_code


class ChatModel:
    """A chat model behind the Chat Completions API.

    `where` names the endpoint in messages to the user. A context manager, for programs that make
    many; one that ends with its program needs no closing.
    """

    def __init__(self, client: openai.OpenAI, model: str, where: Text, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self.model = model
        self.where = where

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> ChatModel:
        """The model that the environment asks for: the self-test's (`CHAT_SOCKET`), the mock in
        this process (`MOCK=1`), or the service of `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `MODEL`.

        `OPENAI_TIMEOUT` is in seconds. Raises ChatError for a setting that cannot be used.
        """
        timeout = _timeout(env.get("OPENAI_TIMEOUT", ""))
        name = env.get("MODEL", "").strip()
        if place := env.get(CHAT_SOCKET, "").strip():
            return cls(_listened_client(place, timeout), name or MOCK_MODEL, same(place), timeout)
        if env.get("MOCK", "").strip().lower() in ("1", "true", "yes", "on"):
            client = _mock_client(MockTransport(), MOCK_URL, timeout)
            return cls(client, name or MOCK_MODEL, _THE_MOCK, timeout)
        url = env.get("OPENAI_BASE_URL", "").strip() or SERVICE
        client = _real_client(url, env.get("OPENAI_API_KEY", ""), timeout)
        return cls(client, name or MODEL, same(url), timeout)

    def complete(self, messages: list[Json], tools: list[Json]) -> Json:
        """Ask for the next message of a conversation.

        Takes messages and tools in Chat Completions form; without tools the request has none.
        Returns the assistant's message, ready to be appended to `messages`. Raises ChatError when
        none comes.
        """
        try:
            completion = self._client.chat.completions.create(
                model=self.model,
                messages=cast(Any, messages),
                tools=cast(Any, tools) or openai.omit,
            )
        except openai.APIError as error:
            raise self._explained(error) from error
        except json.JSONDecodeError as error:
            raise self._no_completion(str(error)) from error
        if not isinstance(completion, ChatCompletion):  # the client does not check what it gets
            raise self._no_completion(str(completion))
        message = completion.choices[0].message if completion.choices else None
        if not _is_message(message):
            raise self._no_completion(completion.to_json(indent=None, warnings=False))
        return {"role": "assistant", **message.model_dump(exclude_none=True)}

    def close(self) -> None:
        """Close the connections to the service."""
        self._client.close()

    def __enter__(self) -> ChatModel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _explained(self, error: openai.APIError) -> ChatError:
        """What a failure of the client means for the person in front of the program."""
        if isinstance(error, openai.APIResponseValidationError):
            return self._no_completion(str(error))
        if isinstance(error, openai.APITimeoutError):
            return ChatError(_TIMED_OUT(where=self.where, seconds=f"{self._timeout:g}"))
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            return ChatError(_UNREACHABLE(where=self.where, reason=self._discreet(str(cause))))
        if not isinstance(error, openai.APIStatusError):
            return self._no_completion(str(error))
        text = _BY_STATUS.get(error.status_code, _OTHER_STATUS)
        return ChatError(
            text(
                where=self.where,
                model=self.model,
                status=error.status_code,
                reason=self._discreet(_reason(error)),
            )
        )

    def _no_completion(self, what: str) -> ChatError:
        return ChatError(_NO_COMPLETION(where=self.where, what=self._discreet(what)[:200]))

    def _discreet(self, text: str) -> str:
        """A text of the service without the key, which some services quote back."""
        key = self._client.api_key
        return text.replace(key, "***") if len(key) >= SECRET_LENGTH else text


class MockTransport(httpx2.BaseTransport):
    """The mock model in place of the network: same JSON as over HTTP, in this process."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request to the chat endpoint, with 400 and 500 as a server would."""
        exchange = answer(mock.reply, request.read())
        body = json.dumps(exchange.body).encode()
        return httpx2.Response(
            exchange.status, headers={"Content-Type": "application/json"}, content=body
        )


def load_environment(root: Path) -> dict[str, str]:
    """The settings of a program: the environment, over those of the file `.env` in `root`.

    The file may be absent. Raises ChatError when it cannot be read as UTF-8 text.
    """
    path = root / ".env"
    try:
        text = path.read_text(encoding="utf-8-sig")  # Windows editors put a mark in front
    except FileNotFoundError:
        return dict(os.environ)
    except (OSError, UnicodeDecodeError) as error:
        reason = same(str(error.strerror)) if isinstance(error, OSError) else _NOT_UTF8
        raise ChatError(_BAD_ENV_FILE(path=path, reason=reason), _CONFIGURATION) from error
    if "\0" in text:  # UTF-16 can be decoded, with a zero after every letter
        raise ChatError(_BAD_ENV_FILE(path=path, reason=_NOT_UTF8), _CONFIGURATION)
    values = dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False)
    named = {name: value for name, value in values.items() if value is not None}
    return {**named, **os.environ}


def _timeout(text: str) -> float:
    if not text.strip():
        return TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < math.inf):
        raise ChatError(_BAD_TIMEOUT(value=text), _CONFIGURATION)
    return seconds


def _listened_client(place: str, timeout: float) -> openai.OpenAI:
    """The client for the self-test's mock, which is on a Unix socket, or on loopback where the
    platform has none."""
    # No TLS is spoken here; loading certificates for it would take longer than many an answer.
    if place.startswith("http://"):
        transport = httpx2.HTTPTransport(verify=False, trust_env=False)
        return _mock_client(transport, place, timeout)
    transport = httpx2.HTTPTransport(uds=place, verify=False, trust_env=False)
    return _mock_client(transport, MOCK_URL, timeout)


def _mock_client(transport: httpx2.BaseTransport, url: str, timeout: float) -> openai.OpenAI:
    return openai.OpenAI(
        api_key=MOCK_KEY,
        base_url=url,
        timeout=timeout,
        max_retries=0,  # the mock does not change its mind
        http_client=httpx2.Client(transport=transport, trust_env=False, timeout=timeout),
    )


def _real_client(url: str, key: str, timeout: float) -> openai.OpenAI:
    key = key.strip()
    if not key:
        raise ChatError(_NO_KEY, _CONFIGURATION)
    if not (key.isascii() and key.isprintable()):
        raise ChatError(_BAD_KEY, _CONFIGURATION)
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:  # a bracket that is not closed
        host = None
    if not host:
        raise ChatError(_BAD_URL(value=url), _CONFIGURATION)
    try:
        return openai.OpenAI(
            api_key=key,
            base_url=url,
            timeout=timeout,
            max_retries=REAL_RETRIES,
            # A model on this machine is never behind a proxy, whatever the environment says.
            http_client=openai.DefaultHttpxClient(
                trust_env=host not in ("localhost", "127.0.0.1", "::1")
            ),
        )
    except (ImportError, ValueError) as error:  # a SOCKS proxy without socksio; an unknown scheme
        raise ChatError(_BAD_PROXY(reason=error), _CONFIGURATION) from error


def _is_message(message: Any) -> TypeGuard[ChatCompletionMessage]:
    return (
        isinstance(message, ChatCompletionMessage)
        and isinstance(message.content, str | None)
        and isinstance(message.tool_calls, list | None)
    )


def _reason(error: openai.APIStatusError) -> str:
    """What the service said, without the status: its message, or the beginning of its page."""
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        said = cast(str, body["message"])
    else:
        said = str(body or error.response.text or error.response.reason_phrase)[:200]
    return said.strip().rstrip(".。")


_NO_KEY = Text(
    en="No API key. Copy .env.example to .env and put your key there as OPENAI_API_KEY, or run "
    "without a model service: MOCK=1.",
    zh="没有 API key。请把 .env.example 复制为 .env，在其中填写 OPENAI_API_KEY；"
    "也可以不用模型服务，以 MOCK=1 离线运行。",
)
_BAD_KEY = Text(
    en="OPENAI_API_KEY has characters that no key has (spaces, line ends, Chinese). Copy the key "
    "into .env once more, or run without a model service: MOCK=1.",
    zh="OPENAI_API_KEY 里有密钥不会有的字符（空白、换行、中文）。请重新把密钥填进 .env；"
    "也可以不用模型服务，以 MOCK=1 离线运行。",
)
_BAD_URL = Text(
    en='OPENAI_BASE_URL is "{value}", which is no address. It looks like '
    "https://api.openai.com/v1; correct it in .env.",
    zh="OPENAI_BASE_URL 的值 “{value}” 不是网址。它应当形如 https://api.openai.com/v1，"
    "请在 .env 中改正。",
)
_BAD_TIMEOUT = Text(
    en='OPENAI_TIMEOUT is "{value}"; it must be a number of seconds above 0, such as 60.',
    zh="OPENAI_TIMEOUT 的值是 “{value}”；它必须是大于 0 的秒数，例如 60。",
)
_BAD_PROXY = Text(
    en="The proxy of the environment cannot be used: {reason} Unset ALL_PROXY (and HTTP_PROXY, "
    "HTTPS_PROXY), or set them to an http:// address.",
    zh="环境变量里的代理无法使用：{reason} 请取消 ALL_PROXY（以及 HTTP_PROXY、HTTPS_PROXY），"
    "或改成 http:// 开头的地址。",
)
_BAD_ENV_FILE = Text(
    en="{path} cannot be read: {reason}. Save it as a text file in UTF-8.",
    zh="{path} 无法读取：{reason}。请把它保存为 UTF-8 编码的文本文件。",
)
_NOT_UTF8 = Text(en="it is not UTF-8 text", zh="内容不是 UTF-8 文本")
_THE_MOCK = Text(en="The mock model (MOCK=1)", zh="模拟模型（MOCK=1）")
_UNREACHABLE = Text(
    en="No connection to {where} ({reason}). Check OPENAI_BASE_URL in .env and the network, or run "
    "without a model service: MOCK=1.",
    zh="无法连接 {where}（{reason}）。请检查 .env 中的 OPENAI_BASE_URL 和网络；"
    "也可以不用模型服务，以 MOCK=1 离线运行。",
)
_TIMED_OUT = Text(
    en="{where} did not answer within {seconds} seconds. Try again, or allow more with "
    "OPENAI_TIMEOUT.",
    zh="{where} 在 {seconds} 秒内没有回答。请重试，或用 OPENAI_TIMEOUT 放宽时限。",
)
_NO_COMPLETION = Text(
    en="What {where} sent is no chat completion: {what}. OPENAI_BASE_URL must lead to an "
    "OpenAI-compatible API; most end in /v1.",
    zh="{where} 返回的不是聊天补全：{what}。OPENAI_BASE_URL 应当指向兼容 OpenAI 的接口，"
    "通常以 /v1 结尾。",
)
_OTHER_STATUS = Text(
    en="{where} answered with HTTP {status}: {reason}. Try again later.",
    zh="{where} 返回 HTTP {status}：{reason}。请稍后再试。",
)
_REFUSED = Text(
    en="{where} refused the request (HTTP {status}): {reason}. Look at the messages and tools that "
    "were sent, at the place that it names.",
    zh="{where} 拒绝了请求（HTTP {status}）：{reason}。"
    "请检查发出的 messages 和 tools 中它指出的位置。",
)
_BY_STATUS: Mapping[int, Text] = {
    400: _REFUSED,
    401: Text(
        en="{where} refused the API key (HTTP 401). Check OPENAI_API_KEY in .env, and that it "
        "belongs to this service.",
        zh="{where} 拒绝了 API key（HTTP 401）。请检查 .env 中的 OPENAI_API_KEY，"
        "以及它是不是这个服务的密钥。",
    ),
    403: Text(
        en="{where} does not allow this (HTTP 403): {reason}. Check the rights of the key, and "
        "whether the service is open to your region.",
        zh="{where} 不允许这个请求（HTTP 403）：{reason}。请检查密钥的权限和所在地区是否受支持。",
    ),
    404: Text(
        en='{where} does not have this endpoint or the model "{model}" (HTTP 404): {reason}. Check '
        "OPENAI_BASE_URL and MODEL in .env.",
        zh="{where} 没有这个接口，或没有模型 “{model}”（HTTP 404）：{reason}。"
        "请检查 .env 中的 OPENAI_BASE_URL 和 MODEL。",
    ),
    422: _REFUSED,
    429: Text(
        en="{where} takes no more requests for now (HTTP 429): {reason}. Wait a minute, or check "
        "your quota.",
        zh="{where} 暂时不再接受请求（HTTP 429）：{reason}。请等一分钟再试，或检查账户额度。",
    ),
}
