"""Support of the differential tests: one script of AWS calls, run on two accounts, with its answers compared once ids and times are masked.

An account records what each call came to. The second account repeats a call that has no effect (a read, a refusal) for a few seconds while it differs from
the first one's, and a patient one repeats what finds nothing: the twin shows new objects late, as EC2 does."""
import atexit
import contextlib
import datetime
import fnmatch
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

ACCOUNT = "111122223333"
REGION = "us-west-2"
PATIENCE_SECONDS = 4
NOWHERE = "0123456789abcdef0"  # the digits of ids that no account has
ID = re.compile(r"\b(vpc-cidr-assoc|vpc|subnet|igw|rtbassoc|rtb|eipalloc|eipassoc|nat|sgr|sg|vpce|eni|aclassoc|acl|dopt|pl)-([0-9a-f]{8,17})\b")
UNIQUE = re.compile(r"\b(AROA|AIDA|ANPA|AIPA|ASIA|AKIA)[A-Z0-9]{12,17}\b")
READS = ("describe_", "get_", "list_", "head_")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_moto():
    """A moto_server of its own, ready: its address."""
    port = free_port()
    env = {**os.environ, "MOTO_IAM_LOAD_MANAGED_POLICIES": "true", "MOTO_ACCOUNT_ID": ACCOUNT, "AWS_ACCESS_KEY_ID": "peer", "AWS_SECRET_ACCESS_KEY": "peer"}
    os.makedirs("build/test-logs", exist_ok=True)
    log = open(f"build/test-logs/{os.path.basename(sys.argv[0])}.moto.log", "w")
    # Not by its folder's name: this folder has a moto.py of its own, which must not be found instead.
    process = subprocess.Popen([sys.executable, "-P", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], env=env, cwd="/", stdout=log, stderr=log)
    atexit.register(process.kill)
    url = f"http://127.0.0.1:{port}"
    end = time.time() + 60
    while time.time() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url + "/moto-api/data.json", timeout=5).read()
            return url
        time.sleep(0.1)
    raise SystemExit(f"moto_server does not answer; exit {process.poll()}; see {log.name}")


class Account:
    """The outcomes of a script's calls on one account."""

    def __init__(self, name, url, keys, other=None, gaps=(), patient=False):
        self.name, self.url, self.keys, self.other, self.gaps, self.patient = name, url, keys, other, gaps, patient
        self.outcomes, self.symbols, self.clients = [], {}, {}

    def client(self, service):
        import boto3
        from botocore.config import Config
        if service not in self.clients:
            settings = Config(parameter_validation=False, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
            self.clients[service] = boto3.client(service, endpoint_url=self.url, region_name="us-east-1" if service == "pricing" else REGION, aws_access_key_id=self.keys[0],
                                                 aws_secret_access_key=self.keys[1], config=settings)
        return self.clients[service]

    def do(self, label, service, method, **parameters):
        """The answer of one call ({} where it is refused); the outcome is kept under the label."""
        wanted = self.other.outcomes[len(self.outcomes)] if self.other and len(self.outcomes) < len(self.other.outcomes) else None
        end = time.time() + PATIENCE_SECONDS
        while True:
            answer, refusal = self.call(service, method, parameters)
            symbols = dict(self.symbols)
            shown = {"refused": refusal} if refusal else {"answer": self.masked(answer)}
            repeatable = refusal or method.startswith(READS)
            fresh = self.patient and refusal and "NotFound" in refusal["code"] and NOWHERE not in str(parameters) and time.time() < end - 2.5
            if not fresh and (not wanted or not repeatable or time.time() > end or not self.unexplained(wanted, shown)):
                break
            self.symbols = symbols
            time.sleep(0.2)
        self.outcomes.append((f"{service} {method}: {label}", shown))
        return answer

    def unexplained(self, wanted, shown):
        return [each for each in difference(wanted[1], shown) if not explained(wanted[0], each[0], self.gaps)]

    def undo(self, made, service, method, **parameters):
        """Takes back, unrecorded, what an account made though it should have refused, so that it does not spoil what follows."""
        if made:
            self.call(service, method, parameters)

    def call(self, service, method, parameters):
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
        try:
            answer = getattr(self.client(service), method)(**parameters)
            status = answer.pop("ResponseMetadata")["HTTPStatusCode"]
            if "Body" in answer:
                answer["Body"] = answer["Body"].read().decode(errors="replace")
            return {**answer, "HTTPStatusCode": status}, None
        except ClientError as error:
            return {}, {"code": error.response["Error"].get("Code"), "status": error.response["ResponseMetadata"]["HTTPStatusCode"]}
        except ResponseParserError:
            return {}, {"code": "a page instead of an answer", "status": 500}
        except (BotoCoreError, KeyError, ValueError) as error:
            return {}, {"code": f"{type(error).__name__}: {error}", "status": 0}

    def symbol(self, match):
        text = match.group(0)
        if text not in self.symbols:
            kind = match.group(1)
            self.symbols[text] = f"<{kind} {sum(1 for other in self.symbols.values() if other.startswith(f'<{kind} ')) + 1}>"
        return self.symbols[text]

    def masked(self, value, key=""):
        if isinstance(value, dict):
            return {name: self.masked(each, name) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return sorted((self.masked(each, key) for each in value), key=lambda each: json.dumps(each, sort_keys=True, default=str))
        if isinstance(value, datetime.datetime):
            return "<time>"
        if isinstance(value, str):
            if key in ("NextToken", "Marker", "ContinuationToken", "NextContinuationToken", "NextMarker", "UploadId", "ClientToken"):
                return "<token>"
            if key in ("PublicIp", "PrivateIp", "PrivateIpAddress"):
                return "<address>"
            with contextlib.suppress(ValueError):
                if value.startswith("{"):
                    return self.masked(json.loads(value))
            return UNIQUE.sub(r"<\1>", ID.sub(self.symbol, value))
        return value


def difference(first, second, path=""):
    """Where two masked values differ: [(path, first, second)]. Lists of equal length are compared item by item, others as a whole."""
    if isinstance(first, dict) and isinstance(second, dict):
        found = []
        for name in sorted(set(first) | set(second)):
            below = f"{path}.{name}" if path else name
            if name not in first or name not in second:
                found.append((below, first.get(name, "(absent)"), second.get(name, "(absent)")))
            else:
                found += difference(first[name], second[name], below)
        return found
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [each for index in range(len(first)) for each in difference(first[index], second[index], f"{path}[]")]
    return [] if first == second else [(path, first, second)]


def explained(label, path, gaps):
    """The first gap that covers a difference."""
    for gap in gaps:
        if fnmatch.fnmatchcase(label, gap[0]) and fnmatch.fnmatchcase(path.replace("[]", ""), gap[1]):
            return gap
    return None


def compare(first, second, gaps, chance, check):
    """One check per call of the script. `gaps` are (label pattern, path pattern, reason): where the first account is known to be wrong or poorer; `chance`
    those that need not show in every run."""
    used = set()
    check("both accounts ran the whole script", [each[0] for each in first.outcomes] == [each[0] for each in second.outcomes],
          (len(first.outcomes), len(second.outcomes)))
    for (label, mine), (_, theirs) in zip(first.outcomes, second.outcomes):
        left = []
        for path, one, two in difference(mine, theirs):
            known = explained(label, path, gaps + chance)
            used.add(known)
            if not known:
                left.append(f"{path}: {first.name} {one!r}, {second.name} {two!r}")
        check(label, not left, "; ".join(left))
    for gap in gaps:
        check(f"still a gap of {first.name}: {gap[0]} {gap[1]}", gap in used, f"no difference is explained by it any more; take it out ({gap[2]})")
