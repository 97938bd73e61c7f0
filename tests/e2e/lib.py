"""Support of the end-to-end tests: the real binary on free ports over its twin, and the outside's eyes (boto3, AWS CLI, kubectl)."""
import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

BINARY = sys.argv[1] if len(sys.argv) > 1 else "build/release/instantstart"
TOKEN = "e2e-token-0123456789"
REGION = "us-west-2"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATWIN000000000000", "AWS_SECRET_ACCESS_KEY": "twin", "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true"}
TERMINAL = ("succeeded", "failed", "cancelled")
counts = {"passed": 0, "failed": 0}

for name in list(os.environ):
    if name.startswith("AWS_") or name.lower().endswith("_proxy"):
        del os.environ[name]


def told(seen):
    """What was seen, the error of an operation before the rest of it."""
    if isinstance(seen, dict) and seen.get("error"):
        return f"{seen['error']} of {seen}"
    return str(seen)


def check(what, good, seen=None):
    counts["passed" if good else "failed"] += 1
    print(("ok    " if good else "FAIL  ") + what + ("" if good else f"   saw: {told(seen)[:800]}"), flush=True)
    return good


def finish():
    print(f"{counts['passed']} passed, {counts['failed']} failed", flush=True)
    sys.exit(1 if counts["failed"] else 0)


def start(arguments, env=None, log=None):
    """A process of the product, once its ready line has come: (process, ready)."""
    process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, stderr=log or subprocess.DEVNULL, text=True,
                               env={**os.environ, "INSTANTSTART_TOKEN": TOKEN, **(env or {})})
    atexit.register(process.kill)
    patience = threading.Timer(60, process.kill)
    patience.start()
    ready = None
    for line in process.stdout:
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if event.get("event") == "ready":
                ready = event
                break
    patience.cancel()
    if ready is None:
        raise SystemExit(f"{arguments}: no ready line; exit {process.wait()}")
    return process, ready


class Product:
    """`serve` over an embedded twin."""

    def __init__(self, speed=600, arguments=()):
        self.folder = tempfile.mkdtemp(prefix="instantstart-e2e-")
        os.makedirs("build/test-logs", exist_ok=True)
        self.log = open(f"build/test-logs/{os.path.basename(sys.argv[0])}.server.log", "w")
        self.arguments = ["serve", "--twin", "--listen", "127.0.0.1:0", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0",
                          "--twin-speed", str(speed), "--data", os.path.join(self.folder, "data"), *arguments]
        self.process, self.ready = start(self.arguments, log=self.log)
        self.url, self.aws = self.ready["console"], self.ready["twin_aws"]

    def applied(self):
        """What was applied to the twin's clusters, as [{"object": …}]: the journal keeps the bodies."""
        out = []
        for call in self.mutations():
            body = call["parameters"].get("body")
            if call["service"] == "kubernetes" and body and call["status"] < 300:
                item = json.loads(body)
                place = call["parameters"].get("namespace")
                if place:
                    item["metadata"].setdefault("namespace", place)
                out.append({"object": item})
        return out

    def keep_applied(self):
        """For tests/conformance/emitted.py, which asks a real API server for its opinion."""
        with contextlib.suppress(Exception):  # the twin may have been killed by the test
            lines = sorted({json.dumps(entry, sort_keys=True) for entry in self.applied()})
            if lines:
                os.makedirs("build/test-logs/emitted", exist_ok=True)
                with open(f"build/test-logs/emitted/{os.path.basename(sys.argv[0])}.jsonl", "w") as file:
                    file.write("\n".join(lines) + "\n")

    def stop(self):
        self.keep_applied()
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(15)
        check("it ends by itself after SIGTERM", self.process.poll() is not None)
        self.process.kill()
        if not counts["failed"]:
            shutil.rmtree(self.folder, ignore_errors=True)

    def http(self, method, path, body=None, headers=None, token=TOKEN, base=None, timeout=70):
        """(status, headers, bytes) of one request; a body of bytes goes as it is."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        fields = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        request = urllib.request.Request((base or self.url) + path, data=data, method=method, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, dict(refused.headers), refused.read()

    def api(self, method, path, body=None, **options):
        status, _, text = self.http(method, "/api/v1" + path, body, **options)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, {"text": text[:500].decode(errors="replace")}

    def wait(self, operation, limit=300):
        end = time.time() + limit
        while operation["state"] not in TERMINAL and time.time() < end:
            operation = self.api("GET", f"/operations/{operation['id']}?wait_seconds=20")[1]["operation"]
        return operation

    def until(self, operation, good, limit=60):
        """The operation as soon as `good` holds of it; None where it has ended or the time is over before."""
        end = time.time() + limit
        while operation and operation["state"] not in TERMINAL and time.time() < end:
            operation = self.api("GET", f"/operations/{operation['id']}")[1]["operation"]
            if good(operation):
                return operation
            time.sleep(0.2)
        return None

    def run(self, method, path, body=None, limit=300, **options):
        status, answer = self.api(method, path, body, **options)
        if "operation" not in answer:
            return {"state": f"refused {status}", "error": answer, "steps": []}
        return self.wait(answer["operation"], limit)

    def boto(self, service):
        import boto3
        return boto3.client(service, endpoint_url=self.aws, region_name=REGION, aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
                            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"])

    def environment(self):
        return {**os.environ, **KEYS, "AWS_ENDPOINT_URL": self.aws, "KUBECONFIG": os.path.join(self.folder, "kubeconfig"),
                "INSTANTSTART_URL": self.url, "INSTANTSTART_TOKEN": TOKEN}

    def shell(self, *command, stdin=None, timeout=120):
        """(exit status, output) of a command in the environment a user would export."""
        done = subprocess.run(command, env=self.environment(), input=stdin, capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout + done.stderr

    def twin(self, method, path, body=None):
        status, _, text = self.http(method, "/_twin" + path, body, base=self.aws, token=None)
        return json.loads(text) if text.strip() else {"status": status}

    def mutations(self):
        calls, since = [], 0
        while True:
            page = self.twin("GET", f"/calls?mutating=true&since={since}")
            if not page["calls"]:
                return calls
            calls, since = calls + page["calls"], page["next"]
