"""The EC2 half of the script that two accounts must answer alike: networks, rules, endpoints, tags, filters, pages and refusals."""

NOWHERE = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0", "rtb": "rtb-0123456789abcdef0", "igw": "igw-0123456789abcdef0",
           "sg": "sg-0123456789abcdef0", "nat": "nat-0123456789abcdef0", "eipalloc": "eipalloc-0123456789abcdef0", "vpce": "vpce-0123456789abcdef0",
           "rtbassoc": "rtbassoc-0123456789abcdef0", "eni": "eni-0123456789abcdef0", "sgr": "sgr-0123456789abcdef0"}


def tagged(kind, name, **more):
    return [{"ResourceType": kind, "Tags": [{"Key": "Name", "Value": name}] + [{"Key": key, "Value": value} for key, value in more.items()]}]


def only(answer, *path):
    """The value at a path of an answer, the first of each list; a well-formed id of nothing where it is not there."""
    for part in path:
        answer = answer.get(part) if isinstance(answer, dict) else None
        answer = answer[0] if isinstance(answer, list) and answer else answer
    return answer or "missing"


def filters(**wanted):
    return [{"Name": name.replace("__", ":").replace("_", "-"), "Values": values if isinstance(values, list) else [values]} for name, values in wanted.items()]


def of_vpc(vpc, **more):
    return [{"Name": "vpc-id", "Values": [vpc]}] + filters(**more)


def vpcs(do, undo):
    vpc = only(do("a network", "ec2", "create_vpc", CidrBlock="10.20.0.0/16", TagSpecifications=tagged("vpc", "one", team="a")), "Vpc", "VpcId")
    other = only(do("another network", "ec2", "create_vpc", CidrBlock="10.21.0.0/16", TagSpecifications=tagged("vpc", "two", team="b")), "Vpc", "VpcId")
    for text in ("10.0.0.0/8", "10.0.0.0/29", "10.0.0.0", "not a range"):
        do(f"range {text}", "ec2", "create_vpc", CidrBlock=text)
    do("no range", "ec2", "create_vpc")
    do("by id", "ec2", "describe_vpcs", VpcIds=[vpc])
    do("both", "ec2", "describe_vpcs", VpcIds=[vpc, other])
    do("unknown id", "ec2", "describe_vpcs", VpcIds=[NOWHERE["vpc"]])
    do("a known and an unknown id", "ec2", "describe_vpcs", VpcIds=[vpc, NOWHERE["vpc"]])
    do("by tag", "ec2", "describe_vpcs", Filters=filters(tag__team="a"))
    do("by tag, several values", "ec2", "describe_vpcs", Filters=filters(tag__team=["a", "b"]))
    do("by tag, nobody", "ec2", "describe_vpcs", Filters=filters(tag__team="c"))
    do("by tag pattern", "ec2", "describe_vpcs", Filters=filters(tag__Name="t*"))
    do("by tag pattern of one character", "ec2", "describe_vpcs", Filters=filters(tag__Name="?ne"))
    do("by tag key", "ec2", "describe_vpcs", Filters=filters(tag_key="team"))
    do("by range", "ec2", "describe_vpcs", Filters=filters(cidr="10.21.0.0/16"))
    do("two filters", "ec2", "describe_vpcs", Filters=filters(tag_key="team", cidr="10.20.0.0/16"))
    do("by default", "ec2", "describe_vpcs", Filters=filters(is_default="false"))
    do("a filter that is none", "ec2", "describe_vpcs", Filters=filters(colour="red"))
    for attribute in ("enableDnsSupport", "enableDnsHostnames"):
        do(f"{attribute} at first", "ec2", "describe_vpc_attribute", VpcId=vpc, Attribute=attribute)
    do("hostnames on", "ec2", "modify_vpc_attribute", VpcId=vpc, EnableDnsHostnames={"Value": True})
    do("hostnames are on", "ec2", "describe_vpc_attribute", VpcId=vpc, Attribute="enableDnsHostnames")
    do("support off", "ec2", "modify_vpc_attribute", VpcId=other, EnableDnsSupport={"Value": False})
    do("support is off", "ec2", "describe_vpc_attribute", VpcId=other, Attribute="enableDnsSupport")
    do("attribute of nothing", "ec2", "describe_vpc_attribute", VpcId=NOWHERE["vpc"], Attribute="enableDnsSupport")
    do("attribute of nothing", "ec2", "modify_vpc_attribute", VpcId=NOWHERE["vpc"], EnableDnsSupport={"Value": True})
    more = do("a second range", "ec2", "associate_vpc_cidr_block", VpcId=vpc, CidrBlock="100.64.0.0/16")
    do("by the second range", "ec2", "describe_vpcs", Filters=[{"Name": "cidr-block-association.cidr-block", "Values": ["100.64.0.0/16"]}])
    large = do("a range too large", "ec2", "associate_vpc_cidr_block", VpcId=vpc, CidrBlock="100.64.0.0/10")
    undo(large, "ec2", "disassociate_vpc_cidr_block", AssociationId=only(large, "CidrBlockAssociation", "AssociationId"))
    do("the second range goes", "ec2", "disassociate_vpc_cidr_block", AssociationId=only(more, "CidrBlockAssociation", "AssociationId"))
    do("an association of nothing", "ec2", "disassociate_vpc_cidr_block", AssociationId="vpc-cidr-assoc-0123456789abcdef0")
    return vpc, other


def subnets(do, undo, vpc, other):
    first = only(do("a subnet", "ec2", "create_subnet", VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZone="us-west-2a", TagSpecifications=tagged("subnet", "compute")),
                 "Subnet", "SubnetId")
    second = only(do("a second", "ec2", "create_subnet", VpcId=vpc, CidrBlock="10.20.240.0/24", AvailabilityZone="us-west-2b"), "Subnet", "SubnetId")
    third = only(do("elsewhere", "ec2", "create_subnet", VpcId=other, CidrBlock="10.21.0.0/24", AvailabilityZone="us-west-2c"), "Subnet", "SubnetId")
    for what, text in (("overlaps", "10.20.8.0/24"), ("equal", "10.20.0.0/20"), ("outside", "10.99.0.0/24"), ("too small", "10.20.250.0/29"),
                       ("too large", "10.0.0.0/15"), ("no range", "word")):
        made = do(what, "ec2", "create_subnet", VpcId=vpc, CidrBlock=text)
        undo(made, "ec2", "delete_subnet", SubnetId=only(made, "Subnet", "SubnetId"))
    do("in no network", "ec2", "create_subnet", VpcId=NOWHERE["vpc"], CidrBlock="10.20.0.0/24")
    do("in no zone", "ec2", "create_subnet", VpcId=vpc, CidrBlock="10.20.241.0/24", AvailabilityZone="us-west-2z")
    do("by network", "ec2", "describe_subnets", Filters=of_vpc(vpc))
    do("by id", "ec2", "describe_subnets", SubnetIds=[second])
    do("by zone", "ec2", "describe_subnets", Filters=of_vpc(vpc, availability_zone="us-west-2b"))
    do("by range", "ec2", "describe_subnets", Filters=of_vpc(vpc, cidr_block="10.20.240.0/24"))
    do("by tag", "ec2", "describe_subnets", Filters=filters(tag__Name="compute"))
    do("by id as a filter", "ec2", "describe_subnets", Filters=filters(subnet_id=[first, second]))
    do("unknown id", "ec2", "describe_subnets", SubnetIds=[NOWHERE["subnet"]])
    do("a filter that is none", "ec2", "describe_subnets", Filters=filters(colour="red"))
    do("public addresses on launch", "ec2", "modify_subnet_attribute", SubnetId=second, MapPublicIpOnLaunch={"Value": True})
    do("public addresses are on", "ec2", "describe_subnets", SubnetIds=[second])
    do("attribute of nothing", "ec2", "modify_subnet_attribute", SubnetId=NOWHERE["subnet"], MapPublicIpOnLaunch={"Value": True})
    return first, second, third


def gateways(do, vpc, other):
    gateway = only(do("a gateway", "ec2", "create_internet_gateway", TagSpecifications=tagged("internet-gateway", "way")), "InternetGateway", "InternetGatewayId")
    do("attached", "ec2", "attach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)
    do("attached again", "ec2", "attach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)
    do("attached elsewhere", "ec2", "attach_internet_gateway", InternetGatewayId=gateway, VpcId=other)
    do("of nothing", "ec2", "attach_internet_gateway", InternetGatewayId=NOWHERE["igw"], VpcId=vpc)
    do("to nothing", "ec2", "attach_internet_gateway", InternetGatewayId=gateway, VpcId=NOWHERE["vpc"])
    do("by network", "ec2", "describe_internet_gateways", Filters=[{"Name": "attachment.vpc-id", "Values": [vpc]}])
    do("by tag", "ec2", "describe_internet_gateways", Filters=filters(tag__Name="way"))
    do("unknown id", "ec2", "describe_internet_gateways", InternetGatewayIds=[NOWHERE["igw"]])
    do("deleted while attached", "ec2", "delete_internet_gateway", InternetGatewayId=gateway)
    do("detached from another network", "ec2", "detach_internet_gateway", InternetGatewayId=gateway, VpcId=other)
    return gateway


def routes(do, undo, vpc, other, gateway, subnet, elsewhere):
    table = only(do("a table", "ec2", "create_route_table", VpcId=vpc, TagSpecifications=tagged("route-table", "public")), "RouteTable", "RouteTableId")
    private = only(do("another table", "ec2", "create_route_table", VpcId=vpc, TagSpecifications=tagged("route-table", "private")), "RouteTable", "RouteTableId")
    do("in no network", "ec2", "create_route_table", VpcId=NOWHERE["vpc"])
    do("to the gateway", "ec2", "create_route", RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    do("of no table", "ec2", "create_route", RouteTableId=NOWHERE["rtb"], DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    do("to no gateway", "ec2", "create_route", RouteTableId=private, DestinationCidrBlock="0.0.0.0/0", GatewayId=NOWHERE["igw"])
    do("to no range", "ec2", "create_route", RouteTableId=private, DestinationCidrBlock="word", GatewayId=gateway)
    aimless = do("without a target", "ec2", "create_route", RouteTableId=private, DestinationCidrBlock="0.0.0.0/0")
    undo(aimless, "ec2", "delete_route", RouteTableId=private, DestinationCidrBlock="0.0.0.0/0")
    association = only(do("a subnet joins", "ec2", "associate_route_table", RouteTableId=table, SubnetId=subnet), "AssociationId")
    do("joins again", "ec2", "associate_route_table", RouteTableId=table, SubnetId=subnet)
    do("joins another", "ec2", "associate_route_table", RouteTableId=private, SubnetId=subnet)
    strange = do("of another network joins", "ec2", "associate_route_table", RouteTableId=private, SubnetId=elsewhere)
    undo(strange, "ec2", "disassociate_route_table", AssociationId=only(strange, "AssociationId"))
    do("no subnet joins", "ec2", "associate_route_table", RouteTableId=private, SubnetId=NOWHERE["subnet"])
    do("joins no table", "ec2", "associate_route_table", RouteTableId=NOWHERE["rtb"], SubnetId=subnet)
    do("by id", "ec2", "describe_route_tables", RouteTableIds=[table])
    do("by network", "ec2", "describe_route_tables", Filters=of_vpc(vpc))
    do("the main one", "ec2", "describe_route_tables", Filters=of_vpc(vpc) + [{"Name": "association.main", "Values": ["true"]}])
    do("of a subnet", "ec2", "describe_route_tables", Filters=[{"Name": "association.subnet-id", "Values": [subnet]}])
    do("by its route", "ec2", "describe_route_tables", Filters=of_vpc(vpc) + [{"Name": "route.gateway-id", "Values": [gateway]}])
    do("unknown id", "ec2", "describe_route_tables", RouteTableIds=[NOWHERE["rtb"]])
    do("deleted while in use", "ec2", "delete_route_table", RouteTableId=table)
    do("of nothing", "ec2", "replace_route_table_association", AssociationId=NOWHERE["rtbassoc"], RouteTableId=private)
    moved = only(do("moves", "ec2", "replace_route_table_association", AssociationId=association, RouteTableId=private), "NewAssociationId")
    do("leaves", "ec2", "disassociate_route_table", AssociationId=moved)
    do("leaves again", "ec2", "disassociate_route_table", AssociationId=moved)
    do("back", "ec2", "associate_route_table", RouteTableId=table, SubnetId=subnet)
    do("no such route", "ec2", "delete_route", RouteTableId=private, DestinationCidrBlock="10.99.0.0/16")
    do("replaced without being there", "ec2", "replace_route", RouteTableId=private, DestinationCidrBlock="10.99.0.0/16", GatewayId=gateway)
    return table, private


def groups(do, undo, vpc, other):
    group = only(do("a group", "ec2", "create_security_group", VpcId=vpc, GroupName="nodes", Description="the nodes", TagSpecifications=tagged("security-group", "nodes")), "GroupId")
    peer = only(do("another group", "ec2", "create_security_group", VpcId=vpc, GroupName="control", Description="the control plane"), "GroupId")
    far = only(do("same name in another network", "ec2", "create_security_group", VpcId=other, GroupName="nodes", Description="far"), "GroupId")
    do("same name", "ec2", "create_security_group", VpcId=vpc, GroupName="nodes", Description="again")
    do("reserved name", "ec2", "create_security_group", VpcId=vpc, GroupName="default", Description="x")
    for what, parameters in (("a name like an id", {"VpcId": vpc, "GroupName": "sg-nodes", "Description": "x"}),
                             ("in no network", {"VpcId": NOWHERE["vpc"], "GroupName": "lost", "Description": "x"}),
                             ("no description", {"VpcId": vpc, "GroupName": "mute"})):
        made = do(what, "ec2", "create_security_group", **parameters)
        undo(made, "ec2", "delete_security_group", GroupId=only(made, "GroupId"))
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group, "Description": "among themselves"}]}]
    web = [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "inside"}, {"CidrIp": "192.168.0.0/16"}]}]
    far_rule = [{"IpProtocol": "tcp", "FromPort": 80, "ToPort": 81, "UserIdGroupPairs": [{"GroupId": peer}]}]
    everything = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    in_, out = "authorize_security_group_ingress", "authorize_security_group_egress"
    do("itself", "ec2", in_, GroupId=group, IpPermissions=own)
    do("itself again", "ec2", in_, GroupId=group, IpPermissions=own)
    do("itself outwards", "ec2", out, GroupId=group, IpPermissions=own)
    do("two ranges", "ec2", in_, GroupId=group, IpPermissions=web)
    do("one of two ranges again", "ec2", in_, GroupId=group, IpPermissions=[{**web[0], "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}])
    do("another group", "ec2", in_, GroupId=group, IpPermissions=far_rule)
    do("the short form", "ec2", in_, GroupId=peer, IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="10.1.0.0/16")
    do("the short form again", "ec2", in_, GroupId=peer, IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="10.1.0.0/16")
    do("outwards, there from the first", "ec2", out, GroupId=group, IpPermissions=everything)
    do("of no group", "ec2", in_, GroupId=NOWHERE["sg"], IpPermissions=everything)
    do("from no group", "ec2", in_, GroupId=group, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": NOWHERE["sg"]}]}])
    do("a range that is none", "ec2", in_, GroupId=group, IpPermissions=[{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/99"}]}])
    do("no rule", "ec2", in_, GroupId=group)
    do("tagged", "ec2", in_, GroupId=peer, IpPermissions=[{"IpProtocol": "udp", "FromPort": 53, "ToPort": 53, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}],
       TagSpecifications=tagged("security-group-rule", "dns"))
    do("the group with its rules", "ec2", "describe_security_groups", GroupIds=[group])
    do("the other with its rules", "ec2", "describe_security_groups", GroupIds=[peer])
    do("by name", "ec2", "describe_security_groups", Filters=of_vpc(vpc, group_name="nodes"))
    do("by tag", "ec2", "describe_security_groups", Filters=filters(tag__Name="nodes"))
    do("of the network", "ec2", "describe_security_groups", Filters=of_vpc(vpc))
    do("unknown id", "ec2", "describe_security_groups", GroupIds=[NOWHERE["sg"]])
    do("rules", "ec2", "describe_security_group_rules", Filters=filters(group_id=group))
    do("rules of the other", "ec2", "describe_security_group_rules", Filters=filters(group_id=peer))
    do("a rule not there", "ec2", "revoke_security_group_ingress", GroupId=group, IpPermissions=[{"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}])
    do("two ranges", "ec2", "revoke_security_group_ingress", GroupId=group, IpPermissions=web)
    do("two ranges again", "ec2", "revoke_security_group_ingress", GroupId=group, IpPermissions=web)
    do("of no group", "ec2", "revoke_security_group_ingress", GroupId=NOWHERE["sg"], IpPermissions=web)
    do("everything outwards", "ec2", "revoke_security_group_egress", GroupId=group, IpPermissions=everything)
    do("what is left", "ec2", "describe_security_groups", GroupIds=[group])
    do("deleted while another refers to it", "ec2", "delete_security_group", GroupId=peer)
    do("another group no more", "ec2", "revoke_security_group_ingress", GroupId=group, IpPermissions=far_rule)
    do("the other", "ec2", "delete_security_group", GroupId=peer)
    do("the other again", "ec2", "delete_security_group", GroupId=peer)
    return group, far


def endpoints(do, vpc, subnet, group, table):
    name = "com.amazonaws.us-west-2."
    gateway = only(do("to S3", "ec2", "create_vpc_endpoint", VpcId=vpc, ServiceName=name + "s3", VpcEndpointType="Gateway", RouteTableIds=[table],
                      TagSpecifications=tagged("vpc-endpoint", "s3")), "VpcEndpoint", "VpcEndpointId")
    do("to nothing", "ec2", "create_vpc_endpoint", VpcId=vpc, ServiceName=name + "nothing")
    do("of no network", "ec2", "create_vpc_endpoint", VpcId=NOWHERE["vpc"], ServiceName=name + "s3", RouteTableIds=[table])
    do("by id", "ec2", "describe_vpc_endpoints", VpcEndpointIds=[gateway])
    do("by network", "ec2", "describe_vpc_endpoints", Filters=of_vpc(vpc))
    do("by service", "ec2", "describe_vpc_endpoints", Filters=of_vpc(vpc, service_name=name + "s3"))
    do("by tag", "ec2", "describe_vpc_endpoints", Filters=filters(tag__Name="s3"))
    do("unknown id", "ec2", "describe_vpc_endpoints", VpcEndpointIds=[NOWHERE["vpce"]])
    do("deleted", "ec2", "delete_vpc_endpoints", VpcEndpointIds=[gateway])
    return gateway


def addresses(do, subnet):
    allocation = only(do("an address", "ec2", "allocate_address", Domain="vpc", TagSpecifications=tagged("elastic-ip", "nat")), "AllocationId")
    do("by id", "ec2", "describe_addresses", AllocationIds=[allocation])
    do("by tag", "ec2", "describe_addresses", Filters=filters(tag__Name="nat"))
    do("unknown id", "ec2", "describe_addresses", AllocationIds=[NOWHERE["eipalloc"]])
    do("released, but none", "ec2", "release_address", AllocationId=NOWHERE["eipalloc"])
    nat = only(do("a NAT gateway", "ec2", "create_nat_gateway", SubnetId=subnet, AllocationId=allocation, ClientToken="t-1", TagSpecifications=tagged("natgateway", "nat")),
               "NatGateway", "NatGatewayId")
    do("with no address", "ec2", "create_nat_gateway", SubnetId=subnet, AllocationId=NOWHERE["eipalloc"])
    do("in no subnet", "ec2", "create_nat_gateway", SubnetId=NOWHERE["subnet"], AllocationId=allocation)
    do("by id, once available", "ec2", "describe_nat_gateways", NatGatewayIds=[nat], Filter=filters(state="available"))
    do("by subnet", "ec2", "describe_nat_gateways", Filter=filters(subnet_id=subnet, state=["pending", "available"]))
    do("by tag", "ec2", "describe_nat_gateways", Filter=filters(tag__Name="nat"))
    do("unknown id", "ec2", "describe_nat_gateways", NatGatewayIds=[NOWHERE["nat"]])
    do("deleted, but none", "ec2", "delete_nat_gateway", NatGatewayId=NOWHERE["nat"])
    do("deleted", "ec2", "delete_nat_gateway", NatGatewayId=nat)
    do("is gone", "ec2", "describe_nat_gateways", NatGatewayIds=[nat])
    do("released", "ec2", "release_address", AllocationId=allocation)
    do("released again", "ec2", "release_address", AllocationId=allocation)


def tags_and_pages(do, vpc, subnet):
    do("two resources", "ec2", "create_tags", Resources=[vpc, subnet], Tags=[{"Key": "owner", "Value": "me"}, {"Key": "empty", "Value": ""}])
    do("by resource", "ec2", "describe_tags", Filters=filters(resource_id=vpc))
    do("by key", "ec2", "describe_tags", Filters=filters(key="owner"))
    do("by type", "ec2", "describe_tags", Filters=filters(key="owner", resource_type="subnet"))
    do("overwritten", "ec2", "create_tags", Resources=[vpc], Tags=[{"Key": "owner", "Value": "you"}])
    do("removed with another value", "ec2", "delete_tags", Resources=[vpc], Tags=[{"Key": "owner", "Value": "me"}])
    do("still there", "ec2", "describe_tags", Filters=filters(resource_id=vpc))
    do("removed", "ec2", "delete_tags", Resources=[vpc], Tags=[{"Key": "owner"}])
    do("are gone", "ec2", "describe_tags", Filters=filters(resource_id=vpc))
    do("reserved key", "ec2", "create_tags", Resources=[vpc], Tags=[{"Key": "aws:mine", "Value": "x"}])
    do("of nothing", "ec2", "create_tags", Resources=[NOWHERE["vpc"]], Tags=[{"Key": "a", "Value": "b"}])
    page = do("a page", "ec2", "describe_subnets", Filters=of_vpc(vpc), MaxResults=5)
    do("pages of one address: none", "ec2", "describe_tags", MaxResults=5, Filters=filters(key="owner"))
    return page


def zones(do):
    do("all", "ec2", "describe_availability_zones", Filters=filters(zone_type="availability-zone"))
    do("by name", "ec2", "describe_availability_zones", ZoneNames=["us-west-2b"])
    do("by id", "ec2", "describe_availability_zones", ZoneIds=["usw2-az1"])
    do("by state", "ec2", "describe_availability_zones", Filters=filters(state="available", zone_name="us-west-2a"))
    do("unknown name", "ec2", "describe_availability_zones", ZoneNames=["us-west-2z"])
    for kind in ("g5.12xlarge", "p4d.24xlarge", "m5.large"):
        do(f"{kind} by region", "ec2", "describe_instance_type_offerings", LocationType="region", Filters=filters(instance_type=kind))
    do("no type", "ec2", "describe_instance_type_offerings", LocationType="region", Filters=filters(instance_type="x9.huge"))


def removal(do, vpc, other, subnets_made, gateway, tables, group, far):
    do("with subnets", "ec2", "delete_vpc", VpcId=vpc)
    for index, subnet in enumerate(subnets_made):
        if index == 0:
            do("no subnet", "ec2", "delete_subnet", SubnetId=NOWHERE["subnet"])
        do(f"subnet {index}", "ec2", "delete_subnet", SubnetId=subnet)
    do("a subnet again", "ec2", "delete_subnet", SubnetId=subnets_made[0])
    do("with a gateway", "ec2", "delete_vpc", VpcId=vpc)
    do("detached", "ec2", "detach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)
    do("detached again", "ec2", "detach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)
    do("gateway", "ec2", "delete_internet_gateway", InternetGatewayId=gateway)
    do("gateway again", "ec2", "delete_internet_gateway", InternetGatewayId=gateway)
    do("a route", "ec2", "delete_route", RouteTableId=tables[0], DestinationCidrBlock="0.0.0.0/0")
    for index, table in enumerate(tables):
        do(f"table {index}", "ec2", "delete_route_table", RouteTableId=table)
    do("a table again", "ec2", "delete_route_table", RouteTableId=tables[0])
    do("with a group", "ec2", "delete_vpc", VpcId=vpc)
    do("group", "ec2", "delete_security_group", GroupId=group)
    do("group elsewhere", "ec2", "delete_security_group", GroupId=far)
    do("network", "ec2", "delete_vpc", VpcId=vpc)
    do("network again", "ec2", "delete_vpc", VpcId=vpc)
    do("the other network", "ec2", "delete_vpc", VpcId=other)
    do("none is left", "ec2", "describe_vpcs", Filters=filters(is_default="false"))


def run(account):
    do, undo = account.do, account.undo
    vpc, other = vpcs(do, undo)
    first, second, third = subnets(do, undo, vpc, other)
    gateway = gateways(do, vpc, other)
    tables = routes(do, undo, vpc, other, gateway, first, third)
    group, far = groups(do, undo, vpc, other)
    endpoints(do, vpc, first, group, tables[0])
    addresses(do, first)
    tags_and_pages(do, vpc, first)
    zones(do)
    removal(do, vpc, other, (first, second, third), gateway, tables, group, far)
