"""The OpenAPI document is valid, whole and true: what the server answers fits what the document promises."""
import json
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import lib_broken as documents  # noqa: E402
from lib import BINARY, Product, check, finish  # noqa: E402

from jsonschema import Draft202012Validator  # noqa: E402
from openapi_spec_validator import validate  # noqa: E402

CONTRACT = pathlib.Path(__file__).resolve().parents[2] / "contract/openapi.json"


def faults(document, schema, value):
    """What of the value does not fit; references lead into the document."""
    whole = {**schema, "components": document["components"]}
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft202012Validator(whole).iter_errors(value)]


def promised(document, operation, status):
    """The schema of that answer."""
    answer = operation["responses"].get(str(status), operation["responses"]["default"])
    while "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
    return next(iter(answer["content"].values()))["schema"]


product = Product(speed=6000)
try:
    status, headers, text = product.http("GET", "/api/v1/openapi.json")
    document = json.loads(text)
    check("the document is served as JSON", status == 200 and headers.get("Content-Type") == "application/json", headers)
    check("only to who is signed in", product.http("GET", "/api/v1/openapi.json", token=None)[0] == 401)
    try:
        validate(document)
        check("it is a valid OpenAPI document", document["openapi"].startswith("3.1"), document["openapi"])
    except Exception as error:  # the validator's errors have no common class
        check("it is a valid OpenAPI document", False, error)
    code, printed = product.shell(BINARY, "openapi")
    check("the binary prints the same", code == 0 and json.loads(printed) == document)
    contract = json.loads(CONTRACT.read_text())
    contract["info"]["version"] = document["info"]["version"]
    check("contract/openapi.json is the same", contract == document, "run the contract test with UPDATE_GOLDEN=1 and read the difference")

    known = {each["x-instantstart-id"]: (method, path, each) for method, path, each in documents.operations(document)}
    _, listing = product.shell(BINARY, "call", "--help")
    called = {line.split()[0] for line in listing.split("\nOperations")[1].splitlines()[1:] if line.startswith("  ")}
    check("it has every operation of the command line", called == set(known), called ^ set(known))
    answer = product.http("POST", "/mcp/all", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers={"Accept": "application/json, text/event-stream"})
    tools = {tool["name"] for tool in json.loads(answer[2])["result"]["tools"]}
    check("it has every tool", tools == {each["operationId"] for _, _, each in known.values()}, tools)
    for name, (method, path, operation) in known.items():
        status, body = product.api(method, documents.filled(path), None if method == "GET" else {"no_such_field": 1})
        reached = status != 405 and not body.get("detail", "").startswith("The path")
        check(f"{name}: the path is there and refuses as promised", reached and not (status >= 400 and faults(document, promised(document, operation, status), body)), (status, body))

    body = {"name": "demo", "storage": {"kind": "s3"}, "instance_groups": [{"name": "workers", "instance_type": "ml.g5.xlarge", "count": 1, "zone": "us-west-2a"}]}
    launch = known["cluster.launch"][2]
    check("the launch fits its schema", not faults(document, documents.body_schema(launch), body))
    for what, sent, expected in (("a plan", {**body, "dry_run": True}, 200), ("a start", body, 202), ("the same again", body, 200)):
        status, answer = product.api("POST", "/clusters/launch", sent, headers={"Idempotency-Key": what if sent is not body else "launch"})
        wrong = faults(document, promised(document, launch, status), answer)
        check(f"{what} fits what is promised for it", status in (expected, 202) and not wrong, (status, wrong))
    operation = product.wait(answer["operation"])
    check("the launch succeeds", operation["state"] == "succeeded", operation)
    node = product.api("GET", "/clusters/demo/nodes")[1]["nodes"][0]
    values = {"cluster": "demo", "operation_id": operation["id"], "node": node["name"], "storage": "shared"}
    for name, (method, path, operation) in known.items():
        if method != "GET":
            continue
        for word, value in values.items():
            path = path.replace("{" + word + "}", value)
        asked = {each["name"]: each["schema"]["examples"][0] for each in operation.get("parameters", []) if each["in"] == "query" and each.get("required")}
        status, answer = product.api("GET", path + ("?" + urllib.parse.urlencode(asked) if asked else ""))
        wrong = faults(document, promised(document, operation, status), answer)
        check(f"{name}: the answer fits", status == 200 and not wrong, (status, wrong, str(answer)[:300]))
    status, answer = product.api("POST", "/plan", {"operation": "cluster.delete", "arguments": {"cluster": "demo"}})
    check("plan.preview: the answer fits", status == 200 and not faults(document, promised(document, known["plan.preview"][2], status), answer), answer)
    status, answer = product.api("POST", "/clusters/demo/activate", {})
    check("cluster.activate: the answer fits", status == 200 and not faults(document, promised(document, known["cluster.activate"][2], status), answer), answer)
    status, answer = product.api("DELETE", "/clusters/demo", {})
    check("a confirmation fits", status == 409 and not faults(document, promised(document, known["cluster.delete"][2], status), answer), answer)
finally:
    product.stop()
finish()
