"""Hostile and mistaken requests of every kind: a problem document, no effect, no crash, bounded memory."""
import http.client
import json
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import lib_broken as broken  # noqa: E402
from lib import Product, TOKEN, check, finish  # noqa: E402


def memory_mb(pid):
    return int(next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")).split()[1]) / 1024


def raw(port, request, limit=20):
    """The first bytes that come back for raw bytes on a socket."""
    with socket.create_connection(("127.0.0.1", port), timeout=limit) as connection:
        connection.settimeout(limit)
        try:
            connection.sendall(request)
            return connection.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            return b""


class Line:
    """One kept connection, since there are thousands of requests."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def send(self, method, path, body=None, headers=None):
        """(status, content type, text); status 0 where the server closed the connection without an answer."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        for fresh in (False, True):
            try:
                if fresh or self.connection is None:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                self.connection.request(method, path, data, {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **(headers or {})})
                answer = self.connection.getresponse()
                return answer.status, answer.getheader("Content-Type", ""), answer.read()
            except (OSError, http.client.HTTPException):
                self.connection = None
        return 0, "", b""


def is_refusal(status, kind, text):
    """A problem document with all that it promises, and a status of the caller's fault."""
    try:
        problem = json.loads(text)
    except ValueError:
        return False
    return 400 <= status < 500 and kind == "application/problem+json" and problem.get("status") == status and problem.get("changed") is False \
        and all(problem.get(name) for name in ("type", "title", "detail", "code")) and isinstance(problem.get("retryable"), bool)


def is_answer(status, kind, text):
    """A refusal, or an answer to what was right by chance."""
    return is_refusal(status, kind, text) or (status in (200, 202) and kind == "application/json" and isinstance(json.loads(text), dict))


def broken_rest(line, method, path, operation):
    """What of an operation's broken requests was not answered well."""
    bad = []

    def send(good, where, body=None, headers=None):
        answer = line.send(method, "/api/v1" + where, body, headers)
        if not good(*answer):
            bad.append((where[:200], str(body)[:300], answer[0], answer[2][:300]))

    where = broken.filled(path, "demo")
    if method == "GET":
        for query in broken.queries(operation):
            send(is_answer, f"{where}?{query}")
    else:
        for body in broken.bodies(operation):
            send(is_answer, where, {**body, "dry_run": True} if operation["operationId"] != "plan_preview" else body)
        for body in broken.never_right(operation):
            send(is_refusal, where, body)
        for body in (b"", b"null", b"[]", b"1", b'"x"', b"{", b'{"a":1,}', b"\xff\xfe", b"{}{}", b'{"dry_run":true,"dry_run":"x"}', b"[" * 5000):
            send(is_answer if body == b"" else is_refusal, where, body)
        send(is_refusal, where, b"a=1", {"Content-Type": "application/x-www-form-urlencoded"})
    if "{" in path:
        for value in broken.WRONG_TEXT[1:] + ["\x00", "\n", "active", "launch", "Demo"]:
            send(is_answer if value == "active" else is_refusal, broken.filled(path, value), None if method == "GET" else {"no_such_field": 1})
        send(is_refusal, path.split("{")[0] + "%ff%fe" + path[path.rindex("}") + 1:], None if method == "GET" else {})
    return bad


def broken_tool(line, tool):
    """The same by MCP: a tool error or a protocol error, never a broken answer."""
    bad = []
    schema = tool["inputSchema"]
    good = broken.example(schema)
    arguments = [None, [], "x", 7, {"no_such_field": 1}]
    for path in broken.places(schema):
        arguments += [{**broken.put(good, schema, path, value), "no_such_field": 1} for value in broken.WRONG[::3]]
    for given in arguments:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool["name"], "arguments": given}}
        status, _, text = line.send("POST", "/mcp/all", message, {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"})
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {}
        result = answer.get("result", {})
        told = "error" in answer or (result.get("isError") is True and result["structuredContent"].get("changed") is False)
        allowed = told or (given is None and result.get("isError") is False and tool["annotations"]["readOnlyHint"])
        if status != 200 or not allowed:
            bad.append((str(given)[:300], status, text[:300]))
    return bad


product = Product(speed=6000, arguments=["--rate-mutations", "0", "--rate-queries", "0"])
try:
    port = int(product.url.rsplit(":", 1)[1])
    group = {"name": "g", "instance_type": "ml.g5.12xlarge", "count": 1, "zone": "us-west-2a"}
    before = len(product.mutations())
    cases = [
        ("unknown field", "POST", "/clusters", {"name": "x", "colour": "red"}, {422}, "/colour"),
        ("missing field", "POST", "/clusters", {}, {422}, "/name"),
        ("wrong type", "POST", "/clusters", {"name": 7}, {422}, "/name"),
        ("wrong type inside", "POST", "/clusters", {"name": "x", "network": {"nat": 1}}, {422}, "/network/nat"),
        ("value outside the enumeration", "POST", "/clusters", {"name": "x", "network": {"nat": "many"}}, {422}, "/network/nat"),
        ("range that is none", "POST", "/clusters", {"name": "x", "network": {"vpc_cidr": "10.0.0.0/99"}}, {422}, "/network/vpc_cidr"),
        ("tag of AWS's own", "POST", "/clusters", {"name": "x", "tags": {"aws:x": "1"}}, {422}, "/tags/aws:x"),
        ("tag of ours", "POST", "/clusters", {"name": "x", "tags": {"instantstart:cluster": "y"}}, {422}, "/tags"),
        ("empty tag key", "POST", "/clusters", {"name": "x", "tags": {"": "1"}}, {422}, "/tags"),
        ("tag value too long", "POST", "/clusters", {"name": "x", "tags": {"a": "v" * 257}}, {422}, "/tags/a"),
        ("tag with a line break", "POST", "/clusters", {"name": "x", "tags": {"a": "b\nc"}}, {422}, "/tags/a"),
        ("reserved name", "POST", "/clusters", {"name": "launch"}, {422}, "/name"),
        ("name with upper case", "POST", "/clusters", {"name": "Demo"}, {422}, "/name"),
        ("launch without groups", "POST", "/clusters/launch", {"name": "x"}, {422}, "/instance_groups"),
        ("two groups of one name", "POST", "/clusters/launch", {"name": "x", "instance_groups": [group, group]}, {422}, "/instance_groups"),
        ("count as text", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "count": "two"}]}, {422}, "/instance_groups/0/count"),
        ("count beyond the quota", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "count": 500}]}, {422, 409}, "/instance_groups/0/count"),
        ("type without its prefix", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "instance_type": "g5.12xlarge"}]}, {422}, "/instance_groups/0/instance_type"),
        ("minimum above the count", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "min_count": 5}]}, {422}, "/instance_groups/0/min_count"),
        ("deep checks with taints", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "deep_health_checks": ["InstanceStress"], "taints": [{"key": "a", "effect": "NoSchedule"}]}]}, {422}, "/instance_groups/0"),
        ("boundary that is none", "POST", "/clusters", {"name": "x", "permissions_boundary_arn": "arn:a:b:::c"}, {422}, "/permissions_boundary_arn"),
        ("role without an account", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "execution_role_arn": "arn:aws:iam::1:role/x"}]}, {422}, "/instance_groups/0/execution_role_arn"),
        ("key of another service", "POST", "/clusters", {"name": "x", "kms_key_arn": "arn:aws:s3:::bucket"}, {422}, "/kms_key_arn"),
        ("key of another region", "POST", "/clusters", {"name": "x", "kms_key_arn": "arn:aws:kms:eu-west-1:111122223333:key/1"}, {422}, "/kms_key_arn"),
        ("volume key of another region", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "volume_size_gib": 100, "kms_key_arn": "arn:aws:kms:eu-west-1:111122223333:key/1"}]}, {422}, "/instance_groups/0/kms_key_arn"),
        ("administrator that is no role or user", "POST", "/clusters", {"name": "x", "admin_principals": ["arn:aws:iam::111122223333:root"]}, {422}, "/admin_principals"),
        # This one only AWS's own models refuse; the request that would be sent is judged when it is planned.
        ("tag key that IAM refuses", "POST", "/clusters", {"name": "x", "tags": {"what*ever": "1"}}, {422}, "/tags/what*ever"),
        ("a list where an object belongs", "POST", "/clusters", [], {400, 422}, None),
        ("not JSON", "POST", "/clusters", b"{nope", {400}, None),
        ("invalid UTF-8", "POST", "/clusters", b'{"name":"\xff\xfe"}', {400}, None),
        ("nesting of 10,000", "POST", "/clusters", b'{"name":' * 10000 + b"1" + b"}" * 10000, {400}, None),
        ("unknown cluster", "GET", "/clusters/nope", None, {404}, None),
        ("unknown operation", "GET", "/operations/op_nope", None, {404}, None),
        ("unknown path", "GET", "/nothing/here", None, {404}, None),
        ("wrong method", "PUT", "/clusters", {}, {405}, None),
        ("cursor that is none", "GET", "/operations?cursor=garbage", None, {400, 422}, None),
        ("limit out of range", "GET", "/operations?limit=100000", None, {422}, "/limit"),
        ("unknown query parameter", "GET", "/operations?colour=red", None, {422}, "/colour"),
        ("wait too long", "GET", "/operations/op_nope?wait_seconds=999", None, {422, 404}, None),
        ("plan of an unknown operation", "POST", "/plan", {"operation": "cluster.nope", "arguments": {}}, {422, 404}, None),
        ("active with none active", "GET", "/clusters/active", None, {404, 409}, None),
    ]
    for what, method, path, body, statuses, pointer in cases:
        status, headers, text = product.http(method, "/api/v1" + path, body)
        try:
            problem = json.loads(text)
        except ValueError:
            problem = {}
        pointers = [each.get("pointer", "") for each in problem.get("errors", [])]
        good = status in statuses and problem.get("code") and "problem+json" in {k.lower(): v for k, v in headers.items()}.get("content-type", "")
        check(f"{what}: a problem document" + (f" that points at {pointer}" if pointer else ""),
              good and (pointer is None or any(each.startswith(pointer) for each in pointers)), (status, text[:400]))
    status, problem = product.api("POST", "/clusters", {"name": "Bad", "colour": 1, "network": {"nat": "x"}})
    check("all faults are told at once", len(problem.get("errors", [])) >= 3, problem)
    for what, token in (("no token", None), ("a wrong token", "wrong"), ("a token of another form", "Bearer Bearer")):
        check(f"{what}: 401", product.http("GET", "/api/v1/clusters", token=token)[0] == 401)
    check("a foreign Host is refused", raw(port, b"GET /api/v1/clusters HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").split(b" ")[1] in (b"403", b"421"))
    check("a foreign Origin is refused", product.http("POST", "/mcp", {}, headers={"Origin": "https://evil.example"})[0] == 403)

    check("nothing was changed by any of it", len(product.mutations()) == before, product.mutations()[before:])

    # Size, slowness and nonsense on the wire.
    memory = memory_mb(product.process.pid)
    head = b"POST /api/v1/clusters HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n"
    answer = raw(port, head + b"x" * (4 << 20))
    check("a body of 100 MB is refused before it is read", answer == b"" or b" 413 " in answer[:40], answer[:80])
    chunked = b"POST /api/v1/clusters HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 100
    answer = raw(port, chunked)
    check("an endless chunked body is refused", answer == b"" or b" 413 " in answer[:40], answer[:80])
    answer = raw(port, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"y" * 300000 + b"\r\n\r\n")
    check("an endless header is refused", answer == b"" or answer.split(b" ")[1] in (b"400", b"431"), answer[:80])
    answer = raw(port, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n")
    check("nonsense on the wire is refused", answer == b"" or answer.split(b" ")[1] == b"400", answer[:80])
    check("memory stays bounded", memory_mb(product.process.pid) - memory < 64, (memory, memory_mb(product.process.pid)))

    # With a cluster, so that what is looked at behind the schema is reached, too.
    launched = product.run("POST", "/clusters/launch", {"name": "demo", "instance_groups": [{**group, "name": "demo"}], "storage": {"kind": "s3", "name": "demo"}})
    check("a cluster is launched", launched["state"] == "succeeded", launched)
    before = len(product.mutations())
    # Each operation of the OpenAPI document and each tool, with each field wrong in each way.
    line = Line(port)
    document = json.loads(line.send("GET", "/api/v1/openapi.json")[2])
    for method, path, operation in broken.operations(document):
        bad = broken_rest(line, method, path, operation)
        check(f"{method} {path}: every broken request is refused", not bad, (len(bad), bad[:3]))
    tools = json.loads(line.send("POST", "/mcp/all", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"Accept": "application/json, text/event-stream"})[2])
    for tool in tools["result"]["tools"]:
        bad = broken_tool(line, tool)
        check(f"{tool['name']}: broken arguments are a tool error", not bad, (len(bad), bad[:3]))

    check("nothing was changed by any of that", len(product.mutations()) == before, product.mutations()[before:])
    check("and it still answers", product.http("GET", "/healthz", token=None)[0] == 200)
finally:
    product.stop()
finish()
