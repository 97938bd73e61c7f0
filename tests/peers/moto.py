"""The main job on a foreign account. EC2, IAM, S3 and Prometheus workspaces are moto's, EKS and HyperPod the twin's (lib_hybrid.py): a cluster is launched, looked at and deleted by
the product with nothing but AWS's environment variables, and moto, asked by boto3, confirms each thing that was made and that nothing is left."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
import lib_differential  # noqa: E402
import lib_hybrid  # noqa: E402
from lib import KEYS, Product, check, finish, start  # noqa: E402

# Where moto has no implementation, or none that could be used, the twin stands in. Each with what moto 5.2 does instead.
GAPS = {
    "eks": "17 of 64 operations; no add-ons, access entries, pod identity or cluster versions, and a cluster is ACTIVE at once without its accessConfig",
    "sagemaker": "no UpdateCluster, nodes or events of HyperPod; CreateCluster drops the orchestrator and fails without ThreadsPerCore",
    "servicequotas": "ListServiceQuotas is not implemented",
    "sts": "EKS tokens are verified by the twin, which knows its own keys alone",
    "logs": "EKS writes its log group on the twin's side",
    "elasticloadbalancing": "the load balancer controller's balancers are in the twin",
    "pricing": "no price of a HyperPod instance is in its list",
}


class OnMoto(Product):
    """`serve --no-twin`, told of the account by the environment alone."""

    def __init__(self, environment):
        self.folder = tempfile.mkdtemp(prefix="instantstart-peers-")
        self.log = open("build/test-logs/moto.server.log", "w")
        self.arguments = ["serve", "--no-twin", "--listen", "127.0.0.1:0", "--data", self.folder + "/data"]
        self.process, self.ready = start(self.arguments, env=environment, log=self.log)
        self.url = self.ready["console"]


def failed_steps(operation):
    return [(step["id"], step.get("state"), step.get("error") or step.get("message")) for step in operation.get("steps", []) if step.get("state") != "succeeded"] or operation


def tagged(client, method, member, **more):
    found = getattr(client, method)(Filters=[{"Name": "tag:instantstart:cluster", "Values": ["demo"]}], **more)[member]
    return [each for each in found if each.get("State") != "deleted"]


def seen_by_moto(hybrid):
    """What moto has of the cluster: how many of each kind."""
    ec2, iam, s3 = (hybrid.clients(service, "moto") for service in ("ec2", "iam", "s3"))
    roles = [role["RoleName"] for role in iam.list_roles()["Roles"] if role["RoleName"].startswith("instantstart-demo")]
    return {"vpcs": len(tagged(ec2, "describe_vpcs", "Vpcs")), "subnets": len(tagged(ec2, "describe_subnets", "Subnets")),
            "gateways": len(tagged(ec2, "describe_internet_gateways", "InternetGateways")), "tables": len(tagged(ec2, "describe_route_tables", "RouteTables")),
            "addresses": len(tagged(ec2, "describe_addresses", "Addresses")), "groups": len(tagged(ec2, "describe_security_groups", "SecurityGroups")),
            "nats": len([nat for nat in ec2.describe_nat_gateways(Filter=[{"Name": "tag:instantstart:cluster", "Values": ["demo"]}])["NatGateways"] if nat["State"] != "deleted"]),
            "endpoints": len([each for each in tagged(ec2, "describe_vpc_endpoints", "VpcEndpoints") if each["State"] != "deleted"]),
            "roles": len(roles), "providers": len(iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]), "buckets": len(s3.list_buckets()["Buckets"])}


def main():
    twin, ready = start(["twin", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0", "--twin-speed", "600", "--data", tempfile.mkdtemp(prefix="instantstart-peers-")])
    hybrid = lib_hybrid.Hybrid(lib_differential.start_moto(), ready["twin_aws"])
    # The caller's own role, of the same path in both halves: the product asks IAM for it.
    path = hybrid.clients("iam", "twin").get_role(RoleName="instantstart-admin")["Role"]["Path"]
    hybrid.clients("iam", "moto").create_role(RoleName="instantstart-admin", Path=path, AssumeRolePolicyDocument='{"Version": "2012-10-17", "Statement": []}')
    product = OnMoto({**KEYS, "AWS_ENDPOINT_URL": hybrid.url, "AWS_ENDPOINT_URL_STS": ready["twin_aws"]})
    try:
        status, environment = product.api("GET", "/environment")
        check("the product does not know whom it talks to", status == 200 and environment["environment"]["backend"] == "aws", environment)
        body = {"name": "demo", "storage": {"kind": "s3"}, "tags": {"team": "research"},
                "instance_groups": [{"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 1, "zone": "us-west-2a"}]}
        launched = product.run("POST", "/clusters/launch", body, limit=900)
        check("cluster.launch ends well on moto's EC2, IAM and S3", launched["state"] == "succeeded", failed_steps(launched))
        made = seen_by_moto(hybrid)
        print("made:", made, flush=True)
        check("moto holds every kind of thing", all(made.values()) and made["subnets"] >= 5, made)
        reads = sum(count for name, count in hybrid.calls.items() if name.split(":")[0] in lib_hybrid.OF_MOTO)
        check("most calls went to moto", reads > 100, hybrid.calls)
        status, seen = product.api("GET", "/clusters/demo")
        check("cluster.get sees it", status == 200 and seen["cluster"]["name"] == "demo", seen)
        status, again = product.api("POST", "/clusters/launch", body)
        check("the same launch again is refused: it exists", status == 409, again)
        removed = product.run("DELETE", "/clusters/demo", {"confirm": "demo", "delete_buckets": True}, limit=900)
        check("cluster.delete ends well", removed["state"] == "succeeded", failed_steps(removed))
        left = seen_by_moto(hybrid)
        check("moto has nothing left", not any(left.values()), left)
        known = {service for service in {name.split(":")[0] for name in hybrid.calls} - lib_hybrid.OF_MOTO}
        check("every service that is not moto's is in the list of gaps", known <= set(GAPS), known)
        check("moto and the twin took the same writes", not hybrid.disagreements, hybrid.disagreements)
    finally:
        product.stop()
        twin.terminate()
        twin.wait(20)
    finish()


main()
