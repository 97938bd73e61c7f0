#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: answers, parameters and files that are right, for the fuzzer to spoil.

    seeds.py FOLDER [TARGET…]

Each target gets a folder of its own below FOLDER. The bytes begin with the numbers that the targets read (tests/fuzz/input.h)."""

import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cases"))

import answers  # noqa: E402
import differential  # noqa: E402
import errors  # noqa: E402
import values  # noqa: E402

import botocore.loaders  # noqa: E402
import botocore.model  # noqa: E402

MODELS = HERE.parents[1] / "models"
PROTOCOLS = ["json", "rest-json", "query", "ec2", "rest-xml"]
FEEDS = {
    "pods": {"metadata": {"name": "a", "namespace": "ns", "resourceVersion": "3", "labels": {"app": "x"}, "creationTimestamp": "2026-11-30T12:00:00Z",
                          "ownerReferences": [{"kind": "Job", "name": "j", "controller": True}]},
             "spec": {"nodeName": "n", "containers": [{"resources": {"requests": {"nvidia.com/gpu": "8"}}}]},
             "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [{"restartCount": 2}]}},
    "nodes": {"metadata": {"name": "n", "labels": {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"}}, "spec": {"unschedulable": True},
              "status": {"allocatable": {"nvidia.com/gpu": "8", "pods": "2k"}, "conditions": [{"type": "Ready", "status": "True"}]}},
    "events": {"metadata": {"name": "e", "namespace": "ns"}, "lastTimestamp": "2026-11-30T12:00:00Z", "reason": "Failed", "type": "Warning",
               "message": "no", "involvedObject": {"kind": "Pod", "name": "a"}},
}
CONFIGS = [
    (b"[default]\nregion = us-east-1\ns3 =\n  max_concurrent_requests = 20\n[profile a]\nrole_arn: arn:aws:iam::1:role/x\nsource_profile=default\n# end\n",
     b"[default]\naws_access_key_id = AKIA\naws_secret_access_key = k\n"),
    (b"[sso-session s]\nsso_start_url = https://x\nsso_region=us-east-1\n[profile 'two words']\nsso_session = s\nservices = local\n"
     b"[services local]\nsagemaker =\n  endpoint_url = http://127.0.0.1:1\n", b"credential_process \"a b\" 'c d' e\\ f"),
    (b"[profile p]\nkey\n", b""), (b"[open\nx=1", b"[]\n=\n"), (b"\xef\xbb\xbf[default]\r\nregion = eu-west-1\r\n", b"a 'b"),
]
TEXTS = {
    0: ["2026-11-30T13:45:39Z", "2026-11-30T13:45:39.123456789+01:30", "Mon, 30 Nov 2026 13:45:39 GMT", "20261130T134539Z", "9999-12-31T23:59:59Z"],
    1: ["https://example.com:8443/a/b?x=1&y=%20#f", "http://[::1]:80/", "http://10.0.0.1", "https://user@host/"],
    2: ['{"a":[1,-2.5e10,true,null,"\\u00fc\\ud83d\\ude80"]}', json.dumps({"metadata": {"protocol": "json", "serviceId": "X"}, "shapes": {
        "S": {"type": "structure", "required": ["A"], "members": {"A": {"shape": "L"}, "B": {"shape": "T", "timestampFormat": "iso8601"}}},
        "L": {"type": "list", "member": {"shape": "N", "locationName": "item"}, "max": 3}, "N": {"type": "string", "pattern": "[a-z]+"},
        "T": {"type": "timestamp"}}, "operations": {"Do": {"http": {"method": "POST"}, "input": {"shape": "S"}, "errors": [{"shape": "S"}]}}})],
    3: ["a%20b%zz", "aGVsbG8=", "_-8", "AA=="],
}


def number(value):
    return value.to_bytes(2, "big")


def operations(protocol):
    """(service model, operation name) in the order in which the targets count."""
    loader, found = botocore.loaders.Loader(), []
    for path in sorted(MODELS.glob("*.json"), key=lambda path: path.stem):
        own = json.loads(path.read_text())
        if "metadata" not in own or protocol not in ("", own["metadata"]["protocol"]):
            continue
        model = botocore.model.ServiceModel(loader.load_service_model(path.stem, "service-2"), path.stem)
        found += [(model, name) for name in sorted(own["operations"])]
    return found


def answer_bytes(index, answer):
    status, fields, body = answer
    head = "".join(f"{name}: {value}\n" for name, value in fields).encode()
    return number(index) + number(status) + head + b"\n" + body


def answer_seeds(protocol, make, count):
    calls = operations(protocol)
    for at in range(count):
        chance = random.Random(f"{protocol}/{at}")
        index = chance.randrange(len(calls))
        model, name = calls[index]
        yield answer_bytes(index, make(model.operation_model(name), chance))


def success(operation, chance):
    shape = operation.output_shape
    xml = operation.service_model.resolved_protocol in ("query", "ec2", "rest-xml")
    made = values.Values(chance, xml=xml).of(shape) if shape else {}
    differential.settle_answer(shape, made)
    return answers.success(operation, made, chance)


def request_seeds(count):
    services = [path for path in sorted(MODELS.glob("*.json"), key=lambda path: path.stem) if "metadata" in json.loads(path.read_text())]
    loader = botocore.loaders.Loader()
    for index, path in enumerate(services):
        model = botocore.model.ServiceModel(loader.load_service_model(path.stem, "service-2"), path.stem)
        names = sorted(json.loads(path.read_text())["operations"])
        for at in range(count):
            chance = random.Random(f"{path.stem}/{at}")
            position = chance.randrange(len(names))
            shape = model.operation_model(names[position]).input_shape
            made = values.Values(chance).of(shape) if shape else {}
            yield number(index) + number(position) + json.dumps(differential.as_json(made)).encode()


def pattern_seeds():
    for at, text in enumerate(["[a-z]{3}-\\d+", "(?!aws:)[\\u0020-\\uD7FF\\uE000-\\uFFFD]*", "^arn:aws[a-z\\-]*:iam::\\d{12}:role/?[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*$"]):
        yield number(0) + text.encode() + b"\narn:aws:iam::111122223333:role/x"
        yield number(1) + number(at * 7) + b"us-east-1"


def feed_seeds():
    for which, (kind, item) in enumerate(FEEDS.items()):
        page = {"kind": "List", "metadata": {"resourceVersion": "7", "continue": "t"}, "items": [item, {}]}
        events = [{"type": name, "object": item} for name in ("ADDED", "MODIFIED", "DELETED")]
        events += [{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}},
                   {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}]
        yield number(which) + number(0) + number(5) + json.dumps(page).encode()
        yield number(which) + number(1) + number(3) + "\n".join(json.dumps(event) for event in events).encode()


def seeds_of(target):
    name = target.removeprefix("fuzz_")
    for protocol in PROTOCOLS:
        if name == protocol.replace("-", "_") + "_answer":
            return answer_seeds(protocol, success, 150)
    made = {"error_answer": lambda: answer_seeds("", errors.failure, 300), "request": lambda: request_seeds(15), "pattern": pattern_seeds,
            "config": lambda: (first + b"\0" + second for first, second in CONFIGS), "kube_feed": feed_seeds,
            "text": lambda: (number(kind) + text.encode() for kind, texts in TEXTS.items() for text in texts)}
    return made[name]()


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for target in targets:
        place = folder / target
        place.mkdir(parents=True, exist_ok=True)
        for index, data in enumerate(seeds_of(target)):
            (place / f"seed-{index:03d}").write_bytes(data)


if __name__ == "__main__":
    main()
