"""What a case of the conformance suite is made of: a transcript of steps, each an answer with everything masked that may differ
between two right servers (identifiers, times, revisions, addresses)."""
import copy
import json
import re
import time

CASES = []
TWIN_ONLY, BOTH = "twin", "both"


def case(function):
    """Registers a function of one parameter, a Run, as a case; its name is the function's."""
    CASES.append(function)
    return function


UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
REVISION = re.compile(r"(resource ?[vV]ersion|[rR]esourceVersion)([ =:\"]*)\d+")
CURRENT = re.compile(r"(, current: )\d+")
SERVICE_IP = re.compile(r"172\.20\.\d+\.\d+|10\.100\.\d+\.\d+")
ACCESS = re.compile(r"kube-api-access-[a-z0-9]{5}")
MASKED = {"uid": "<uid>", "resourceVersion": "<revision>", "creationTimestamp": "<time>", "nodePort": "<port>", "continue": "<continue>",
          "deletionTimestamp": "<time>", "time": "<time>", "hash": "<hash>"}


def mask_text(text, names):
    for found, shown in names.items():
        text = text.replace(found, shown)
    text = UID.sub("<uid>", text)
    text = TIME.sub("<time>", text)
    text = SERVICE_IP.sub("<ip>", text)
    text = ACCESS.sub("kube-api-access-<suffix>", text)
    return CURRENT.sub(r"\1<revision>", REVISION.sub(r"\1\2<revision>", text))


def owner(entry):
    return json.dumps([entry.get("manager"), entry.get("operation"), entry.get("subresource"), entry.get("apiVersion")])


def without_containers(fields):
    """The entry "." says who made a structure itself. The real server's follow Go's pointers and zero values; nothing is decided by them."""
    if not isinstance(fields, dict):
        return fields
    return {key: without_containers(inner) for key, inner in fields.items() if key != "."}


def mask(value, names):
    if isinstance(value, dict):
        out = {}
        for key, inner in value.items():
            if key in MASKED and inner is not None and not isinstance(inner, (dict, list)):
                out[mask_text(key, names)] = MASKED[key] if inner != "" else ""
            else:
                out[mask_text(key, names)] = mask(inner, names)
        for key in out:
            if key.endswith("causes") and isinstance(out[key], list):
                out[key] = [cause for i, cause in enumerate(out[key]) if cause not in out[key][:i]]  # the real server tells some twice
            if key.endswith("managedFields") and isinstance(out[key], list):
                out[key] = [without_containers({k: v for k, v in entry.items() if k != "time"}) for entry in sorted(out[key], key=owner)]
        if isinstance(out.get("message"), str) and out["message"].startswith("Apply failed"):
            # Conflicts come in the order of a map.
            out["message"] = sorted(out["message"].splitlines())
            if isinstance(out.get("details"), dict):
                out["details"]["causes"].sort(key=lambda cause: (cause["field"], cause["message"]))
        return out
    if isinstance(value, list):
        return [mask(inner, names) for inner in value]
    return mask_text(value, names) if isinstance(value, str) else value


def differences(real, twin, path=""):
    """Lines that say where two masked values differ."""
    if isinstance(real, dict) and isinstance(twin, dict):
        out = []
        for key in sorted(set(real) | set(twin)):
            below = f"{path}.{key}" if path else key
            if key not in real:
                out.append(f"{below}: only the twin has {json.dumps(twin[key])[:300]}")
            elif key not in twin:
                out.append(f"{below}: the twin lacks {json.dumps(real[key])[:300]}")
            else:
                out += differences(real[key], twin[key], below)
        return out
    if isinstance(real, list) and isinstance(twin, list) and len(real) == len(twin):
        return [line for i, (a, b) in enumerate(zip(real, twin)) for line in differences(a, b, f"{path}[{i}]")]
    return [] if real == twin and type(real) is type(twin) else [f"{path}: real {json.dumps(real)[:400]} twin {json.dumps(twin)[:400]}"]


class Run:
    """A case on one server. Every call's answer becomes a step of the transcript."""

    def __init__(self, server, name):
        self.server, self.case = server, name
        self.namespace = "c-" + name.replace("_", "-")[:40]
        self.steps = []  # (label, value)
        self.names = {}  # real name -> shown name, of what the server named
        self.made = []   # paths to delete at the end

    def note(self, label, value):
        self.steps.append((label, mask(copy.deepcopy(value), self.names)))
        return value

    def call(self, label, method, path, body=None, headers=None, only=None, without=()):
        """One request whose answer is compared: all of it, or `only` these paths; `without` drops paths."""
        answer = self.server.request(method, self.path(path), body, headers)
        value = {"status": answer.status, "body": copy.deepcopy(answer.body)}
        if answer.warnings:
            value["warnings"] = answer.warnings
        if only is not None:
            value["body"] = {item: answer.at(item) for item in only}
        for item in without:
            drop(value["body"], item.split("."))
        self.note(label, value)
        return answer

    def quiet(self, method, path, body=None, headers=None):
        """A request that only prepares; its answer is not compared."""
        return self.server.request(method, self.path(path), body, headers)

    def must(self, method, path, body=None, headers=None):
        answer = self.quiet(method, path, body, headers)
        if answer.status >= 300:
            raise AssertionError(f"{self.server.name}: {method} {path}: {answer.status} {answer.text[:500]}")
        return answer

    def path(self, path):
        return path.replace("{ns}", f"/api/v1/namespaces/{self.namespace}").replace("{apps}", f"/apis/apps/v1/namespaces/{self.namespace}").replace(
            "{name}", self.namespace)

    def make_namespace(self):
        self.must("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        self.made.append(f"/api/v1/namespaces/{self.namespace}")
        # Both servers fill a new namespace a moment later; what counts them would be hasty.
        self.until("the namespace is filled", lambda: self.quiet("GET", "{ns}/serviceaccounts/default").status == 200
                   and self.quiet("GET", "{ns}/configmaps/kube-root-ca.crt").status == 200)

    def until(self, what, holds, seconds=30):
        """Waits for a level, with a limit."""
        end = time.time() + seconds
        while time.time() < end:
            if holds():
                return True
            time.sleep(0.05)
        raise AssertionError(f"{self.server.name}: {what}: not within {seconds} s")

    def kubectl(self, label, *words, stdin=None, version="", show=None):
        code, out, err = self.server.kubectl(*[word.replace("{name}", self.namespace) for word in words], stdin=stdin, version=version)
        value = {"exit": code, "out": out, "err": err}
        self.note(label, show(value) if show else value)
        return code, out, err

    def watch(self, path, headers=None):
        return self.server.watch(self.path(path), headers)

    def events(self, label, stream, count, without=()):
        """The next `count` events of a watch, as a step; returns them as they came."""
        got = [stream.next() for _ in range(count)]
        shown = copy.deepcopy(got)
        for event in shown:
            for item in without:
                drop(event, item.split("."))
        self.note(label, shown)
        return got

    def clean(self):
        for path in reversed(self.made):
            self.quiet("DELETE", path, {"propagationPolicy": "Background"})


def drop(value, parts):
    if isinstance(value, list):
        for inner in value:
            drop(inner, parts[1:] if parts[0] == "*" else parts)
    elif isinstance(value, dict):
        if len(parts) == 1:
            value.pop(parts[0], None)
        elif parts[0] == "*":
            for inner in value.values():
                drop(inner, parts[1:])
        elif parts[0] in value:
            drop(value[parts[0]], parts[1:])
