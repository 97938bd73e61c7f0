#!/usr/bin/env python3
"""The peer of bench_aws_calls: the same calls by boto3, the same figures.

    aws_calls_boto3.py ENDPOINT SERVICE OPERATION PARAMETERS CALLS
"""
import json
import resource
import sys
import time

import boto3
from botocore import xform_name

WARM = 50


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    endpoint, service, operation, parameters, calls = sys.argv[1:]
    client = boto3.client(service, endpoint_url=endpoint, region_name="us-west-2", aws_access_key_id="AKIABENCH00000000000", aws_secret_access_key="bench")
    call, arguments, count = getattr(client, xform_name(operation)), json.loads(parameters), int(calls)
    for _ in range(WARM):
        answer = call(**arguments)
    start, cpu = time.perf_counter(), cpu_seconds()
    for _ in range(count):
        answer = call(**arguments)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - start
    items = next(len(value) for value in answer.values() if isinstance(value, list))
    print(json.dumps({"calls_per_second": round(count / wall, 1), "cpu_us_per_call": round(cpu * 1e6 / count, 2), "items": items}))


if __name__ == "__main__":
    main()
