#!/usr/bin/env python3
"""Makes data/signatures.json: random requests and what botocore's signer makes of them."""

import datetime
import json
import pathlib
import random
from unittest import mock

from botocore import auth, awsrequest, credentials

MOMENT = datetime.datetime(2026, 11, 30, 12, 0, 5, tzinfo=datetime.timezone.utc)
PATHS = ["/", "/clusters", "/clusters/demo",
         "/tags/arn%3Aaws%3Aeks%3Aus-west-2%3A111122223333%3Acluster%2Fdemo",
         "/bucket/a%20b/%C3%BC%7E.txt", "/bucket//double//slash", "/a/../b/./c"]
QUERIES = ["", "list-type=2", "prefix=a%2Fb&list-type=2", "policy", "b=2&a=1&a=0",
           "maxResults=10&nextToken=%2B%3D%2F",
           "z=%C3%BC&A=1", "empty="]
BODIES = ["", "{}", "Action=DescribeVpcs&Version=2016-11-15", '{"name": "demo \u00fc"}']
SERVICES = ["eks", "ec2", "sagemaker", "iam", "s3"]


def text_of(value):
    return value.decode() if isinstance(value, bytes) else value


def signed(case):
    keys = credentials.Credentials("AKIDEXAMPLE", case["secret"], case["token"] or None)
    request = awsrequest.AWSRequest(case["method"], case["url"], dict(case["headers"]), case["body"].encode())
    if case["kind"] == "presigned":
        signer = auth.SigV4QueryAuth(keys, case["service"], case["region"], expires=60)
    else:
        kind = auth.S3SigV4Auth if case["service"] == "s3" else auth.SigV4Auth
        signer = kind(keys, case["service"], case["region"])
    if case["service"] == "s3":
        request.context["payload_signing_enabled"] = True
        request.context["client_config"] = mock.Mock(s3={"payload_signing_enabled": True})
    with mock.patch("botocore.auth.get_current_datetime", return_value=MOMENT.replace(tzinfo=None)):
        signer.add_auth(request)
    if case["kind"] == "presigned":
        return "X-Amz-Signature=" + request.url.split("X-Amz-Signature=")[1]
    return text_of(request.headers["Authorization"])


def make_case(chance):
    kind = "presigned" if chance.random() < 0.2 else "header"
    service = "sts" if kind == "presigned" else chance.choice(SERVICES)
    path = "/" if kind == "presigned" else chance.choice(PATHS)
    query = "Action=GetCallerIdentity&Version=2011-06-15" if kind == "presigned" else chance.choice(QUERIES)
    host = chance.choice(["127.0.0.1:3097", f"{service}.us-west-2.amazonaws.com"])
    method = "GET" if kind == "presigned" else chance.choice(["GET", "POST", "PUT", "DELETE"])
    headers = {"x-k8s-aws-id": "demo"} if kind == "presigned" else {}
    if kind == "header" and method != "GET":
        headers["Content-Type"] = chance.choice(["application/json", "application/x-amz-json-1.1"])
    if kind == "header" and chance.random() < 0.3:
        headers["X-Amz-Meta-Note"] = "two  spaces, and more "
    return {
        "kind": kind, "method": method, "url": f"http://{host}{path}" + ("?" + query if query else ""),
        "headers": headers, "body": chance.choice(BODIES) if method in ("POST", "PUT") else "",
        "region": chance.choice(["us-west-2", "cn-north-1"]), "service": service,
        "secret": "wJalrXUtnFEMI/K7MDENG", "token": chance.choice(["", "AQoDYXdz/+=="]),
        "time": MOMENT.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def main():
    chance = random.Random(1)
    cases = [make_case(chance) for _ in range(60)]
    for case in cases:
        case["expected"] = signed(case)
    lines = ",\n".join(json.dumps(case) for case in cases)
    target = pathlib.Path(__file__).resolve().parent / "data" / "signatures.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text("[\n" + lines + "\n]\n")
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
