"""ChatModel through each of its transports, and what it says when the service fails."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest

from shared.chat.exchange import error_body
from shared.chat.mock import reply
from shared.chat.model import ChatError, ChatModel, load_environment
from shared.chat.server import ChatServer
from shared.i18n import same

from .shop import ZH, Json, calls, serve_shop

LESSON: Json = {"role": "user", "content": "帮我查一下订单 SO20260901 现在什么状态"}
QUERY = [("query_order", {"order_id": "SO20260901"})]


@pytest.fixture(params=["socket", "loopback", "in-process", "real"])
def model(request, tcp_server) -> ChatModel:
    """A model on each of the transports; the service of `real` is on this machine."""
    if request.param == "socket":
        env = {"CHAT_SOCKET": request.getfixturevalue("socket_path"), "MOCK": "1"}
    elif request.param == "loopback":
        env = {"CHAT_SOCKET": tcp_server.base_url}
    elif request.param == "in-process":
        env = {"MOCK": "1"}
    else:
        env = {"OPENAI_BASE_URL": tcp_server.base_url, "OPENAI_API_KEY": "x", "MODEL": "any"}
    with ChatModel.from_env(env) as model:
        yield model


class TestEveryTransport:
    def test_a_whole_conversation(self, model):
        messages = [LESSON]
        asking = model.complete(messages, ZH)
        assert calls(asking) == QUERY
        messages += [
            asking,
            {
                "role": "tool",
                "tool_call_id": asking["tool_calls"][0]["id"],
                "content": serve_shop(*QUERY[0]),
            },
        ]
        answer = model.complete(messages, ZH)
        assert answer["role"] == "assistant"
        assert "已发货" in answer["content"]
        assert "tool_calls" not in answer
        json.dumps(messages)  # plain data, ready to be sent again

    def test_several_calls_in_one_turn(self, model):
        question = {"role": "user", "content": "SO20260901 和 SO20260915 的状态"}
        assert calls(model.complete([question], ZH)) == [
            *QUERY,
            ("query_order", {"order_id": "SO20260915"}),
        ]

    def test_no_tools_means_no_tools_in_the_request(self, model):
        """An empty list would be refused."""
        assert "没有任何工具" in model.complete([LESSON], [])["content"]

    def test_a_400_gives_the_reason_of_the_provider(self, model):
        stray = {"role": "tool", "tool_call_id": "x", "content": ""}
        with pytest.raises(ChatError, match="must be a response to a preceding message") as caught:
            model.complete([LESSON, stray], ZH)
        assert "HTTP 400" in caught.value.text.zh
        assert "must be a response" in caught.value.text.zh
        assert caught.value.exit_code == 1


def test_what_is_sent_is_what_was_given():
    seen: list[Json] = []

    def recording(request: Json) -> Json:
        seen.append(request)
        return reply(request)

    with ChatServer(recording) as server:
        model = ChatModel.from_env({"CHAT_SOCKET": server.base_url, "MODEL": "some-model"})
        model.complete([LESSON], ZH)
        model.complete([LESSON], [])
    assert seen == [
        {"model": "some-model", "messages": [LESSON], "tools": ZH},
        {"model": "some-model", "messages": [LESSON]},
    ]


def test_proxies_of_the_environment_do_not_stand_before_this_machine(tcp_server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for env in (
        {"CHAT_SOCKET": tcp_server.base_url},
        {"MOCK": "1"},
        {"OPENAI_BASE_URL": tcp_server.base_url, "OPENAI_API_KEY": "x"},
    ):
        assert calls(ChatModel.from_env(env).complete([LESSON], ZH)) == QUERY


class TestConfiguration:
    """Faults that show before anything is sent; all of them end a program with 2."""

    @pytest.mark.parametrize(
        ("env", "words"),
        [
            ({}, [".env", "OPENAI_API_KEY", "MOCK=1"]),
            ({"OPENAI_API_KEY": "  "}, [".env", "OPENAI_API_KEY", "MOCK=1"]),
            ({"MOCK": "0"}, ["OPENAI_API_KEY", "MOCK=1"]),
            ({"OPENAI_API_KEY": "你的密钥"}, ["OPENAI_API_KEY", ".env"]),
            ({"OPENAI_API_KEY": "sk-a\nb"}, ["OPENAI_API_KEY", ".env"]),
            ({"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "a.example/v1"}, ["a.example/v1", ".env"]),
            ({"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://[x/v1"}, ["http://[x/v1", ".env"]),
            ({"OPENAI_TIMEOUT": "soon", "MOCK": "1"}, ["OPENAI_TIMEOUT", "soon", "60"]),
            ({"OPENAI_TIMEOUT": "0", "MOCK": "1"}, ["OPENAI_TIMEOUT", "0"]),
            ({"OPENAI_TIMEOUT": "-3", "MOCK": "1"}, ["OPENAI_TIMEOUT", "-3"]),
            ({"OPENAI_TIMEOUT": "nan", "MOCK": "1"}, ["OPENAI_TIMEOUT", "nan"]),
            ({"OPENAI_TIMEOUT": "inf", "MOCK": "1"}, ["OPENAI_TIMEOUT", "inf"]),
        ],
    )
    def test_names_the_setting_and_the_next_step(self, env, words):
        with pytest.raises(ChatError) as caught:
            ChatModel.from_env(env)
        assert caught.value.exit_code == 2
        assert str(caught.value) == caught.value.text.en
        for word in words:
            assert word in caught.value.text.en
            assert word in caught.value.text.zh

    @pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks://127.0.0.1:9"])
    def test_a_proxy_that_cannot_be_used(self, proxy, monkeypatch):
        monkeypatch.setenv("ALL_PROXY", proxy)
        with pytest.raises(ChatError, match="ALL_PROXY") as caught:
            ChatModel.from_env({"OPENAI_API_KEY": "x"})
        assert caught.value.exit_code == 2

    def test_a_refused_key_is_not_printed(self, guarded_server):
        env = {"OPENAI_BASE_URL": guarded_server.base_url, "OPENAI_API_KEY": "sk-the-wrong-one"}
        with pytest.raises(ChatError) as caught:
            ChatModel.from_env(env).complete([LESSON], ZH)
        for said in (caught.value.text.en, caught.value.text.zh):
            assert guarded_server.base_url in said
            assert "OPENAI_API_KEY" in said
            assert "sk-the" not in said
        right = {**env, "OPENAI_API_KEY": "sk-the-right-one"}
        assert calls(ChatModel.from_env(right).complete([LESSON], ZH)) == QUERY


class TestFailures:
    """The service does not answer as it should."""

    def test_nobody_listens(self, free_port):
        url = f"http://127.0.0.1:{free_port}/v1"
        with pytest.raises(ChatError, match="No connection") as caught:
            ChatModel.from_env({"CHAT_SOCKET": url}).complete([LESSON], ZH)
        for said in (caught.value.text.en, caught.value.text.zh):
            assert url in said
            assert "OPENAI_BASE_URL" in said
            assert "MOCK=1" in said
        assert caught.value.exit_code == 1

    def test_the_real_transport_tries_again_before_it_gives_up(self):
        """The first two connections are closed unanswered, the third would be answered."""
        body = json.dumps(reply({"model": "m", "messages": [LESSON], "tools": ZH})).encode()
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def serve() -> None:
                for answered in (False, False, True):
                    connection, _ = listening.accept()
                    with connection:
                        if answered:
                            connection.recv(65536)
                            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n"
                            kind = "Content-Type: application/json\r\n\r\n"
                            connection.sendall((head + kind).encode() + body)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
            env = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "x"}
            assert calls(ChatModel.from_env(env).complete([LESSON], ZH)) == QUERY
            thread.join(10)

    def test_a_host_that_does_not_exist(self):
        env = {"CHAT_SOCKET": "http://no-such-host.invalid/v1"}
        with pytest.raises(ChatError, match=r"No connection to http://no-such-host\.invalid/v1"):
            ChatModel.from_env(env).complete([LESSON], ZH)

    def test_a_socket_that_does_not_exist(self, tmp_path):
        path = str(tmp_path / "gone")
        with pytest.raises(ChatError, match="No connection") as caught:
            ChatModel.from_env({"CHAT_SOCKET": path}).complete([LESSON], ZH)
        assert path in caught.value.text.zh

    def test_time_out(self, stalling_server):
        env = {"CHAT_SOCKET": stalling_server.base_url, "OPENAI_TIMEOUT": "0.2"}
        with pytest.raises(ChatError, match=r"did not answer within 0\.2 seconds") as caught:
            ChatModel.from_env(env).complete([LESSON], ZH)
        assert "0.2 秒" in caught.value.text.zh
        assert "OPENAI_TIMEOUT" in caught.value.text.zh

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (403, ["HTTP 403", "not today"]),
            (404, ["HTTP 404", "not today", "MODEL", "gpt-none"]),
            (422, ["HTTP 422", "not today"]),
            (429, ["HTTP 429", "not today"]),
            (500, ["HTTP 500", "not today"]),
            (503, ["HTTP 503", "not today"]),
        ],
    )
    def test_status(self, status, words, canned):
        canned.answer(status, error_body("not today, sk-secret-key", "x"))
        with pytest.raises(ChatError) as caught:
            canned.model().complete([LESSON], ZH)
        for word in [canned.url, *words]:
            assert word in caught.value.text.en
            assert word in caught.value.text.zh
        assert caught.value.exit_code == 1

    @pytest.mark.parametrize(
        "body",
        [
            "<html>welcome</html>",
            [1],
            {},
            {"choices": []},
            {"choices": [{"message": None}]},
            {"choices": [{"message": {"content": 3}}]},
            {"choices": [{"message": {"tool_calls": "x"}}]},
        ],
    )
    @pytest.mark.parametrize("kind", ["application/json", "text/html"])
    def test_no_chat_completion(self, body, kind, canned):
        canned.answer(200, body, kind)
        with pytest.raises(ChatError, match="no chat completion") as caught:
            canned.model().complete([LESSON], ZH)
        assert canned.url in caught.value.text.zh

    def test_a_key_that_the_service_quotes_is_struck_out(self, canned):
        canned.answer(400, error_body("bad key sk-secret-key", "x"))
        with pytest.raises(ChatError, match=r"bad key \*\*\*"):
            canned.model().complete([LESSON], ZH)


class Canned:
    """A service with one answer for everything."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.status, self.kind, self.body = 200, "application/json", b""

    def answer(self, status: int, body: Any, kind: str = "application/json") -> None:
        self.status, self.kind = status, kind
        self.body = body.encode() if isinstance(body, str) else json.dumps(body).encode()

    def model(self) -> ChatModel:
        """A client of it, which does not try again when it fails."""
        client = openai.OpenAI(api_key="sk-secret-key", base_url=self.url, max_retries=0)
        return ChatModel(client, "gpt-none", same(self.url), 5)


@pytest.fixture(scope="module")
def canned():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(service.status)
            self.send_header("Content-Type", service.kind)
            self.send_header("Content-Length", str(len(service.body)))
            self.end_headers()
            self.wfile.write(service.body)

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        service = Canned(server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield service
        server.shutdown()
        thread.join()


class TestEnvironment:
    @pytest.fixture(autouse=True)
    def _clean(self, monkeypatch):
        monkeypatch.delenv("MODEL", raising=False)
        monkeypatch.setenv("OPENAI_TIMEOUT", "7")

    def test_the_environment_goes_over_the_file(self, tmp_path):
        (tmp_path / ".env").write_text(
            '# 注释\nMODEL="qwen"\nOPENAI_TIMEOUT=5\nOPENAI_API_KEY=a${HOME}\nBROKEN\n',
            encoding="utf-8",
        )
        env = load_environment(tmp_path)
        assert env["MODEL"] == "qwen"
        assert env["OPENAI_TIMEOUT"] == "7"
        assert env["OPENAI_API_KEY"] == "a${HOME}"
        assert "BROKEN" not in env

    def test_the_file_may_be_absent(self, tmp_path):
        assert load_environment(tmp_path)["OPENAI_TIMEOUT"] == "7"

    def test_a_byte_order_mark_is_no_part_of_the_first_name(self, tmp_path):
        (tmp_path / ".env").write_text("MODEL=x", encoding="utf-8-sig")
        assert load_environment(tmp_path)["MODEL"] == "x"

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gbk"])
    def test_another_encoding(self, tmp_path, encoding):
        (tmp_path / ".env").write_bytes("MODEL=x # 模型".encode(encoding))
        with pytest.raises(ChatError, match="UTF-8") as caught:
            load_environment(tmp_path)
        assert str(tmp_path / ".env") in caught.value.text.zh
        assert caught.value.exit_code == 2

    def test_a_folder_in_its_place(self, tmp_path):
        (tmp_path / ".env").mkdir()
        with pytest.raises(ChatError, match="cannot be read"):
            load_environment(Path(tmp_path))
