#include "twin/aws/ec2/ec2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "twin/aws/services.h"
#include "twin/aws/testing/fake_world.h"

namespace instantstart::twin::ec2 {
namespace {

using base::get_array;
using base::get_bool;
using base::get_int;
using base::get_string;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

JsonArray filter(std::string_view name, std::string_view value) {
    JsonObject made;
    made["Name"] = name;
    made["Values"] = JsonArray{JsonValue(value)};
    return JsonArray{JsonValue(made)};
}

class Ec2Test : public ::testing::Test {
protected:
    Ec2Test() { world.add(make_ec2(world)); }

    // A call whose fresh resources have become known.
    JsonObject call(std::string_view operation, JsonObject params) {
        JsonObject answer = world.call("ec2", operation, std::move(params));
        world.advance(seconds(1));
        return answer;
    }
    std::string vpc(std::string_view cidr = "10.0.0.0/16") {
        return get_string(call("CreateVpc", {{"CidrBlock", cidr}}), "Vpc.VpcId");
    }
    std::string subnet(const std::string& vpc_id, std::string_view cidr,
                       std::string_view zone = "us-west-2a") {
        return get_string(
            call("CreateSubnet", {{"VpcId", vpc_id}, {"CidrBlock", cidr}, {"AvailabilityZone", zone}}),
            "Subnet.SubnetId");
    }
    std::string gateway(const std::string& vpc_id) {
        const std::string id =
            get_string(call("CreateInternetGateway", {}), "InternetGateway.InternetGatewayId");
        call("AttachInternetGateway", {{"InternetGatewayId", id}, {"VpcId", vpc_id}});
        return id;
    }
    std::string address() { return get_string(call("AllocateAddress", {{"Domain", "vpc"}}), "AllocationId"); }
    std::string error(std::string_view operation, JsonObject params) {
        return get_string(call(operation, std::move(params)), "Error");
    }

    twin::testing::FakeWorld world;
};

TEST_F(Ec2Test, account_starts_with_a_default_vpc) {
    const JsonObject vpcs = call("DescribeVpcs", {{"Filters", filter("is-default", "true")}});
    ASSERT_EQ(get_array(vpcs, "Vpcs").size(), 1U);
    EXPECT_EQ(get_string(vpcs, "Vpcs.0.CidrBlock"), "172.31.0.0/16");
    const std::string id = get_string(vpcs, "Vpcs.0.VpcId");
    EXPECT_EQ(get_array(call("DescribeSubnets", {{"Filters", filter("vpc-id", id)}}), "Subnets").size(), 4U);
    EXPECT_EQ(get_array(call("DescribeInternetGateways", {{"Filters", filter("attachment.vpc-id", id)}}),
                        "InternetGateways")
                  .size(),
              1U);
    EXPECT_EQ(get_string(call("DescribeSecurityGroups", {{"Filters", filter("vpc-id", id)}}),
                         "SecurityGroups.0.GroupName"),
              "default");
    const JsonObject tables = call("DescribeRouteTables", {{"Filters", filter("association.main", "true")}});
    EXPECT_EQ(get_array(tables, "RouteTables.0.Routes").size(), 2U);
}

TEST_F(Ec2Test, vpc_quota_is_enforced) {
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(vpc("10." + std::to_string(i) + ".0.0/16").empty());
    EXPECT_EQ(error("CreateVpc", {{"CidrBlock", "10.9.0.0/16"}}), "VpcLimitExceeded");
}

TEST_F(Ec2Test, bad_ranges_are_refused) {
    EXPECT_EQ(error("CreateVpc", {{"CidrBlock", "10.0.0.0/8"}}), "InvalidVpc.Range");
    EXPECT_EQ(error("CreateVpc", {{"CidrBlock", "10.0.0.300/16"}}), "InvalidParameterValue");
    const std::string id = vpc();
    subnet(id, "10.0.0.0/20");
    EXPECT_EQ(error("CreateSubnet", {{"VpcId", id}, {"CidrBlock", "10.0.8.0/24"}}), "InvalidSubnet.Conflict");
    EXPECT_EQ(error("CreateSubnet", {{"VpcId", id}, {"CidrBlock", "10.1.0.0/24"}}), "InvalidSubnet.Range");
    EXPECT_EQ(error("CreateSubnet",
                    {{"VpcId", id}, {"CidrBlock", "10.0.32.0/24"}, {"AvailabilityZone", "eu-west-1a"}}),
              "InvalidParameterValue");
    EXPECT_EQ(error("CreateSubnet", {{"VpcId", "vpc-0"}, {"CidrBlock", "10.0.32.0/24"}}),
              "InvalidVpcID.NotFound");
}

TEST_F(Ec2Test, dry_run_changes_nothing) {
    const JsonObject answer = call("CreateVpc", {{"CidrBlock", "10.0.0.0/16"}, {"DryRun", true}});
    EXPECT_EQ(get_string(answer, "Error"), "DryRunOperation");
    EXPECT_EQ(get_int(answer, "Status"), 412);
    EXPECT_EQ(get_array(call("DescribeVpcs", {}), "Vpcs").size(), 1U);
}

TEST_F(Ec2Test, fresh_resources_show_up_within_a_second) {
    std::size_t hidden = 0;
    world.quotas["VPCs per Region"] = 100;
    for (int i = 0; i < 20; ++i) {
        const JsonObject made = world.call("ec2", "CreateVpc", {{"CidrBlock", "10.0.0.0/16"}});
        const JsonArray ids{JsonValue(get_string(made, "Vpc.VpcId"))};
        if (get_string(world.call("ec2", "DescribeVpcs", {{"VpcIds", ids}}), "Error") ==
            "InvalidVpcID.NotFound")
            ++hidden;
        world.advance(seconds(1));
        EXPECT_EQ(get_array(world.call("ec2", "DescribeVpcs", {{"VpcIds", ids}}), "Vpcs").size(), 1U);
    }
    EXPECT_GT(hidden, 0U);
    EXPECT_LT(hidden, 20U);
}

TEST_F(Ec2Test, stale_reads_hide_young_resources) {
    vpc();
    world.stale = minutes(1);
    EXPECT_EQ(get_array(call("DescribeVpcs", {}), "Vpcs").size(), 1U);
}

TEST_F(Ec2Test, tags_are_set_on_create_and_filtered_by) {
    JsonObject tag{{"Key", "instantstart:cluster"}, {"Value", "demo"}};
    JsonObject specification{{"ResourceType", "vpc"}, {"Tags", JsonArray{JsonValue(tag)}}};
    call("CreateVpc",
         {{"CidrBlock", "10.0.0.0/16"}, {"TagSpecifications", JsonArray{JsonValue(specification)}}});
    const JsonObject found = call("DescribeVpcs", {{"Filters", filter("tag:instantstart:cluster", "de*")}});
    ASSERT_EQ(get_array(found, "Vpcs").size(), 1U);
    const std::string id = get_string(found, "Vpcs.0.VpcId");
    call("DeleteTags", {{"Resources", JsonArray{JsonValue(id)}},
                        {"Tags", JsonArray{JsonValue(JsonObject{{"Key", "instantstart:cluster"}})}}});
    EXPECT_TRUE(get_array(call("DescribeTags", {{"Filters", filter("resource-id", id)}}), "Tags").empty());
    const JsonArray tags{JsonValue(tag)};
    EXPECT_EQ(error("CreateTags", {{"Resources", JsonArray{"vpc-0"}}, {"Tags", tags}}),
              "InvalidVpcID.NotFound");
    EXPECT_EQ(error("CreateTags", {{"Resources", JsonArray{"nothing"}}, {"Tags", tags}}), "InvalidID");
    EXPECT_EQ(error("DescribeVpcs", {{"NextToken", "none of ours"}}), "InvalidPaginationToken");
}

TEST_F(Ec2Test, unknown_filter_is_refused) {
    EXPECT_EQ(error("DescribeVpcs", {{"Filters", filter("colour", "red")}}), "InvalidParameterValue");
}

TEST_F(Ec2Test, lists_are_paged) {
    const JsonObject first = call("DescribeSubnets", {{"MaxResults", 3}});
    EXPECT_EQ(get_array(first, "Subnets").size(), 3U);
    const JsonObject second =
        call("DescribeSubnets", {{"MaxResults", 3}, {"NextToken", get_string(first, "NextToken")}});
    EXPECT_EQ(get_array(second, "Subnets").size(), 1U);
    EXPECT_FALSE(second.contains("NextToken"));
}

TEST_F(Ec2Test, nat_gateway_lives_and_dies_slowly) {
    const std::string id = vpc(), home = subnet(id, "10.0.0.0/24"), eip = address(), igw = gateway(id);
    const JsonObject made =
        call("CreateNatGateway", {{"SubnetId", home}, {"AllocationId", eip}, {"ClientToken", "t1"}});
    const std::string nat = get_string(made, "NatGateway.NatGatewayId");
    EXPECT_EQ(get_string(made, "NatGateway.State"), "pending");
    EXPECT_EQ(get_string(call("CreateNatGateway",
                              {{"SubnetId", home}, {"AllocationId", eip}, {"ClientToken", "t1"}}),
                         "NatGateway.NatGatewayId"),
              nat);
    EXPECT_EQ(error("CreateNatGateway", {{"SubnetId", home}, {"AllocationId", eip}}),
              "Resource.AlreadyAssociated");
    world.advance(minutes(3));
    const JsonObject ready = call("DescribeNatGateways", {{"Filter", filter("vpc-id", id)}});
    EXPECT_EQ(get_string(ready, "NatGateways.0.State"), "available");
    EXPECT_EQ(get_int(call("DescribeSubnets", {{"SubnetIds", JsonArray{JsonValue(home)}}}),
                      "Subnets.0.AvailableIpAddressCount"),
              250);
    EXPECT_EQ(error("ReleaseAddress", {{"AllocationId", eip}}), "InvalidIPAddress.InUse");
    EXPECT_EQ(error("DeleteSubnet", {{"SubnetId", home}}), "DependencyViolation");
    EXPECT_EQ(error("DetachInternetGateway", {{"InternetGatewayId", igw}, {"VpcId", id}}),
              "DependencyViolation");
    call("DeleteNatGateway", {{"NatGatewayId", nat}});
    EXPECT_EQ(error("ReleaseAddress", {{"AllocationId", eip}}), "InvalidIPAddress.InUse");
    world.advance(minutes(2));
    EXPECT_EQ(get_string(call("DescribeNatGateways", {{"NatGatewayIds", JsonArray{JsonValue(nat)}}}),
                         "NatGateways.0.State"),
              "deleted");
    EXPECT_EQ(error("ReleaseAddress", {{"AllocationId", eip}}), "");
    EXPECT_EQ(error("DeleteSubnet", {{"SubnetId", home}}), "");
    world.advance(minutes(61));
    EXPECT_TRUE(get_array(call("DescribeNatGateways", {}), "NatGateways").empty());
}

TEST_F(Ec2Test, nat_gateway_without_internet_gateway_fails) {
    const std::string id = vpc(), home = subnet(id, "10.0.0.0/24"), eip = address();
    call("CreateNatGateway", {{"SubnetId", home}, {"AllocationId", eip}});
    world.advance(minutes(3));
    EXPECT_EQ(get_string(call("DescribeNatGateways", {}), "NatGateways.0.FailureCode"),
              "Gateway.NotAttached");
    EXPECT_EQ(error("ReleaseAddress", {{"AllocationId", eip}}), "");
}

TEST_F(Ec2Test, routes_follow_their_rules) {
    const std::string id = vpc(), home = subnet(id, "10.0.0.0/24"), igw = gateway(id);
    const std::string table =
        get_string(call("CreateRouteTable", {{"VpcId", id}}), "RouteTable.RouteTableId");
    JsonObject route{{"RouteTableId", table}, {"DestinationCidrBlock", "0.0.0.0/0"}, {"GatewayId", igw}};
    EXPECT_TRUE(get_bool(call("CreateRoute", route), "Return"));
    EXPECT_EQ(
        error("CreateRoute",
              {{"RouteTableId", table}, {"DestinationCidrBlock", "0.0.0.0/0"}, {"NatGatewayId", "nat-0"}}),
        "InvalidNatGatewayID.NotFound");
    const std::string association = get_string(
        call("AssociateRouteTable", {{"RouteTableId", table}, {"SubnetId", home}}), "AssociationId");
    EXPECT_EQ(error("DeleteRouteTable", {{"RouteTableId", table}}), "DependencyViolation");
    EXPECT_EQ(error("DisassociateRouteTable", {{"AssociationId", association}}), "");
    EXPECT_EQ(error("DeleteRouteTable", {{"RouteTableId", table}}), "");
    EXPECT_EQ(error("DeleteRouteTable", {{"RouteTableId", table}}), "InvalidRouteTableID.NotFound");
}

TEST_F(Ec2Test, group_rules_are_unique_and_hold_groups) {
    const std::string id = vpc();
    auto make = [this, &id](const char* name) {
        return get_string(
            call("CreateSecurityGroup", {{"VpcId", id}, {"GroupName", name}, {"Description", "d"}}),
            "GroupId");
    };
    const std::string a = make("a"), b = make("b");
    auto from = [](const std::string& group, const std::string& peer) {
        JsonObject pair{{"GroupId", peer}};
        JsonObject permission{{"IpProtocol", "-1"}, {"UserIdGroupPairs", JsonArray{JsonValue(pair)}}};
        return JsonObject{{"GroupId", group}, {"IpPermissions", JsonArray{JsonValue(permission)}}};
    };
    EXPECT_TRUE(get_bool(call("AuthorizeSecurityGroupIngress", from(a, b)), "Return"));
    EXPECT_EQ(error("AuthorizeSecurityGroupIngress", from(a, b)), "InvalidPermission.Duplicate");
    EXPECT_EQ(error("AuthorizeSecurityGroupIngress", from(a, "sg-0")), "InvalidGroup.NotFound");
    EXPECT_EQ(error("DeleteSecurityGroup", {{"GroupId", b}}), "DependencyViolation");
    const JsonObject rules = call("DescribeSecurityGroupRules", {{"Filters", filter("group-id", a)}});
    EXPECT_EQ(get_array(rules, "SecurityGroupRules").size(), 2U);
    EXPECT_EQ(get_string(call("DescribeSecurityGroups", {{"GroupIds", JsonArray{JsonValue(a)}}}),
                         "SecurityGroups.0.IpPermissions.0.UserIdGroupPairs.0.GroupId"),
              b);
    EXPECT_TRUE(get_bool(call("RevokeSecurityGroupIngress", from(a, b)), "Return"));
    EXPECT_EQ(error("RevokeSecurityGroupIngress", from(a, b)), "InvalidPermission.NotFound");
    EXPECT_EQ(error("DeleteSecurityGroup", {{"GroupId", b}}), "");
    EXPECT_EQ(error("CreateSecurityGroup", {{"VpcId", id}, {"GroupName", "a"}, {"Description", "d"}}),
              "InvalidGroup.Duplicate");
}

TEST_F(Ec2Test, vpc_goes_only_when_empty) {
    const std::string id = vpc(), home = subnet(id, "10.0.0.0/24");
    EXPECT_EQ(error("DeleteVpc", {{"VpcId", id}}), "DependencyViolation");
    call("DeleteSubnet", {{"SubnetId", home}});
    EXPECT_EQ(error("DeleteVpc", {{"VpcId", id}}), "");
    EXPECT_EQ(error("DescribeVpcs", {{"VpcIds", JsonArray{JsonValue(id)}}}), "InvalidVpcID.NotFound");
    EXPECT_TRUE(
        get_array(call("DescribeSecurityGroups", {{"Filters", filter("vpc-id", id)}}), "SecurityGroups")
            .empty());
}

TEST_F(Ec2Test, gateway_endpoint_is_a_route) {
    const std::string id = vpc();
    const std::string table =
        get_string(call("CreateRouteTable", {{"VpcId", id}}), "RouteTable.RouteTableId");
    const JsonObject made = call("CreateVpcEndpoint", {{"VpcId", id},
                                                       {"ServiceName", "com.amazonaws.us-west-2.s3"},
                                                       {"RouteTableIds", JsonArray{JsonValue(table)}}});
    const std::string endpoint = get_string(made, "VpcEndpoint.VpcEndpointId");
    EXPECT_EQ(get_array(call("DescribeRouteTables", {{"Filters", filter("route.gateway-id", endpoint)}}),
                        "RouteTables")
                  .size(),
              1U);
    EXPECT_EQ(error("CreateVpcEndpoint", {{"VpcId", id}, {"ServiceName", "com.amazonaws.us-west-2.nope"}}),
              "InvalidServiceName");
    call("DeleteVpcEndpoints", {{"VpcEndpointIds", JsonArray{JsonValue(endpoint)}}});
    EXPECT_TRUE(get_array(call("DescribeVpcEndpoints", {}), "VpcEndpoints").empty());
}

TEST_F(Ec2Test, zones_and_offerings) {
    const JsonObject zones = call("DescribeAvailabilityZones", {});
    EXPECT_EQ(get_array(zones, "AvailabilityZones").size(), 5U);
    EXPECT_EQ(get_string(zones, "AvailabilityZones.0.ZoneId"), "usw2-az2");
    const JsonObject plain =
        call("DescribeAvailabilityZones", {{"Filters", filter("zone-type", "availability-zone")}});
    EXPECT_EQ(get_array(plain, "AvailabilityZones").size(), 4U);
    JsonObject query{{"LocationType", "availability-zone"},
                     {"Filters", filter("instance-type", "g5.12xlarge")}};
    EXPECT_GE(get_array(call("DescribeInstanceTypeOfferings", query), "InstanceTypeOfferings").size(), 2U);
    query["Filters"] = filter("instance-type", "p5.48xlarge");
    EXPECT_EQ(get_array(call("DescribeInstanceTypeOfferings", query), "InstanceTypeOfferings").size(), 2U);
    EXPECT_EQ(get_int(call("DescribeInstanceTypes", {{"InstanceTypes", JsonArray{"g5.12xlarge"}}}),
                      "InstanceTypes.0.GpuInfo.Gpus.0.Count"),
              4);
    EXPECT_EQ(error("DescribeInstanceTypes", {{"InstanceTypes", JsonArray{"x9.nope"}}}),
              "InvalidInstanceType");
}

TEST_F(Ec2Test, dns_attributes_are_changed_one_by_one) {
    const std::string id = vpc();
    EXPECT_FALSE(get_bool(call("DescribeVpcAttribute", {{"VpcId", id}, {"Attribute", "enableDnsHostnames"}}),
                          "EnableDnsHostnames.Value"));
    call("ModifyVpcAttribute", {{"VpcId", id}, {"EnableDnsHostnames", JsonObject{{"Value", true}}}});
    EXPECT_TRUE(get_bool(call("DescribeVpcAttribute", {{"VpcId", id}, {"Attribute", "enableDnsHostnames"}}),
                         "EnableDnsHostnames.Value"));
    EXPECT_EQ(error("ModifyVpcAttribute", {{"VpcId", id}}), "InvalidParameterCombination");
}

TEST_F(Ec2Test, state_survives_a_snapshot) {
    const std::string id = vpc(), home = subnet(id, "10.0.0.0/24");
    Ec2& ec2 = world.get<Ec2>("ec2");
    InterfaceSpec spec;
    spec.subnet_id = home;
    spec.addresses = 10;
    ASSERT_TRUE(ec2.create_interface(spec).has_value());
    const JsonValue saved = ec2.save();
    ec2.load(JsonValue());
    EXPECT_EQ(get_array(call("DescribeVpcs", {}), "Vpcs").size(), 1U);
    ec2.load(saved);
    EXPECT_EQ(get_array(call("DescribeVpcs", {}), "Vpcs").size(), 2U);
    EXPECT_EQ(ec2.free_addresses(home), 241);
    EXPECT_EQ(ec2.save(), saved);
}

TEST_F(Ec2Test, leftover_interfaces_can_be_deleted_but_managed_ones_cannot) {
    const std::string id = vpc(), home = subnet(id, "10.0.0.0/24");
    Ec2& ec2 = world.get<Ec2>("ec2");
    InterfaceSpec spec;
    spec.subnet_id = home;
    spec.requester = "amazon-eks";
    spec.instance_owner = "amazon-eks";
    const std::string interface = *ec2.create_interface(spec);
    EXPECT_EQ(error("DeleteNetworkInterface", {{"NetworkInterfaceId", interface}}), "OperationNotPermitted");
    ec2.abandon_interface(interface, "aws-K8S-i-0");
    EXPECT_EQ(get_string(call("DescribeNetworkInterfaces", {{"Filters", filter("description", "aws-K8S-*")}}),
                         "NetworkInterfaces.0.Status"),
              "available");
    EXPECT_EQ(error("DeleteNetworkInterface", {{"NetworkInterfaceId", interface}}), "");
    EXPECT_EQ(error("DeleteNetworkInterface", {{"NetworkInterfaceId", interface}}),
              "InvalidNetworkInterfaceID.NotFound");
}

TEST_F(Ec2Test, a_secondary_range_holds_subnets) {
    const std::string vpc_id = vpc();
    call("AssociateVpcCidrBlock", {{"VpcId", vpc_id}, {"CidrBlock", "100.64.0.0/16"}});
    EXPECT_EQ(subnet(vpc_id, "100.64.0.0/20").substr(0, 7), "subnet-");
    EXPECT_EQ(error("AssociateVpcCidrBlock", {{"VpcId", vpc_id}, {"CidrBlock", "100.64.0.0/20"}}),
              "CidrConflict");
}

TEST_F(Ec2Test, a_launch_template_is_made_once_and_keeps_its_versions) {
    const JsonObject data{{"MetadataOptions", {{"HttpTokens", "required"}}}};
    const JsonObject wanted{
        {"LaunchTemplateName", "pods"}, {"LaunchTemplateData", data}, {"ClientToken", "t"}};
    const std::string id =
        get_string(call("CreateLaunchTemplate", wanted), "LaunchTemplate.LaunchTemplateId");
    EXPECT_EQ(get_string(call("CreateLaunchTemplate", wanted), "LaunchTemplate.LaunchTemplateId"), id);
    EXPECT_EQ(error("CreateLaunchTemplate", {{"LaunchTemplateName", "pods"}, {"LaunchTemplateData", data}}),
              "InvalidLaunchTemplateName.AlreadyExistsException");
    call("CreateLaunchTemplateVersion", {{"LaunchTemplateId", id}, {"LaunchTemplateData", JsonObject()}});
    const JsonObject versions = call("DescribeLaunchTemplateVersions",
                                     {{"LaunchTemplateName", "pods"}, {"Versions", JsonArray{"$Default"}}});
    EXPECT_EQ(get_string(versions, "LaunchTemplateVersions.0.LaunchTemplateData.MetadataOptions.HttpTokens"),
              "required");
    call("DeleteLaunchTemplate", {{"LaunchTemplateId", id}});
    EXPECT_EQ(error("DeleteLaunchTemplate", {{"LaunchTemplateId", id}}), "InvalidLaunchTemplateId.NotFound");
}

TEST_F(Ec2Test, a_gateway_endpoint_serves_the_tables_that_it_is_given) {
    const std::string vpc_id = vpc();
    const std::string endpoint = get_string(
        call("CreateVpcEndpoint", {{"VpcId", vpc_id}, {"ServiceName", "com.amazonaws.us-west-2.s3"}}),
        "VpcEndpoint.VpcEndpointId");
    const std::string table =
        get_string(call("CreateRouteTable", {{"VpcId", vpc_id}}), "RouteTable.RouteTableId");
    const auto routes = [&] {
        const JsonObject seen = call("DescribeRouteTables", {{"RouteTableIds", JsonArray{JsonValue(table)}}});
        return get_array(seen, "RouteTables.0.Routes").size();
    };
    const std::size_t before = routes();
    call("ModifyVpcEndpoint",
         {{"VpcEndpointId", endpoint}, {"AddRouteTableIds", JsonArray{JsonValue(table)}}});
    EXPECT_EQ(routes(), before + 1);
    call("ModifyVpcEndpoint",
         {{"VpcEndpointId", endpoint}, {"RemoveRouteTableIds", JsonArray{JsonValue(table)}}});
    EXPECT_EQ(routes(), before);
}

}  // namespace
}  // namespace instantstart::twin::ec2
