// Plans of what changes capacity, over a small account: what is refused before any call, what is said to be
// lost, and where nothing is to be done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/domain_makers.h"
#include "app/testing.h"
#include "base/text.h"

namespace instantstart::app {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kEksArn = "arn:aws:eks:us-west-2:111122223333:cluster/demo";

JsonObject parsed(const char* text) {
    return base::parse_json(text).value().as_object();
}

// A HyperPod cluster "demo" with groups, and nothing that could be changed: a mutating call fails the test.
class CapacityAws final : public aws::Client {
public:
    Task<JsonObject> call(Context, std::string service, std::string operation, JsonObject parameters,
                          aws::CallOptions) override {
        const bool reads = operation.starts_with("Describe") || operation.starts_with("Get") ||
                           operation.starts_with("List");
        EXPECT_TRUE(reads) << service << ":" << operation;
        if (operation == "GetCallerIdentity") {
            co_return JsonObject{{"Account", "111122223333"},
                                 {"Arn", "arn:aws:sts::111122223333:assumed-role/a/b"}};
        }
        if (operation == "GetRole")
            co_return parsed(R"({"Role": {"Arn": "arn:aws:iam::111122223333:role/a"}})");
        if (service == "eks" && operation == "DescribeCluster") {
            co_return JsonObject{{"cluster",
                                  {{"name", "demo"},
                                   {"arn", kEksArn},
                                   {"status", "ACTIVE"},
                                   {"endpoint", "https://kube"},
                                   {"resourcesVpcConfig", {{"vpcId", "vpc-1"}}},
                                   {"tags", {{"instantstart:cluster", "demo"}}}}}};
        }
        if (service == "sagemaker" && operation == "DescribeCluster") co_return hyperpod();
        if (operation == "DescribeClusterNode") co_return node(parameters);
        if (operation == "DescribeAvailabilityZones") {
            co_return parsed(R"({"AvailabilityZones": [{"ZoneName": "us-west-2a", "ZoneId": "usw2-az1",
                "ZoneType": "availability-zone", "State": "available", "OptInStatus": "opt-in-not-required"}]})");
        }
        co_return base::Error(base::ErrorKind::not_found, "ResourceNotFoundException", "there is none");
    }
    Task<JsonArray> collect(Context, std::string, std::string operation, JsonObject, std::size_t) override {
        if (operation == "DescribeSubnets") {
            co_return JsonArray{parsed(R"({"SubnetId": "subnet-1", "AvailabilityZone": "us-west-2a",
                "AvailableIpAddressCount": 4000, "CidrBlock": "10.0.0.0/20"})")};
        }
        if (operation == "DescribeRouteTables") co_return route_tables;
        if (operation == "DescribeVpcEndpoints") co_return endpoints;
        if (operation == "DescribeInstanceTypeOfferings")
            co_return JsonArray{parsed(R"({"Location": "us-west-2a"})")};
        if (operation == "ListServiceQuotas") {
            co_return JsonArray{parsed(R"({"QuotaName": "ml.g5.12xlarge for cluster usage", "Value": 4})")};
        }
        co_return JsonArray();
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string("token"); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }

    bool continuous = true;
    JsonArray route_tables, endpoints;
    JsonArray groups{
        parsed(R"({"InstanceGroupName": "workers", "InstanceType": "ml.g5.12xlarge", "TargetCount": 2,
        "CurrentCount": 2, "MinCount": 1, "Status": "InService", "ThreadsPerCore": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
        "ImageVersionStatus": "UpToDate", "DesiredImageId": "default",
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "KubernetesConfig": {"DesiredLabels": {"team": "a"}}})"),
        parsed(R"({"InstanceGroupName": "scaled", "InstanceType": "ml.g5.2xlarge", "TargetCount": 1,
        "CurrentCount": 1, "Status": "InService", "ThreadsPerCore": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes", "ImageVersionStatus": "UpdateAvailable",
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}})"),
        parsed(R"({"InstanceGroupName": "custom", "InstanceType": "ml.g5.2xlarge", "TargetCount": 0,
        "CurrentCount": 0, "Status": "InService", "ThreadsPerCore": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes", "ImageVersionStatus": "UpdateAvailable",
        "DesiredImageId": "ami-0123456789abcdef0", "CapacityRequirements": {"Spot": {}},
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}})"),
        parsed(R"({"InstanceGroupName": "marked", "InstanceType": "ml.g5.12xlarge", "TargetCount": 0,
        "CurrentCount": 0, "Status": "InService", "ThreadsPerCore": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/nodes", "ImageVersionStatus": "UpToDate",
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "KubernetesConfig": {"DesiredLabels": {"team": "a", "instantstart.dev/autoscaled": "true"}}})")};

private:
    JsonObject hyperpod() const {
        JsonObject cluster{{"ClusterName", "demo"},
                           {"ClusterStatus", "InService"},
                           {"Orchestrator", {{"Eks", {{"ClusterArn", kEksArn}}}}},
                           {"InstanceGroups", groups}};
        if (continuous) cluster["NodeProvisioningMode"] = "Continuous";
        return cluster;
    }
    static JsonObject node(const JsonObject& asked) {
        const auto id = base::get_string(asked, "NodeId", "i-00000000000000001");
        const char last = id.back();
        return {{"NodeDetails",
                 {{"InstanceId", id},
                  {"NodeLogicalId", std::string("logical-") + last},
                  {"InstanceGroupName", last == '9' ? "scaled" : "workers"},
                  {"InstanceStatus", {{"Status", "Running"}}}}}};
    }
};

class CapacityPlans : public ::testing::Test {
protected:
    CapacityPlans() {
        network_.listen("kube:443", [](Context, http::Request request) { return kube(std::move(request)); });
        CHECK(run(engine_->start({})).has_value());
    }
    ~CapacityPlans() override { EXPECT_TRUE(run(stop()).has_value()); }

    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io_, clock_, std::move(task));
    }
    Task<void> stop() {
        co_await engine_->stop();
        co_return base::ok();
    }
    // The API server knows one HyperpodNodeClass.
    static boost::asio::awaitable<http::Response> kube(http::Request request) {
        if (request.path().ends_with("/hyperpodnodeclasses")) {
            co_return http::Response(200, "application/json",
                                     R"({"kind": "List", "metadata": {"resourceVersion": "5"}, "items": [
                {"metadata": {"name": "pool"}, "spec": {"instanceGroups": ["scaled"]}}]})");
        }
        co_return http::Response(404, "application/json",
                                 R"({"kind":"Status","code":404,"reason":"NotFound","message":"none"})");
    }
    base::Result<Plan> plan(const std::unique_ptr<Operation>& operation, JsonObject arguments) {
        Caller caller;
        caller.principal = "ada";
        arguments["cluster"] = "demo";
        auto normalized = operation->normalize(arguments);
        if (!normalized) return std::move(normalized).error();
        return run(operation->plan(Call(Context(), services_, caller), std::move(*normalized)));
    }
    void expect_refused(const std::unique_ptr<Operation>& operation, JsonObject arguments, const char* code,
                        const char* hint) {
        const auto made = plan(operation, std::move(arguments));
        ASSERT_FALSE(made) << code;
        EXPECT_EQ(made.error().code, code) << made.error().message;
        EXPECT_THAT(made.error().hint, HasSubstr(hint));
    }

    boost::asio::io_context io_{1};
    rt::VirtualClock clock_{io_, 1, base::from_epoch(1'800'000'000)};
    http::MemoryNetwork network_{clock_};
    std::unique_ptr<http::Transport> transport_ = network_.make_transport();
    std::unique_ptr<store::Store> store_ =
        store::open_memory(io_.get_executor(), store::make_memory_disk(), nullptr);
    CapacityAws aws_;
    flows::Clusters clusters_{clock_, aws_, *store_, *transport_};
    std::unique_ptr<ops::Engine> engine_ = ops::make_engine(io_.get_executor(), clock_, *store_, {});
    Services services_{clock_, aws_, *store_, *engine_, clusters_, testing::World::settings()};
    std::unique_ptr<Operation> add_ = make_instance_group_add(), update_ = make_instance_group_update(),
                               delete_ = make_instance_group_delete(), reboot_ = make_node_reboot(),
                               replace_ = make_node_replace(), remove_ = make_node_delete(),
                               software_ = make_hyperpod_update_software(),
                               node_group_ = make_node_group_add();
};

JsonObject for_group(const char* name, const char* changes) {
    auto arguments = parsed(changes);
    arguments["group"] = name;
    return arguments;
}

TEST_F(CapacityPlans, fixed_fields_are_refused_with_the_way_round) {
    for (const char* change : {R"({"zone": "us-west-2b"})", R"({"instance_type": "ml.g5.2xlarge"})",
                               R"({"capacity": {"type": "spot"}})", R"({"threads_per_core": 2})",
                               R"({"volume_size_gib": 100, "count": 3})", R"({"interface_type": "efa"})",
                               R"({"subnet_id": "subnet-0123456789abcdef0"})"}) {
        expect_refused(update_, for_group("workers", change), "immutable_field", "instance_group.add");
    }
}

TEST_F(CapacityPlans, what_is_as_asked_is_no_change) {
    for (const char* change :
         {R"({"count": 2})", R"({"labels": {"team": "a"}, "taints": []})",
          R"({"zone": "us-west-2a", "min_count": 1, "capacity": {"type": "on_demand"}})"}) {
        const auto made = plan(update_, for_group("workers", change));
        ASSERT_TRUE(made) << made.error().chain();
        EXPECT_TRUE(made->no_change) << change;
    }
}

TEST_F(CapacityPlans, a_lower_count_says_what_is_lost) {
    const auto made = plan(update_, for_group("workers", R"({"count": 1})"));
    ASSERT_TRUE(made) << made.error().chain();
    ASSERT_THAT(made->removes, SizeIs(1));
    EXPECT_THAT(made->removes.front(), HasSubstr("1 node of 2"));
    EXPECT_EQ(made->confirm_value, "workers");
    EXPECT_THAT(base::to_text(base::get_object(made->flow_params, "changes")), HasSubstr("\"count\":1"));
    EXPECT_EQ(base::get_object(made->flow_params, "changes").size(), 1U);
}

TEST_F(CapacityPlans, growth_is_judged_by_what_comes_on_top) {
    const auto fits = plan(update_, for_group("workers", R"({"count": 4})"));
    ASSERT_TRUE(fits) << fits.error().chain();
    EXPECT_THAT(fits->removes, IsEmpty());
    ASSERT_THAT(fits->addresses, SizeIs(1));
    EXPECT_EQ(base::get_string(fits->addresses.front(), "subnet"), "subnet-1");
    EXPECT_EQ(base::get_int(fits->addresses.front(), "free"), 4000);
    // A g5.12xlarge takes 50: two more of them.
    EXPECT_EQ(base::get_int(fits->addresses.front(), "needed"), 100);
    const auto beyond = plan(update_, for_group("workers", R"({"count": 400})"));
    ASSERT_FALSE(beyond);
    ASSERT_FALSE(beyond.error().fields.empty());
    EXPECT_EQ(beyond.error().fields.front().pointer, "/count");
}

TEST_F(CapacityPlans, rules_of_groups_hold_for_changes) {
    for (const char* change : {R"({"min_count": 3})", R"({"deep_health_checks": ["InstanceStress"],
        "taints": [{"key": "k", "effect": "NoSchedule"}]})"}) {
        const auto made = plan(update_, for_group("workers", change));
        ASSERT_FALSE(made) << change;
        EXPECT_EQ(made.error().kind, base::ErrorKind::invalid) << made.error().chain();
    }
    const auto bound = plan(
        update_,
        for_group("custom",
                  R"({"training_plan_arn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/june"})"));
    ASSERT_FALSE(bound);
    ASSERT_FALSE(bound.error().fields.empty()) << bound.error().chain();
    EXPECT_EQ(bound.error().fields.front().pointer, "/training_plan_arn");
}

TEST_F(CapacityPlans, counts_of_autoscaled_groups_are_left_alone) {
    expect_refused(update_, for_group("scaled", R"({"count": 3})"), "autoscaled_group", "NodePool");
    expect_refused(delete_, for_group("scaled", "{}"), "in_node_class", "spec.instanceGroups");
    expect_refused(remove_, {{"node", "i-00000000000000009"}}, "autoscaled_group", "nodeclaim");
    const auto labelled = plan(update_, for_group("scaled", R"({"labels": {"x": "y"}})"));
    ASSERT_TRUE(labelled) << labelled.error().chain();
    EXPECT_FALSE(base::get_object(labelled->flow_params, "changes").contains("count"));
}

TEST_F(CapacityPlans, a_group_in_a_class_leaves_it_by_the_feature_only) {
    expect_refused(update_, for_group("scaled", R"({"autoscaled": false})"), "autoscaled_group",
                   "instance_groups");
}

TEST_F(CapacityPlans, a_marked_group_that_no_class_names_is_scaled_by_hand) {
    const auto grown = plan(update_, for_group("marked", R"({"count": 2, "min_count": 1})"));
    ASSERT_TRUE(grown) << grown.error().chain();
    EXPECT_FALSE(base::get_bool(grown->flow_params, "changes.autoscaled", true));
    EXPECT_THAT(grown->changes, ::testing::Contains(HasSubstr("does not take it any more")));
    const auto both = plan(update_, for_group("marked", R"({"count": 2, "autoscaled": true})"));
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error().fields.at(0).pointer, "/count");
    for (const char* same : {R"({"count": 0})", R"({"autoscaled": true})"}) {
        const auto made = plan(update_, for_group("marked", same));
        ASSERT_TRUE(made) << made.error().chain();
        EXPECT_TRUE(made->no_change) << same;
    }
}

TEST_F(CapacityPlans, a_group_without_nodes_can_be_marked_later) {
    const auto made = plan(update_, for_group("custom", R"({"autoscaled": true})"));
    ASSERT_TRUE(made) << made.error().chain();
    EXPECT_THAT(made->warnings, ::testing::Contains(HasSubstr("feature.update autoscaling")));
    const auto full = plan(update_, for_group("workers", R"({"autoscaled": true})"));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().kind, base::ErrorKind::invalid);
}

TEST_F(CapacityPlans, without_continuous_provisioning_its_properties_are_refused) {
    aws_.continuous = false;
    expect_refused(update_, for_group("workers", R"({"min_count": 2})"), "needs_continuous_provisioning",
                   "continuous provisioning");
    expect_refused(
        add_, parsed(R"({"name": "new", "instance_type": "ml.g5.12xlarge", "count": 1, "zone": "us-west-2a",
                              "capacity": {"type": "spot"}})"),
        "needs_continuous_provisioning", "continuous provisioning");
}

TEST_F(CapacityPlans, a_group_that_is_not_there_is_named_by_the_nearest) {
    expect_refused(update_, for_group("wokers", R"({"count": 3})"), "not_found", "workers");
    expect_refused(delete_, for_group("wokers", "{}"), "not_found", "workers");
}

TEST_F(CapacityPlans, a_name_in_use_and_a_full_cluster_take_no_group) {
    const auto group =
        parsed(R"({"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 1, "zone": "us-west-2a"})");
    expect_refused(add_, group, "already_exists", "instance_group.update");
    while (aws_.groups.size() < 100) {
        JsonObject other{{"InstanceGroupName", "g" + std::to_string(aws_.groups.size())},
                         {"InstanceType", "ml.g5.2xlarge"}};
        aws_.groups.push_back(std::move(other));
    }
    clusters_.forget("demo");
    auto another = group;
    another["name"] = "another";
    expect_refused(add_, another, "too_many_groups", "instance_group.delete");
}

TEST_F(CapacityPlans, nodes_are_one_however_they_are_named) {
    const auto made = plan(reboot_, parsed(R"({"node": "hyperpod-i-00000000000000001",
                            "further_nodes": ["i-00000000000000001", "logical-1", "i-00000000000000002"]})"));
    ASSERT_TRUE(made) << made.error().chain();
    EXPECT_THAT(base::get_array(made->flow_params, "nodes"), SizeIs(2));
    EXPECT_EQ(made->resource, "cluster/demo/node/hyperpod-i-00000000000000001");
    EXPECT_THAT(made->removes, IsEmpty());
}

TEST_F(CapacityPlans, replacing_says_that_volumes_are_lost) {
    const auto made = plan(replace_, {{"node", "i-00000000000000001"}});
    ASSERT_TRUE(made) << made.error().chain();
    ASSERT_THAT(made->removes, SizeIs(1));
    EXPECT_THAT(made->removes.front(), HasSubstr("volumes"));
    EXPECT_EQ(made->confirm_value, "i-00000000000000001");
}

TEST_F(CapacityPlans, deleting_a_node_lowers_the_count_but_not_below_the_minimum) {
    const auto made = plan(remove_, {{"node", "i-00000000000000001"}});
    ASSERT_TRUE(made) << made.error().chain();
    EXPECT_THAT(made->changes.front(), HasSubstr("from 2 to 1"));
    expect_refused(remove_,
                   parsed(R"({"node": "i-00000000000000001", "further_nodes": ["i-00000000000000002"]})"),
                   "below_minimum", "min_count");
}

TEST_F(CapacityPlans, software_names_what_changes_and_what_is_left_out) {
    const auto made = plan(software_, {});
    ASSERT_TRUE(made) << made.error().chain();
    EXPECT_EQ(base::get_array(made->flow_params, "groups_to_update"), JsonArray{"scaled"});
    ASSERT_FALSE(made->warnings.empty());
    EXPECT_THAT(made->warnings.front(), HasSubstr("custom image ami-0123456789abcdef0"));
    const auto one = plan(software_, parsed(R"({"instance_groups": ["workers"]})"));
    ASSERT_TRUE(one) << one.error().chain();
    EXPECT_TRUE(one->no_change);
    const auto image = plan(software_, parsed(R"({"instance_groups": ["custom"], "image_id": "default"})"));
    ASSERT_TRUE(image) << image.error().chain();
    EXPECT_EQ(base::get_array(image->flow_params, "groups_to_update"), JsonArray{"custom"});
    EXPECT_FALSE(plan(software_, parsed(R"({"instance_groups": ["nobody"]})")));
}

TEST_F(CapacityPlans, ways_out_of_a_vpc_that_are_missing_are_warned_of) {
    const auto group =
        parsed(R"({"name": "new", "instance_type": "ml.g5.12xlarge", "count": 1, "zone": "us-west-2a"})");
    const auto warnings = [this, &group] {
        const auto made = plan(add_, group);
        EXPECT_TRUE(made) << made.error().chain();
        return made ? base::join(made->warnings, "\n") : std::string();
    };
    aws_.route_tables = {parsed(R"({"RouteTableId": "rtb-main", "Associations": [{"Main": true}]})")};
    EXPECT_THAT(warnings(), HasSubstr("(rtb-main) will serve"));
    EXPECT_THAT(warnings(),
                HasSubstr("--service-name com.amazonaws.us-west-2.s3 --route-table-ids rtb-main"));
    const auto gateway = parsed(R"({"VpcEndpointType": "Gateway", "State": "available",
        "RouteTableIds": ["rtb-other"]})");
    aws_.endpoints = {gateway};
    EXPECT_THAT(warnings(), HasSubstr("no endpoint of S3"));  // it does not serve the main table
    aws_.route_tables.push_back(
        parsed(R"({"RouteTableId": "rtb-nat", "Routes": [{"NatGatewayId": "nat-1"}]})"));
    EXPECT_THAT(warnings(), ::testing::Not(HasSubstr("vpc-1")));
    aws_.endpoints.clear();
    EXPECT_THAT(warnings(), ::testing::Not(HasSubstr("no route table")));
    EXPECT_THAT(warnings(), HasSubstr("no endpoint of S3"));
    auto given = group;
    given["subnet_id"] = "subnet-0123456789abcdef0";
    const auto made = plan(add_, given);
    ASSERT_TRUE(made) << made.error().chain();
    EXPECT_THAT(base::join(made->warnings, "\n"), ::testing::Not(HasSubstr("no endpoint of S3")));
}

TEST_F(CapacityPlans, node_groups_tell_their_addresses) {
    const auto fits = plan(node_group_, parsed(R"({"name": "a", "instance_types": ["m5.xlarge"], "count": 2,
                                                   "zone": "us-west-2a"})"));
    ASSERT_TRUE(fits) << fits.error().chain();
    ASSERT_THAT(fits->addresses, SizeIs(1));
    EXPECT_EQ(base::get_int(fits->addresses.front(), "needed"), 60);
    const auto many = plan(node_group_, parsed(R"({"name": "a", "instance_types": ["m5.xlarge"], "count": 200,
                                                   "zone": "us-west-2a"})"));
    ASSERT_TRUE(many) << many.error().chain();
    EXPECT_THAT(base::join(many->warnings, "\n"), HasSubstr("fewer pods"));
    const auto beyond = plan(node_group_, parsed(R"({"name": "a", "instance_types": ["m5.xlarge"],
                                                     "count": 300, "zone": "us-west-2a"})"));
    ASSERT_FALSE(beyond);
    EXPECT_EQ(beyond.error().fields.at(0).pointer, "/count");
}

TEST_F(CapacityPlans, node_groups_take_types_that_go_together) {
    const auto refused_at = [this](const char* body) {
        const auto made = plan(node_group_, parsed(body));
        return made || made.error().fields.empty() ? std::string() : made.error().fields.front().pointer;
    };
    EXPECT_EQ(
        refused_at(R"({"name": "a", "instance_types": ["ml.m5.xlarge"], "count": 1, "zone": "us-west-2a"})"),
        "/instance_types/0");
    EXPECT_EQ(refused_at(R"({"name": "a", "instance_types": ["m5.xlarge"], "count": 1, "zone": "us-west-2a",
                             "efa": true})"),
              "/efa");
    EXPECT_EQ(refused_at(R"({"name": "a", "instance_types": ["m5.xlarge"], "count": 2, "max_count": 1,
                             "zone": "us-west-2a"})"),
              "/max_count");
    EXPECT_EQ(refused_at(R"({"name": "a", "instance_types": ["m5.xlarge"], "count": 2, "zone": "moon"})"),
              "/zone");
}

}  // namespace
}  // namespace instantstart::app
