#!/usr/bin/env python3
"""Asks one URL at a steady rate, whatever the answers do, and prints {"count", "p50_ms", "p99_ms", "max_ms", "bytes"}. One connection, one thread:
what is measured is the server, not the interpreter. An answer that comes after the next request was due delays it, and that counts.

  steady.py URL PATH RATE SECONDS        the bearer token in INSTANTSTART_TOKEN
"""
import json
import os
import socket
import sys
import time
import urllib.parse


def answer_of(connection, buffer):
    """(status, body) of one answer with a Content-Length."""
    while (split := buffer.find(b"\r\n\r\n")) < 0:
        buffer += received(connection)
    head = bytes(buffer[:split]).decode()
    length = next(int(line.partition(":")[2]) for line in head.split("\r\n")[1:] if line.lower().startswith("content-length:"))
    while len(buffer) < split + 4 + length:
        buffer += received(connection)
    body = bytes(buffer[split + 4:split + 4 + length])
    del buffer[:split + 4 + length]
    return int(head.split(" ", 2)[1]), body


def received(connection):
    data = connection.recv(1 << 16)
    if not data:
        raise SystemExit("the server has closed the connection")
    return data


def main():
    url, path, rate, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    parts = urllib.parse.urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {os.environ['INSTANTSTART_TOKEN']}\r\n\r\n".encode()
    buffer, samples, start = bytearray(), [], time.perf_counter()
    body = b""
    for n in range(int(rate * seconds)):
        due = start + n / rate
        early = due - time.perf_counter()
        if early > 0:
            time.sleep(early)
        # Late by our own waking is not the server's fault, late by its last answer is.
        begin = due if early <= 0 else time.perf_counter()
        connection.sendall(request)
        status, body = answer_of(connection, buffer)
        samples.append(time.perf_counter() - begin)
        if status != 200:
            raise SystemExit(f"{path}: {status} {body[:300]!r}")
    samples.sort()
    at = lambda share: samples[min(len(samples) - 1, int(len(samples) * share))] * 1000  # noqa: E731
    print(json.dumps({"count": len(samples), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": samples[-1] * 1000, "bytes": len(body)}))


if __name__ == "__main__":
    main()
