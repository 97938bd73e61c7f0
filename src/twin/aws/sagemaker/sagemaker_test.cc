#include "twin/aws/sagemaker/hyperpod_fixture.h"

namespace instantstart::twin::sagemaker {
namespace {

using base::get_array;
using base::get_int;
using base::get_string;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST_F(HyperPodTest, the_authoriser_sees_tags_as_soon_as_they_are_set) {
    ready_eks();
    create(1);
    const std::string arn = "arn:aws:eks:us-west-2:111122223333:cluster/demo";
    const auto& eks_tags = world.get<ResourceTags>("eks");
    EXPECT_TRUE(eks_tags.resource_tags(arn).empty());
    eks("TagResource", {{"resourceArn", arn}, {"tags", JsonObject{{"team", "research"}}}});
    EXPECT_EQ(tag_value(eks_tags.resource_tags(arn), "team"), "research");
    const auto hyperpod_arn = get_string(hyperpod("DescribeCluster", {{"ClusterName", "hp"}}), "ClusterArn");
    const auto& hyperpod_tags = world.get<ResourceTags>("sagemaker");
    const JsonObject tag{{"Key", "team"}, {"Value", "research"}};
    hyperpod("AddTags", {{"ResourceArn", hyperpod_arn}, {"Tags", JsonArray{tag}}});
    EXPECT_EQ(tag_value(hyperpod_tags.resource_tags(hyperpod_arn), "team"), "research");
    EXPECT_TRUE(hyperpod_tags.resource_tags(hyperpod_arn + "x").empty());
}

TEST_F(HyperPodTest, eks_cluster_becomes_active_and_names_its_endpoint) {
    EXPECT_EQ(get_string(create_eks(), "cluster.status"), "CREATING");
    EXPECT_EQ(get_string(create_eks(), "Error"), "ResourceInUseException");
    world.advance(minutes(10));
    const JsonObject cluster = eks("DescribeCluster", {{"name", "demo"}});
    EXPECT_EQ(get_string(cluster, "cluster.status"), "ACTIVE");
    EXPECT_EQ(get_string(cluster, "cluster.endpoint"), "https://127.0.0.1:3098/clusters/demo");
    EXPECT_THAT(get_string(cluster, "cluster.identity.oidc.issuer"), HasSubstr("oidc.eks.us-west-2"));
    EXPECT_NE(host->find("demo"), nullptr);
}

TEST_F(HyperPodTest, eks_names_a_role_that_is_not_yet_known) {
    world.iam().roles[kEksRole].usable = false;
    const JsonObject answer = create_eks();
    EXPECT_EQ(get_string(answer, "Error"), "InvalidParameterException");
    EXPECT_THAT(get_string(answer, "Message"), HasSubstr(kEksRole));
}

TEST_F(HyperPodTest, token_is_accepted_some_seconds_after_the_access_entry) {
    ready_eks();
    world.iam().tokens["t"] = world.caller;
    const auto& authenticate = host->find("demo")->config().authenticate;
    EXPECT_FALSE(authenticate("t").has_value());
    JsonObject entry{{"clusterName", "demo"}, {"principalArn", world.caller.role_arn}};
    EXPECT_EQ(get_string(eks("CreateAccessEntry", entry), "accessEntry.type"), "STANDARD");
    entry["policyArn"] = eks::kAdminPolicy;
    entry["accessScope"] = JsonObject{{"type", "cluster"}};
    eks("AssociateAccessPolicy", entry);
    EXPECT_FALSE(authenticate("t").has_value());
    world.advance(seconds(10));
    const auto user = authenticate("t");
    ASSERT_TRUE(user.has_value());
    EXPECT_THAT(user->groups, ::testing::Contains("system:masters"));
    EXPECT_FALSE(authenticate("forged").has_value());
}

TEST_F(HyperPodTest, deployment_addon_is_degraded_without_nodes_and_daemon_set_addon_is_not) {
    ready_eks();
    EXPECT_EQ(
        get_string(eks("DescribeAddon", {{"clusterName", "demo"}, {"addonName", "vpc-cni"}}), "addon.status"),
        "ACTIVE");
    eks("CreateAddon", {{"clusterName", "demo"}, {"addonName", "coredns"}});
    world.advance(minutes(2));
    const JsonObject dns = eks("DescribeAddon", {{"clusterName", "demo"}, {"addonName", "coredns"}});
    EXPECT_EQ(get_string(dns, "addon.status"), "DEGRADED");
    EXPECT_EQ(get_string(dns, "addon.health.issues.0.code"), "InsufficientNumberOfReplicas");
}

TEST_F(HyperPodTest, nodes_come_and_are_ready_in_kubernetes) {
    ready_eks();
    EXPECT_THAT(get_string(create(2), "ClusterArn"), HasSubstr(":cluster/"));
    EXPECT_EQ(get_string(describe(), "ClusterStatus"), "Creating");
    world.advance(minutes(4));
    EXPECT_EQ(get_string(describe(), "ClusterStatus"), "InService");
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 0);
    EXPECT_TRUE(
        get_array(hyperpod("ListClusterNodes", {{"ClusterName", "hp"}}), "ClusterNodeSummaries").empty());
    EXPECT_EQ(
        get_array(hyperpod("ListClusterNodes", {{"ClusterName", "hp"}, {"IncludeNodeLogicalIds", true}}),
                  "ClusterNodeSummaries")
            .size(),
        2U);
    world.advance(minutes(8));
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 2);
    const auto nodes = host->find("demo")->objects().list(kNodeKind);
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_THAT(get_string(*nodes[0], "metadata.name"), HasSubstr("hyperpod-i-"));
    EXPECT_THAT(get_string(*nodes[0], "spec.providerID"),
                HasSubstr("aws:///usw2-az2/sagemaker/cluster/hyperpod-"));
    EXPECT_EQ(get_string(*nodes[0], "status.conditions.3.status"), "True");
}

TEST_F(HyperPodTest, nodes_are_listed_page_by_page_in_either_order) {
    ready_eks();
    create(3);
    world.advance(minutes(12));
    const auto names = [this](JsonObject parameters) {
        std::vector<std::string> found;
        parameters["ClusterName"] = "hp";
        while (true) {
            const auto page = hyperpod("ListClusterNodes", parameters);
            for (const auto& node : get_array(page, "ClusterNodeSummaries"))
                found.push_back(get_string(node, "InstanceId"));
            const auto next = get_string(page, "NextToken");
            if (next.empty()) return found;
            parameters["NextToken"] = next;
        }
    };
    const auto all = names({});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(names({{"MaxResults", 1}}), all);
    EXPECT_EQ(names({{"MaxResults", 2}}), all);
    const std::vector<std::string> backwards(all.rbegin(), all.rend());
    EXPECT_EQ(names({{"MaxResults", 2}, {"SortOrder", "Descending"}}), backwards);
}

TEST_F(HyperPodTest, refusals_name_what_is_wrong) {
    EXPECT_EQ(get_string(create(1), "Error"), "ValidationException");  // no EKS cluster yet
    ready_eks();
    EXPECT_EQ(get_string(create(5), "Error"), "ResourceLimitExceeded");
    world.iam().roles[kNodeRole].usable = false;
    EXPECT_THAT(get_string(create(1), "Message"), HasSubstr(kNodeRole));
    world.iam().roles[kNodeRole].usable = true;
    EXPECT_EQ(get_string(hyperpod("DescribeCluster", {{"ClusterName", "nope"}}), "Error"),
              "ResourceNotFound");
    create(1);
    EXPECT_EQ(get_string(hyperpod("UpdateCluster", {{"ClusterName", "hp"},
                                                    {"InstanceGroups", JsonArray{JsonValue(workers(2))}}}),
                         "Error"),
              "ConflictException");
}

TEST_F(HyperPodTest, short_capacity_waits_and_comes_later) {
    ready_eks();
    world.capacities["ml.g5.12xlarge us-west-2a"] = 1;
    create(2);
    world.advance(minutes(12));
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 1);
    const JsonObject events =
        hyperpod("ListClusterEvents", {{"ClusterName", "hp"}, {"ResourceType", "InstanceGroup"}});
    EXPECT_THAT(get_string(events, "Events.0.Description"), HasSubstr("InsufficientCapacity"));
    world.capacities.clear();
    world.advance(minutes(9));
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 2);
}

TEST_F(HyperPodTest, scaling_down_and_deleting_leave_what_aws_leaves) {
    ready_eks();
    create(2);
    world.advance(minutes(12));
    hyperpod("UpdateCluster", {{"ClusterName", "hp"}, {"InstanceGroups", JsonArray{JsonValue(workers(1))}}});
    world.advance(minutes(3));
    EXPECT_EQ(host->find("demo")->objects().list(kNodeKind).size(), 1U);
    const JsonValue saved = world.service("sagemaker")->save();
    world.service("sagemaker")->load(saved);
    EXPECT_EQ(world.service("sagemaker")->save(), saved);
    hyperpod("DeleteCluster", {{"ClusterName", "hp"}});
    EXPECT_EQ(get_string(describe(), "ClusterStatus"), "Deleting");
    world.advance(minutes(6));
    EXPECT_EQ(get_string(describe(), "Error"), "ResourceNotFound");
    JsonObject left{{"Name", "description"}, {"Values", JsonArray{"aws-K8S-*"}}};
    EXPECT_EQ(get_array(ec2("DescribeNetworkInterfaces", {{"Filters", JsonArray{JsonValue(left)}}}),
                        "NetworkInterfaces")
                  .size(),
              1U);
}

}  // namespace
}  // namespace instantstart::twin::sagemaker
