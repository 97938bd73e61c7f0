"""The IAM, STS and S3 half of the script that two accounts must answer alike: roles, policies, profiles, providers, buckets, objects, and their refusals."""
import json

TRUST = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}]}
MANAGED = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
TAGS = [{"Key": "team", "Value": "a"}, {"Key": "instantstart:cluster", "Value": "demo"}]


def roles(do, undo):
    made = do("a role", "iam", "create_role", RoleName="peer-role", AssumeRolePolicyDocument=json.dumps(TRUST), Tags=TAGS, Path="/peers/", Description="for a test")
    do("same name", "iam", "create_role", RoleName="peer-role", AssumeRolePolicyDocument=json.dumps(TRUST))
    for what, name, trust in (("same name in other letters", "Peer-Role", json.dumps(TRUST)), ("trust that is not JSON", "peer-bad", "{broken"),
                              ("trust without a principal", "peer-bad", json.dumps(POLICY)), ("a name too long", "x" * 65, json.dumps(TRUST)),
                              ("a name with a space", "peer role", json.dumps(TRUST))):
        made = do(what, "iam", "create_role", RoleName=name, AssumeRolePolicyDocument=trust)
        undo(made, "iam", "delete_role", RoleName=name)
    do("by name", "iam", "get_role", RoleName="peer-role")
    do("unknown", "iam", "get_role", RoleName="peer-none")
    do("by path", "iam", "list_roles", PathPrefix="/peers/")
    do("tags", "iam", "list_role_tags", RoleName="peer-role")
    do("more tags", "iam", "tag_role", RoleName="peer-role", Tags=[{"Key": "team", "Value": "b"}, {"Key": "extra", "Value": ""}])
    do("fewer tags", "iam", "untag_role", RoleName="peer-role", TagKeys=["instantstart:cluster"])
    do("tags afterwards", "iam", "list_role_tags", RoleName="peer-role")
    do("tags of nobody", "iam", "list_role_tags", RoleName="peer-none")
    do("new trust", "iam", "update_assume_role_policy", RoleName="peer-role",
       PolicyDocument=json.dumps({**TRUST, "Statement": [{**TRUST["Statement"][0], "Principal": {"Service": "ec2.amazonaws.com"}}]}))
    do("new trust seen", "iam", "get_role", RoleName="peer-role")
    return made


def role_policies(do, undo):
    do("inline", "iam", "put_role_policy", RoleName="peer-role", PolicyName="inline", PolicyDocument=json.dumps(POLICY))
    do("inline again", "iam", "put_role_policy", RoleName="peer-role", PolicyName="inline", PolicyDocument=json.dumps(POLICY))
    do("inline that is not JSON", "iam", "put_role_policy", RoleName="peer-role", PolicyName="bad", PolicyDocument="{broken")
    do("inline without statements", "iam", "put_role_policy", RoleName="peer-role", PolicyName="bad", PolicyDocument='{"Version": "2012-10-17"}')
    do("inline of nobody", "iam", "put_role_policy", RoleName="peer-none", PolicyName="inline", PolicyDocument=json.dumps(POLICY))
    do("read", "iam", "get_role_policy", RoleName="peer-role", PolicyName="inline")
    do("read, none", "iam", "get_role_policy", RoleName="peer-role", PolicyName="none")
    do("read, nobody", "iam", "get_role_policy", RoleName="peer-none", PolicyName="inline")
    do("listed", "iam", "list_role_policies", RoleName="peer-role")
    do("listed, nobody", "iam", "list_role_policies", RoleName="peer-none")
    do("managed", "iam", "attach_role_policy", RoleName="peer-role", PolicyArn=MANAGED)
    do("managed again", "iam", "attach_role_policy", RoleName="peer-role", PolicyArn=MANAGED)
    do("managed, none", "iam", "attach_role_policy", RoleName="peer-role", PolicyArn="arn:aws:iam::aws:policy/NoSuchPolicyAtAll")
    do("managed, nobody", "iam", "attach_role_policy", RoleName="peer-none", PolicyArn=MANAGED)
    do("attached", "iam", "list_attached_role_policies", RoleName="peer-role")
    do("attached, nobody", "iam", "list_attached_role_policies", RoleName="peer-none")
    own = do("a policy", "iam", "create_policy", PolicyName="peer-policy", PolicyDocument=json.dumps(POLICY), Path="/peers/", Description="for a test")
    arn = own.get("Policy", {}).get("Arn", "arn:aws:iam::111122223333:policy/peers/peer-policy")
    again = do("the policy again", "iam", "create_policy", PolicyName="peer-policy", PolicyDocument=json.dumps(POLICY))
    undo(again, "iam", "delete_policy", PolicyArn=again.get("Policy", {}).get("Arn"))
    do("a policy that is not JSON", "iam", "create_policy", PolicyName="peer-bad", PolicyDocument="{broken")
    do("read", "iam", "get_policy", PolicyArn=arn)
    do("unknown", "iam", "get_policy", PolicyArn=arn + "-none")
    do("its text", "iam", "get_policy_version", PolicyArn=arn, VersionId="v1")
    do("no such version", "iam", "get_policy_version", PolicyArn=arn, VersionId="v9")
    do("a second version", "iam", "create_policy_version", PolicyArn=arn, PolicyDocument=json.dumps(POLICY), SetAsDefault=True)
    do("versions", "iam", "list_policy_versions", PolicyArn=arn)
    do("the default version", "iam", "delete_policy_version", PolicyArn=arn, VersionId="v2")
    do("the old version", "iam", "delete_policy_version", PolicyArn=arn, VersionId="v1")
    do("attached", "iam", "attach_role_policy", RoleName="peer-role", PolicyArn=arn)
    do("local ones", "iam", "list_policies", Scope="Local", PathPrefix="/peers/")
    return arn


def profiles_and_providers(do):
    do("a profile", "iam", "create_instance_profile", InstanceProfileName="peer-profile", Path="/peers/")
    do("same name", "iam", "create_instance_profile", InstanceProfileName="peer-profile")
    do("a role in it", "iam", "add_role_to_instance_profile", InstanceProfileName="peer-profile", RoleName="peer-role")
    do("a second role in it", "iam", "add_role_to_instance_profile", InstanceProfileName="peer-profile", RoleName="peer-role")
    do("nobody in it", "iam", "add_role_to_instance_profile", InstanceProfileName="peer-profile", RoleName="peer-none")
    do("of the role", "iam", "list_instance_profiles_for_role", RoleName="peer-role")
    do("read", "iam", "get_instance_profile", InstanceProfileName="peer-profile")
    do("unknown", "iam", "get_instance_profile", InstanceProfileName="peer-none")
    do("role with profile and policies", "iam", "delete_role", RoleName="peer-role")
    do("profile with a role", "iam", "delete_instance_profile", InstanceProfileName="peer-profile")
    do("role out of it", "iam", "remove_role_from_instance_profile", InstanceProfileName="peer-profile", RoleName="peer-role")
    do("role out of it again", "iam", "remove_role_from_instance_profile", InstanceProfileName="peer-profile", RoleName="peer-role")
    do("profile", "iam", "delete_instance_profile", InstanceProfileName="peer-profile")
    do("profile again", "iam", "delete_instance_profile", InstanceProfileName="peer-profile")
    url = "https://oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"
    made = do("a provider", "iam", "create_open_id_connect_provider", Url=url, ClientIDList=["sts.amazonaws.com"], ThumbprintList=["9" * 40], Tags=TAGS)
    arn = made.get("OpenIDConnectProviderArn", "arn:aws:iam::111122223333:oidc-provider/" + url[8:])
    do("same issuer", "iam", "create_open_id_connect_provider", Url=url, ClientIDList=["sts.amazonaws.com"], ThumbprintList=["9" * 40])
    do("read", "iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=arn)
    do("unknown", "iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=arn[:-1] + "0")
    do("listed", "iam", "list_open_id_connect_providers")
    do("tags", "iam", "list_open_id_connect_provider_tags", OpenIDConnectProviderArn=arn)
    do("gone", "iam", "delete_open_id_connect_provider", OpenIDConnectProviderArn=arn)
    do("listed", "iam", "list_open_id_connect_providers")


def iam_removal(do, policy):
    do("own policy off", "iam", "detach_role_policy", RoleName="peer-role", PolicyArn=policy)
    do("own policy off again", "iam", "detach_role_policy", RoleName="peer-role", PolicyArn=policy)
    do("own policy", "iam", "delete_policy", PolicyArn=policy)
    do("own policy again", "iam", "delete_policy", PolicyArn=policy)
    do("with policies", "iam", "delete_role", RoleName="peer-role")
    do("managed off", "iam", "detach_role_policy", RoleName="peer-role", PolicyArn=MANAGED)
    do("with an inline policy", "iam", "delete_role", RoleName="peer-role")
    do("inline off", "iam", "delete_role_policy", RoleName="peer-role", PolicyName="inline")
    do("inline off again", "iam", "delete_role_policy", RoleName="peer-role", PolicyName="inline")
    do("role", "iam", "delete_role", RoleName="peer-role")
    do("role again", "iam", "delete_role", RoleName="peer-role")
    for index in range(3):
        do(f"role {index}", "iam", "create_role", RoleName=f"peer-page-{index}", AssumeRolePolicyDocument=json.dumps(TRUST), Path="/pages/")
    page = do("first page", "iam", "list_roles", PathPrefix="/pages/", MaxItems=2)
    do("second page", "iam", "list_roles", PathPrefix="/pages/", MaxItems=2, Marker=page.get("Marker", "none"))
    for index in range(3):
        do(f"role {index}", "iam", "delete_role", RoleName=f"peer-page-{index}")
    do("linked to a service", "iam", "create_service_linked_role", AWSServiceName="eks.amazonaws.com")


def buckets(do, undo):
    bucket = "peers-bucket-0123456789"
    place = {"LocationConstraint": "us-west-2"}
    do("a bucket", "s3", "create_bucket", Bucket=bucket, CreateBucketConfiguration=place)
    do("again", "s3", "create_bucket", Bucket=bucket, CreateBucketConfiguration=place)
    do("without its region", "s3", "create_bucket", Bucket=bucket + "-x")
    do("elsewhere", "s3", "create_bucket", Bucket=bucket + "-x", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    made = do("a bad name", "s3", "create_bucket", Bucket="Bad_Name", CreateBucketConfiguration=place)
    undo(made, "s3", "delete_bucket", Bucket="Bad_Name")
    do("there", "s3", "head_bucket", Bucket=bucket)
    do("not there", "s3", "head_bucket", Bucket=bucket + "-none")
    do("where", "s3", "get_bucket_location", Bucket=bucket)
    do("tags at first", "s3", "get_bucket_tagging", Bucket=bucket)
    do("tagged", "s3", "put_bucket_tagging", Bucket=bucket, Tagging={"TagSet": TAGS})
    do("tags", "s3", "get_bucket_tagging", Bucket=bucket)
    do("policy at first", "s3", "get_bucket_policy", Bucket=bucket)
    policy = {"Version": "2012-10-17", "Statement": [{"Sid": "Tls", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": [f"arn:aws:s3:::{bucket}/*"],
                                                      "Condition": {"Bool": {"aws:SecureTransport": "false"}}}]}
    do("policy", "s3", "put_bucket_policy", Bucket=bucket, Policy=json.dumps(policy))
    do("policy read", "s3", "get_bucket_policy", Bucket=bucket)
    do("policy that is not JSON", "s3", "put_bucket_policy", Bucket=bucket, Policy="{broken")
    do("policy gone", "s3", "delete_bucket_policy", Bucket=bucket)
    do("block at first", "s3", "get_public_access_block", Bucket=bucket)
    block = {"BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True}
    do("block", "s3", "put_public_access_block", Bucket=bucket, PublicAccessBlockConfiguration=block)
    do("block read", "s3", "get_public_access_block", Bucket=bucket)
    do("encryption at first", "s3", "get_bucket_encryption", Bucket=bucket)
    rule = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": True}]}
    do("encryption", "s3", "put_bucket_encryption", Bucket=bucket, ServerSideEncryptionConfiguration=rule)
    do("encryption read", "s3", "get_bucket_encryption", Bucket=bucket)
    for name in ("get_bucket_tagging", "get_bucket_policy", "get_public_access_block", "get_bucket_encryption", "get_bucket_location", "list_objects_v2"):
        do("of nothing", "s3", name, Bucket=bucket + "-none")
    do("listed", "s3", "list_buckets")
    return bucket


def objects(do, bucket):
    for key in ("a/1", "a/2", "a/b/3", "c", "a b/ü+x=1.txt", "d&e<f>"):
        do(key, "s3", "put_object", Bucket=bucket, Key=key, Body=key.encode() * 3, ContentType="text/plain", Metadata={"who": "peer"})
    do("read", "s3", "get_object", Bucket=bucket, Key="a b/ü+x=1.txt")
    do("a part of it", "s3", "get_object", Bucket=bucket, Key="c", Range="bytes=1-2")
    do("beyond its end", "s3", "get_object", Bucket=bucket, Key="c", Range="bytes=10-20")
    do("head", "s3", "head_object", Bucket=bucket, Key="a/1")
    do("head, none", "s3", "head_object", Bucket=bucket, Key="none")
    do("read, none", "s3", "get_object", Bucket=bucket, Key="none")
    do("read, no bucket", "s3", "get_object", Bucket=bucket + "-none", Key="a")
    do("put, no bucket", "s3", "put_object", Bucket=bucket + "-none", Key="a", Body=b"x")
    do("put where it is", "s3", "put_object", Bucket=bucket, Key="c", Body=b"new", IfNoneMatch="*")
    do("put where it is not", "s3", "put_object", Bucket=bucket, Key="fresh", Body=b"new", IfNoneMatch="*")
    do("all", "s3", "list_objects_v2", Bucket=bucket)
    do("by prefix", "s3", "list_objects_v2", Bucket=bucket, Prefix="a/")
    do("as folders", "s3", "list_objects_v2", Bucket=bucket, Delimiter="/")
    do("as folders, below", "s3", "list_objects_v2", Bucket=bucket, Prefix="a/", Delimiter="/")
    do("after a key", "s3", "list_objects_v2", Bucket=bucket, StartAfter="a/2")
    page = do("a page", "s3", "list_objects_v2", Bucket=bucket, MaxKeys=3)
    do("the next page", "s3", "list_objects_v2", Bucket=bucket, MaxKeys=3, ContinuationToken=page.get("NextContinuationToken", "none"))
    do("no keys", "s3", "list_objects_v2", Bucket=bucket, MaxKeys=0)
    do("nothing", "s3", "list_objects_v2", Bucket=bucket, Prefix="zzz")
    do("versions", "s3", "list_object_versions", Bucket=bucket, Prefix="a/")
    do("copied", "s3", "copy_object", Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "a/1"})
    do("copied from nothing", "s3", "copy_object", Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "none"})
    upload = do("in parts", "s3", "create_multipart_upload", Bucket=bucket, Key="large").get("UploadId", "none")
    part = do("a part", "s3", "upload_part", Bucket=bucket, Key="large", UploadId=upload, PartNumber=1, Body=b"x" * 1000).get("ETag", "none")
    do("together", "s3", "complete_multipart_upload", Bucket=bucket, Key="large", UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part}]})
    do("a part of no upload", "s3", "upload_part", Bucket=bucket, Key="large", UploadId="none", PartNumber=1, Body=b"x")
    do("in parts is there", "s3", "head_object", Bucket=bucket, Key="large")
    do("with objects", "s3", "delete_bucket", Bucket=bucket)
    do("one", "s3", "delete_object", Bucket=bucket, Key="c")
    do("one that is not", "s3", "delete_object", Bucket=bucket, Key="none")
    keys = [{"Key": key} for key in ("a/1", "a/2", "a/b/3", "a b/ü+x=1.txt", "d&e<f>", "fresh", "copy", "large", "never")]
    do("many", "s3", "delete_objects", Bucket=bucket, Delete={"Objects": keys})
    do("nothing left", "s3", "list_objects_v2", Bucket=bucket)
    do("empty", "s3", "delete_bucket", Bucket=bucket)
    do("again", "s3", "delete_bucket", Bucket=bucket)


def run(account):
    do, undo = account.do, account.undo
    roles(do, undo)
    policy = role_policies(do, undo)
    profiles_and_providers(do)
    iam_removal(do, policy)
    objects(do, buckets(do, undo))
