"""A WebSocket client of a few lines, so that headers and frames are ours to choose."""
import base64
import json
import os
import socket
import struct
import time


class Refused(Exception):
    """The server answered the upgrade with another status."""


class WebSocket:
    def __init__(self, port, path="/api/v1/stream", headers=None, host=None):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        fields = {"Host": host or f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": key, **(headers or {})}
        self.connection.sendall((f"GET {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items()) + "\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.connection.recv(4096)
            if not piece:
                raise Refused("closed", head)
            head += piece
        head, self.rest = head.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ")[1])
        if self.status != 101:
            raise Refused(self.status, head)

    def send(self, value, opcode=1):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack(">H", len(data)) if len(data) < 65536 else bytes([0xFF]) + struct.pack(">Q", len(data))
        self.connection.sendall(bytes([0x80 | opcode]) + size + b"\0\0\0\0" + data)  # a mask of zeros leaves the data as it is

    def take(self, count):
        while len(self.rest) < count:
            piece = self.connection.recv(65536)
            if not piece:
                raise EOFError("closed")
            self.rest += piece
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def frame(self):
        """(opcode, bytes) of the next frame."""
        first, size = self.take(2)
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return first & 15, self.take(size)

    def receive(self, limit=30):
        """The next message as JSON; pings are answered; a close raises EOFError with its code."""
        self.connection.settimeout(limit)
        while True:
            opcode, data = self.frame()
            if opcode == 9:
                self.send(data, 10)
            elif opcode == 8:
                raise EOFError(struct.unpack(">H", data[:2])[0] if data else None)
            elif opcode == 1:
                return json.loads(data)

    def until(self, wanted, limit=60):
        """All messages up to the first that is wanted; with None at the end where it did not come in time."""
        seen, end = [], time.time() + limit
        while time.time() < end:
            try:
                seen.append(self.receive(max(0.1, end - time.time())))
            except (TimeoutError, socket.timeout):
                break
            if wanted(seen[-1]):
                return seen
        return seen + [None]

    def close(self):
        self.connection.close()
