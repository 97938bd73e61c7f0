"""What capacity operations call beside HyperPod's own, through boto3: secondary ranges, endpoints' routes, launch templates and node groups' changes. Every
refusal carries the code that the service's documentation gives."""
REGION = "us-west-2"


def network(script, vpc):
    do, until = script.do, script.until
    do("ec2", "associate_vpc_cidr_block", "InvalidVpcID.NotFound", VpcId="vpc-0123456789abcdef0", CidrBlock="100.64.0.0/16")
    do("ec2", "associate_vpc_cidr_block", "InvalidVpc.Range", VpcId=vpc, CidrBlock="100.64.0.0/12")
    do("ec2", "associate_vpc_cidr_block", VpcId=vpc, CidrBlock="100.64.0.0/16")
    do("ec2", "associate_vpc_cidr_block", "CidrConflict", VpcId=vpc, CidrBlock="100.64.0.0/16")
    until("both ranges show", lambda seen: len(seen["Vpcs"][0]["CidrBlockAssociationSet"]) == 2, "ec2", "describe_vpcs", VpcIds=[vpc])
    endpoint = do("ec2", "create_vpc_endpoint", VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", VpcEndpointType="Gateway")["VpcEndpoint"]["VpcEndpointId"]
    table = do("ec2", "create_route_table", VpcId=vpc)["RouteTable"]["RouteTableId"]
    until("the table shows", lambda seen: seen.get("RouteTables"), "ec2", "describe_route_tables", RouteTableIds=[table])
    until("the endpoint shows", lambda seen: seen.get("VpcEndpoints"), "ec2", "describe_vpc_endpoints", VpcEndpointIds=[endpoint])
    do("ec2", "modify_vpc_endpoint", "InvalidVpcEndpointId.NotFound", VpcEndpointId="vpce-0123456789abcdef0", AddRouteTableIds=[table])
    do("ec2", "modify_vpc_endpoint", "InvalidRouteTableId.NotFound", VpcEndpointId=endpoint, AddRouteTableIds=["rtb-0123456789abcdef0"])
    do("ec2", "modify_vpc_endpoint", VpcEndpointId=endpoint, AddRouteTableIds=[table])
    routes = do("ec2", "describe_route_tables", RouteTableIds=[table])["RouteTables"][0]["Routes"]
    script.check("the table leads to the endpoint", any(route.get("GatewayId") == endpoint for route in routes), routes)
    do("ec2", "modify_vpc_endpoint", VpcEndpointId=endpoint, RemoveRouteTableIds=[table])
    do("ec2", "delete_vpc_endpoints", VpcEndpointIds=[endpoint])
    do("ec2", "delete_route_table", RouteTableId=table)


def node_group(script, subnets, role):
    """A node group by a launch template: made, changed, deleted."""
    do, until = script.do, script.until
    data = {"MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}, "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}]}
    do("ec2", "describe_launch_templates", "InvalidLaunchTemplateName.NotFoundException", LaunchTemplateNames=["none"])
    made = do("ec2", "create_launch_template", LaunchTemplateName="peer-pods", LaunchTemplateData=data, ClientToken="t" * 36,
              TagSpecifications=[{"ResourceType": "launch-template", "Tags": [{"Key": "team", "Value": "a"}]}])["LaunchTemplate"]["LaunchTemplateId"]
    again = do("ec2", "create_launch_template", LaunchTemplateName="peer-pods", LaunchTemplateData=data, ClientToken="t" * 36)["LaunchTemplate"]["LaunchTemplateId"]
    script.check("a token makes one template", again == made, again)
    do("ec2", "create_launch_template", "InvalidLaunchTemplateName.AlreadyExistsException", LaunchTemplateName="peer-pods", LaunchTemplateData=data)
    until("the template shows", lambda seen: [each for each in seen["LaunchTemplates"] if each["LaunchTemplateId"] == made], "ec2", "describe_launch_templates",
          Filters=[{"Name": "tag:team", "Values": ["a"]}])
    versions = do("ec2", "describe_launch_template_versions", LaunchTemplateId=made, Versions=["$Latest"])["LaunchTemplateVersions"]
    script.check("a version holds what was given", versions[0]["LaunchTemplateData"]["MetadataOptions"]["HttpTokens"] == "required", versions)
    group = {"clusterName": "peer", "nodegroupName": "pods"}
    do("eks", "create_nodegroup", subnets=subnets[:1], nodeRole=role, launchTemplate={"id": made, "version": "1"}, instanceTypes=["m5.xlarge"], capacityType="SPOT",
       labels={"a": "1"}, scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 1}, **group)
    seen = until("ACTIVE", lambda seen: seen.get("nodegroup", {}).get("status") == "ACTIVE", "eks", "describe_nodegroup", **group)["nodegroup"]
    script.check("it shows its template", seen.get("launchTemplate", {}).get("id") == made, seen)
    do("eks", "update_nodegroup_config", "ResourceNotFoundException", clusterName="peer", nodegroupName="none", scalingConfig={"desiredSize": 1})
    do("eks", "update_nodegroup_config", scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 2}, labels={"addOrUpdateLabels": {"b": "2"}, "removeLabels": ["a"]}, **group)
    seen = until("ACTIVE again", lambda seen: seen["nodegroup"]["status"] == "ACTIVE", "eks", "describe_nodegroup", **group)["nodegroup"]
    script.check("it changed as asked", seen["scalingConfig"]["desiredSize"] == 2 and seen["labels"] == {"b": "2"}, seen)
    do("eks", "delete_nodegroup", **group)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFoundException", "eks", "describe_nodegroup", **group)
    do("ec2", "delete_launch_template", LaunchTemplateId=made)
    do("ec2", "delete_launch_template", "InvalidLaunchTemplateId.NotFound", LaunchTemplateId=made)
