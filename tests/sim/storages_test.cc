// Storage in simulation: a bucket and a file system of FSx for Lustre are each mounted, asked for again,
// harmed by others, repaired and let go; then account and cluster are what they were before. The same while
// the product is killed around its calls and commits.
#include <gtest/gtest.h>

#include <functional>

#include "feature_account.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kCluster = "phoenix";
constexpr const char* kPath = "/clusters/phoenix/storages";

// What the user has of his own, and what was found of the cluster's network.
struct Things {
    Things() = default;
    std::string nodes, files, file_system;
};

struct Harm {
    std::string what;
    std::function<void(Simulation&, const Things&)> does;
};

struct StorageCase {
    std::string name;
    std::function<JsonObject(const Things&)> body;
    std::vector<Harm> harms;
};

void delete_claim(Simulation& simulation, const Things&) {
    simulation.remove_object(kCluster, "persistentvolumeclaims", "default", "models");
    simulation.pass(minutes(1));
}

void delete_volume(Simulation& simulation, const Things& things) {
    delete_claim(simulation, things);
    simulation.remove_object(kCluster, "persistentvolumes", "", "instantstart-default-models");
    simulation.pass(minutes(1));
}

Harm driver_deleted(const std::string& name) {
    return {"the driver is deleted", [name](Simulation& simulation, const Things&) {
                simulation.admin("eks", "DeleteAddon", {{"clusterName", kCluster}, {"addonName", name}});
                simulation.pass(minutes(3));
            }};
}

// All rules of the nodes' group that let the file system in.
void revoke_rules(Simulation& simulation, const Things& things) {
    const auto groups =
        simulation.admin("ec2", "DescribeSecurityGroups", {{"GroupIds", JsonArray{JsonValue(things.nodes)}}});
    JsonArray revoked;
    for (const auto& rule : base::get_array(groups, "SecurityGroups.0.IpPermissions")) {
        if (base::get_string(rule, "UserIdGroupPairs.0.GroupId") != things.files) continue;
        revoked.push_back(JsonObject{{"IpProtocol", "tcp"},
                                     {"FromPort", base::get_int(rule, "FromPort")},
                                     {"ToPort", base::get_int(rule, "ToPort")},
                                     {"UserIdGroupPairs", JsonArray{JsonObject{{"GroupId", things.files}}}}});
    }
    EXPECT_FALSE(revoked.empty()) << base::to_text(groups);
    simulation.admin("ec2", "RevokeSecurityGroupIngress",
                     {{"GroupId", things.nodes}, {"IpPermissions", std::move(revoked)}});
    simulation.pass(seconds(10));
}

const std::vector<StorageCase>& storage_cases() {
    static const std::vector<StorageCase> kCases = {
        {"fsx_lustre",
         [](const Things& things) {
             return JsonObject{{"kind", "fsx_lustre"}, {"file_system_id", things.file_system}};
         },
         {{"a rule is revoked", &revoke_rules},
          {"the claim is deleted", &delete_claim},
          {"claim and volume are deleted", &delete_volume},
          driver_deleted("aws-fsx-csi-driver")}},
        {"s3",
         [](const Things&) { return JsonObject{{"kind", "s3"}, {"bucket", "models-of-research"}}; },
         {{"the claim is deleted", &delete_claim},
          {"claim and volume are deleted", &delete_volume},
          driver_deleted("aws-mountpoint-s3-csi-driver")}}};
    return kCases;
}

// --- the account

void make_bucket(Simulation& simulation) {
    const JsonObject bucket{{"Bucket", "models-of-research"}};
    auto made = bucket;
    made["CreateBucketConfiguration"] = JsonObject{{"LocationConstraint", "us-west-2"}};
    simulation.admin("s3", "CreateBucket", made);
}

// A file system whose own group lets the nodes in: the way back is the product's to open.
void make_file_system(Simulation& simulation, Things& things) {
    const auto hyperpod = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", kCluster}});
    const auto network = base::get_object(hyperpod, "InstanceGroups.0.OverrideVpcConfig");
    const auto eks = simulation.admin("eks", "DescribeCluster", {{"name", kCluster}});
    things.nodes = std::string(base::get_array(network, "SecurityGroupIds").front().as_string());
    const auto made =
        simulation.admin("ec2", "CreateSecurityGroup",
                         {{"GroupName", "files"},
                          {"Description", "files"},
                          {"VpcId", base::get_string(eks, "cluster.resourcesVpcConfig.vpcId")}});
    things.files = base::get_string(made, "GroupId");
    simulation.pass(seconds(10));
    const JsonObject open{{"IpProtocol", "tcp"},
                          {"FromPort", 988},
                          {"ToPort", 1023},
                          {"UserIdGroupPairs", JsonArray{JsonObject{{"GroupId", things.nodes}}}}};
    simulation.admin("ec2", "AuthorizeSecurityGroupIngress",
                     {{"GroupId", things.files}, {"IpPermissions", JsonArray{open}}});
    const auto system = simulation.admin("fsx", "CreateFileSystem",
                                         {{"FileSystemType", "LUSTRE"},
                                          {"StorageCapacity", 1200},
                                          {"SubnetIds", base::get_array(network, "Subnets")},
                                          {"SecurityGroupIds", JsonArray{JsonValue(things.files)}},
                                          {"LustreConfiguration", {{"DeploymentType", "SCRATCH_2"}}}});
    things.file_system = base::get_string(system, "FileSystem.FileSystemId");
    simulation.pass(minutes(20));
}

// --- the story

JsonObject run(Simulation& simulation, const std::string& method, const std::string& path,
               const JsonObject& body) {
    const auto answer = simulation.ask(method, path, body);
    const auto id = base::get_string(answer.body, "operation.id");
    EXPECT_FALSE(id.empty()) << base::to_text(answer.body);
    auto operation = id.empty() ? JsonObject() : simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    return operation;
}

JsonObject create_body(const StorageCase& each, const Things& things) {
    auto body = each.body(things);
    body["name"] = "models";
    return body;
}

void expect_settled(Simulation& simulation, const JsonObject& body) {
    const auto before = simulation.mutations().size();
    EXPECT_TRUE(base::get_bool(run(simulation, "POST", kPath, body), "no_change"));
    EXPECT_EQ(simulation.mutations().size(), before);
}

// Launched, with what the user has, and with what a first storage leaves: the driver, for the next one.
Things launch(Simulation& simulation, const StorageCase& each) {
    const JsonObject system{
        {"name", "system"}, {"instance_type", "ml.m5.4xlarge"}, {"count", 1}, {"zone", "us-west-2a"}};
    run(simulation, "POST", "/clusters/launch", {{"name", kCluster}, {"instance_groups", JsonArray{system}}});
    Things things;
    make_bucket(simulation);
    make_file_system(simulation, things);
    run(simulation, "POST", kPath, create_body(each, things));
    run(simulation, "DELETE", std::string(kPath) + "/models", {{"confirm", "models"}});
    simulation.pass(minutes(10));
    return things;
}

class Storages : public ::testing::TestWithParam<StorageCase> {};

TEST_P(Storages, are_mounted_repaired_and_let_go_without_a_trace) {
    const auto& each = GetParam();
    Simulation simulation(1, {}, {});
    const auto things = launch(simulation, each);
    const auto before = account_of(simulation);
    const auto body = create_body(each, things);
    run(simulation, "POST", kPath, body);
    expect_settled(simulation, body);
    const auto standing = account_of(simulation);
    for (const auto& harm : each.harms) {
        SCOPED_TRACE(harm.what);
        harm.does(simulation, things);
        EXPECT_NE(difference(standing, account_of(simulation)), "");
        EXPECT_FALSE(base::get_bool(run(simulation, "POST", kPath, body), "no_change"));
        simulation.pass(minutes(1));
        EXPECT_EQ(difference(standing, account_of(simulation)), "");
        expect_settled(simulation, body);
        if (::testing::Test::HasFailure()) return;
    }
    run(simulation, "DELETE", std::string(kPath) + "/models", {{"confirm", "models"}});
    simulation.pass(minutes(10));
    EXPECT_EQ(difference(before, account_of(simulation)), "");
}

struct Ends {
    std::size_t launched = 0, ended = 0;
};

constexpr std::size_t kGap = 6;  // deaths come in rows, so far apart

Ends mount_and_let_go(const StorageCase& each, const std::vector<KillPoint>& kills, bool by_commit) {
    Simulation simulation(1, {}, kills);
    const auto count = [&] { return by_commit ? simulation.commits() : simulation.calls(); };
    const auto things = launch(simulation, each);
    const auto before = account_of(simulation);
    Ends ends;
    ends.launched = count();
    run(simulation, "POST", kPath, create_body(each, things));
    const auto standing = account_of(simulation);
    each.harms.front().does(simulation, things);
    run(simulation, "POST", kPath, create_body(each, things));
    simulation.pass(minutes(1));
    EXPECT_EQ(difference(standing, account_of(simulation)), "");
    run(simulation, "DELETE", std::string(kPath) + "/models", {{"confirm", "models"}});
    ends.ended = count();
    simulation.pass(minutes(10));
    EXPECT_EQ(difference(before, account_of(simulation)), "");
    if (!kills.empty()) EXPECT_GT(simulation.deaths(), 0U);
    return ends;
}

TEST_P(Storages, survive_a_death_at_any_step) {
    const auto& each = GetParam();
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", kGap));
    for (const auto kind :
         {KillKind::before_commit, KillKind::after_commit, KillKind::before_call, KillKind::after_call}) {
        const bool by_commit = kind == KillKind::before_commit || kind == KillKind::after_commit;
        const auto calm = mount_and_let_go(each, {}, by_commit);
        for (std::size_t first = 1; first <= kGap; first += stride) {
            std::vector<KillPoint> kills;
            for (auto at = calm.launched + first; at <= calm.ended; at += kGap) kills.push_back({kind, at});
            SCOPED_TRACE(kills.empty() ? "" : to_string(kills.front()) + " and every 6th after it");
            mount_and_let_go(each, kills, by_commit);
            if (::testing::Test::HasFailure()) return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Each, Storages, ::testing::ValuesIn(storage_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace instantstart::sim
