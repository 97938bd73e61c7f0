#!/usr/bin/env python3
"""What the client finds in its surroundings against botocore: the same credentials from the same files, variables and
local services; the same endpoint for every service, region and switch; the same reading of configuration files.

    surroundings.py BINARY [SEED]     cases_test must stand beside BINARY; SEED replays the made-up files

The services (instance metadata, container, STS, SSO) are one local server. The keys that it gives are a digest of what
was asked and by whom, so that equal keys mean equal requests. Where we differ on purpose, the case says so."""

import hashlib
import http.server
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HOME = pathlib.Path(tempfile.mkdtemp(prefix="instantstart-surroundings-"))
# botocore fixes some paths when it is loaded.
for name in [each for each in os.environ if each.startswith("AWS_") or each.lower().endswith("_proxy")]:
    del os.environ[name]
os.environ["HOME"] = str(HOME)

import botocore.configloader  # noqa: E402
import botocore.credentials  # noqa: E402
import botocore.exceptions  # noqa: E402
import botocore.loaders  # noqa: E402
import botocore.session  # noqa: E402
from botocore.endpoint_provider import EndpointProvider  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = pathlib.Path(sys.argv[1]).resolve().parent / "cases_test"
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**9)
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    if holds:
        passed += 1
        return
    failed += 1
    print(f"FAIL {what}: {detail}")


def ask(test, environment=None):
    """Runs one test of cases_test and returns its answers."""
    answers = HOME / "answers.json"
    answers.unlink(missing_ok=True)
    env = {"HOME": str(HOME), "PATH": os.environ["PATH"], "INSTANTSTART_ANSWERS": str(answers), **(environment or {})}
    done = subprocess.run([CASES, f"--gtest_filter=Surroundings.{test}"], env=env, capture_output=True, text=True, timeout=120)
    if done.returncode or not answers.exists():
        sys.exit(f"cases_test {test}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(answers.read_text())


# --- the local services ------------------------------------------------------------------------------------------------

LATER = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))


def keys_for(*facts):
    return "ASIA" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16].upper()


class Services(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    broken = set()  # paths that answer 500

    def log_message(self, *_):
        pass

    def say(self, body, status=200, kind="application/json"):
        data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_PUT(self):
        self.body()
        self.say("session" if self.path == "/latest/api/token" else "", kind="text/plain")

    def do_GET(self):
        path, _, query = self.path.partition("?")
        folder = "/latest/meta-data/iam/security-credentials/"
        document = {"Code": "Success", "SecretAccessKey": "s", "Token": "t", "Expiration": LATER}
        if path in self.broken:
            self.say("<html>broken</html>", 500, "text/html")
        elif path.startswith(folder) and self.headers.get("x-aws-ec2-metadata-token") != "session":
            self.say("", 401)
        elif path == folder:
            self.say("the-role", kind="text/plain")
        elif path == folder + "the-role":
            self.say({**document, "AccessKeyId": keys_for("instance", "the-role")})
        elif path.startswith("/container"):
            self.say({**document, "AccessKeyId": keys_for("container", self.path, self.headers.get("Authorization"))})
        elif path == "/federation/credentials":
            facts = sorted(urllib.parse.parse_qsl(query)) + [self.headers.get("x-amz-sso_bearer_token")]
            self.say({"roleCredentials": {"accessKeyId": keys_for("sso", facts), "secretAccessKey": "s", "sessionToken": "t",
                                          "expiration": int(time.time() * 1000) + 3600000}})
        else:
            self.say({"message": "not here"}, 404)

    def do_POST(self):
        body = self.body().decode()
        if self.path == "/token":
            asked = json.loads(body)
            self.say({"accessToken": keys_for("token", asked), "expiresIn": 28800, "tokenType": "Bearer"})
            return
        form = dict(urllib.parse.parse_qsl(body))
        if form.get("RoleArn", "").endswith("denied"):
            self.say("<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized</Message></Error>"
                     "<RequestId>r</RequestId></ErrorResponse>", 403, "text/xml")
            return
        caller = self.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0]
        form.pop("Version")
        if not form.get("RoleSessionName", "").startswith("mine"):
            form.pop("RoleSessionName", None)  # each program has a name of its own
        action = form["Action"]
        self.say(f"<{action}Response xmlns='https://sts.amazonaws.com/doc/2011-06-15/'><{action}Result><Credentials><AccessKeyId>"
                 f"{keys_for('sts', caller, sorted(form.items()))}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t"
                 f"</SessionToken><Expiration>{LATER}</Expiration></Credentials></{action}Result></{action}Response>", kind="text/xml")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Services)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_address[1]}"

# --- credentials -------------------------------------------------------------------------------------------------------

KEYS = "aws_access_key_id = AKIAKEYS\naws_secret_access_key = s\n"
ENV_KEYS = {"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "s"}
SESSION = "[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp.example/start\n"
SSO = "[default]\nsso_session = corp\nsso_account_id = 111122223333\nsso_role_name = Admin\n" + SESSION
CONTAINER = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{URL}/container/x?y=1"}
PROCESS = HOME / "give keys.sh"
PROCESS.write_text("#!/bin/sh\necho noise >&2\nprintf '{\"Version\":1,\"AccessKeyId\":\"AKIA%s\",\"SecretAccessKey\":\"s\"}' \"$1\"\n")
PROCESS.chmod(0o755)
FAILING = HOME / "fail.sh"
FAILING.write_text("#!/bin/sh\necho no way >&2\nexit 3\n")
FAILING.chmod(0o755)


def token(hours, **more):
    made = {"accessToken": "tok", "expiresAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + hours * 3600)), **more}
    return json.dumps(made)


RENEWAL = {"refreshToken": "ref", "clientId": "c", "clientSecret": "cs", "registrationExpiresAt": "2099-01-01T00:00:00Z"}


def role(*lines, name="default"):
    return (f"[{name}]\n" if name == "default" else f"[profile {name}]\n") + "role_arn = arn:aws:iam::1:role/r\n" + "\n".join(lines) + "\n"


# Name, config file, credentials file, variables, further: `files` below the home, `ours`: what we give where we differ
# on purpose ("" = an error), with the reason in `why`.
CASES_OF_CREDENTIALS = [
    ("environment", "", "", ENV_KEYS),
    ("environment before a profile", "[default]\n" + KEYS, "", ENV_KEYS),
    ("environment, half", "", "", {"AWS_ACCESS_KEY_ID": "A"}),
    ("environment, the other half", "", "[default]\n" + KEYS, {"AWS_SECRET_ACCESS_KEY": "s"}),
    ("instance", "", "", {}),
    ("instance switched off", "", "", {"AWS_EC2_METADATA_DISABLED": "TRUE"}),
    ("instance with an odd mode", "", "", {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "v5"}),
    ("container", "", "", CONTAINER),
    ("container with a token", "", "", {**CONTAINER, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Bearer x"}),
    ("container with a token file", "", "", {**CONTAINER, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Bearer x",
                                             "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(HOME / "pod")}, {"files": {"pod": "pod-token"}}),
    ("container with a token file that is gone", "", "", {**CONTAINER, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(HOME / "gone")}),
    ("container with a line break in its token", "", "", {**CONTAINER, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "a\nb"}),
    ("container on a host that may not be asked", "", "", {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://192.0.2.1/x"}),
    ("container that is broken", "", "", {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{URL}/broken"}),
    ("container after a profile", "[default]\n" + KEYS, "", CONTAINER),
    ("keys in the config file", "[default]\nregion = r\n" + KEYS, "", {}),
    ("keys in the credentials file", "", "[default]\n" + KEYS, {}),
    ("keys in both", "[default]\naws_access_key_id = OTHER\naws_secret_access_key = o\n", "[default]\n" + KEYS, {}),
    ("keys in halves of both files", "[default]\naws_secret_access_key = s\n", "[default]\naws_access_key_id = AKIA\n", {},
     {"ours": "AKIA", "why": "the two files are one profile, as in the other SDKs"}),
    ("half of the keys", "", "[default]\naws_access_key_id = A\n", {}),
    ("the other half of the keys", "", "[default]\naws_secret_access_key = A\n", {}),
    ("a profile", "[profile dev]\n" + KEYS, "", {"AWS_PROFILE": "dev"}),
    ("a profile by the older variable", "[profile dev]\n" + KEYS, "", {"AWS_DEFAULT_PROFILE": "dev"}),
    ("a profile with a quoted name", '[profile "a b"]\n' + KEYS, "", {"AWS_PROFILE": "a b"}),
    ("a profile that is in neither file", "[profile dev]\n" + KEYS, "", {"AWS_PROFILE": "gone"}),
    ("files elsewhere", "", "", {"AWS_CONFIG_FILE": "~/elsewhere"}, {"files": {"elsewhere": "[default]\n" + KEYS}}),
    ("a file that cannot be understood", "nonsense\n", "[default]\n" + KEYS, {}),
    ("role with a source profile", role("source_profile = base") + "[profile base]\n" + KEYS, "", {}),
    ("role with a source in the credentials file", role("source_profile = base"), "[base]\n" + KEYS, {}),
    ("role with all its settings", role("source_profile = base", "external_id = xx", "duration_seconds = 900", "role_session_name = mine"),
     "[base]\n" + KEYS, {}),
    ("role of its own profile's keys", role("source_profile = default"), "[default]\n" + KEYS, {}),
    ("role of a role", role("source_profile = middle") + role("source_profile = base", "external_id = yy", name="middle"), "[base]\n" + KEYS, {}),
    ("role whose source has keys and a role", role("source_profile = middle") + role("source_profile = base", name="middle"),
     "[base]\n" + KEYS + "[middle]\naws_access_key_id = MIDDLE\naws_secret_access_key = s\n", {}),
    ("roles in a ring", role("source_profile = a") + role("source_profile = default", name="a"), "", {}),
    ("role without a source", role(), "", {}),
    ("role with two sources", role("source_profile = base", "credential_source = Environment"), "[base]\n" + KEYS, {}),
    ("role with a source that is gone", role("source_profile = gone"), "", {}),
    ("role with a source without credentials", role("source_profile = empty") + "[profile empty]\nregion = r\n", "", {}),
    ("role from the instance", role("credential_source = Ec2InstanceMetadata"), "", {}),
    ("role from the instance, not from the container", role("credential_source = Ec2InstanceMetadata"), "", CONTAINER),
    ("role from the container", role("credential_source = EcsContainer"), "", CONTAINER),
    ("role from a container that is not there", role("credential_source = EcsContainer"), "", {}),
    ("role from the environment that is not there", role("credential_source = Environment"), "", {}),
    ("role from an odd source", role("credential_source = Elsewhere"), "", {}),
    ("role that is denied", role("source_profile = base").replace("/r\n", "/denied\n"), "[base]\n" + KEYS, {}),
    ("role whose source is a process", role("source_profile = base") + f"[profile base]\ncredential_process = '{PROCESS}' X\n", "", {}),
    ("role whose source is SSO", role("source_profile = base") + SSO.replace("[default]", "[profile base]"), "", {},
     {"files": {"corp": token(5)}}),
    ("role with an odd duration", role("source_profile = base", "duration_seconds = long"), "[base]\n" + KEYS, {},
     {"ours": "", "why": "a duration that is no number is an error, not left out"}),
    ("web identity", "", "[default]\n" + KEYS, {"AWS_WEB_IDENTITY_TOKEN_FILE": str(HOME / "jwt"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/w"},
     {"files": {"jwt": "the.web.token"}}),
    ("web identity with a session name", "", "", {"AWS_WEB_IDENTITY_TOKEN_FILE": str(HOME / "jwt"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/w",
                                                 "AWS_ROLE_SESSION_NAME": "mine2"}, {"files": {"jwt": "the.web.token"}}),
    ("web identity without a role", "", "", {"AWS_WEB_IDENTITY_TOKEN_FILE": str(HOME / "jwt")}, {"files": {"jwt": "t"}}),
    ("web identity with a file that is gone", "", "", {"AWS_WEB_IDENTITY_TOKEN_FILE": str(HOME / "gone"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/w"}),
    ("web identity of a profile", role(f"web_identity_token_file = {HOME / 'jwt'}", "role_session_name = mine3"), "", {}, {"files": {"jwt": "web-token"}}),
    ("web identity in halves", role("region = r").replace("role_arn", "role_arn"), "", {"AWS_WEB_IDENTITY_TOKEN_FILE": str(HOME / "jwt")},
     {"files": {"jwt": "web-token"}}),
    ("role of a web identity", role("source_profile = w") + role(f"web_identity_token_file = {HOME / 'jwt'}", name="w"), "", {}, {"files": {"jwt": "web-token"}}),
    ("process", f"[default]\ncredential_process = '{PROCESS}' \"P 1\"\n", "", {}),
    ("process and keys in the config file", f"[default]\ncredential_process = '{PROCESS}' P\n" + KEYS, "", {}),
    ("process and keys in the credentials file", f"[default]\ncredential_process = '{PROCESS}' P\n", "[default]\n" + KEYS, {}),
    ("process that fails", f"[default]\ncredential_process = {FAILING}\n", "", {}),
    ("process that is gone", "[default]\ncredential_process = /nowhere/x\n", "", {}),
    ("process with open quotes", "[default]\ncredential_process = 'x\n", "", {}),
    ("SSO by a session", SSO, "", {}, {"files": {"corp": token(5)}}),
    ("SSO before keys", SSO.replace("sso_session", KEYS + "sso_session"), "", {}, {"files": {"corp": token(5)}}),
    ("SSO with a token to renew", SSO, "", {}, {"files": {"corp": token(0.1, **RENEWAL)}}),
    ("SSO with an expired token to renew", SSO, "", {}, {"files": {"corp": token(-1, **RENEWAL)}}),
    ("SSO with an expired token", SSO, "", {}, {"files": {"corp": token(-1)}}),
    ("SSO without a token", SSO, "", {}),
    ("SSO of the older form", "[default]\nsso_region = eu-west-1\nsso_start_url = https://old.example\nsso_account_id = 2\nsso_role_name = R\n", "", {},
     {"files": {"https://old.example": token(5)}}),
    ("SSO without its session", SSO.replace("[sso-session corp]", "[sso-session other]"), "", {}, {"files": {"corp": token(5)}}),
    ("SSO without a role", SSO.replace("sso_role_name = Admin\n", ""), "", {}, {"files": {"corp": token(5)}}),
    ("SSO whose session says otherwise", SSO + "sso_account_id = 9\n", "", {}, {"files": {"corp": token(5)}}),
    ("role through a proxy", role("source_profile = base"), "[base]\n" + KEYS,
     {"AWS_ENDPOINT_URL_STS": "http://sts.proxied.example", "HTTP_PROXY": URL, "NO_PROXY": "127.0.0.1"}),
    ("role through a proxy, by the profile's services", role("source_profile = base", "services = s") + "[services s]\nsts =\n  endpoint_url = "
     "http://sts.proxied.example\n", "[base]\n" + KEYS, {"AWS_ENDPOINT_URL_STS": "", "http_proxy": URL, "NO_PROXY": "127.0.0.1"}),
    ("keys with a comment behind", "", "[default]\naws_access_key_id = AKIA # mine\naws_secret_access_key = s\n", {}),
    ("environment with a profile that is gone", "", "", {**ENV_KEYS, "AWS_PROFILE": "gone"},
     {"ours": "AKIAENV", "why": "the environment is read before any file"}),
    ("both profile variables", "[profile a]\naws_access_key_id = PA\naws_secret_access_key = s\n[profile b]\naws_access_key_id = PB\n"
     "aws_secret_access_key = s\n", "", {"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": "b"},
     {"ours": "PA", "why": "AWS_PROFILE is the name that all SDKs read"}),
]


def botocore_key(environment):
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        session = botocore.session.Session()
        session.set_config_variable("region", "us-west-2")
        resolver = botocore.credentials.create_credential_resolver(session, region_name="us-west-2")
        found = resolver.load_credentials()
        return found.get_frozen_credentials().access_key if found else ""
    except Exception as error:  # botocore raises many kinds; any is a refusal
        return f"error {type(error).__name__}: {error}"
    finally:
        os.environ.clear()
        os.environ.update(before)


def settled(home_files):
    """The files of a case; those of the SSO cache are named by what is signed in to."""
    shutil.rmtree(HOME / ".aws", ignore_errors=True)
    cache = HOME / ".aws/sso/cache"
    cache.mkdir(parents=True)
    for name, text in home_files.items():
        is_token = text.startswith('{"accessToken"')
        target = cache / (hashlib.sha1(name.encode()).hexdigest() + ".json") if is_token else HOME / name
        target.write_text(text)


def compare_credentials():
    Services.broken = {"/broken"}
    always = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": URL, "AWS_ENDPOINT_URL_STS": URL, "AWS_ENDPOINT_URL_SSO": URL, "AWS_ENDPOINT_URL_SSO_OIDC": URL}
    botocore.utils.ContainerMetadataFetcher.SLEEP_TIME = 0
    resolved = 0
    for name, config, credentials, environment, *more in CASES_OF_CREDENTIALS:
        extra = more[0] if more else {}
        found = []
        for resolve in (botocore_key, lambda env: ask("credentials", {**env, "INSTANTSTART_ASK_CREDENTIALS": "1"})["credentials"]):
            settled({**extra.get("files", {}), ".aws/config": config, ".aws/credentials": credentials})
            found.append(resolve({**always, **environment}))
        theirs, ours = found
        key = ours.get("access_key", "")
        resolved += key != "" and key == theirs
        refused = theirs == "" or theirs.startswith("error ")
        if "ours" in extra:
            check(f"credentials, {name} (on purpose: {extra['why']})", key == extra["ours"] and key != theirs, f"{ours}; botocore: {theirs}")
        else:
            check(f"credentials, {name}", (key == "" if refused else key == theirs), f"{ours}; botocore: {theirs}")
        check(f"credentials, {name}: a refusal has words", key != "" or len(ours.get("error", "")) > 20, ours)
    # Else two wrongs, or a local service that does not work, could pass for agreement.
    check("credentials: most cases that should have keys have them", resolved >= 38, resolved)


# --- endpoints ---------------------------------------------------------------------------------------------------------

def compare_endpoints():
    tool = subprocess.run([sys.executable, ROOT / "tools/models/endpoints.py", "--check"], capture_output=True, text=True)
    check("data/endpoints.json is as its tool makes it", tool.returncode == 0, tool.stderr)
    loader = botocore.loaders.Loader()
    partitions = loader.load_data("partitions")
    services = sorted(json.loads((ROOT / "tools/models/operations.json").read_text()))
    regions = sorted({r for p in partitions["partitions"] for r in p["regions"] if not r.endswith("-global")})
    regions += ["us-new-7", "cn-new-7", "us-gov-new-7", "eu-isoe-new-7", "us-iso-new-7", "us-isob-new-7", "us-isof-new-7", "eusc-de-new-7", "moon-base-1"]
    asked, expected = [], []
    for service in services:
        provider = EndpointProvider(loader.load_service_model(service, "endpoint-rule-set-1"), partitions)
        for region in regions:
            for fips in (False, True):
                for dual in (False, True):
                    given = {"Region": region, "UseFIPS": fips, "UseDualStack": dual}
                    if "UseGlobalEndpoint" in provider.ruleset.parameters:
                        given["UseGlobalEndpoint"] = False  # the regional one, as we always take
                    if service == "pricing":
                        # On purpose: the price list is asked at its home, whichever region prices are wanted for.
                        partition = next((p["id"] for p in partitions["partitions"] if region in p["regions"]), None)
                        given["Region"] = {"aws": "us-east-1", "aws-cn": "cn-northwest-1"}.get(
                            partition or {"us-new-7": "aws", "moon-base-1": "aws", "cn-new-7": "aws-cn"}.get(region), region)
                    try:
                        found = provider.resolve_endpoint(**given)
                        schemes = found.properties.get("authSchemes", [])
                        signed = next((s["signingRegion"] for s in schemes if "signingRegion" in s), given["Region"])
                        expected.append((found.url, signed))
                    except botocore.exceptions.EndpointProviderError:
                        expected.append(None)
                    asked.append({"service": service, "region": region, "fips": fips, "dual_stack": dual})
    (HOME / "asked.json").write_text(json.dumps(asked))
    answers = ask("endpoints", {"INSTANTSTART_ASK_ENDPOINTS": str(HOME / "asked.json")})
    for question, answer, right in zip(asked, answers, expected, strict=True):
        ours = (answer["url"], answer["signed"]) if "url" in answer else None
        check(f"endpoint {question}", ours == right, f"{answer}; botocore: {right}")


# --- configuration files -----------------------------------------------------------------------------------------------

def random_file(rng):
    pieces = ["[default]", "[profile a]", "[services s]", "[sso-session x]", "key = value", "Key: v", "  nested = 1", "\tdeep = a = b", "s3 =", "# note", "; note",
              "  # inner", "", "   ", "x = 1 # tail", "[DEFAULT]", "bare", "= v", "[open", "k = [v]", "region=us-west-2", "role_arn = arn:aws:iam::1:role/x", "    lone",
              "[a] tail", "é = ü", "t =   spaced  ", "[]", "a=b=c:d", "a:b=c"]
    weights = [4] * 9 + [2] * (len(pieces) - 9)
    text, ending = "", rng.choice(["\n", "\n", "\r\n"])
    for _ in range(rng.randrange(0, 14)):
        line = rng.choices(pieces, weights)[0]
        if line.endswith("value") and rng.random() < 0.5:
            line = line.replace("key", f"key{rng.randrange(9)}")
        text += line + ending
    return text if rng.random() < 0.9 else text.rstrip()


def compare_files():
    rng = random.Random(SEED)
    texts = [random_file(rng) for _ in range(3000)]
    (HOME / "asked.json").write_text(json.dumps(texts))
    answers = ask("ini_files", {"INSTANTSTART_ASK_INI": str(HOME / "asked.json")})
    path = HOME / "one.ini"
    for text, ours in zip(texts, answers, strict=True):
        path.write_bytes(text.encode())
        try:
            theirs = botocore.configloader.raw_config_parse(str(path))
        except botocore.exceptions.ConfigParseError:
            theirs = None
        check(f"file {text!r} (seed {SEED})", ours == theirs, f"{ours}; botocore: {theirs}")


def main():
    compare_endpoints()
    compare_files()
    compare_credentials()
    server.shutdown()
    shutil.rmtree(HOME, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
