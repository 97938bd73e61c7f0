"""Hostile and mistaken requests of every kind: a problem document, no effect, no crash, bounded memory."""
import json
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Product, check, finish  # noqa: E402


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


product = Product()
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
        ("reserved name", "POST", "/clusters", {"name": "launch"}, {422}, "/name"),
        ("name with upper case", "POST", "/clusters", {"name": "Demo"}, {422}, "/name"),
        ("launch without groups", "POST", "/clusters/launch", {"name": "x"}, {422}, "/instance_groups"),
        ("two groups of one name", "POST", "/clusters/launch", {"name": "x", "instance_groups": [group, group]}, {422}, "/instance_groups"),
        ("count as text", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "count": "two"}]}, {422}, "/instance_groups/0/count"),
        ("count beyond the quota", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "count": 500}]}, {422, 409}, "/instance_groups/0/count"),
        ("type without its prefix", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "instance_type": "g5.12xlarge"}]}, {422}, "/instance_groups/0/instance_type"),
        ("minimum above the count", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "min_count": 5}]}, {422}, "/instance_groups/0/min_count"),
        ("deep checks with taints", "POST", "/clusters/launch", {"name": "x", "instance_groups": [{**group, "deep_health_checks": ["InstanceStress"], "taints": [{"key": "a", "effect": "NoSchedule"}]}]}, {422}, "/instance_groups/0"),
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

    check("nothing was changed by any of it", len(product.mutations()) == before, product.mutations()[before:])
    check("and it still answers", product.http("GET", "/healthz", token=None)[0] == 200)
finally:
    product.stop()
finish()
