"""Where moto differs from AWS: (calls, paths of the answer, what AWS does). A difference that no row explains fails the test, and so does a row that explains
nothing any more. Decided by AWS's API references, where those are silent by what public tools expect of AWS. `refused` stands for a refusal on one side only."""

ACCEPTS = [  # moto takes what AWS refuses
    ("ec2 associate_vpc_cidr_block: a range too large", "*", "InvalidVpc.Range: a range is /16 to /28"),
    ("ec2 create_subnet: too small", "*", "InvalidSubnet.Range: a range is /16 to /28"),
    ("ec2 create_route: without a target", "*", "MissingParameter"),
    ("ec2 associate_route_table: joins another", "*", "Resource.AlreadyAssociated: a subnet has one table"),
    ("ec2 associate_route_table: of another network joins", "*", "InvalidParameterValue: they belong to different networks"),
    ("ec2 associate_route_table: joins no table", "*", "InvalidRouteTableID.NotFound"),
    ("ec2 create_security_group: a name like an id", "*", "InvalidParameterValue: names may not begin with sg-"),
    ("ec2 create_security_group: in no network", "*", "InvalidVpcID.NotFound"),
    ("ec2 authorize_security_group_ingress: no rule", "*", "MissingParameter"),
    ("ec2 create_vpc_endpoint: to nothing", "*", "InvalidServiceName"),
    ("ec2 describe_nat_gateways: unknown id", "*", "NatGatewayNotFound"),
    ("ec2 create_tags: reserved key", "*", "InvalidParameterValue: keys that begin with aws: are reserved"),
    ("ec2 describe_availability_zones: unknown name", "*", "InvalidParameterValue"),
    ("iam create_role: same name in other letters", "*", "EntityAlreadyExists: names are not told apart by case"),
    ("iam create_role: trust *", "*", "MalformedPolicyDocument"),
    ("iam create_role: a name *", "*", "ValidationError: RoleName has 64 characters of [\\w+=,.@-]"),
    ("iam create_policy: the policy again", "*", "EntityAlreadyExists: names are unique in the account, not in a path"),
    ("s3 create_bucket: a bad name", "*", "InvalidBucketName"),
    ("s3 put_bucket_policy: policy that is not JSON", "*", "MalformedPolicy"),
]

CODES = [  # both refuse, moto with another code
    ("ec2 create_vpc: range 10.0.0.0", "refused.code", "InvalidParameterValue: it is no range at all"),
    ("ec2 create_vpc: no range", "refused.code", "MissingParameter"),
    ("ec2 *: a filter that is none", "refused.*", "InvalidParameterValue; moto answers a page of HTML"),
    ("ec2 disassociate_vpc_cidr_block: an association of nothing", "refused.code", "InvalidVpcCidrBlockAssociationID.NotFound"),
    ("ec2 attach_internet_gateway: to nothing", "refused.code", "two faults at once; AWS does not say which it tells"),
    ("ec2 create_route: to no gateway", "refused.code", "InvalidGatewayID.NotFound: the target is any gateway, not only an internet gateway"),
    ("ec2 delete_nat_gateway: deleted, but none", "refused.*", "NatGatewayNotFound; moto answers a page of HTML"),
    ("iam remove_role_from_instance_profile: role out of it again", "refused.*", "NoSuchEntity; moto answers a page of HTML"),
    ("s3 upload_part: a part of no upload", "refused.*", "NoSuchUpload; moto answers a page of HTML"),
]

SHAPES = [  # members that moto leaves out or invents
    ("ec2 *_vpc*: *", "*.DhcpOptionsId", "the id of the region's default options"),
    ("ec2 describe_vpcs: *", "answer.Vpcs.Ipv6CidrBlockAssociationSet", "left out where there is none"),
    ("ec2 create_vpc: *", "answer.Vpc.State", "pending at first"),
    ("ec2 *_subnet*: *", "*.EnableDns64", "moto leaves it out"),
    ("ec2 *_subnet*: *", "*.MapCustomerOwnedIpOnLaunch", "moto leaves it out"),
    ("ec2 describe_subnets: a page", "answer.Subnets.AvailableIpAddressCount", "a deleted NAT gateway gives its address back"),
    ("ec2 create_route_table: *", "answer.ClientToken", "the token comes back"),
    ("ec2 *_route_table*: *", "*.PropagatingVgws", "an empty list"),
    ("ec2 *_route_table*: *", "*.Routes", "a range that left the network takes its local route along"),
    ("ec2 *_route_table*: *", "*AssociationId", "moto made an association that AWS refuses, so its others count differently"),
    ("ec2 create_security_group: *", "answer.Tags", "the tags come back"),
    ("ec2 *_security_group_*: *", "*.SecurityGroupRules.*", "all members of a rule come back, with -1 for all ports"),
    ("ec2 describe_security_groups: of the network", "answer.SecurityGroups.*", "the default group has a rule for itself"),
    ("ec2 *_vpc_endpoint*: *", "*.PrivateDnsEnabled", "false for gateway endpoints"),
    ("ec2 *_vpc_endpoint*: *", "*.RequesterManaged", "moto leaves it out"),
    ("ec2 describe_vpc_endpoints: by network", "*", "moto made an endpoint that AWS refuses"),
    ("ec2 *_address*: *", "*NetworkBorderGroup", "moto leaves it out"),
    ("ec2 *_address*: *", "*PublicIpv4Pool", "moto leaves it out"),
    ("ec2 describe_addresses: *", "*.InstanceId", "left out where there is none"),
    ("ec2 describe_addresses: *", "*.NetworkInterfaceId", "left out where there is none"),
    ("ec2 create_nat_gateway: *", "*", "pending at first, with no interface yet; the token comes back"),
    ("ec2 describe_nat_gateways: *", "*", "ConnectivityType, IsPrimary and the state of each address"),
    ("ec2 describe_availability_zones: *", "*", "group, border group and opt-in status"),
    ("iam *: *", "*.PolicyId", "ANPA…"),
    ("iam *: *", "*.InstanceProfileId", "AIPA…"),
    ("iam *: *", "*.PermissionsBoundaryUsageCount", "a number, also where it is 0"),
    ("iam create_role: *", "answer.Role.RoleLastUsed", "only GetRole tells it"),
    ("iam *instance_profile*: *", "*.RoleLastUsed", "only GetRole tells it"),
    ("iam *: *", "*.IsTruncated", "always there"),
    ("iam *_policy_version*: *", "*.Document", "only GetPolicyVersion tells it"),
    ("iam create_open_id_connect_provider: *", "answer.Tags", "the tags come back"),
    ("iam create_service_linked_role: *", "answer.Role.*", "AWS's own name and trust"),
    ("s3 create_bucket: a bucket", "answer.Location", "a URL outside us-east-1"),
    ("s3 head_bucket: *", "answer.AccessPointAlias", "moto leaves it out"),
    ("s3 put_bucket_policy: policy", "answer.HTTPStatusCode", "204"),
    ("s3 get_public_access_block: block at first", "*", "new buckets block public access since April 2023"),
    ("s3 get_bucket_encryption: encryption at first", "*", "new objects are encrypted since January 2023"),
    ("s3 *: *", "*.Owner.*", "the canonical user's id alone, 64 digits"),
    ("s3 *: *", "*.ChecksumType", "comes with each checksum"),
    ("s3 list_objects_v2: the next page", "answer.ContinuationToken", "the token comes back"),
    ("s3 list_object_versions: *", "answer.EncodingType", "the encoding comes back"),
    ("s3 list_object_versions: *", "*.ChecksumAlgorithm", "told as in ListObjectsV2"),
    ("s3 *upload*: *", "answer.ServerSideEncryption", "moto leaves it out"),
    ("s3 complete_multipart_upload: *", "answer.Location", "the URL by which it was made"),
    ("s3 complete_multipart_upload: *", "answer.VersionId", "only in versioned buckets"),
]

BEHAVIOUR = [  # what follows from them
    ("ec2 delete_security_group: deleted while another refers to it", "*", "DependencyViolation"),
    ("ec2 revoke_security_group_ingress: another group no more", "*", "the group is still there"),
    ("ec2 delete_security_group: *", "*", "GroupId and Return come back; the group is still there"),
    ("ec2 delete_route_table: *", "*", "a deleted subnet takes its association along"),
    ("ec2 delete_vpc: network*", "*", "moto still has the table"),
    ("ec2 describe_vpcs: none is left", "*", "moto still has the network"),
]

CHANCE = [  # shows in some runs only
    ("iam list_roles: * page", "answer.Roles.*", "moto's order is arbitrary"),
]

GAPS = ACCEPTS + CODES + SHAPES + BEHAVIOUR
