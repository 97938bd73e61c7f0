"""Every AWS operation that the product calls, through boto3 on the twin: one success at least, whose raw answer is what the model says, and one refusal at
least, with the code that the service gives. An operation that the product begins to call and this test does not know fails it."""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
import lib_clusters  # noqa: E402
import lib_differential  # noqa: E402
import lib_same_ec2  # noqa: E402
import lib_same_iam_s3  # noqa: E402
import lib_shapes  # noqa: E402
from lib import check, finish, start  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SERVICES = sorted(path.stem for path in (ROOT / "models").glob("*.json") if path.stem not in ("iam-actions",))
# What each service calls a parameter that is missing, and one whose value its model does not allow.
MISSING = {"ec2": {"MissingParameter"}, "iam": {"ValidationError"}, "sts": {"ValidationError"}, "elbv2": {"ValidationError"}, "logs": {"InvalidParameterException"}, "service-quotas": {"IllegalArgumentException"}, "sagemaker": {"ValidationException"},
           "s3": {"InvalidArgument", "MalformedXML"}, "amp": {"ValidationException"}, "fsx": {"BadRequest"}, "pricing": {"InvalidParameterException"},
           "eks": {"InvalidParameterException", "InvalidRequestException", "ClientException"}}  # whichever the operation's model lists
WRONG = {**MISSING, "ec2": {"InvalidParameterValue"}}
NO_KEY = {"ec2": "AuthFailure", "iam": "InvalidClientTokenId", "sts": "InvalidClientTokenId", "elbv2": "InvalidClientTokenId", "s3": "InvalidAccessKeyId"}
BAD_SECRET = {"ec2": {"SignatureDoesNotMatch", "AuthFailure"}, "iam": {"SignatureDoesNotMatch"}, "sts": {"SignatureDoesNotMatch"}, "elbv2": {"SignatureDoesNotMatch"},
              "s3": {"SignatureDoesNotMatch"}}


def product_operations(models):
    """`service:Operation` wherever the product's sources name one, as a declaration or as a call."""
    pattern = re.compile(r'"(' + "|".join(SERVICES) + r')(?:"\s*,\s*"|:)([A-Z]\w+)"')
    named = set()
    for folder in ("app", "flows", "server", "kube", "api"):
        for path in (ROOT / "src" / folder).rglob("*.cc"):
            if not path.name.endswith("_test.cc"):
                named |= set(pattern.findall(path.read_text()))
    return sorted(f"{service}:{operation}" for service, operation in named if operation in models[service].operation_names)


def placeholder(shape):
    """Some value that the shape's model allows, as far as it must be in the path."""
    if shape.metadata.get("enum"):
        return shape.metadata["enum"][0]
    return "x" * max(3, int(shape.metadata.get("min", 1)))


def broken_requests(operation):
    """Requests that the model forbids: (what, parameters, is something missing)."""
    shape = operation.input_shape
    if shape is None:
        return
    path = {name: placeholder(member) for name, member in shape.members.items() if member.serialization.get("location") == "uri"}
    required = [name for name in shape.required_members if name not in path]
    if required:
        yield f"without {', '.join(required)}", path, True
        return
    for name, member in shape.members.items():
        if name in path or name in ("DryRun", "ChecksumAlgorithm"):  # boto3 itself computes by the latter
            continue
        if member.type_name == "string" and member.metadata.get("enum"):
            yield f"{name} no value of its enumeration", {**path, name: "no-such-value"}, False
        elif member.type_name in ("integer", "long") and "max" in member.metadata:
            yield f"{name} beyond its range", {**path, name: int(member.metadata["max"]) + 1}, False
        elif member.type_name == "string" and "max" in member.metadata and int(member.metadata["max"]) < 4096:
            yield f"{name} too long", {**path, name: "x" * (int(member.metadata["max"]) + 1)}, False


def refused(account, service, method, parameters):
    _, refusal = account.call(service, method, parameters)
    return (refusal or {}).get("code", "nothing: it was answered")


def check_broken(account, used, models):
    from botocore import xform_name
    count = 0
    for name in used:
        service, operation = name.split(":")
        for what, parameters, missing in broken_requests(models[service].operation_model(operation)):
            code = refused(account, service, xform_name(operation), parameters)
            # A HEAD has no body, so its refusals have no code but the status.
            wanted = {"400"} if operation.startswith("Head") else (MISSING if missing else WRONG)[service]
            check(f"{name} {what}", code in wanted, code)
            count += 1
    check("there were broken requests", count > 60, count)


def check_keys(url, used, models):
    """Every operation refuses a key that nobody has and a signature by the wrong secret."""
    from botocore import xform_name
    stranger = lib_differential.Account("stranger", url, ("AKIANOBODY0000000000", "x"))
    forger = lib_differential.Account("forger", url, ("AKIATWIN000000000000", "not the secret"))
    for name in used:
        service, operation = name.split(":")
        shape = models[service].operation_model(operation).input_shape
        path = {each: placeholder(member) for each, member in (shape.members if shape else {}).items() if member.serialization.get("location") == "uri"}
        for account, wanted in ((stranger, {NO_KEY.get(service, "UnrecognizedClientException")}), (forger, BAD_SECRET.get(service, {"InvalidSignatureException"}))):
            code = refused(account, service, xform_name(operation), path)
            wanted = {"403"} if operation.startswith("Head") else wanted
            check(f"{name} refuses the {account.name}", code in wanted, code)


def main():
    process, ready = start(["twin", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0", "--twin-speed", "120", "--data", tempfile.mkdtemp(prefix="instantstart-peers-")])
    recorder = lib_shapes.Recorder()
    account = lib_differential.Account("twin", ready["twin_aws"], ("AKIATWIN000000000000", "twin"), patient=True)
    plain_client = account.client

    def watched(service):
        fresh = service not in account.clients
        client = plain_client(service)
        if fresh:
            recorder.watch(client)
        return client

    account.client = watched
    lib_same_ec2.run(account)
    lib_same_iam_s3.run(account)
    lib_clusters.run(account.client, check)
    models = {service: account.client(service).meta.service_model for service in SERVICES}
    used = product_operations(models)
    check_broken(account, used, models)
    check("the product's calls are found in its sources", len(used) > 80, used)
    for name in used:
        check(f"{name} was answered", recorder.successes.get(name), "no call of it went well: give it one in lib_same_*.py or lib_clusters.py")
        service, operation = name.split(":")
        shape = models[service].operation_model(operation).input_shape
        # Where there is nothing to say there is nothing to say wrong but the signature, which check_keys tries.
        check(f"{name} was refused", recorder.refusals.get(name) or not (shape and shape.members), "no call of it was refused: give it one")
    for name in sorted(set(recorder.successes) | set(recorder.refusals)):
        faults = recorder.faults.get(name, {})
        check(f"{name}: raw answers are what the model says", not faults, faults)
    check_keys(ready["twin_aws"], used, models)
    process.terminate()
    process.wait(20)
    finish()


main()
