"""The two servers of the conformance suite: a real kube-apiserver, and a cluster of the twin. Each has an address, an authority and a
caller that may all; the suite sees nothing else of them."""
import atexit
import base64
import contextlib
import http.client
import json
import os
import pathlib
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / "build/peers"
REGION = "us-west-2"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATWIN000000000000", "AWS_SECRET_ACCESS_KEY": "twin", "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true"}
TRUST = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]}


class Answer:
    """One answer: status, headers (lower-case names; `warning` is a list), body as JSON or text."""

    def __init__(self, status, headers, data):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.warnings = [value for name, value in headers if name.lower() == "warning"]
        self.text = data.decode(errors="replace")
        try:
            self.body = json.loads(self.text)
        except ValueError:
            self.body = self.text

    def at(self, path, default=None):
        value = self.body
        for part in path.split("."):
            try:
                value = value[int(part)] if isinstance(value, list) else value[part]
            except (KeyError, IndexError, TypeError, ValueError):
                return default
        return value


class Stream:
    """A watch being read: events until the server ends it or nothing came for a while."""

    def __init__(self, connection, response):
        self.connection, self.response = connection, response
        self.status = response.status

    def next(self, seconds=20):
        self.connection.sock.settimeout(seconds)
        try:
            line = self.response.readline()
        except (TimeoutError, OSError):
            return None
        return json.loads(line) if line.strip() else None

    def close(self):
        with contextlib.suppress(OSError):
            self.connection.close()


class Server:
    def __init__(self, name, url, ca_file, token):
        self.name, self.ca_file, self.token = name, ca_file, token
        parts = urllib.parse.urlsplit(url)
        self.url, self.host, self.port, self.prefix = url, parts.hostname, parts.port, parts.path.rstrip("/")
        self.context = ssl.create_default_context(cafile=ca_file)
        self.folder = tempfile.mkdtemp(prefix=f"conformance-{name}-")
        self.local = threading.local()
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        with open(self.kubeconfig, "w") as file:
            json.dump(self.config(), file)

    def config(self):
        return {"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": self.url, "certificate-authority": self.ca_file}}],
                "users": [{"name": "u", "user": {"token": self.token}}]}

    def connect(self):
        return http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=60)

    def prepared(self, body, headers, user_agent="conformance/1"):
        fields = {"Accept": "application/json", "User-Agent": user_agent, "Authorization": f"Bearer {self.token}", **(headers or {})}
        if body is None or isinstance(body, (bytes, str)):
            return body, fields
        fields.setdefault("Content-Type", "application/json")
        return json.dumps(body), fields

    def request(self, method, path, body=None, headers=None):
        data, fields = self.prepared(body, headers)
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None) or self.connect()
            self.local.connection = connection
            try:
                connection.request(method, self.prefix + path, data, fields)
                response = connection.getresponse()
                return Answer(response.status, response.getheaders(), response.read())
            except (http.client.RemoteDisconnected, ConnectionError, http.client.CannotSendRequest):
                connection.close()  # a kept connection that the server had ended
                self.local.connection = None
                if attempt == 2:
                    raise

    def watch(self, path, headers=None):
        connection = self.connect()
        _, fields = self.prepared(None, headers)
        connection.request("GET", self.prefix + path, None, fields)
        return Stream(connection, connection.getresponse())

    def kubectl(self, *words, version="", stdin=None, timeout=120):
        """(exit status, standard output, standard error)"""
        program = str(PEERS / (f"kubectl-{version}" if version else "kubectl"))
        env = {"PATH": os.environ["PATH"], "HOME": os.path.join(self.folder, f"home{version}"), "KUBECONFIG": self.kubeconfig, "KUBECTL_COMMAND_HEADERS": "false"}
        done = subprocess.run([program, *words], env=env, input=stdin, capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def official_client(self):
        """The Kubernetes project's own Python client, configured for this server."""
        from kubernetes import client
        configuration = client.Configuration()
        configuration.host, configuration.ssl_ca_cert = self.url, self.ca_file
        configuration.api_key = {"authorization": f"Bearer {self.token}"}
        return client.ApiClient(configuration)

    def compact(self):
        raise NotImplementedError


def ready_line(process, seconds):
    patience = threading.Timer(seconds, process.kill)
    patience.start()
    for line in process.stdout:
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if event.get("event") == "ready":
                patience.cancel()
                return event
    patience.cancel()
    raise SystemExit(f"{process.args[0]}: no ready line; exit {process.wait()}")


class RealServer(Server):
    def __init__(self):
        self.data = tempfile.mkdtemp(prefix="conformance-apiserver-")
        self.port, self.local = 0, threading.local()
        atexit.register(self.kill)
        ready = self.start()
        self.reader_token, self.version = ready["reader_token"], ready["version"]
        super().__init__("real", ready["url"], ready["ca"], ready["token"])

    def start(self):
        """For the first time, or again after kill(): the same address, the same objects."""
        os.makedirs(ROOT / "build/test-logs", exist_ok=True)
        log = open(ROOT / "build/test-logs/kube-apiserver.log", "a" if self.port else "w")
        self.process = subprocess.Popen([str(PEERS / "kube-apiserver"), "--data", self.data, "--port", str(self.port)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        return ready_line(self.process, 240)

    def kill(self):
        self.process.kill()
        self.process.wait()
        if connection := getattr(self.local, "connection", None):
            connection.close()
            self.local.connection = None

    def compact(self):
        self.process.stdin.write("compact\n")
        self.process.stdin.flush()
        event = json.loads(self.process.stdout.readline())
        assert event["event"] == "compacted", event

    def stop(self):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()


class TwinServer(Server):
    """`instantstart twin` with one EKS cluster, made through boto3 and entered by the AWS CLI's token."""
    CLUSTER = "conformance"

    def __init__(self, binary, version="1.34"):
        os.makedirs(ROOT / "build/test-logs", exist_ok=True)
        log = open(ROOT / "build/test-logs/conformance-twin.log", "w")
        self.data = tempfile.mkdtemp(prefix="conformance-twin-")
        self.process = subprocess.Popen([binary, "twin", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0", "--twin-speed", "6000", "--data", self.data],
                                        stdout=subprocess.PIPE, stderr=log, text=True, env={"PATH": os.environ["PATH"], "HOME": self.data})
        atexit.register(self.process.kill)
        ready = ready_line(self.process, 60)
        self.aws = ready.get("twin_aws") or ready["aws"]
        cluster = self.make_cluster(version)
        ca_file = os.path.join(self.data, "ca.pem")
        with open(ca_file, "wb") as file:
            file.write(base64.b64decode(cluster["certificateAuthority"]["data"]))
        done = subprocess.run([str(ROOT / ".venv/bin/aws"), "eks", "get-token", "--cluster-name", self.CLUSTER, "--output", "json"], capture_output=True, text=True, check=True,
                              env={**KEYS, "PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": self.aws})
        super().__init__("twin", cluster["endpoint"], ca_file, json.loads(done.stdout)["status"]["token"])

    def make_cluster(self, version):
        import boto3
        clients = {name: boto3.client(name, endpoint_url=self.aws, region_name=REGION, aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
                                      aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"]) for name in ("ec2", "iam", "eks")}
        vpc = clients["ec2"].create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        zones = [zone["ZoneName"] for zone in clients["ec2"].describe_availability_zones()["AvailabilityZones"][:2]]
        role = clients["iam"].create_role(RoleName="conformance", AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]["Arn"]
        clients["iam"].attach_role_policy(RoleName="conformance", PolicyArn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy")
        subnets = self.insist(lambda: [clients["ec2"].create_subnet(VpcId=vpc, CidrBlock=f"10.9.{i}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
                                       for i, zone in enumerate(zones)])
        self.insist(lambda: clients["eks"].create_cluster(name=self.CLUSTER, version=version, roleArn=role, resourcesVpcConfig={"subnetIds": subnets},
                                                          accessConfig={"authenticationMode": "API_AND_CONFIG_MAP", "bootstrapClusterCreatorAdminPermissions": True}))
        clients["eks"].get_waiter("cluster_active").wait(name=self.CLUSTER, WaiterConfig={"Delay": 1, "MaxAttempts": 90})
        return clients["eks"].describe_cluster(name=self.CLUSTER)["cluster"]

    @staticmethod
    def insist(action, seconds=60):
        """The account is as awkward as a real one: what was just made may not be known yet."""
        end = time.time() + seconds
        while True:
            try:
                return action()
            except Exception:
                if time.time() > end:
                    raise
                time.sleep(0.5)

    def compact(self):
        parts = urllib.parse.urlsplit(self.aws)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        connection.request("POST", f"/_twin/clusters/{self.CLUSTER}/compact", b"{}", {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()
