#!/usr/bin/env python3
"""Compares our codecs with botocore on generated calls and answers of every operation in the models.

    differential.py PROGRAM [--services a,b] [--cases N] [--seed TEXT] [--only SERVICE/OPERATION/INDEX]

PROGRAM is the test program that holds Differential.writes_what_our_codecs_make. Each case is one call: botocore's own client
prepares its request, and reads an answer that was made from the output shapes; ours does the same. A failure prints what
differs, and how to run that case alone. N cases are made for each service, shared by its operations."""

import argparse
import base64
import collections
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import answers
import compare
import errors
import faults
import reference
import values

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
SHOWN = 12


def as_json(value):
    if isinstance(value, dict):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(inner) for inner in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        fraction = f".{value.microsecond:06d}" if value.microsecond else ""
        return f"{value.year:04d}" + value.strftime("-%m-%dT%H:%M:%S") + fraction + "Z"
    return value


# Members whose values botocore's client itself looks at: other values are refused before anything is sent.
def settle(service, parameters, chance):
    if service != "s3":
        return
    if "Bucket" in parameters:
        parameters["Bucket"] = chance.choice(["demo-bucket", "a.bucket.with.dots", "bucket_1", "x" * 63])
    if "ChecksumAlgorithm" in parameters:
        parameters["ChecksumAlgorithm"] = chance.choice(["CRC32", "SHA1", "SHA256"])
    for name in [name for name in parameters if name.startswith("Checksum") and name not in ("ChecksumAlgorithm", "ChecksumMode", "ChecksumType")]:
        del parameters[name]  # the caller's own sums are sent as they are, and then none is added


def answer_of(operation, chance, index):
    draw = chance.random()
    if draw < 0.3 and index > 0:
        return errors.failure(operation, chance)
    xml = operation.service_model.resolved_protocol in ("query", "ec2", "rest-xml")
    shape = operation.output_shape
    made = values.Values(chance, full=index == 0, xml=xml, answer=True).of(shape) if shape else {}
    settle_answer(shape, made)
    answer = answers.success(operation, made, chance)
    return errors.spoiled(answer, chance) if draw > 0.95 and index > 0 else answer


def settle_answer(shape, made):
    if shape is None:
        return
    made.pop("ExpiresString", None)  # botocore's own invention
    for name in list(made):
        # botocore itself reads a stream only where its length and sums are right.
        checked = name == "ContentLength" or name.startswith("Checksum") and name != "ChecksumType"
        if shape.members[name].serialization.get("location") == "statusCode" or checked and "Body" in shape.members:
            del made[name]


class Case:
    def __init__(self, seed, reference_, service, name, index):
        self.name, self.id = name, f"{service}/{name}/{index}"
        chance = random.Random(f"{seed}/{self.id}")
        self.operation = reference_.model.operation_model(name)
        shape = self.operation.input_shape
        xml = self.operation.service_model.resolved_protocol == "rest-xml"
        self.parameters = values.Values(chance, full=index == 0, xml=xml).of(shape) if shape else {}
        self.spoilt = faults.spoil(shape, self.parameters, chance) if shape else {}
        settle(service, self.parameters, chance)
        self.answer = answer_of(self.operation, chance, index)

    def line(self, service):
        status, headers, body = self.answer
        return {"service": service, "operation": self.name, "parameters": as_json(self.parameters),
                "spoilt": as_json(self.spoilt), "token": reference.TOKEN,
                "answer": {"status": status, "headers": headers, "body": base64.b64encode(body).decode()}}


def cases_of(seed, reference_, service, count, only):
    names = sorted(json.loads((MODELS / f"{service}.json").read_text())["operations"])
    each = -(-count // len(names))
    for name in names:
        for index in range(each):
            if only is None or only == f"{service}/{name}/{index}":
                yield Case(seed, reference_, service, name, index)


def ours(program, lines):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        pathlib.Path(source).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        environment = dict(os.environ, INSTANTSTART_DIFFERENTIAL_IN=source, INSTANTSTART_DIFFERENTIAL_OUT=target)
        done = subprocess.run([program, "--gtest_filter=Differential.*"], env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"the program failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}\n0 passed, 1 failed")
        return [json.loads(line) for line in pathlib.Path(target).read_bytes().split(b"\n") if line]


class Run:
    def __init__(self, options):
        self.options, self.counts, self.used = options, collections.Counter(), collections.Counter()
        self.passed = self.failed = 0

    def use(self, reason):
        assert reason in compare.REASONS
        self.used[reason] += 1

    def service(self, service):
        reference_ = reference.Reference(service)
        cases = list(cases_of(self.options.seed, reference_, service, self.options.cases, self.options.only))
        results = ours(self.options.program, [case.line(service) for case in cases])
        if len(results) != len(cases):
            sys.exit(f"{len(results)} results for {len(cases)} cases\n0 passed, 1 failed")
        for case, result in zip(cases, results):
            self.check(reference_, service, case, result)
        print(f"{service}: {len(cases)} cases")

    def check(self, reference_, service, case, result):
        protocol = reference_.model.resolved_protocol
        self.counts[protocol] += 1
        request, outcome = reference_.call(case.name, case.parameters, case.answer)
        if request is None:
            found = [f"botocore sends nothing: {outcome}"]
        else:
            found = compare.request_differences(case.operation, result["call"], request, self.use)
        if case.operation.input_shape:
            found += faults.disagreements(case.operation.input_shape, case.spoilt, result["faults"])
        found += compare.answer_differences(case.operation, case.answer, result["answer"], outcome, self.use)
        if not found:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= self.options.shown:
            lines = "\n  ".join(line[:1500] for line in found)
            print(f"FAIL seed {self.options.seed}: --only {case.id}\n  {lines}\n  answer {str(case.answer)[:1500]}")


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("program")
    parser.add_argument("--services", default="")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--only")
    parser.add_argument("--shown", type=int, default=SHOWN)
    options = parser.parse_args()
    services = [path.stem for path in sorted(MODELS.glob("*.json")) if "metadata" in json.loads(path.read_text())]
    if options.only:
        services = [options.only.split("/")[0]]
    elif options.services:
        services = options.services.split(",")
    run = Run(options)
    for service in services:
        run.service(service)
    for reason, count in sorted(run.used.items()):
        print(f"differs on purpose {count} times: {compare.REASONS[reason]}")
    print("cases per protocol: " + ", ".join(f"{protocol} {count}" for protocol, count in sorted(run.counts.items())))
    print(f"{run.passed} passed, {run.failed} failed")
    sys.exit(1 if run.failed or not run.passed else 0)


if __name__ == "__main__":
    main()
