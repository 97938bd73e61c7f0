#!/usr/bin/env python3
"""Compares our serialisers with botocore's on generated inputs of every operation in the models.

    differential.py PROGRAM [--seed N] [--cases N]

PROGRAM is the test program that holds Differential.writes_what_our_codecs_make. A failure prints its case.
"""

import argparse
import base64
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import urllib.parse
from xml.etree import ElementTree

import botocore.loaders
import botocore.model
import botocore.serialize

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
TEXTS = ["a", "demo-1", "with space", "ü/ö", "a&b=c?d", "<x>\"'&", "10.0.0.0/16",
         "arn:aws:iam::111122223333:role/x"]


class Generator:
    def __init__(self, chance, full):
        self.chance, self.full = chance, full

    def value(self, shape, depth=0):
        kind = getattr(self, "make_" + shape.type_name, self.make_string)
        return kind(shape, depth)

    def make_structure(self, shape, depth):
        if getattr(shape, "is_document_type", False):
            return {"free": 1}
        members = list(shape.members.items())
        if shape.is_tagged_union:
            members = [self.chance.choice(members)]
        made = {}
        for name, member in members:
            wanted = name in shape.required_members or shape.is_tagged_union or self.full
            if depth > 4 and name not in shape.required_members and not shape.is_tagged_union:
                continue
            if wanted or self.chance.random() < 0.4:
                made[name] = self.value(member, depth + 1)
        return made

    def make_list(self, shape, depth):
        length = self.chance.choice([1, 2] if self.full else [0, 1, 2]) if depth <= 6 else 0
        return [self.value(shape.member, depth + 1) for _ in range(length)]

    def make_map(self, shape, depth):
        return {f"k{i}": self.value(shape.value, depth + 1) for i in range(self.chance.choice([1, 2]))}

    def make_string(self, shape, depth):
        return self.chance.choice(shape.enum) if shape.enum else self.chance.choice(TEXTS)

    def make_integer(self, shape, depth):
        return self.chance.choice([0, 1, 7, 2147483647])

    def make_long(self, shape, depth):
        return self.chance.choice([0, 5, 9007199254740991])

    def make_float(self, shape, depth):
        return self.chance.choice([0.5, 2.25, 100.125])

    make_double = make_float

    def make_boolean(self, shape, depth):
        return self.chance.random() < 0.5

    def make_blob(self, shape, depth):
        return self.chance.choice([b"", b"bytes\x00\xff", b"text"])

    def make_timestamp(self, shape, depth):
        return datetime.datetime(2026, 11, 30, 12, self.chance.randrange(60), 5, tzinfo=datetime.timezone.utc)


def as_json(value):
    if isinstance(value, dict):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(inner) for inner in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return value


def canonical_xml(node):
    inner = sorted([canonical_xml(child) for child in node])
    return f"{node.tag}{sorted(node.attrib.items())}[{(node.text or '')}]({','.join(inner)})"


def canonical_body(protocol, body):
    if protocol in ("query", "ec2"):
        return sorted(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
    if not body:
        return ""
    try:
        return canonical_xml(ElementTree.fromstring(body)) if protocol == "rest-xml" else json.loads(body)
    except (ValueError, ElementTree.ParseError):
        return body


def flat_query(query):
    pairs = []
    for name, value in query.items():
        for one in value if isinstance(value, list) else [value]:
            pairs.append([name, "" if one is None else str(one)])
    return pairs


def reference(service, protocol, operation, parameters):
    made = botocore.serialize.create_serializer(protocol, False).serialize_to_request(parameters, operation)
    path, _, fixed = made["url_path"].partition("?")
    query = [list(pair) for pair in urllib.parse.parse_qsl(fixed, keep_blank_values=True)]
    query += flat_query(made["query_string"] or {})
    body = made["body"]
    if isinstance(body, dict):
        body = urllib.parse.urlencode(body).encode()
    headers = {name.lower(): str(value) for name, value in made["headers"].items()}
    return {"method": made["method"], "path": path, "query": sorted(query), "headers": headers,
            "body": canonical_body(protocol, body if isinstance(body, bytes) else body.encode())}


def ours(protocol, line):
    made = json.loads(line)
    if "error" in made:
        return made
    return {"method": made["method"], "path": made["path"], "query": sorted(made["query"]),
            "headers": made["headers"], "body": canonical_body(protocol, base64.b64decode(made["body"]))}


def differences(left, right):
    if "error" in left:
        return left["error"]
    left_headers, right_headers = dict(left["headers"]), dict(right["headers"])
    for headers in (left_headers, right_headers):
        # botocore adds some types later than in its serialiser, and the query mode is its own handler's.
        headers.pop("content-type", None)
        headers.pop("x-amzn-query-mode", None)
    found = [key for key in ("method", "path", "query", "body") if left[key] != right[key]]
    return found + (["headers"] if left_headers != right_headers else [])


def cases_of(seed, count):
    loader = botocore.loaders.Loader()
    for path in sorted(MODELS.glob("*.json")):
        if path.name == "iam-actions.json":
            continue
        service, own = path.stem, json.loads(path.read_text())
        model = botocore.model.ServiceModel(loader.load_service_model(service, "service-2"), service)
        for name in own["operations"]:
            operation = model.operation_model(name)
            for index in range(count):
                chance = random.Random(f"{seed}/{service}/{name}/{index}")
                shape = operation.input_shape
                parameters = Generator(chance, index == 0).value(shape) if shape else {}
                yield service, own["metadata"]["protocol"], operation, parameters


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("program")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=4)
    options = parser.parse_args()
    cases = list(cases_of(options.seed, options.cases))
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(source, "w", encoding="utf-8") as file:
            for service, _, operation, parameters in cases:
                line = {"service": service, "operation": operation.name, "parameters": as_json(parameters)}
                file.write(json.dumps(line) + "\n")
        environment = dict(os.environ, INSTANTSTART_DIFFERENTIAL_IN=source,
                           INSTANTSTART_DIFFERENTIAL_OUT=target)
        subprocess.run([options.program, "--gtest_filter=Differential.*"], env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        lines = pathlib.Path(target).read_text(encoding="utf-8").splitlines()
    failed, counts = 0, {}
    for (service, protocol, operation, parameters), line in zip(cases, lines):
        expected = reference(service, protocol, operation, parameters)
        got = ours(protocol, line)
        counts[protocol] = counts.get(protocol, 0) + 1
        wrong = differences(got, expected)
        if wrong:
            failed += 1
            print(f"seed {options.seed}: {service} {operation.name} {wrong}\n  with {as_json(parameters)}\n"
                  f"  ours   {got}\n  theirs {expected}")
    print(counts, f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed or len(lines) != len(cases) else 0)


if __name__ == "__main__":
    main()
