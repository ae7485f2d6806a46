"""The mock over HTTP, as any client finds it."""

from __future__ import annotations

import http.client
import json
import socketserver
import threading
from typing import Any

import openai
import pytest

from shared.chat.mock import reply
from shared.chat.server import ChatServer

from .shop import ZH, Json

LESSON = {"role": "user", "content": "SO20260901 和 SO20260915 的状态"}
REQUEST: Json = {"model": "m", "messages": [LESSON], "tools": ZH}


def send(
    server: ChatServer, method: str, path: str, body: Any = None, key: str = "x"
) -> tuple[int, Any]:
    """One request; a body that is no bytes goes out as JSON."""
    connection = connect(server)
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, {"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def connect(server: ChatServer) -> http.client.HTTPConnection:
    host, port = server.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    return http.client.HTTPConnection(host, int(port), timeout=10)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions?x=1"])
def test_answers_what_the_mock_answers(tcp_server, path):
    assert send(tcp_server, "POST", path, REQUEST) == (200, reply(REQUEST))


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("GET", "/v1/chat/completions"), ("POST", "/v1/completions")]
)
def test_404_names_the_path(tcp_server, method, path):
    status, body = send(tcp_server, method, path, b"{}")
    assert status == 404
    assert f"{method} {path}" in body["error"]["message"]


def test_lists_a_model(tcp_server):
    client = openai.OpenAI(base_url=tcp_server.base_url, api_key="x")
    assert [model.id for model in client.models.list()] == ["mock"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "could not parse the JSON body"),
        (b"", "could not parse the JSON body"),
        (b"\xff", "could not parse the JSON body"),
        (b"[]", "expected an object, but got an array"),
        ({**REQUEST, "messages": []}, "Invalid 'messages'"),
    ],
)
def test_400_gives_the_reason(tcp_server, body, reason):
    status, answer = send(tcp_server, "POST", "/v1/chat/completions", body)
    assert status == 400
    assert reason in answer["error"]["message"]
    assert answer["error"]["type"] == "invalid_request_error"


def test_one_connection_serves_many_requests_and_errors_too(tcp_server):
    connection = connect(tcp_server)
    connection.connect()
    kept = connection.sock
    for path, body in [
        ("/v1/chat/completions", REQUEST),
        ("/nowhere", REQUEST),
        ("/v1/chat/completions", {}),
        ("/v1/chat/completions", REQUEST),
    ]:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        response.read()
        assert response.getheader("Connection") == "keep-alive"
        assert connection.sock is kept
    assert response.status == 200
    connection.close()


def test_head_and_body_go_out_in_one_write(tcp_server, monkeypatch):
    """As two writes they would cost a client's delayed ACK, 44 ms a request."""
    written: list[bytes] = []
    write = socketserver._SocketWriter.write

    def recording(self: Any, data: bytes) -> int:
        written.append(data)
        return write(self, data)

    monkeypatch.setattr(socketserver._SocketWriter, "write", recording)
    status, body = send(tcp_server, "POST", "/v1/chat/completions", REQUEST)
    [response] = written
    assert response.startswith(f"HTTP/1.1 {status} ".encode())
    assert response.endswith(json.dumps(body).encode())


def test_a_body_without_a_length_is_refused(tcp_server):
    connection = connect(tcp_server)
    connection.request(
        "POST", "/v1/chat/completions", iter([b"{}"]), {"Transfer-Encoding": "chunked"}
    )
    response = connection.getresponse()
    assert response.status == 411
    assert response.getheader("Connection") == "close"
    connection.close()


def test_another_key_gets_a_401(guarded_server):
    status, body = send(guarded_server, "POST", "/v1/chat/completions", REQUEST, "sk-the-wrong-one")
    assert status == 401
    assert body["error"]["code"] == "invalid_api_key"
    assert "sk-the" not in body["error"]["message"]
    assert (
        send(guarded_server, "GET", "/v1/models", key="ключ".encode().decode("latin-1"))[0] == 401
    )
    right = send(guarded_server, "POST", "/v1/chat/completions", REQUEST, "sk-the-right-one")
    assert right == (200, reply(REQUEST))


@pytest.mark.parametrize("question", ["SO20260901 和 SO20260915 的状态", "讲个笑话"])
def test_a_stream_adds_up_to_the_reply(tcp_server, question):
    client = openai.OpenAI(base_url=tcp_server.base_url, api_key="x", max_retries=0)
    messages: Any = [{"role": "user", "content": question}]
    tools: Any = ZH
    whole = client.chat.completions.create(model="m", messages=messages, tools=tools)
    stream = client.chat.completions.create(
        model="m",
        messages=messages,
        tools=tools,
        stream=True,
        stream_options={"include_usage": True},
    )
    content, calls, reasons, usage, pieces = "", {}, [], None, 0
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            pieces += 1
            reasons.append(choice.finish_reason)
            content += choice.delta.content or ""
            for delta in choice.delta.tool_calls or []:
                call = calls.setdefault(delta.index, {"id": delta.id, "name": "", "arguments": ""})
                call["name"] += delta.function.name or ""
                call["arguments"] += delta.function.arguments or ""
    [choice] = whole.choices
    assert content == (choice.message.content or "")
    assert [(call["id"], call["name"], call["arguments"]) for call in calls.values()] == [
        (call.id, call.function.name, call.function.arguments)
        for call in choice.message.tool_calls or []
    ]
    assert reasons == [None] * (pieces - 1) + [choice.finish_reason]
    assert pieces > 3  # a client that takes one piece for the whole has to notice
    assert usage is not None
    assert usage.total_tokens > 0


def test_a_broken_reply_function_is_a_500_and_is_kept():
    def broken(request: Json) -> Json:
        raise LookupError("out of ideas")

    with ChatServer(broken) as server:
        status, body = send(server, "POST", "/v1/chat/completions", REQUEST)
        assert (status, body["error"]["message"]) == (500, "LookupError: out of ideas")
        [fault] = server.faults
    assert isinstance(fault, LookupError)


def test_any_reply_function_will_do():
    seen: list[Json] = []

    def recording(request: Json) -> Json:
        seen.append(request)
        return reply(request)

    with ChatServer(recording) as server:
        send(server, "POST", "/v1/chat/completions", REQUEST)
    assert seen == [REQUEST]


def test_clients_are_served_at_the_same_time():
    """Each of two requests is answered only once the other has arrived."""
    meeting = threading.Barrier(2, timeout=10)

    def together(request: Json) -> Json:
        meeting.wait()
        return reply(request)

    with ChatServer(together) as server:
        results: list[int] = []

        def one() -> None:
            results.append(send(server, "POST", "/v1/chat/completions", REQUEST)[0])

        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [200, 200]


def test_leaving_hangs_up_and_frees_the_port():
    with ChatServer(reply) as server:
        connection = connect(server)
        connection.request("GET", "/v1/models")
        connection.getresponse().read()
        port = connection.port
    assert connection.sock is not None
    assert connection.sock.recv(1) == b""
    connection.close()
    with ChatServer(reply, ("127.0.0.1", port)) as again:
        assert send(again, "GET", "/v1/models")[0] == 200


def test_a_client_that_goes_away_is_no_fault():
    reached, gone = threading.Event(), threading.Event()

    def slow(request: Json) -> Json:
        reached.set()
        gone.wait()
        return {**reply(request), "padding": "x" * 10_000_000}

    before = set(threading.enumerate())
    with ChatServer(slow) as server:
        connection = connect(server)
        connection.request("POST", "/v1/chat/completions", json.dumps(REQUEST))
        assert reached.wait(10)
        connection.close()
        gone.set()
        for thread in set(threading.enumerate()) - before:
            if thread.name != "chat-server":  # the one that is stuck with the long answer
                thread.join(10)
                assert not thread.is_alive()
        assert send(server, "GET", "/v1/models")[0] == 200
    assert server.faults == []


def test_a_port_in_use_is_an_os_error(tcp_server):
    port = int(tcp_server.base_url.removesuffix("/v1").rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        ChatServer(reply, ("127.0.0.1", port))
