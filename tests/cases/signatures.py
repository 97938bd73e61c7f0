#!/usr/bin/env python3
"""Compares our signatures with botocore's signers on random requests: in headers, in presigned URLs, and EKS tokens as
`aws eks get-token` makes them.

    signatures.py PROGRAM [--cases N] [--seed TEXT] [--only KIND/INDEX]

PROGRAM is the test program that holds Signatures.writes_what_our_signer_makes. N cases are made of each kind."""

import argparse
import base64
import collections
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest.mock
import urllib.parse

import awscli.customizations.eks.get_token as get_token
import botocore.auth
import botocore.awsrequest
import botocore.compat
import botocore.credentials
import botocore.session

KINDS = {"common": botocore.auth.SigV4Auth, "s3": botocore.auth.S3SigV4Auth, "presigned": botocore.auth.SigV4QueryAuth,
         "presigned-s3": botocore.auth.S3SigV4QueryAuth, "eks-token": None}
PIECES = ["a", "B9", "-_.~", "ü", "日本", "🚀", " ", "+", "%", "&", "=", "?", "#", ":", "@", "!*'()", "$,;", "[]", "\"<>\\^`{|}", "e\u0301", "key"]
HEADERS = ["Content-Type", "x-amz-meta-note", "X-Amz-Target", "X-Custom", "Range", "If-None-Match", "x-amz-acl", "Accept", "Date-Of", "Cache-Control"]
SKIPPED_HEADERS = [("User-Agent", "one/1.0"), ("Expect", "100-continue"), ("X-Amzn-Trace-Id", "Root=1-2")]
VALUES = ["plain", "two  spaces", "  around  ", "tab\there", "a,b", "", "\"quoted  inside\"", "text/plain; charset=utf-8", "x" * 300, "ü"]


def piece(chance, most=4):
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, most)))


def path_of(chance, s3):
    parts = [piece(chance) for _ in range(chance.randint(0, 4))]
    if parts and chance.random() < 0.15:
        parts.insert(chance.randrange(len(parts)), chance.choice([".", "..", ""]))
    path = "/" + "/".join(urllib.parse.quote(part, safe="-_.~") for part in parts)
    return path + ("/" if parts and chance.random() < 0.2 else "")


def query_of(chance, repeated):
    """Parts as our client writes them: sorted or not, repeated, without values, encoded."""
    names = list(dict.fromkeys(piece(chance, 2) for _ in range(chance.randint(0, 5))))
    if repeated and names and chance.random() < 0.4:
        names += [chance.choice(names), chance.choice(names)]
    pairs = [(name, chance.choice(["", piece(chance), "1"])) for name in names]
    return "&".join(urllib.parse.quote(name, safe="-_.~") + "=" + urllib.parse.quote(value, safe="-_.~") for name, value in pairs)


def headers_of(chance):
    names = chance.sample(HEADERS, chance.randint(0, 5))
    fields = [(chance.choice([name, name.lower(), name.upper()]), chance.choice(VALUES)) for name in names]
    if chance.random() < 0.2:
        fields.append(chance.choice(SKIPPED_HEADERS))
    if fields and chance.random() < 0.2:
        fields.append((fields[0][0], chance.choice(VALUES)))
    return fields


def letters(chance, alphabet, length):
    return "".join(chance.choice(alphabet) for _ in range(length))


def case_of(kind, chance):
    s3 = kind.endswith("s3")
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="
    made = {"s3": s3, "access_key": letters(chance, alphabet[26:62], 20), "secret_key": letters(chance, alphabet, 40),
            "session_token": letters(chance, alphabet, chance.choice([0, 0, 16, 400])),
            "region": chance.choice(["us-east-1", "eu-central-1", "us-gov-west-1", "cn-north-1", "ap-southeast-7"]),
            "service": "s3" if s3 else chance.choice(["sagemaker", "eks", "ec2", "iam", "sts", "monitoring"]),
            "now": f"20{chance.randint(15, 60)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}T"
                   f"{chance.randrange(24):02d}:{chance.randrange(60):02d}:{chance.randrange(60):02d}Z"}
    if kind == "eks-token":
        made.update(service="sts", valid=60, cluster=letters(chance, alphabet[:62] + "-_", chance.randint(1, 100)))
        return made
    scheme, port = chance.choice([("https", 0), ("http", 0), ("https", 443), ("http", 80), ("https", 8443), ("http", 5000)])
    path, query = path_of(chance, s3), query_of(chance, repeated=not kind.startswith("presigned"))  # botocore drops repeated names from a URL it presigns
    method = chance.choice(["GET", "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"])
    body = b"" if kind.startswith("presigned") or method in ("GET", "HEAD") else chance.randbytes(chance.choice([0, 1, 63, 64, 1000]))
    made.update(method=method, scheme=scheme, host=chance.choice(["127.0.0.1", "api.example.amazonaws.com", "b.s3.amazonaws.com"]), port=port,
                target=path + ("?" + query if query else ""), headers=headers_of(chance), body=base64.b64encode(body).decode(),
                valid=chance.choice([1, 60, 604800]) if kind.startswith("presigned") else 0)
    return made


def authority(case):
    usual = {"https": 443, "http": 80}[case["scheme"]]
    return case["host"] + (f":{case['port']}" if case["port"] not in (0, usual) else "")


def signed_by_botocore(kind, case):
    credentials = botocore.credentials.Credentials(case["access_key"], case["secret_key"], case["session_token"] or None)
    request = botocore.awsrequest.AWSRequest(method=case["method"], url=f"{case['scheme']}://{authority(case)}{case['target']}",
                                             data=base64.b64decode(case["body"]))
    for name, value in case["headers"]:
        request.headers.add_header(name, value)
    expires = {"expires": case["valid"]} if case["valid"] else {}
    signer = KINDS[kind](credentials, case["service"], case["region"], **expires)
    signer.add_auth(request)
    return request.url if case["valid"] else request.headers["Authorization"]


def token_by_the_cli(case, clients={}):
    """The URL inside of the token that `aws eks get-token` prints."""
    session = clients.setdefault("session", botocore.session.get_session())
    session.set_credentials(case["access_key"], case["secret_key"], case["session_token"] or None)
    factory = get_token.STSClientFactory(session)
    client = factory.get_sts_client(region_name=case["region"])
    token = get_token.TokenGenerator(client).get_token(case["cluster"])
    text = token.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def parts_of_url(url):
    """A URL without the order of its query."""
    parts = urllib.parse.urlsplit(url)
    return parts.netloc, parts.path, sorted(parts.query.split("&"))


def expected(kind, case):
    moment = datetime.datetime.strptime(case["now"], "%Y-%m-%dT%H:%M:%SZ")
    with unittest.mock.patch("botocore.auth.get_current_datetime", lambda *unused, **also_unused: moment):
        if kind != "eks-token":
            return signed_by_botocore(kind, case)
        url = token_by_the_cli(case)
    # Our signer is given what our client gives it: the host, the target before the signature, and the cluster's name.
    parts = urllib.parse.urlsplit(url)
    kept = [part for part in parts.query.split("&") if not part.startswith("X-Amz-")]
    case.update(method="GET", scheme=parts.scheme, host=parts.netloc, port=0, target=f"{parts.path}?{'&'.join(kept)}",
                headers=[("x-k8s-aws-id", case["cluster"])], body="")
    return url


def ours(program, cases):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(case) + "\n" for case in cases)
        environment = dict(os.environ, INSTANTSTART_DIFFERENTIAL_IN=source, INSTANTSTART_DIFFERENTIAL_OUT=target)
        done = subprocess.run([program, "--gtest_filter=Signatures.*"], env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"the program failed:\n{done.stdout[-3000:]}\n0 passed, 1 failed")
        with open(target, encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=1500)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only")
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    wanted = []
    for kind in KINDS:
        count = options.cases // 5 if kind == "eks-token" else options.cases
        wanted += [(kind, index) for index in range(count) if options.only in (None, f"{kind}/{index}")]
    cases = [case_of(kind, random.Random(f"{options.seed}/{kind}/{index}")) for kind, index in wanted]
    theirs = [expected(kind, case) for (kind, _), case in zip(wanted, cases)]
    counts, failed = collections.Counter(), 0
    for (kind, index), case, result, right in zip(wanted, cases, ours(options.program, cases), theirs):
        counts[kind] += 1
        got = result.get("authorization") or result.get("target")
        if case["valid"]:
            got = f"{case['scheme']}://{authority(case)}{got}"
        if (parts_of_url(got) == parts_of_url(right)) if case["valid"] else got == right:
            continue
        failed += 1
        if failed <= 10:
            print(f"FAIL seed {options.seed}: --only {kind}/{index}\n  {str(case)[:1500]}\n  ours   {got[-1500:]}\n  theirs {right[-1500:]}")
    print("cases per kind: " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    print(f"cases per protocol: signatures {len(wanted)}")
    print(f"{len(wanted) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not wanted else 0)


if __name__ == "__main__":
    main()
