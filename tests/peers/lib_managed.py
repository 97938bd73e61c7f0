"""A script over the managed services that stand beside a cluster: MLflow, task governance's policies, FSx for Lustre, Prometheus and the price list. Every refusal that
it provokes carries the code that the service's model gives."""
import json

GONE = {"sagemaker": "ResourceNotFound", "amp": "ResourceNotFoundException"}


def tracking_server(script, role, bucket):
    do, until = script.do, script.until
    key = {"TrackingServerName": "peer-mlflow"}
    body = {**key, "ArtifactStoreUri": f"s3://{bucket}/mlflow", "RoleArn": role, "Tags": [{"Key": "a", "Value": "b"}]}
    do("sagemaker", "describe_mlflow_tracking_server", "ResourceNotFound", **key)
    do("sagemaker", "create_mlflow_tracking_server", "ValidationException", **{**body, "RoleArn": role + "-none"})
    do("sagemaker", "create_mlflow_tracking_server", "ValidationException", **{**body, "ArtifactStoreUri": "https://bucket"})
    arn = until("the role is known in time", lambda seen: "TrackingServerArn" in seen, "sagemaker", "create_mlflow_tracking_server", **body)["TrackingServerArn"]
    do("sagemaker", "create_mlflow_tracking_server", "ValidationException", **body)
    seen = do("sagemaker", "describe_mlflow_tracking_server", **key)
    script.check("a new tracking server is not active", (seen["TrackingServerStatus"], seen["IsActive"]) == ("Creating", "Inactive"), seen)
    do("sagemaker", "create_presigned_mlflow_tracking_server_url", "ValidationException", **key)
    do("sagemaker", "delete_mlflow_tracking_server", "ValidationException", **key)
    do("sagemaker", "start_mlflow_tracking_server", "ConflictException", **key)
    active = lambda status: lambda seen: (seen.get("TrackingServerStatus"), seen.get("IsActive")) == (status, "Active")
    until("Created and active", active("Created"), "sagemaker", "describe_mlflow_tracking_server", **key)
    link = do("sagemaker", "create_presigned_mlflow_tracking_server_url", ExpiresInSeconds=60, **key)["AuthorizedUrl"]
    script.check("the link is one", link.startswith("https://") and "authToken=" in link, link)
    do("sagemaker", "create_presigned_mlflow_tracking_server_url", "ValidationException", ExpiresInSeconds=1, **key)
    do("sagemaker", "list_mlflow_tracking_servers", TrackingServerStatus="Created")
    do("sagemaker", "list_mlflow_tracking_servers", "ValidationException", MaxResults=1000)
    tags = do("sagemaker", "list_tags", ResourceArn=arn)["Tags"]
    script.check("its tags are kept", tags == [{"Key": "a", "Value": "b"}], tags)
    do("sagemaker", "stop_mlflow_tracking_server", **key)
    do("sagemaker", "stop_mlflow_tracking_server", "ConflictException", **key)
    until("Stopped", lambda seen: seen.get("TrackingServerStatus") == "Stopped", "sagemaker", "describe_mlflow_tracking_server", **key)
    do("sagemaker", "start_mlflow_tracking_server", **key)
    until("Started and active", active("Started"), "sagemaker", "describe_mlflow_tracking_server", **key)
    do("sagemaker", "update_mlflow_tracking_server", ArtifactStoreUri=f"s3://{bucket}/other", **key)
    do("sagemaker", "update_mlflow_tracking_server", "ConflictException", **key)
    until("Updated and active", active("Updated"), "sagemaker", "describe_mlflow_tracking_server", **key)
    do("sagemaker", "delete_mlflow_tracking_server", **key)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFound", "sagemaker", "describe_mlflow_tracking_server", **key)
    for method in ("delete", "start", "stop", "update"):
        do("sagemaker", f"{method}_mlflow_tracking_server", "ResourceNotFound", **key)


def app(script, role, bucket):
    do, until = script.do, script.until
    body = {"Name": "peer-mlflow", "ArtifactStoreUri": f"s3://{bucket}/mlflow", "RoleArn": role, "Tags": [{"Key": "a", "Value": "b"}]}
    do("sagemaker", "create_mlflow_app", "ValidationException", **{**body, "RoleArn": role + "-none"})
    arn = do("sagemaker", "create_mlflow_app", **body)["Arn"]
    twice = do("sagemaker", "create_mlflow_app", **body)["Arn"]
    script.check("two apps may have one name, and their ARNs do not hold it", arn != twice and "peer-mlflow" not in arn, (arn, twice))
    do("sagemaker", "delete_mlflow_app", "ValidationException", Arn=arn)
    do("sagemaker", "create_presigned_mlflow_app_url", "ValidationException", Arn=arn)
    for each in (arn, twice):
        until("Created", lambda seen: seen.get("Status") == "Created", "sagemaker", "describe_mlflow_app", Arn=each)
    do("sagemaker", "create_presigned_mlflow_app_url", Arn=arn)
    do("sagemaker", "list_tags", ResourceArn=arn)
    do("sagemaker", "list_mlflow_apps", Status="Created")
    do("sagemaker", "list_mlflow_apps", "ValidationException", MaxResults=1000)
    do("sagemaker", "update_mlflow_app", Arn=arn, ArtifactStoreUri=f"s3://{bucket}/other")
    do("sagemaker", "update_mlflow_app", "ConflictException", Arn=arn, Name="other")
    until("Updated", lambda seen: seen.get("Status") == "Updated", "sagemaker", "describe_mlflow_app", Arn=arn)
    for each in (arn, twice):
        do("sagemaker", "delete_mlflow_app", Arn=each)
        until("Deleted, and shown so", lambda seen: seen.get("Status") == "Deleted", "sagemaker", "describe_mlflow_app", Arn=each)
        do("sagemaker", "delete_mlflow_app", "ResourceNotFound", Arn=each)
    do("sagemaker", "describe_mlflow_app", "ResourceNotFound", Arn=arn[:-1] + "x")
    do("sagemaker", "create_presigned_mlflow_app_url", "ResourceNotFound", Arn=arn)
    do("sagemaker", "update_mlflow_app", "ResourceNotFound", Arn=arn)


def governance(script, cluster_arn):
    """Without the add-on the policies fail, and say why."""
    do, until = script.do, script.until
    config = {"Name": "peer", "ClusterArn": cluster_arn, "SchedulerConfig": {"PriorityClasses": [{"Name": "high", "Weight": 90}], "FairShare": "Enabled"}}
    do("sagemaker", "create_cluster_scheduler_config", "ValidationException", **{**config, "ClusterArn": cluster_arn[:-12] + "0" * 12})
    made = do("sagemaker", "create_cluster_scheduler_config", **config)["ClusterSchedulerConfigId"]
    do("sagemaker", "create_cluster_scheduler_config", "ConflictException", **{**config, "Name": "second"})
    until("CreateFailed", lambda seen: seen.get("Status") == "CreateFailed" and "taskgovernance" in seen["FailureReason"],
          "sagemaker", "describe_cluster_scheduler_config", ClusterSchedulerConfigId=made)
    do("sagemaker", "update_cluster_scheduler_config", "ConflictException", ClusterSchedulerConfigId=made, TargetVersion=7)
    do("sagemaker", "update_cluster_scheduler_config", ClusterSchedulerConfigId=made, TargetVersion=1)
    do("sagemaker", "list_cluster_scheduler_configs", ClusterArn=cluster_arn)
    do("sagemaker", "delete_cluster_scheduler_config", ClusterSchedulerConfigId=made)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFound", "sagemaker", "describe_cluster_scheduler_config", ClusterSchedulerConfigId=made)
    quota = {"Name": "peer", "ClusterArn": cluster_arn, "ComputeQuotaTarget": {"TeamName": "blue"},
             "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": "ml.g5.12xlarge", "Count": 1}]}}
    made = do("sagemaker", "create_compute_quota", **quota)["ComputeQuotaId"]
    do("sagemaker", "create_compute_quota", "ConflictException", **{**quota, "Name": "second"})
    do("sagemaker", "list_compute_quotas", NameContains="peer")
    until("CreateFailed", lambda seen: seen.get("Status") == "CreateFailed", "sagemaker", "describe_compute_quota", ComputeQuotaId=made)
    do("sagemaker", "update_compute_quota", ComputeQuotaId=made, TargetVersion=1, Description="more")
    do("sagemaker", "delete_compute_quota", ComputeQuotaId=made)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFound", "sagemaker", "describe_compute_quota", ComputeQuotaId=made)
    do("sagemaker", "delete_compute_quota", "ResourceNotFound", ComputeQuotaId=made)


def file_system(script, subnets, group):
    do, until = script.do, script.until
    body = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": subnets[:1], "SecurityGroupIds": [group],
            "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}, "Tags": [{"Key": "a", "Value": "b"}]}
    do("fsx", "describe_file_systems", "FileSystemNotFound", FileSystemIds=["fs-0123456789abcdef0"])
    do("fsx", "create_file_system", "BadRequest", **{**body, "StorageCapacity": 1300})
    do("fsx", "create_file_system", "InvalidNetworkSettings", **{**body, "SubnetIds": ["subnet-0123456789abcdef0"]})
    token = "peer-file-system"
    made = do("fsx", "create_file_system", ClientRequestToken=token, **body)["FileSystem"]
    again = do("fsx", "create_file_system", ClientRequestToken=token, **body)["FileSystem"]
    script.check("the same token makes no second file system", made["FileSystemId"] == again["FileSystemId"], again)
    key = {"FileSystemIds": [made["FileSystemId"]]}
    do("fsx", "delete_file_system", "BadRequest", FileSystemId=made["FileSystemId"])
    seen = until("AVAILABLE", lambda seen: seen["FileSystems"][0]["Lifecycle"] == "AVAILABLE", "fsx", "describe_file_systems", **key)["FileSystems"][0]
    interface = do("ec2", "describe_network_interfaces", NetworkInterfaceIds=seen["NetworkInterfaceIds"])["NetworkInterfaces"][0]
    script.check("its interface is FSx's, in that subnet with that group", interface["RequesterManaged"] and interface["SubnetId"] == subnets[0]
                 and [each["GroupId"] for each in interface["Groups"]] == [group], interface)
    script.check("it has a mount name of its own", len(seen["LustreConfiguration"]["MountName"]) == 8, seen)
    do("fsx", "describe_file_systems", MaxResults=1)
    do("fsx", "tag_resource", ResourceARN=seen["ResourceARN"], Tags=[{"Key": "c", "Value": "d"}])
    do("fsx", "untag_resource", ResourceARN=seen["ResourceARN"], TagKeys=["a"])
    tags = do("fsx", "list_tags_for_resource", ResourceARN=seen["ResourceARN"])["Tags"]
    script.check("tags are put and taken", tags == [{"Key": "c", "Value": "d"}], tags)
    do("fsx", "delete_file_system", FileSystemId=made["FileSystemId"])
    until("gone", lambda seen: seen.get("code") == "FileSystemNotFound", "fsx", "describe_file_systems", **key)
    do("fsx", "delete_file_system", "FileSystemNotFound", FileSystemId=made["FileSystemId"])


def workspace(script):
    do, until = script.do, script.until
    do("amp", "describe_workspace", "ResourceNotFoundException", workspaceId="ws-none")
    made = do("amp", "create_workspace", alias="peer", tags={"a": "b"}, clientToken="peer-workspace")
    again = do("amp", "create_workspace", alias="peer", tags={"a": "b"}, clientToken="peer-workspace")
    script.check("the same token makes no second workspace", made["workspaceId"] == again["workspaceId"], again)
    key = {"workspaceId": made["workspaceId"]}
    do("amp", "delete_workspace", "ConflictException", **key)
    until("ACTIVE", lambda seen: seen["workspace"]["status"]["statusCode"] == "ACTIVE", "amp", "describe_workspace", **key)
    do("amp", "list_workspaces", alias="pee")
    do("amp", "list_workspaces", "ValidationException", nextToken="no token of ours")
    do("amp", "tag_resource", resourceArn=made["arn"], tags={"c": "d"})
    do("amp", "untag_resource", resourceArn=made["arn"], tagKeys=["a"])
    tags = do("amp", "list_tags_for_resource", resourceArn=made["arn"])["tags"]
    script.check("tags are put and taken", tags == {"c": "d"}, tags)
    do("amp", "update_workspace_alias", alias="other", **key)
    do("amp", "delete_workspace", **key)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFoundException", "amp", "describe_workspace", **key)
    do("amp", "delete_workspace", "ResourceNotFoundException", **key)


def prices(script):
    """The list has a home in three regions; the client's own region is none of them."""
    do = script.do
    where = [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-west-2"}, {"Type": "TERM_MATCH", "Field": "instanceName", "Value": "ml.g5.12xlarge"}]
    do("pricing", "get_products", "InvalidParameterException", ServiceCode="AmazonNothing")
    do("pricing", "get_products", "InvalidNextTokenException", ServiceCode="AmazonSageMaker", NextToken="no token of ours")
    rows = [json.loads(each) for each in do("pricing", "get_products", ServiceCode="AmazonSageMaker", Filters=where)["PriceList"]]
    uses = {row["product"]["attributes"]["usagetype"] for row in rows}
    script.check("a type is listed once for each use", uses == {"USW2-Cluster:ml.g5.12xlarge", "USW2-Host:ml.g5.12xlarge", "USW2-Train:ml.g5.12xlarge"}, uses)
    term = next(iter(rows[0]["terms"]["OnDemand"].values()))
    price = next(iter(term["priceDimensions"].values()))
    script.check("its price is by the hour", price["unit"] == "Hrs" and float(price["pricePerUnit"]["USD"]) > 0, price)
    plain = {"regionCode": "us-west-2", "instanceType": "m5.xlarge", "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
    rows = [json.loads(each) for each in do("pricing", "get_products", ServiceCode="AmazonEC2", Filters=[{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in plain.items()])["PriceList"]]
    script.check("EC2's plain Linux is one product", [row["product"]["attributes"]["usagetype"] for row in rows] == ["USW2-BoxUsage:m5.xlarge"], rows)
    first = do("pricing", "get_products", ServiceCode="AmazonSageMaker", MaxResults=2)
    script.check("the list has pages", len(first["PriceList"]) == 2 and first["NextToken"], first)
    do("pricing", "describe_services", ServiceCode="AmazonSageMaker")
    do("pricing", "get_attribute_values", ServiceCode="AmazonSageMaker", AttributeName="regionCode")
    do("pricing", "get_attribute_values", "NotFoundException", ServiceCode="AmazonSageMaker", AttributeName="color")


def run(script, subnets, group):
    bucket = "sagemaker-peer-managed"
    script.do("s3", "create_bucket", Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    role = script.role("peer-mlflow", "sagemaker.amazonaws.com", [])
    tracking_server(script, role, bucket)
    app(script, role, bucket)
    file_system(script, subnets, group)
    workspace(script)
    prices(script)
