"""What a host starts in the place of a server: passes its streams on to the self-test.

Run as `python -I -S relay_stub.py ADDRESS CHANNEL`. ADDRESS is the path of a Unix socket or a port
on loopback. The first line to the other side is the channel; the host bytes follow. From the other
side come blocks: four bytes of length, then the bytes for stdout; a length of zero ends the stream
and is followed by the server's exit code, one byte.

Every server of every run is started through this, so it has to start fast: `socket` and `threading`
would double the time. What they are made of does.
"""

import _socket
import _thread
import os
import sys

CHUNK = 1 << 16


def main() -> None:
    address, channel = sys.argv[1:]
    if address.isdigit():
        connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        connection.connect(("127.0.0.1", int(address)))
        connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    else:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(address)
    connection.sendall(channel.encode() + b"\n")
    _thread.start_new_thread(pass_on_input, (connection,))
    while length := int.from_bytes(receive(connection, 4), "big"):
        data = receive(connection, length)
        while data:
            data = data[os.write(1, data) :]
    code = receive(connection, 1)
    os._exit(code[0] if code else 1)  # the thread may still wait for input


def receive(connection: _socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(min(size - len(data), CHUNK))
        if not part:
            break
        data += part
    return data


def pass_on_input(connection: _socket.socket) -> None:
    while data := os.read(0, CHUNK):
        connection.sendall(data)
    connection.shutdown(_socket.SHUT_WR)


if __name__ == "__main__":
    main()
