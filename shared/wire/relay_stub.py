"""What a host starts in the place of a server: passes its streams on to the self-test.

Run as `python -I -S relay_stub.py ADDRESS CHANNEL`, so that it starts in a few milliseconds; that
is why it imports so little. ADDRESS is the path of a Unix socket or `PORT` on
loopback. Its first line to the other side is the channel. From the other side come blocks: four
bytes of length, then the bytes for stdout; a length of zero ends the stream and is followed by the
server's exit code, one byte.
"""

import os
import socket
import sys
import threading


def main() -> None:
    address, channel = sys.argv[1:]
    if address.isdigit():
        connection = socket.create_connection(("127.0.0.1", int(address)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
    connection.sendall(channel.encode() + b"\n")
    threading.Thread(target=pass_on_input, args=(connection,), daemon=True).start()
    blocks = connection.makefile("rb")
    while length := int.from_bytes(blocks.read(4), "big"):
        data = blocks.read(length)
        while data:
            data = data[os.write(1, data) :]
    code = blocks.read(1)
    os._exit(code[0] if code else 1)  # the thread may still wait for input


def pass_on_input(connection: socket.socket) -> None:
    while data := os.read(0, 1 << 16):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main()
