#!/usr/bin/env python3
"""The printed IAM policy before judges that are not ours: cfn-lint takes it in a template; the service authorization
reference (as policy_sentry carries it) knows every action, every kind of resource and every condition key, and says that
`*` stands only where an action has no resource level; and IAM's grammar and limits hold.

  tests/peers/policy.py BINARY"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import policy_sentry

ROOT = pathlib.Path(__file__).resolve().parents[2]

BINARY = sys.argv[1]
SHAPES = {
    "narrow": ["--region", "us-west-2", "--account", "111122223333"],
    "open": [],
    "GovCloud": ["--region", "us-gov-west-1", "--account", "111122223333"],
    "China": ["--region", "cn-north-1"],
    "read only": ["--region", "us-west-2", "--account", "111122223333", "--read-only"],
    "every flag": ["--region", "us-west-2", "--account", "111122223333",
                   "--permissions-boundary", "arn:aws:iam::111122223333:policy/company-boundary",
                   "--execution-role", "arn:aws:iam::111122223333:role/research",
                   "--kms-key", "arn:aws:kms:us-west-2:111122223333:key/0f5c0c22-0000-4000-8000-000000000001", "--custom-images"],
}
# Where the reference lists no resource for an action of ours although the API says one in its own error, we say `*`; this one
# works the other way round: the reference knows the kind by the table of the service, not by the action's row.
GLOBAL_KEYS = {"aws:RequestedRegion", "aws:ResourceTag", "aws:RequestTag", "aws:TagKeys"}
passed = failed = 0


def check(name, good, detail=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {name}: {str(detail)[:600]}")


def run(*arguments):
    done = subprocess.run([BINARY, "iam-policy", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


# SageMaker has these operations (models/sagemaker.json); this release of the reference is older than they. Each is taken to
# work on what its neighbour works on.
NEWER_THAN_THE_REFERENCE = {"BatchRebootClusterNodes": "BatchDeleteClusterNodes", "BatchReplaceClusterNodes": "BatchDeleteClusterNodes"}


def reference():
    path = pathlib.Path(policy_sentry.__file__).parent / "shared/data/iam-definition.json"
    known = json.loads(path.read_text())
    actions = known["sagemaker"]["privileges"]
    model = json.loads((ROOT / "models/sagemaker.json").read_text())["operations"]
    for name, neighbour in NEWER_THAN_THE_REFERENCE.items():
        check(f"the reference still lacks {name}, which the model has", name not in actions and name in model, name)
        actions.setdefault(name, actions[neighbour])
    return known


def as_list(value):
    return value if isinstance(value, list) else [value]


def pattern_of(arn):
    """An ARN of the reference as a pattern: arn:${Partition}:ec2:… → arn:*:ec2:…"""
    return re.sub(r"\$\{[^}]*\}", "*", arn)


def fits(resource, pattern):
    """Whether some ARN matches both patterns; exact enough for ours, whose stars stand at the end of a part."""
    ours, theirs = resource.split(":", 5), pattern.split(":", 5)
    if len(ours) != 6 or len(theirs) != 6:
        return False
    for a, b in zip(ours, theirs):
        if not (a == b or "*" in (a, b) or fnmatch.fnmatchcase(a, b) or fnmatch.fnmatchcase(b, a) or overlaps(a, b)):
            return False
    return True


def overlaps(a, b):
    """role/instantstart-* and role/*; oidc-provider/oidc.eks.x.* and oidc-provider/*: one begins as the other does."""
    return a.split("*")[0].startswith(b.split("*")[0]) or b.split("*")[0].startswith(a.split("*")[0])


def check_statement(shape, statement, known):
    sid = f"{shape}: {statement.get('Sid')}"
    check(f"{sid} has a plain Sid", re.fullmatch(r"[A-Za-z0-9]{3,20}", statement.get("Sid", "")), statement)
    check(f"{sid} has IAM's members", set(statement) <= {"Sid", "Effect", "Action", "Resource", "Condition"}, statement)
    resources = as_list(statement["Resource"])
    for action in statement["Action"]:
        service, name = action.split(":")
        row = known.get(service, {}).get("privileges", {}).get(name)
        check(f"{sid}: {action} is known", row is not None, action)
        if row is None:
            continue
        kinds = [kind for kind in row["resource_types"] if kind]
        patterns = [pattern_of(known[service]["resources"][kind.rstrip("*")]["arn"]) for kind in kinds]
        if resources == ["*"]:
            check(f"{sid}: {action} has no resource level", not kinds, kinds)
        else:
            check(f"{sid}: {action} has a resource level", kinds, action)
            check(f"{sid}: {action} works on one of its resources", any(fits(r, p) for r in resources for p in patterns), (resources, patterns))
    for resource in resources:
        if resource == "*":
            continue
        services = {a.split(":")[0] for a in statement["Action"]}
        every = [pattern_of(r["arn"]) for s in services for r in known[s]["resources"].values()]
        check(f"{sid}: {resource} is a resource of its service", any(fits(resource, p) for p in every), resource)
        used = [a for a in statement["Action"] if any(
            fits(resource, pattern_of(known[a.split(':')[0]]["resources"][k]["arn"]))
            for k in known[a.split(":")[0]]["privileges"][a.split(":")[1]]["resource_types"] if k)]
        check(f"{sid}: {resource} is used by an action", used, resource)
    check_conditions(sid, statement, known)


def check_conditions(sid, statement, known):
    for operator, keys in statement.get("Condition", {}).items():
        check(f"{sid}: operator {operator}", operator in {"StringEquals", "StringLike", "ArnEquals", "ArnLike", "Null", "ForAllValues:StringEquals"}, operator)
        for key in keys:
            family = key.split("/")[0]
            for action in statement["Action"]:
                service, name = action.split(":")
                row = known[service]["privileges"][name]
                keys_of = {k.split("/")[0] for kind in row["resource_types"].values() for k in kind["condition_keys"]}
                for kind in row["resource_types"]:
                    if kind:
                        keys_of |= {k.split("/")[0] for k in known[service]["resources"][kind.rstrip("*")]["condition_keys"]}
                good = family in keys_of or family == "aws:RequestedRegion"
                check(f"{sid}: {action} knows the key {key}", good, sorted(keys_of))


def check_documents(known):
    for shape, arguments in SHAPES.items():
        code, out, err = run(*arguments)
        check(f"{shape}: prints", code == 0, err)
        document = json.loads(out)
        check(f"{shape}: version", document["Version"] == "2012-10-17")
        sids = [s["Sid"] for s in document["Statement"]]
        check(f"{shape}: Sids are unique", len(set(sids)) == len(sids), sids)
        size = len(re.sub(r"\s", "", out))
        check(f"{shape}: says where it does not fit", (size > 6144) == ("--format managed" in err), (size, err))
        for statement in document["Statement"]:
            check_statement(shape, statement, known)
        managed = json.loads(run(*arguments, "--format", "managed")[1])
        sizes = {name: len(re.sub(r"\s", "", json.dumps(part))) for name, part in managed.items()}
        check(f"{shape}: managed policies fit", all(s <= 6144 for s in sizes.values()) and len(sizes) <= 10, sizes)
        check(f"{shape}: managed policies are the document in parts",
              [s for part in managed.values() for s in part["Statement"]] == document["Statement"])


def is_of_a_newer_action(problem):
    quoted = {f"'{name.lower()}'" for name in NEWER_THAN_THE_REFERENCE}
    return problem["Rule"]["Id"] == "W3037" and problem["Message"].split(" ")[0] in quoted


def check_template():
    for shape, arguments in SHAPES.items():
        code, out, err = run(*arguments, "--format", "cloudformation")
        check(f"{shape}: template prints", code == 0, err)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(out)
            file.flush()
            linter = str(pathlib.Path(sys.executable).parent / "cfn-lint")
            done = subprocess.run([linter, "--regions", "us-west-2", "--format", "json", "--", file.name], capture_output=True, text=True)
            problems = [each["Message"][:200] for each in json.loads(done.stdout or "[]") if not is_of_a_newer_action(each)]
            check(f"{shape}: cfn-lint takes the template", not problems and not done.stderr, problems or done.stderr)
    broken = json.loads(run("--format", "cloudformation")[1])
    first = broken["Resources"]["InstantStartPolicy1"]["Properties"]["PolicyDocument"]["Statement"][0]
    first["Effect"] = "Perhaps"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(broken, file)
        file.flush()
        done = subprocess.run([linter, "--regions", "us-west-2", "--", file.name], capture_output=True, text=True)
        check("cfn-lint looks into the policy", done.returncode != 0, "a broken Effect was taken")


def check_flags():
    for arguments, word in ((["--account", "12"], "--account"), (["--region", "west"], "--region"),
                            (["--permissions-boundary", "edge"], "--permissions-boundary"), (["--execution-role", "x"], "--execution-role"),
                            (["--kms-key", "x"], "--kms-key"), (["--format", "yaml"], "--format"), (["--partition", "mars"], "--partition")):
        code, out, err = run(*arguments)
        check(f"{' '.join(arguments)} is refused by name", code == 2 and word in err + out and "Statement" not in out, (code, out, err))


def main():
    check_documents(reference())
    check_template()
    check_flags()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
