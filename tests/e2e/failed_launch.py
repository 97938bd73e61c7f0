"""A launch that fails early leaves nothing that deleting does not find; one failed step does not keep an operation running."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Product, check, finish  # noqa: E402

GROUP = {"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 1, "zone": "us-west-2a"}
product = Product()


def account():
    iam, s3, ec2 = product.boto("iam"), product.boto("s3"), product.boto("ec2")
    return {"roles": sorted(r["RoleName"] for r in iam.list_roles()["Roles"] if r["RoleName"].startswith("instantstart-") and r["Path"] == "/"),
            "buckets": [b["Name"] for b in s3.list_buckets()["Buckets"]],
            "vpcs": len(ec2.describe_vpcs()["Vpcs"]), "addresses": ec2.describe_addresses()["Addresses"],
            "eks": product.boto("eks").list_clusters()["clusters"]}


def denied(service, operation):
    fault = {"service": service, "operation": operation, "kind": "error", "code": "AccessDenied", "status": 403}
    return product.twin("POST", "/faults", fault)["id"]


try:
    before = account()
    for name, service, operation in (("early", "ec2", "CreateVpc"), ("later", "iam", "CreateRole"), ("gateway", "ec2", "CreateInternetGateway")):
        fault = denied(service, operation)
        op = product.run("POST", "/clusters/launch", {"name": name, "storage": {"kind": "s3"}, "instance_groups": [GROUP]})
        check(f"{operation} denied: the launch fails and says so", op["state"] == "failed" and "AccessDenied" in str(op.get("error")), op.get("error"))
        product.twin("DELETE", f"/faults/{fault}")
        op = product.run("DELETE", f"/clusters/{name}", {"confirm": name})
        check(f"{operation} denied: what was made is deleted", op["state"] == "succeeded", op)
        check(f"{operation} denied: the account is as before", account() == before, (before, account()))

    fault = denied("ec2", "CreateVpc")
    op = product.run("POST", "/clusters/launch", {"name": "again", "instance_groups": [GROUP]})
    check("it fails once", op["state"] == "failed", op)
    product.twin("DELETE", f"/faults/{fault}")
    op = product.run("POST", f"/operations/{op['id']}/retry", {})
    check("and a retry takes it to the end", op["state"] == "succeeded", op)
    op = product.run("DELETE", "/clusters/again", {"confirm": "again"})
    check("and it is deleted", op["state"] == "succeeded" and account() == before, (op, account()))

    s3 = product.boto("s3")
    bucket = "sagemaker-mine-111122223333-us-west-2"
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket=bucket, Key="data", Body=b"mine")
    op = product.run("POST", "/clusters/launch", {"name": "mine", "storage": {"kind": "s3"}, "instance_groups": [GROUP]})
    check("a user's bucket of our name is never adopted", op["state"] == "failed" and op["error"].get("code") == "not_ours", op.get("error"))
    op = product.run("DELETE", "/clusters/mine", {"confirm": "mine", "delete_buckets": True})
    check("nor deleted", op["state"] == "succeeded" and bucket in account()["buckets"], (op, account()))
finally:
    product.stop()
finish()
