"""A user with only the AWS CLI and kubectl finds, describes and deletes what was made; the command line of the product itself."""
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import BINARY, Product, check, finish  # noqa: E402

product = Product()
try:
    aws = lambda *words: product.shell("aws", "--output", "json", *words)  # noqa: E731
    kubectl = lambda *words, **options: product.shell("kubectl", "--request-timeout=30s", *words, **options)  # noqa: E731
    call = lambda *words: product.shell(BINARY, *words)  # noqa: E731

    code, text = aws("sts", "get-caller-identity")
    check("aws sts get-caller-identity", code == 0 and "111122223333" in text, text)
    code, text = call("call", "environment.get", "--json")
    check("call environment.get --json", code == 0 and json.loads(text)["environment"]["backend"] == "twin", text)
    code, text = call("call", "cluster.create", "--name", "Bad_Name")
    check("call says what is wrong with a field and fails", code != 0 and "name" in text, text)
    zone = product.api("GET", "/zones?instance_type=ml.g5.12xlarge")[1]["zones"][0]["name"]
    body = {"name": "demo", "storage": {"kind": "s3"}, "tags": {"team": "research"},
            "instance_groups": [{"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2, "zone": zone}]}
    code, text = product.shell(BINARY, "call", "cluster.launch", "--body", "-", "--wait", stdin=json.dumps(body), timeout=400)
    check("call cluster.launch --wait ends well", code == 0, text[-800:])
    operation = product.api("GET", "/operations?resource=cluster/demo")[1]["operations"][0]
    code, text = call("watch", operation["id"])
    check("watch of an ended operation shows its end", code == 0 and "succeeded" in text, text)
    code, text = call("doctor")
    check("doctor finds the account in order", code == 0 and text.strip(), text)
    code, text = call("call", "cluster.get", "--cluster", "demo")
    check("call prints a cluster for people", code == 0 and "demo" in text, text)

    code, text = aws("eks", "describe-cluster", "--name", "demo")
    tags = json.loads(text)["cluster"]["tags"] if code == 0 else {}
    check("EKS carries our tags and the user's", tags.get("instantstart:cluster") == "demo" and tags.get("team") == "research", text)
    code, text = aws("sagemaker", "describe-cluster", "--cluster-name", "demo")
    check("aws sagemaker describe-cluster", code == 0 and json.loads(text)["NodeRecovery"] == "Automatic", text)
    code, text = aws("ec2", "describe-vpcs", "--filters", "Name=tag:instantstart:cluster,Values=demo")
    check("the VPC is found by its tag", code == 0 and len(json.loads(text)["Vpcs"]) == 1, text)
    code, text = aws("ec2", "describe-subnets", "--filters", "Name=tag:team,Values=research")
    check("the user's tags are on subnets too", code == 0 and json.loads(text)["Subnets"], text)

    vpc = json.loads(aws("ec2", "describe-vpcs", "--filters", "Name=tag:instantstart:cluster,Values=demo")[1])["Vpcs"][0]["VpcId"]
    role = json.loads(aws("eks", "describe-cluster", "--name", "demo")[1])["cluster"]["roleArn"].rsplit("/", 1)[-1]
    bucket = next((each["Name"] for each in json.loads(aws("s3api", "list-buckets")[1])["Buckets"] if "demo" in each["Name"]), "none")
    in_vpc = ["--filters", f"Name=vpc-id,Values={vpc}"]
    # The command line's own parsing of answers of each service and protocol: an answer, and the member that a user looks for in it.
    for words, member in ((["ec2", "describe-route-tables", *in_vpc], "RouteTables"), (["ec2", "describe-security-groups", *in_vpc], "SecurityGroups"),
                          (["ec2", "describe-nat-gateways", "--filter", f"Name=vpc-id,Values={vpc}"], "NatGateways"), (["ec2", "describe-vpc-endpoints", *in_vpc], "VpcEndpoints"),
                          (["ec2", "describe-internet-gateways", "--filters", f"Name=attachment.vpc-id,Values={vpc}"], "InternetGateways"),
                          (["ec2", "describe-network-interfaces", *in_vpc], "NetworkInterfaces"), (["ec2", "describe-addresses"], "Addresses"),
                          (["ec2", "describe-security-group-rules"], "SecurityGroupRules"), (["ec2", "describe-availability-zones"], "AvailabilityZones"),
                          (["eks", "list-clusters"], "clusters"), (["eks", "list-addons", "--cluster-name", "demo"], "addons"),
                          (["eks", "describe-addon", "--cluster-name", "demo", "--addon-name", "vpc-cni"], "addon"),
                          (["eks", "list-access-entries", "--cluster-name", "demo"], "accessEntries"), (["eks", "describe-addon-versions"], "addons"),
                          (["sagemaker", "list-clusters"], "ClusterSummaries"), (["sagemaker", "list-cluster-nodes", "--cluster-name", "demo"], "ClusterNodeSummaries"),
                          (["sagemaker", "list-cluster-events", "--cluster-name", "demo"], "Events"), (["iam", "get-role", "--role-name", role], "Role"),
                          (["iam", "list-attached-role-policies", "--role-name", role], "AttachedPolicies"),
                          (["iam", "list-open-id-connect-providers"], "OpenIDConnectProviderList"), (["s3api", "get-bucket-tagging", "--bucket", bucket], "TagSet"),
                          (["s3api", "list-objects-v2", "--bucket", bucket], "Contents"), (["s3api", "get-public-access-block", "--bucket", bucket], "PublicAccessBlockConfiguration"),
                          (["service-quotas", "list-service-quotas", "--service-code", "sagemaker"], "Quotas"), (["logs", "describe-log-groups"], "logGroups"),
                          (["elbv2", "describe-load-balancers"], "LoadBalancers")):
        code, text = aws(*words)
        check("aws " + " ".join(words[:2]), code == 0 and member in json.loads(text), text)
    for words, says in ((["ec2", "describe-vpcs", "--vpc-ids", "vpc-0123456789abcdef0"], "InvalidVpcID.NotFound"), (["eks", "describe-cluster", "--name", "none"], "ResourceNotFoundException"),
                        (["sagemaker", "describe-cluster", "--cluster-name", "none"], "ResourceNotFound"), (["iam", "get-role", "--role-name", "none"], "NoSuchEntity"),
                        (["s3api", "get-bucket-tagging", "--bucket", "no-such-bucket-at-all"], "NoSuchBucket")):
        code, text = aws(*words)
        check("aws " + " ".join(words[:2]) + f" of nothing: {says}", code != 0 and f"({says})" in text, text)
    code, text = aws("eks", "update-kubeconfig", "--name", "demo", "--kubeconfig", product.environment()["KUBECONFIG"])
    check("aws eks update-kubeconfig", code == 0, text)
    for words in (["get", "nodes", "-o", "wide"], ["get", "pods", "-A"], ["describe", "pvc", "shared"], ["api-resources"], ["explain", "pod.spec.containers"],
                  ["get", "daemonsets", "-A", "-o", "yaml"], ["get", "nodes", "-l", "node.kubernetes.io/instance-type=ml.g5.12xlarge"], ["auth", "can-i", "create", "pods"],
                  ["version"], ["get", "events", "-A"]):
        code, text = kubectl(*words)
        check("kubectl " + " ".join(words), code == 0 and text.strip(), text)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hello"},
           "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
               {"name": "main", "image": "public.ecr.aws/docker/library/busybox:1.36", "command": ["echo", "hello"], "resources": {"limits": {"nvidia.com/gpu": "1"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
               "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "shared"}}]}}}}
    code, text = kubectl("apply", "-f", "-", stdin=json.dumps(job))
    check("kubectl apply of a job that mounts the storage and wants a GPU", code == 0, text)
    code, text = kubectl("wait", "--for=condition=complete", "job/hello", "--timeout=60s")
    check("the job completes", code == 0, text)
    for words in (["logs", "job/hello"], ["logs", "-f", "job/hello"], ["logs", "--tail=1", "--timestamps", "job/hello"]):
        code, text = kubectl(*words)
        check("kubectl " + " ".join(words), code == 0, text)
    # A pod that runs: `logs -f` goes on until it has ended.
    code, text = kubectl("run", "talker", "--image=busybox", "--restart=Never", "--", "sleep", "1000000")
    kubectl("wait", "--for=condition=Ready", "pod/talker", "--timeout=60s")
    following = subprocess.Popen(["kubectl", "logs", "-f", "talker"], env=product.environment(), stdout=subprocess.PIPE, text=True)
    product.twin("POST", "/clusters/demo/pods/default/talker/log", {"lines": ["first words"]})
    heard = []
    for line in iter(following.stdout.readline, ""):
        heard.append(line)
        if "first words" in line:
            break
    check("kubectl logs -f hears what is said", heard and "first words" in heard[-1], heard)
    product.twin("POST", "/clusters/demo/pods/default/talker/log", {"lines": ["last words"], "exit_code": 0})
    rest = following.stdout.read()
    check("and ends with the pod", "last words" in rest and following.wait(30) == 0, (rest, following.returncode))
    node = json.loads(kubectl("get", "nodes", "-o", "json")[1])["items"][0]["metadata"]["name"]
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    for words in (["apply", "--server-side", "-f", "-"], ["apply", "--server-side", "-f", "-"]):
        code, text = kubectl(*words, stdin=json.dumps(manifest))
        check("kubectl " + " ".join(words), code == 0, text)
    for words in (["patch", "configmap", "c", "--type=merge", "-p", '{"data":{"b":"2"}}'], ["patch", "configmap", "c", "--type=json", "-p", '[{"op":"remove","path":"/data/b"}]'],
                  ["label", "configmap", "c", "x=y"], ["annotate", "configmap", "c", "note=a b"], ["diff", "-f", "-"], ["replace", "-f", "-"], ["delete", "configmap", "c"]):
        code, text = kubectl(*words, stdin=json.dumps(manifest) if "-f" in words else None)
        check("kubectl " + " ".join(words), code == 0 or (words[0] == "diff" and code == 1 and "x: y" in text), text)
    for words in (["create", "namespace", "lab"], ["create", "configmap", "from-words", "--from-literal=a=1", "-n", "lab"], ["create", "secret", "generic", "s", "--from-literal=k=v", "-n", "lab"],
                  ["create", "serviceaccount", "sa", "-n", "lab"], ["create", "role", "r", "--verb=get", "--resource=pods", "-n", "lab"],
                  ["create", "rolebinding", "rb", "--role=r", "--serviceaccount=lab:sa", "-n", "lab"], ["create", "job", "j", "--image=busybox", "-n", "lab", "--", "echo", "hi"],
                  ["wait", "--for=condition=complete", "job/j", "-n", "lab", "--timeout=60s"], ["run", "pod", "--image=nginx", "-n", "lab"],
                  ["wait", "--for=condition=Ready", "pod/pod", "-n", "lab", "--timeout=60s"], ["get", "pod", "pod", "-n", "lab", "-o", "jsonpath={.status.phase}"],
                  ["describe", "pod", "pod", "-n", "lab"], ["expose", "pod", "pod", "--port=80", "-n", "lab"], ["get", "all", "-n", "lab"], ["delete", "pod", "pod", "-n", "lab"],
                  ["create", "deployment", "web", "--image=nginx", "--replicas=2"], ["rollout", "status", "deployment/web", "--timeout=60s"], ["scale", "deployment/web", "--replicas=1"],
                  ["set", "image", "deployment/web", "nginx=nginx:2"], ["rollout", "status", "deployment/web", "--timeout=60s"], ["rollout", "history", "deployment/web"],
                  ["rollout", "restart", "deployment/web"], ["rollout", "undo", "deployment/web"], ["rollout", "status", "deployment/web", "--timeout=60s"],
                  ["wait", "--for=condition=Available", "deployment/web", "--timeout=60s"], ["delete", "deployment", "web"], ["delete", "job", "hello"],
                  ["wait", "--for=delete", "job/hello", "--timeout=60s"], ["delete", "namespace", "lab", "--timeout=60s"], ["cluster-info"], ["api-versions"],
                  ["cordon", node], ["uncordon", node], ["taint", "node", node, "a=b:NoSchedule"], ["taint", "node", node, "a-"]):
        code, text = kubectl(*words)
        check("kubectl " + " ".join(words), code == 0, text)
    for words, seen in ((["create", "-f", "-"], "spec.containers"), (["apply", "-f", "-"], "spec.containers")):
        code, text = kubectl(*words, stdin=json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad"}, "spec": {"containers": "none"}}))
        check(f"kubectl {words[0]} of a broken pod says what is wrong", code != 0 and "containers" in text, text)
    code, text = kubectl("get", "pods", "nothing")
    check("kubectl get of nothing: NotFound", code != 0 and "NotFound" in text, text)

    # Away with nothing but the AWS CLI: the product is not needed for it.
    code, text = aws("sagemaker", "delete-cluster", "--cluster-name", "demo")
    check("aws sagemaker delete-cluster", code == 0, text)
    sagemaker = product.boto("sagemaker")
    end = time.time() + 60
    while sagemaker.list_clusters()["ClusterSummaries"] and time.time() < end:
        time.sleep(0.3)
    check("HyperPod is gone", not sagemaker.list_clusters()["ClusterSummaries"])
    op = product.run("DELETE", "/clusters/demo", {"confirm": "demo"})
    check("what remains is deleted by the product", op["state"] == "succeeded", op)
finally:
    product.stop()
finish()
