// File systems, workspaces and the price list on a fake account.
#include <gtest/gtest.h>

#include "twin/aws/ec2/ec2.h"
#include "twin/aws/services.h"
#include "twin/aws/testing/fake_world.h"

namespace instantstart::twin {
namespace {

using base::get_array;
using base::get_string;
using std::chrono::minutes;
using std::chrono::seconds;

class ManagedTest : public ::testing::Test {
protected:
    ManagedTest() {
        world.add(make_ec2(world));
        world.add(make_fsx(world));
        world.add(make_amp(world));
        world.add(make_pricing());
        const auto vpc = world.call("ec2", "CreateVpc", {{"CidrBlock", "10.0.0.0/16"}});
        vpc_id = get_string(vpc, "Vpc.VpcId");
        world.advance(seconds(1));
        const auto made =
            world.call("ec2", "CreateSubnet",
                       {{"VpcId", vpc_id}, {"CidrBlock", "10.0.0.0/24"}, {"AvailabilityZone", "us-west-2a"}});
        subnet = get_string(made, "Subnet.SubnetId");
        world.advance(seconds(1));
    }
    JsonObject create(JsonObject further = {}) {
        JsonObject params{{"FileSystemType", "LUSTRE"},
                          {"StorageCapacity", 1200},
                          {"SubnetIds", JsonArray{JsonValue(subnet)}},
                          {"LustreConfiguration", {{"DeploymentType", "PERSISTENT_2"}}}};
        for (const auto& [key, value] : further) params[key] = value;
        return world.call("fsx", "CreateFileSystem", std::move(params));
    }
    JsonObject described(const std::string& id) {
        return world.call("fsx", "DescribeFileSystems", {{"FileSystemIds", JsonArray{JsonValue(id)}}});
    }
    JsonObject interface(const JsonValue& id) {
        return world.call("ec2", "DescribeNetworkInterfaces", {{"NetworkInterfaceIds", JsonArray{id}}});
    }

    testing::FakeWorld world;
    std::string vpc_id, subnet;
};

TEST_F(ManagedTest, file_system_has_an_interface_with_the_default_group_while_it_lives) {
    const auto made = create();
    const auto id = get_string(made, "FileSystem.FileSystemId");
    EXPECT_EQ(get_string(made, "FileSystem.Lifecycle"), "CREATING");
    EXPECT_EQ(get_string(made, "FileSystem.VpcId"), vpc_id);
    world.advance(minutes(20));
    const auto seen = get_array(described(id), "FileSystems").front();
    EXPECT_EQ(get_string(seen, "Lifecycle"), "AVAILABLE");
    EXPECT_EQ(get_string(seen, "DNSName"), id + ".fsx.us-west-2.amazonaws.com");
    const auto card = get_array(seen, "NetworkInterfaceIds").front();
    const auto groups = get_array(get_array(interface(card), "NetworkInterfaces").front(), "Groups");
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(get_string(groups.front(), "GroupName"), "default");
    EXPECT_EQ(get_string(world.call("fsx", "DeleteFileSystem", {{"FileSystemId", id}}), "Lifecycle"),
              "DELETING");
    world.advance(minutes(20));
    EXPECT_EQ(get_string(described(id), "Error"), "FileSystemNotFound");
    EXPECT_EQ(get_string(interface(card), "Error"), "InvalidNetworkInterfaceID.NotFound");
}

TEST_F(ManagedTest, one_token_makes_one_file_system) {
    const auto first = create({{"ClientRequestToken", "t"}}), second = create({{"ClientRequestToken", "t"}});
    EXPECT_EQ(get_string(first, "FileSystem.FileSystemId"), get_string(second, "FileSystem.FileSystemId"));
    EXPECT_NE(get_string(create(), "FileSystem.FileSystemId"), get_string(first, "FileSystem.FileSystemId"));
}

TEST_F(ManagedTest, fresh_file_system_is_hidden_from_a_stale_read) {
    const auto id = get_string(create(), "FileSystem.FileSystemId");
    world.stale = seconds(5);
    EXPECT_EQ(get_string(described(id), "Error"), "FileSystemNotFound");
    world.advance(seconds(6));
    EXPECT_EQ(get_array(described(id), "FileSystems").size(), 1U);
}

TEST_F(ManagedTest, state_survives_saving) {
    const auto id = get_string(create(), "FileSystem.FileSystemId");
    const auto workspace = world.call("amp", "CreateWorkspace", {{"alias", "a"}, {"clientToken", "t"}});
    for (const char* name : {"fsx", "amp"}) {
        auto* service = world.service(name);
        const auto saved = service->save();
        service->load(JsonValue());
        service->load(saved);
    }
    EXPECT_EQ(get_array(described(id), "FileSystems").size(), 1U);
    const auto again = world.call("amp", "CreateWorkspace", {{"alias", "a"}, {"clientToken", "t"}});
    EXPECT_EQ(get_string(again, "workspaceId"), get_string(workspace, "workspaceId"));
}

TEST_F(ManagedTest, workspace_becomes_active_and_goes) {
    const auto id = get_string(world.call("amp", "CreateWorkspace", {{"alias", "a"}}), "workspaceId");
    const auto describe = [&] { return world.call("amp", "DescribeWorkspace", {{"workspaceId", id}}); };
    EXPECT_EQ(get_string(describe(), "workspace.status.statusCode"), "CREATING");
    EXPECT_EQ(get_string(world.call("amp", "DeleteWorkspace", {{"workspaceId", id}}), "Error"),
              "ConflictException");
    world.advance(minutes(1));
    EXPECT_EQ(get_string(describe(), "workspace.status.statusCode"), "ACTIVE");
    world.call("amp", "DeleteWorkspace", {{"workspaceId", id}});
    EXPECT_EQ(get_string(describe(), "workspace.status.statusCode"), "DELETING");
    world.advance(minutes(1));
    EXPECT_EQ(get_string(describe(), "Error"), "ResourceNotFoundException");
}

TEST_F(ManagedTest, price_list_answers_in_its_own_regions_only) {
    Call call;
    call.service = "pricing";
    call.operation = "GetProducts";
    call.region = "us-west-2";
    call.params = {
        {"ServiceCode", "AmazonSageMaker"},
        {"Filters",
         JsonArray{
             JsonObject{{"Type", "TERM_MATCH"}, {"Field", "regionCode"}, {"Value", "us-west-2"}},
             JsonObject{{"Type", "TERM_MATCH"}, {"Field", "instanceName"}, {"Value", "ml.g5.12xlarge"}}}}};
    auto& pricing = *world.service("pricing");
    EXPECT_TRUE(std::holds_alternative<ServiceError>(pricing.handle(call)));
    call.region = "us-east-1";
    const auto answer = std::get<JsonObject>(pricing.handle(call));
    ASSERT_EQ(get_array(answer, "PriceList").size(), 3U);
    const auto row = base::parse_json(get_array(answer, "PriceList").front().as_string());
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(get_string(*row, "product.attributes.usagetype"), "USW2-Cluster:ml.g5.12xlarge");
    EXPECT_EQ(answer, std::get<JsonObject>(pricing.handle(call))) << "prices are the same at every call";
    call.params = {
        {"ServiceCode", "AmazonEC2"},
        {"Filters",
         JsonArray{JsonObject{{"Type", "TERM_MATCH"}, {"Field", "regionCode"}, {"Value", "us-west-2"}},
                   JsonObject{{"Type", "TERM_MATCH"}, {"Field", "instanceType"}, {"Value", "m5.xlarge"}},
                   JsonObject{{"Type", "TERM_MATCH"}, {"Field", "capacitystatus"}, {"Value", "Used"}}}}};
    const auto plain = std::get<JsonObject>(pricing.handle(call));
    EXPECT_EQ(get_array(plain, "PriceList").size(), 1U);
}

}  // namespace
}  // namespace instantstart::twin
