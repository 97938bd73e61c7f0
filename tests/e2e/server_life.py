"""The process and its doors: folders, signals, accounts that are missing, tokens, roles, sessions, the stream, the command line."""
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import BINARY, KEYS, TOKEN, Product, check, finish, start  # noqa: E402
from lib_socket import Refused, WebSocket  # noqa: E402

FREE = ["--listen", "127.0.0.1:0", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0"]
GROUP = {"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2, "zone": "us-west-2a"}
LAUNCH = {"name": "demo", "storage": {"kind": "s3"}, "instance_groups": [GROUP]}


def run(*words, env=None, timeout=60):
    """(exit status, standard output, standard error) of the binary."""
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def header(headers, name):
    return {k.lower(): v for k, v in headers.items()}.get(name, "")


def port_of(product):
    return int(product.url.rsplit(":", 1)[1])


def folders(product):
    code, out, err = run("serve", "--data", os.path.join(product.folder, "data"), *FREE)
    check("a second serve on the data folder refuses and says why", code == 1 and "data folder" in err and not out, (code, out, err))
    code, out, err = run("serve", "--data", os.path.join(product.folder, "other"), "--listen", product.url.split("//")[1], *FREE[2:])
    check("a port in use is named", code == 1 and "in use" in err and not out, (code, out, err))
    code, _, err = run("serve", "--listen", "0.0.0.0:0", "--data", os.path.join(product.folder, "third"), *FREE[2:])
    check("plain text beyond loopback is refused", code == 1 and "--tls-cert" in err, (code, err))
    for words in (["serve", "--nope"], ["serve", "--listen", "nonsense"], ["nope"], [], ["watch"], ["serve", "--twin-speed", "fast"]):
        code, out, err = run(*words)
        check("wrong use exits with 2: " + " ".join(words), code == 2 and err, (code, out, err))
    mode = os.stat(os.path.join(product.folder, "data")).st_mode & 0o777
    check("the data folder is the owner's alone", mode == 0o700, oct(mode))


def command_line(product):
    env = {"INSTANTSTART_URL": product.url, "INSTANTSTART_TOKEN": TOKEN}
    call = lambda *words: run("call", *words, env=env)  # noqa: E731
    code, out, _ = run("version")
    check("version", code == 0 and re.fullmatch(r"instantstart \d+\.\d+\.\d+\n", out), out)
    code, out, _ = run("call", "--help")
    check("call --help lists operations", code == 0 and "cluster.launch" in out and "--set" in out, out[:300])
    code, out, _ = run("call", "cluster.launch", "--help")
    check("call OPERATION --help lists its fields", code == 0 and "instance_groups.instance_type" in out and "required" in out, out[:300])
    groups = [f"--set=instance_groups.0.{name}={value}" for name, value in GROUP.items()]
    groups = [word for each in groups for word in each.split("=", 1)]
    code, out, err = call("cluster.launch", "--name", "demo", "--set", "storage.kind=s3", *groups, "--dry-run")
    check("call --set makes lists by number", code == 0 and "HyperPod cluster demo" in out, (code, out[:300], err))
    code, out, _ = call("zone.list")
    check("lists are tables", code == 0 and out.splitlines()[0].split()[:2] == ["name", "zone_id"] and "us-west-2a" in out, out)
    code, out, _ = call("zone.list", "--json")
    check("--json is the server's answer", code == 0 and json.loads(out)["zones"][0]["name"] == "us-west-2a", out[:300])
    for words, text in ((["cluster.create", "--name", "Bad"], "/name"), (["cluster.launch", "--name", "x", "--set", "instance_groups.0.count=two"], "/instance_groups/0/count"),
                        (["cluster.get", "--cluster", "nope"], "nope"), (["cluster.create", "--name", "x", "--colour", "red"], "/colour")):
        code, out, err = call(*words)
        check(f"call {words[0]} refused names {text}", code == 1 and text in err and not out, (code, out, err))
    for words, text in ((["cluster.lunch"], "cluster.launch"), (["operation.get"], "operation_id"), (["cluster.launch", "--set", "instance_groups.name=x"], "instance_groups.0"), ([], "cluster.launch")):
        code, _, err = call(*words)
        check(f"call {' '.join(words)}: wrong use exits with 2 and says how", code == 2 and text in err, (code, err[:300]))
    code, _, err = run("call", "cluster.list", env={"INSTANTSTART_URL": "http://127.0.0.1:9", "INSTANTSTART_TOKEN": TOKEN})
    check("a server that is not there", code == 1 and "--url" in err, (code, err))
    code, _, err = run("call", "cluster.list", env={**env, "INSTANTSTART_TOKEN": "wrong"})
    check("a token that is not known", code == 1 and "unauthenticated" in err, (code, err))
    code, out, _ = run("iam-policy")
    check("iam-policy prints a policy", code == 0 and json.loads(out)["Version"] == "2012-10-17", out[:200])


def doctor(product):
    account = {**KEYS, "AWS_ENDPOINT_URL": product.aws, "INSTANTSTART_URL": product.url, "INSTANTSTART_TOKEN": TOKEN}
    code, out, _ = run("doctor", env=account)
    check("doctor: all in order", code == 0 and "ok    credentials" in out and "FAIL" not in out, out)
    nowhere = {"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_REGION": "", "AWS_DEFAULT_REGION": ""}
    for what, change, text in (("wrong secret", {"AWS_SECRET_ACCESS_KEY": "bad"}, "secret key"), ("no region", nowhere, "AWS_REGION"),
                               ("no credentials", {**nowhere, "AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "AWS_PROFILE"),
                               ("closed port", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "AWS_ENDPOINT_URL")):
        code, out, _ = run("doctor", env={**account, **change})
        lines = out.splitlines()
        failed = [i for i, line in enumerate(lines) if line.startswith("FAIL")]
        check(f"doctor: {what} has its remedy", code == 1 and failed and text in lines[failed[0] + 1], out)
    keyless = {**account, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_REGION": "us-west-2"}
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "config")
        config.write_text("[profile dev]\ncredential_process = /bin/echo '" + json.dumps(
            {"Version": 1, "AccessKeyId": KEYS["AWS_ACCESS_KEY_ID"], "SecretAccessKey": KEYS["AWS_SECRET_ACCESS_KEY"]}) + "'\n")
        by_program = {**keyless, "AWS_CONFIG_FILE": str(config), "AWS_PROFILE": "dev", "HTTPS_PROXY": "http://me:hidden@127.0.0.1:9"}
        code, out, _ = run("doctor", env=by_program)
        check("doctor: names the source, what was tried, the proxy without its password, and the clock",
              code == 0 and "credential_process of profile dev" in out and "Tried: environment" in out and "127.0.0.1:9 with a user" in out
              and "hidden" not in out and "ok    clock" in out, out)
        config.write_text("[profile dev]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = gone\n")
        code, out, _ = run("doctor", env=by_program)
        check("doctor: a half-configured profile is named with its file", code == 1 and f"profile dev in {config} names source_profile = gone" in out, out)
        config.write_text("nonsense\n")
        code, out, _ = run("doctor", env=by_program)
        check("doctor: a file that cannot be understood is named with its line", code == 1 and f"{config}, line 1" in out, out)
    code, out, _ = run("doctor", "--json", env={**account, "INSTANTSTART_URL": "http://127.0.0.1:9"})
    checks = {each["check"]: each for each in json.loads(out)["checks"]}
    check("doctor --json; a server that is not running is no failure", code == 0 and checks["server"]["state"] == "warning", out)


def without_account():
    folder = tempfile.mkdtemp(prefix="instantstart-e2e-")
    env = {"AWS_REGION": "us-west-2", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"}
    process, ready = start(["serve", "--no-twin", "--listen", "127.0.0.1:0", "--data", folder], env=env)
    bare = Product.__new__(Product)
    bare.url, bare.folder = ready["console"], folder
    status, _, text = bare.http("GET", "/readyz", token=None)
    check("without credentials: it starts, not ready", status == 503 and "redential" in text.decode(), (status, text))
    check("and is healthy", bare.http("GET", "/healthz", token=None)[0] == 200)
    status, answer = bare.api("GET", "/environment")
    check("environment.get says why", status == 200 and answer["environment"]["backend"] == "aws" and "redential" in json.dumps(answer), (status, answer))
    status, problem = bare.api("POST", "/clusters", {"name": "demo"})
    check("a change is refused with the remedy", 400 <= status < 600 and status != 500 and problem.get("changed") is False and problem.get("hint"), (status, problem))
    check("no twin is named", "twin_aws" not in ready, ready)
    process.send_signal(signal.SIGTERM)
    check("it ends", process.wait(15) == 0)


def tokens(product, token_file):
    rows = {"eve": "viewer", "otto": "operator", "ada": "admin"}
    text = "# name role digest\n" + "".join(f"{name} {role} {hashlib.sha256(f'{name}-token'.encode()).hexdigest()}\n" for name, role in rows.items())
    pathlib.Path(token_file).write_text(text)
    before = len(product.mutations())
    check("a viewer reads", product.api("GET", "/clusters", token="eve-token")[0] == 200)
    for who, path, body in (("eve", "/clusters", {"name": "x"}), ("eve", "/clusters/x/storages", {"kind": "s3"}), ("otto", "/clusters", {"name": "x"})):
        status, problem = product.api("POST", path, body, token=f"{who}-token")
        check(f"{rows[who]} may not POST {path}: forbidden", status == 403 and problem["code"] == "forbidden" and problem["changed"] is False, (status, problem))
    check("an operator may, where there is something", product.api("POST", "/clusters/x/storages", {"kind": "s3"}, token="otto-token")[0] == 404)
    check("the audit is the admin's", product.api("GET", "/audit", token="eve-token")[0] == 403)
    status, plan = product.api("POST", "/plan", {"operation": "cluster.create", "arguments": {"name": "x"}}, token="eve-token")
    check("a viewer plans freely", status == 200 and plan["plan"]["steps"], (status, plan))
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "cluster_create", "arguments": {"name": "x"}}}
    answer = json.loads(product.http("POST", "/mcp", call, headers=headers, token="eve-token")[2])
    check("an agent with a viewer's token may not either", answer.get("result", {}).get("structuredContent", {}).get("code") == "forbidden" or "error" in answer, answer)
    rows_seen = product.api("GET", "/audit", token="ada-token")[1]["audit"]
    check("the audit shows the refusals", {("eve", "rest", "forbidden"), ("otto", "rest", "forbidden")} <= {(r["principal"], r["face"], r["outcome"]) for r in rows_seen}, rows_seen[:5])
    check("nothing was changed", len(product.mutations()) == before)
    time.sleep(0.02)  # a new time of writing
    pathlib.Path(token_file).write_text(text.replace("eve viewer", "eva viewer").replace(hashlib.sha256(b"eve-token").hexdigest(), "0" * 64))
    check("a token taken out of the file ends at once", product.api("GET", "/clusters", token="eve-token")[0] == 401)


def sessions(product):
    path = product.ready["login"].replace(product.url, "")
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", port_of(product), timeout=10)

    def get(where, headers=None):
        connection.request("GET", where, headers=headers or {})
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("Location", ""), answer.getheader("Set-Cookie", "")

    status, location, cookie = get(path)
    check("the login link signs in", status == 303 and location == "/" and all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/")), (status, location, cookie))
    status, location, again = get(path)
    check("once", status == 303 and "expired" in location and not again, (status, location, again))
    own = {"Cookie": cookie.split(";")[0]}
    send = lambda method, where, body=None, **fields: product.api(method, where, body, token=None, headers={**own, **fields})  # noqa: E731
    check("the cookie reads", send("GET", "/clusters")[0] == 200)
    status, problem = send("POST", "/clusters", {"name": "x", "dry_run": True})
    check("a change by cookie without an Origin is refused", status == 403, (status, problem))
    check("with a foreign one too", send("POST", "/clusters", {"name": "x", "dry_run": True}, Origin="http://evil.example")[0] == 403)
    check("with another port's too", send("POST", "/clusters", {"name": "x", "dry_run": True}, Origin="http://127.0.0.1:1")[0] == 403)
    check("with our own it is taken", send("POST", "/clusters", {"name": "x", "dry_run": True}, Origin=product.url)[0] == 200)
    status, headers, text = product.http("POST", "/api/v1/session", {"token": TOKEN}, token=None, headers={"Origin": product.url})
    check("signing in with the token", status == 200 and "HttpOnly" in header(headers, "set-cookie") and TOKEN not in text.decode(), (status, headers))
    for body in ({"token": "wrong"}, {}, {"code": "x"}, {"token": 7}):
        check(f"signing in with {body} is refused", product.http("POST", "/api/v1/session", body, token=None, headers={"Origin": product.url})[0] in (401, 422))
    check("signing out", product.http("DELETE", "/api/v1/session", token=None, headers={**own, "Origin": product.url})[0] == 204)
    check("ends the session", send("GET", "/clusters")[0] == 401)
    return header(headers, "set-cookie").split(";")[0]


def refused(product, headers, **options):
    try:
        WebSocket(port_of(product), headers=headers, **options).close()
        return 101
    except Refused as told:
        return told.args[0]


def stream(product, cookie):
    port = port_of(product)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    check("stream: no token", refused(product, {}) == 401)
    check("stream: a foreign Origin", refused(product, {"Cookie": cookie, "Origin": "https://evil.example"}) == 403)
    check("stream: a cookie without an Origin", refused(product, {"Cookie": cookie}) == 403)
    check("stream: a foreign Host", refused(product, bearer, host="evil.example") in (403, 421))
    socket = WebSocket(port, headers={"Cookie": cookie, "Origin": product.url})
    for message, code in ((b"nonsense", "invalid_message"), ({"subscribe": "nope"}, "unknown_topic"), ({"subscribe": 7}, "unknown_topic"), ([], "invalid_message"), (b"x" * 5000, "invalid_message")):
        socket.send(message)
        told = socket.receive()
        check(f"stream: {str(message)[:40]} is an error that says so", told["event"] == "error" and told["data"].get("code") == code, told)
    socket.send({"subscribe": "operations"})
    check("stream: subscribed", socket.receive()["event"] == "subscribed")
    answer = product.api("POST", "/clusters/launch", LAUNCH)[1]
    seen = socket.until(lambda m: m["topic"] == "operations" and m["data"].get("state") == "running", 30)
    sequences = [m["sequence"] for m in seen if m]
    check("stream: the operation is seen running, in order", seen[-1] is not None and seen[-1]["data"]["id"] == answer["operation"]["id"] and sequences == sorted(sequences), seen[-1])
    last = seen[-1]["sequence"] if seen[-1] else 0
    socket.close()
    resumed = WebSocket(port, headers=bearer)
    resumed.send({"subscribe": "operations", "after": last})
    seen = resumed.until(lambda m: m["topic"] == "operations" and m["sequence"] > last and m["event"] == "changed", 30)
    check("stream: it goes on after the last sequence", seen[-1] is not None, seen)
    return answer["operation"], resumed


def restart(product, operation, resumed):
    """SIGTERM while a launch runs; then the same folder again."""
    begun = time.time()
    product.process.send_signal(signal.SIGTERM)
    code = product.process.wait(15)
    check("SIGTERM during a launch ends it within 10 s, exit 0", code == 0 and time.time() - begun < 10, (code, time.time() - begun))
    try:
        while True:
            resumed.receive(5)
    except (EOFError, OSError) as ended:
        check("stream: closed as going away", ended.args[:1] == (1001,), ended)
    product.process, product.ready = start(product.arguments, log=product.log)
    product.url, product.aws = product.ready["console"], product.ready["twin_aws"]
    operation = product.wait(product.api("GET", f"/operations/{operation['id']}")[1]["operation"])
    check("the launch goes on after the restart and succeeds", operation["state"] == "succeeded", operation)
    status, answer = product.api("GET", "/clusters/demo")
    check("with all its nodes", status == 200 and answer["cluster"]["nodes"]["ready"] == 2, answer)
    socket = WebSocket(port_of(product), headers={"Authorization": f"Bearer {TOKEN}"})
    socket.send({"subscribe": "clusters", "after": 10 ** 9})
    seen = socket.until(lambda m: m["event"] == "gap", 10)
    check("stream: a sequence of before the restart is told as a gap", seen[-1] is not None, seen)
    socket.send({"subscribe": "clusters"})
    socket.until(lambda m: m["event"] == "subscribed", 10)
    begun = time.time()
    seen = socket.until(lambda m: m["event"] == "heartbeat", 30)
    check("stream: heartbeats", seen[-1] is not None and time.time() - begun < 25, seen)
    socket.close()


def progress_bar(product):
    env = {**os.environ, "INSTANTSTART_URL": product.url, "INSTANTSTART_TOKEN": TOKEN}
    words = f"{BINARY} call instance_group.add --cluster demo --name more --instance-type ml.g5.xlarge --count 1 --zone us-west-2a --wait"
    done = subprocess.run(["script", "-qec", words, "/dev/null"], env=env, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    check("--wait draws a bar on a terminal", done.returncode == 0 and re.search(r"\[[#.]{10,}\] +\d+%", done.stdout) and "succeeded" in done.stdout, done.stdout[-800:])
    operation = product.api("GET", "/operations?limit=1")[1]["operations"][0]
    code, out, err = run("watch", operation["id"], env=env)
    check("watch of what has ended, without a terminal, has no bar", code == 0 and "succeeded" in err + out and "[#" not in err, (code, out, err))
    check("watch of nothing", run("watch", "op_nope", env=env)[0] == 1)


def read_only(product):
    """The same folder with --read-only."""
    product.process.send_signal(signal.SIGTERM)
    product.process.wait(15)
    product.process, product.ready = start([*product.arguments, "--read-only"], log=product.log)
    product.url, product.aws = product.ready["console"], product.ready["twin_aws"]
    before = len(product.mutations())
    check("--read-only: it reads", product.api("GET", "/clusters/demo")[0] == 200)
    for method, path, body in (("POST", "/clusters", {"name": "x"}), ("DELETE", "/clusters/demo", {"confirm": "demo"}), ("POST", "/clusters/demo/activate", {})):
        status, problem = product.api(method, path, body)
        check(f"--read-only: {method} {path} is refused", status == 403 and problem["code"] in ("read_only", "forbidden"), (status, problem))
    status, plan = product.api("POST", "/plan", {"operation": "cluster.create", "arguments": {"name": "x"}})
    check("--read-only: plans are free", status == 200 and "plan" in plan, (status, plan))
    check("--read-only: environment.get says so", product.api("GET", "/environment")[1]["environment"]["read_only"] is True)
    check("--read-only: nothing was changed", len(product.mutations()) == before)


token_file = os.path.join(tempfile.mkdtemp(prefix="instantstart-e2e-"), "tokens")
product = Product(arguments=["--token-file", token_file])
try:
    folders(product)
    command_line(product)
    doctor(product)
    without_account()
    tokens(product, token_file)
    cookie = sessions(product)
    operation, resumed = stream(product, cookie)
    restart(product, operation, resumed)
    progress_bar(product)
    read_only(product)
finally:
    product.stop()
finish()
