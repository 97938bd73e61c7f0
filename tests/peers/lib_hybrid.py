"""An account of two halves behind one endpoint: EC2, IAM, S3 and Prometheus workspaces are moto's, everything else (EKS, HyperPod, quotas, …) is the twin's.

The product sees only this endpoint. What it reads and writes of those is answered by moto. Each write that moto took is made on the twin as well,
because the twin's EKS and HyperPod look at their own networks, roles and buckets; ids are translated, so that neither half ever sees an id of the other. What
EKS makes by itself in a customer's account (the cluster security group) is made in moto once the twin shows it. Where the twin refuses a write that moto took,
the two disagree: `disagreements`."""
import collections
import contextlib
import http.client
import http.server
import re
import threading
import time
import urllib.parse

from lib_differential import ID, REGION

OF_MOTO = {"ec2", "iam", "s3", "aps"}
# Kept by the twin although the service is moto's, with the reason.
OF_TWIN = {
    "DescribeNetworkInterfaces": "the interfaces of EKS, HyperPod and load balancers exist in the twin only",
    "DeleteNetworkInterface": "see DescribeNetworkInterfaces",
    "SimulatePrincipalPolicy": "moto does not implement it",
    "BucketPolicy": "moto knows no conditions, so it takes our Deny of plain HTTP for a Deny of everything",
    "DescribeInstanceTypeOfferings": "moto knows the EC2 types alone; the twin's capacity and its offers go together",
}
READS = ("Describe", "Get", "List", "Head", "Simulate")
NOT_YET = ("NotFound", "DependencyViolation", "InUse", "NoSuchEntity", "DeleteConflict", "AlreadyAssociated", "MalformedPolicyDocument")
PATIENCE_SECONDS = 10
SKIPPED_HEADERS = {"host", "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "content-length", "connection", "accept-encoding", "expect",
                   "transfer-encoding"}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def code(self):
        found = re.search(rb"<Code>([^<]+)</Code>", self.body)
        return found.group(1).decode() if found else str(self.status)


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        scope = re.search(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/", headers.get("Authorization", ""))
        self.service = scope.group(1) if scope else ""
        self.operation = self.named()

    def named(self):
        form = urllib.parse.parse_qs(self.body.decode("latin-1")) if self.service in ("ec2", "iam") else {}
        if "Action" in form:
            return form["Action"][0]
        if self.service == "s3" and "policy" in urllib.parse.parse_qs(urllib.parse.urlsplit(self.target).query, keep_blank_values=True):
            return "BucketPolicy"
        noun = {"s3": "Object", "aps": "Workspace"}.get(self.service)
        return {"GET": "Get", "HEAD": "Head"}.get(self.method, "Put") + noun if noun else self.method

    @property
    def reads(self):
        return self.operation.startswith(READS)


class Half:
    """One of the two accounts, with requests signed anew for it."""

    def __init__(self, url, key, secret):
        self.url, self.key, self.secret = url, key, secret

    def send(self, request, target=None, body=None):
        from botocore.auth import S3SigV4Auth, SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        headers = {name: value for name, value in request.headers.items() if name.lower() not in SKIPPED_HEADERS}
        body = request.body if body is None else body
        url = self.url + (target or request.target)
        signed = AWSRequest(request.method, url, headers=headers, data=body)
        signer = S3SigV4Auth if request.service == "s3" else SigV4Auth
        signer(Credentials(self.key, self.secret), request.service, REGION).add_auth(signed)
        # Not by urllib: it adds a Content-Type of forms where there is none.
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
        with contextlib.closing(connection):
            connection.request(request.method, target or request.target, body=body or None, headers=dict(signed.headers.items()))
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())


def ids_of(body):
    seen = collections.OrderedDict()
    for match in ID.finditer(body.decode("latin-1")):
        seen.setdefault(match.group(0), match.group(1))
    return seen


class Hybrid:
    def __init__(self, moto_url, twin_url):
        self.moto, self.twin = Half(moto_url, "AKIAPEER000000000000", "peer"), Half(twin_url, "AKIATWIN000000000000", "twin")
        self.to_twin, self.to_moto = {}, {}
        self.calls, self.disagreements, self.lock = collections.Counter(), [], threading.RLock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def clients(self, service, half):
        import boto3
        chosen = self.moto if half == "moto" else self.twin
        return boto3.client(service, endpoint_url=chosen.url, region_name=REGION, aws_access_key_id=chosen.key, aws_secret_access_key=chosen.secret)

    def translated(self, data, table):
        text = data.decode("latin-1") if isinstance(data, bytes) else data
        text = ID.sub(lambda match: table.get(match.group(0), match.group(0)), text)
        return text.encode("latin-1") if isinstance(data, bytes) else text

    def pair(self, mine, theirs):
        """The new ids of two answers to the same call belong together, kind by kind and in their order."""
        new, fresh = collections.defaultdict(list), collections.defaultdict(list)
        for each, kind in ids_of(mine).items():
            if each not in self.to_twin:
                new[kind].append(each)
        for each, kind in ids_of(theirs).items():
            if each not in self.to_moto:
                fresh[kind].append(each)
        for kind in new:
            for one, other in zip(new[kind], fresh[kind]):
                self.to_twin[one], self.to_moto[other] = other, one

    def answer(self, request):
        with self.lock:
            self.calls[f"{request.service}:{request.operation}"] += 1
        if request.service not in OF_MOTO or request.operation in OF_TWIN:
            return self.from_twin(request)
        if request.operation == "DeleteSubnet":
            self.leave_tables(urllib.parse.parse_qs(request.body.decode())["SubnetId"][0])
        answer = self.moto.send(request)
        if not request.reads and answer.status < 300:
            self.shadow(request, answer)
        return answer

    def leave_tables(self, subnet):
        """On AWS a deleted subnet takes its association with a route table along; in moto it would stay and keep the table."""
        mine = self.clients("ec2", "moto")
        for table in mine.describe_route_tables(Filters=[{"Name": "association.subnet-id", "Values": [subnet]}])["RouteTables"]:
            for association in table["Associations"]:
                if association.get("SubnetId") == subnet:
                    mine.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])

    def from_twin(self, request):
        answer = self.twin.send(request, self.translated(request.target, self.to_twin), self.translated(request.body, self.to_twin))
        self.adopt(answer)
        return Answer(answer.status, answer.headers, self.translated(answer.body, self.to_moto))

    def shadow(self, request, taken):
        """The write that moto took, on the twin. New objects are known there a little later, and dependants go a little later, as on AWS."""
        end = time.time() + PATIENCE_SECONDS
        while True:
            answer = self.twin.send(request, self.translated(request.target, self.to_twin), self.translated(request.body, self.to_twin))
            if answer.status < 300 or time.time() > end or not any(word in answer.code for word in NOT_YET):
                break
            time.sleep(0.2)
        with self.lock:
            if answer.status < 300:
                self.pair(taken.body, answer.body)
            else:
                self.disagreements.append((request.service, request.operation, answer.code, answer.body[:300].decode(errors="replace")))

    def adopt(self, answer):
        """Security groups that EKS made by itself: moto gets one like it."""
        for group, kind in ids_of(answer.body).items():
            if kind != "sg" or group in self.to_moto:
                continue
            with self.lock, contextlib.suppress(Exception):
                if group in self.to_moto:
                    continue
                theirs, mine = self.clients("ec2", "twin"), self.clients("ec2", "moto")
                seen = theirs.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]
                tags = [tag for tag in seen["Tags"] if not tag["Key"].startswith("aws:")]
                made = mine.create_security_group(GroupName=seen["GroupName"], Description=seen["Description"][:255], VpcId=self.to_moto[seen["VpcId"]],
                                                  TagSpecifications=[{"ResourceType": "security-group", "Tags": tags}])["GroupId"]
                mine.authorize_security_group_ingress(GroupId=made, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": made}]}])
                self.to_twin[made], self.to_moto[group] = group, made

    def forget_groups_of_eks(self):
        """What EKS takes away with its cluster goes in moto, too."""
        theirs, mine = self.clients("ec2", "twin"), self.clients("ec2", "moto")
        left = {group["GroupId"] for group in theirs.describe_security_groups()["SecurityGroups"]}
        for group in mine.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["eks-cluster-sg-*"]}])["SecurityGroups"]:
            if self.to_twin.get(group["GroupId"]) not in left:
                with contextlib.suppress(Exception):
                    mine.delete_security_group(GroupId=group["GroupId"])

    def handler(self):
        hybrid = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, self.path, dict(self.headers.items()), body)
                try:
                    answer = hybrid.answer(request)
                except Exception as error:  # the product must see a broken account as one, and the test must say why
                    hybrid.disagreements.append((request.service, request.operation, "the proxy failed", repr(error)))
                    answer = Answer(502, [], b"")
                if request.service == "eks" and answer.status == 404:
                    hybrid.forget_groups_of_eks()
                self.send_response_only(answer.status)
                length = None
                for name, value in answer.headers:
                    if name.lower() == "content-length":
                        length = value
                    elif name.lower() not in ("connection", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = serve

        return Handler
