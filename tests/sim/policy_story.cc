#include "policy_story.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace instantstart::sim {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

constexpr const char* kRole = "instantstart-operator";
constexpr const char* kGivenRole = "research-nodes";
constexpr const char* kKey = "arn:aws:kms:us-west-2:111122223333:key/0f5c0c22-0000-4000-8000-000000000001";
constexpr const char* kImage = "ami-0123456789abcdef0";
constexpr const char* kOpen =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]})";

std::string trust_of(const std::string& kind, const std::string& who) {
    return R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{")" + kind + R"(":")" +
           who + R"("},"Action":"sts:AssumeRole"}]})";
}

JsonArray tags(std::initializer_list<std::pair<const char*, const char*>> list) {
    JsonArray made;
    for (const auto& [key, value] : list) made.push_back(JsonObject{{"Key", key}, {"Value", value}});
    return made;
}

// EC2 knows a fresh object after up to a second.
constexpr std::chrono::seconds kSettled(2);

}  // namespace

PolicyStory::PolicyStory(PolicyStoryOptions options) : options_(std::move(options)), simulation_(1, {}, {}) {
    account_ = base::get_string(simulation_.admin("sts", "GetCallerIdentity", {}), "Account");
    make_principal();
}

// A role with a path, as single sign-on makes them, that holds the policy and nothing else.
void PolicyStory::make_principal() {
    const std::string name = kRole;
    simulation_.admin("iam", "CreateRole",
                      {{"RoleName", name},
                       {"Path", "/platform/"},
                       {"MaxSessionDuration", 43200},
                       {"AssumeRolePolicyDocument", trust_of("AWS", "arn:aws:iam::" + account_ + ":root")}});
    // One policy of up to eight statements each: their sizes are the printer's business, not this story's.
    constexpr std::size_t kStatements = 8;
    const auto& statements = base::get_array(options_.policy, "Statement");
    for (std::size_t at = 0; at < statements.size(); at += kStatements) {
        JsonArray some;
        for (std::size_t i = at; i < std::min(at + kStatements, statements.size()); ++i)
            some.push_back(statements[i]);
        const JsonObject document{{"Version", "2012-10-17"}, {"Statement", std::move(some)}};
        const auto made = simulation_.admin(
            "iam", "CreatePolicy",
            {{"PolicyName", "product-" + std::to_string(at)}, {"PolicyDocument", base::to_text(document)}});
        simulation_.admin("iam", "AttachRolePolicy",
                          {{"RoleName", name}, {"PolicyArn", base::get_string(made, "Policy.Arn")}});
    }
    const auto session =
        simulation_.admin("sts", "AssumeRole",
                          {{"RoleArn", "arn:aws:iam::" + account_ + ":role/platform/" + name},
                           {"RoleSessionName", "product"},
                           {"DurationSeconds", 43200}});
    caller_ = base::get_string(session, "AssumedRoleUser.Arn");
    AccessKeys keys;
    keys.access_key = base::get_string(session, "Credentials.AccessKeyId");
    keys.secret_key = base::get_string(session, "Credentials.SecretAccessKey");
    keys.session_token = base::get_string(session, "Credentials.SessionToken");
    if (options_.with_boundary)
        simulation_.admin("iam", "CreatePolicy",
                          {{"PolicyName", "company-boundary"}, {"PolicyDocument", kOpen}});
    if (options_.with_own_things) {
        simulation_.admin("iam", "CreateRole",
                          {{"RoleName", kGivenRole},
                           {"AssumeRolePolicyDocument", trust_of("Service", "sagemaker.amazonaws.com")}});
    }
    simulation_.become(std::move(keys));
    note_calls("start");
}

std::vector<std::string> PolicyStory::refused_by_simulator(JsonObject question) {
    question.erase("Sid");
    question["PolicySourceArn"] = "arn:aws:iam::" + account_ + ":role/platform/" + kRole;
    question["MaxItems"] = 1000;
    const auto answer = simulation_.admin("iam", "SimulatePrincipalPolicy", std::move(question));
    std::vector<std::string> refused;
    for (const auto& result : base::get_array(answer, "EvaluationResults")) {
        if (base::get_string(result, "EvalDecision") != "allowed")
            refused.push_back(base::get_string(result, "EvalActionName"));
    }
    return refused;
}

void PolicyStory::note_calls(const std::string& operation) {
    auto& noted = calls_[operation];  // also of one that answers from what is known already
    while (true) {
        const auto page = simulation_.twin("GET", "/calls?since=" + std::to_string(since_), {});
        const auto next = base::get_int(page, "next");
        for (const auto& call : base::get_array(page, "calls")) {
            const auto service = base::get_string(call, "service");
            if (base::get_string(call, "principal") != caller_ || service == "kubernetes") continue;
            noted.insert(service + ":" + base::get_string(call, "operation"));
        }
        if (next == since_) return;
        since_ = next;
    }
}

JsonObject PolicyStory::does(const std::string& operation, const std::string& method, const std::string& path,
                             const JsonObject& body) {
    if (refusal_) return {};
    auto answer = simulation_.ask(method, path, body);
    const auto id = base::get_string(answer.body, "operation.id");
    auto ended = answer.body;
    if (!id.empty()) ended = simulation_.wait(id);
    note_calls(operation);
    const bool failed = !id.empty() && base::get_string(ended, "state") != "succeeded";
    if (answer.status >= 400 || failed) {
        refusal_.emplace();
        refusal_->operation = operation;
        refusal_->at_once = answer.status >= 400;
        refusal_->error = failed ? base::get_object(ended, "error") : answer.body;
    }
    said_ += base::to_text(ended) + "\n";
    return ended;
}

JsonObject PolicyStory::group(const std::string& name, const std::string& zone) const {
    JsonObject made{{"name", name}, {"instance_type", "ml.g5.2xlarge"}, {"count", 1}, {"zone", zone}};
    if (options_.with_own_things) {
        made["execution_role_arn"] = "arn:aws:iam::" + account_ + ":role/" + kGivenRole;
        made["image_id"] = kImage;
        made["kms_key_arn"] = kKey;
        made["volume_size_gib"] = 200;
    }
    return made;
}

JsonObject PolicyStory::launch_body() const {
    JsonObject body{{"name", "phoenix"},
                    {"storage", JsonObject{{"kind", "s3"}}},
                    {"instance_groups", JsonArray{group("workers", "us-west-2a")}}};
    if (options_.with_boundary)
        body["permissions_boundary_arn"] = "arn:aws:iam::" + account_ + ":policy/company-boundary";
    if (options_.with_own_things) body["kms_key_arn"] = kKey;
    return body;
}

std::optional<Refusal> PolicyStory::tell() {
    // The main job first: what it needs is proven by it.
    static constexpr Chapter kWhole[] = {&PolicyStory::launch,
                                         &PolicyStory::grow,
                                         &PolicyStory::change_groups,
                                         &PolicyStory::treat_nodes,
                                         &PolicyStory::use_node_groups,
                                         &PolicyStory::use_a_bucket,
                                         &PolicyStory::use_features,
                                         &PolicyStory::use_mlflow,
                                         &PolicyStory::use_managed_features,
                                         &PolicyStory::mount_a_file_system,
                                         &PolicyStory::replace_hyperpod,
                                         &PolicyStory::look_at_the_cluster,
                                         &PolicyStory::leave_things_behind,
                                         &PolicyStory::remove,
                                         &PolicyStory::use_a_given_network,
                                         &PolicyStory::import_a_cluster,
                                         &PolicyStory::look_around};
    for (const auto chapter : kWhole) {
        if (options_.launch_only && chapter != &PolicyStory::launch) continue;
        if (!refusal_) (this->*chapter)();
    }
    return refusal_;
}

void PolicyStory::look_around() {
    does("environment.get", "GET", "/environment");
    does("zone.list", "GET", "/zones");
    does("instance_type.list", "GET", "/instance-types?zone=us-west-2a");
    does("quota.list", "GET", "/quotas");
    does("cluster.list", "GET", "/clusters");
    does("plan.preview", "POST", "/plan", {{"operation", "cluster.launch"}, {"arguments", launch_body()}});
}

void PolicyStory::launch() {
    does("cluster.launch", "POST", "/clusters/launch", launch_body());
}

void PolicyStory::look_at_the_cluster() {
    does("cluster.list", "GET", "/clusters");
    does("cluster.activate", "POST", "/clusters/phoenix/activate");
    does("cluster.get", "GET", "/clusters/phoenix");
    does("hyperpod.get", "GET", "/clusters/phoenix/hyperpod");
    does("instance_group.list", "GET", "/clusters/phoenix/instance-groups");
    does("dependency.list", "GET", "/clusters/phoenix/dependencies");
    does("event.list", "GET", "/clusters/phoenix/events");
    does("storage.list", "GET", "/clusters/phoenix/storages");
    does("storage.browse", "GET", "/clusters/phoenix/storages/shared/objects");
    does("quota.list", "GET", "/quotas");
    const auto list = does("node.list", "GET", "/clusters/phoenix/nodes");
    const auto& nodes = base::get_array(list, "nodes");
    if (refusal_ || nodes.empty()) return;
    does("node.get", "GET", "/clusters/phoenix/nodes/" + base::get_string(nodes.front(), "instance_id"));
}

// Leaves no room for a /20 in the cluster's VPC, and takes its routes to S3 away: the next compute subnet
// needs a secondary range, and its routes there. The subnets that fill it.
std::vector<std::string> PolicyStory::fill_the_vpc() {
    const auto eks = simulation_.admin("eks", "DescribeCluster", {{"name", "phoenix"}});
    const auto vpc = base::get_string(eks, "cluster.resourcesVpcConfig.vpcId");
    const auto vpcs = simulation_.admin("ec2", "DescribeVpcs", {{"VpcIds", JsonArray{JsonValue(vpc)}}});
    const auto range = base::get_string(vpcs, "Vpcs.0.CidrBlock");
    const auto prefix = range.substr(0, range.find(".0.0/") + 1);
    std::vector<std::string> filling;
    // All but the first /20, which the launch took, and the last, which holds the service subnets.
    for (const char* block : {"16.0/20", "32.0/19", "64.0/18", "128.0/18", "192.0/19", "224.0/20"}) {
        const auto subnet = simulation_.admin(
            "ec2", "CreateSubnet",
            {{"VpcId", vpc}, {"CidrBlock", prefix + block}, {"AvailabilityZone", "us-west-2a"}});
        filling.push_back(base::get_string(subnet, "Subnet.SubnetId"));
    }
    const JsonArray in_vpc{JsonObject{{"Name", "vpc-id"}, {"Values", JsonArray{JsonValue(vpc)}}}};
    const auto endpoints = simulation_.admin("ec2", "DescribeVpcEndpoints", {{"Filters", in_vpc}});
    for (const auto& endpoint : base::get_array(endpoints, "VpcEndpoints")) {
        simulation_.admin("ec2", "ModifyVpcEndpoint",
                          {{"VpcEndpointId", base::get_string(endpoint, "VpcEndpointId")},
                           {"RemoveRouteTableIds", base::get_array(endpoint, "RouteTableIds")}});
    }
    simulation_.pass(kSettled);
    return filling;
}

void PolicyStory::grow() {
    if (refusal_) return;
    const auto filling = fill_the_vpc();
    does("instance_group.add", "POST", "/clusters/phoenix/instance-groups", group("more", "us-west-2b"));
    for (const auto& subnet : filling) simulation_.admin("ec2", "DeleteSubnet", {{"SubnetId", subnet}});
    does("dependency.reconcile", "POST", "/clusters/phoenix/dependencies/reconcile");
    // Somebody removes a component; the reconciliation brings it back.
    if (!refusal_)
        simulation_.admin("eks", "DeleteAddon", {{"clusterName", "phoenix"}, {"addonName", "coredns"}});
    does("dependency.reconcile", "POST", "/clusters/phoenix/dependencies/reconcile");
}

void PolicyStory::change_groups() {
    if (refusal_) return;
    const std::string groups = "/clusters/phoenix/instance-groups";
    does("instance_group.update", "PATCH", groups + "/more", {{"count", 2}});
    const JsonArray p5{JsonObject{{"Name", "instance-type"}, {"Values", JsonArray{"p5.48xlarge"}}}};
    const auto offers = simulation_.admin("ec2", "DescribeInstanceTypeOfferings",
                                          {{"LocationType", "availability-zone"}, {"Filters", p5}});
    const auto zone = base::get_string(offers, "InstanceTypeOfferings.0.Location");
    simulation_.twin("POST", "/training-plans",
                     {{"name", "june"},
                      {"instance_type", "ml.p5.48xlarge"},
                      {"zone", zone},
                      {"count", 2},
                      {"status", "Active"},
                      {"hours", 240}});
    const auto plans = does("training_plan.list", "GET", "/training-plans");
    JsonObject planned{
        {"name", "planned"},
        {"instance_type", "ml.p5.48xlarge"},
        {"count", 1},
        {"zone", zone},
        {"capacity", JsonObject{{"type", "training_plan"},
                                {"training_plan_arn", base::get_string(plans, "training_plans.0.arn")}}}};
    if (!refusal_) does("instance_group.add", "POST", groups, planned);
    does("instance_group.delete", "DELETE", groups + "/planned", {{"confirm", "planned"}});
    if (refusal_) return;
    simulation_.twin("POST", "/images", {});  // AWS has a newer one
    does("hyperpod.update_software", "POST", "/clusters/phoenix/hyperpod/update-software",
         {{"instance_groups", JsonArray{"more"}}, {"max_batch_percent", 50}});
}

std::string PolicyStory::node_of(const std::string& group) {
    const auto nodes = simulation_.admin("sagemaker", "ListClusterNodes",
                                         {{"ClusterName", "phoenix"}, {"InstanceGroupNameContains", group}});
    return base::get_string(nodes, "ClusterNodeSummaries.0.InstanceId");
}

void PolicyStory::treat_nodes() {
    if (refusal_) return;
    const std::string nodes = "/clusters/phoenix/nodes/";
    auto node = node_of("more");
    does("node.reboot", "POST", nodes + node + "/reboot");
    does("node.replace", "POST", nodes + node + "/replace", {{"confirm", node}});
    does("node.get", "GET", nodes + node_of("more"));  // with the past of the instance that is gone
    node = node_of("more");
    does("node.delete", "DELETE", nodes + node, {{"confirm", node}});
}

void PolicyStory::use_node_groups() {
    const std::string groups = "/clusters/phoenix/node-groups";
    does("node_group.add", "POST", groups,
         {{"name", "pods"},
          {"instance_types", JsonArray{"m5.xlarge"}},
          {"count", 1},
          {"max_count", 2},
          {"zone", "us-west-2c"}});
    does("node_group.list", "GET", groups);
    does("node_group.update", "PATCH", groups + "/pods", {{"count", 2}});
    does("node_group.delete", "DELETE", groups + "/pods", {{"confirm", "pods"}});
}

void PolicyStory::use_a_bucket() {
    if (refusal_) return;
    simulation_.admin("s3", "CreateBucket",
                      {{"Bucket", "models-of-research"},
                       {"CreateBucketConfiguration", JsonObject{{"LocationConstraint", "us-west-2"}}}});
    // Somebody gives the driver another role; it gets its own back.
    simulation_.admin("iam", "CreateRole",
                      {{"RoleName", "other-driver"},
                       {"AssumeRolePolicyDocument", trust_of("Service", "pods.eks.amazonaws.com")}});
    simulation_.pass(std::chrono::seconds(30));
    simulation_.admin("eks", "UpdateAddon",
                      {{"clusterName", "phoenix"},
                       {"addonName", "aws-mountpoint-s3-csi-driver"},
                       {"serviceAccountRoleArn", "arn:aws:iam::" + account_ + ":role/other-driver"}});
    simulation_.pass(std::chrono::minutes(5));
    does("storage.create", "POST", "/clusters/phoenix/storages",
         {{"name", "models"}, {"kind", "s3"}, {"bucket", "models-of-research"}});
    does("storage.browse", "GET", "/clusters/phoenix/storages/models/objects");
    does("storage.delete", "DELETE", "/clusters/phoenix/storages/models", {{"confirm", "models"}});
}

void PolicyStory::replace_hyperpod() {
    does("hyperpod.delete", "DELETE", "/clusters/phoenix/hyperpod", {{"confirm", "phoenix"}});
    does("hyperpod.create", "POST", "/clusters/phoenix/hyperpod",
         {{"instance_groups", JsonArray{group("again", "us-west-2a")}}});
}

// What others made in and beside the cluster, and deleting meets.
void PolicyStory::leave_things_behind() {
    if (refusal_) return;
    make_given_network();
    // A balancer of somebody else's, whose tags must be looked at to know that.
    JsonArray subnets;
    for (const auto& subnet : subnets_) subnets.emplace_back(subnet);
    simulation_.admin(
        "elbv2", "CreateLoadBalancer",
        {{"Name", "others"}, {"Type", "network"}, {"Scheme", "internal"}, {"Subnets", std::move(subnets)}});
    const auto eks =
        base::get_object(simulation_.admin("eks", "DescribeCluster", {{"name", "phoenix"}}), "cluster");
    const auto& network = base::get_object(eks, "resourcesVpcConfig");
    const auto vpc = base::get_string(network, "vpcId");
    const auto group = simulation_.admin(
        "ec2", "CreateSecurityGroup",
        {{"GroupName", "k8s-balancer"}, {"Description", "of a controller"}, {"VpcId", vpc}});
    const auto id = base::get_string(group, "GroupId");
    simulation_.pass(kSettled);
    simulation_.admin(
        "ec2", "CreateTags",
        {{"Resources", JsonArray{JsonValue(id)}}, {"Tags", tags({{"elbv2.k8s.aws/cluster", "phoenix"}})}});
    const auto trust = trust_of("Service", "ec2.amazonaws.com");
    simulation_.admin(
        "iam", "CreateRole",
        {{"RoleName", "SageMakerHyperPodInference-phoenix"},
         {"AssumeRolePolicyDocument", trust},
         {"Tags", tags({{"instantstart:cluster", "phoenix"}, {"instantstart:region", "us-west-2"}})}});
    simulation_.admin("iam", "CreateInstanceProfile", {{"InstanceProfileName", "instantstart-nodes"}});
    simulation_.admin(
        "iam", "AddRoleToInstanceProfile",
        {{"InstanceProfileName", "instantstart-nodes"}, {"RoleName", "SageMakerHyperPodInference-phoenix"}});
    simulation_.admin("iam", "CreateOpenIDConnectProvider",
                      {{"Url", "https://token.actions.githubusercontent.com"},
                       {"ClientIDList", JsonArray{"sts.amazonaws.com"}}});
    simulation_.admin("iam", "CreateRole",
                      {{"RoleName", "system-nodes"}, {"AssumeRolePolicyDocument", trust}});
    for (const char* policy :
         {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy"}) {
        simulation_.admin(
            "iam", "AttachRolePolicy",
            {{"RoleName", "system-nodes"}, {"PolicyArn", "arn:aws:iam::aws:policy/" + std::string(policy)}});
    }
    simulation_.pass(std::chrono::seconds(30));  // until services know the role
    simulation_.admin("eks", "CreateNodegroup",
                      {{"clusterName", "phoenix"},
                       {"nodegroupName", "system"},
                       {"nodeRole", "arn:aws:iam::" + account_ + ":role/system-nodes"},
                       {"subnets", base::get_array(network, "subnetIds")},
                       {"scalingConfig", JsonObject{{"minSize", 1}, {"maxSize", 1}, {"desiredSize", 1}}}});
}

void PolicyStory::remove() {
    leave_managed_things();
    does("cluster.delete", "DELETE", "/clusters/phoenix", {{"confirm", "phoenix"}, {"delete_buckets", true}});
}

void PolicyStory::make_given_network() {
    const auto vpc = simulation_.admin("ec2", "CreateVpc", {{"CidrBlock", "10.200.0.0/16"}});
    vpc_ = base::get_string(vpc, "Vpc.VpcId");
    simulation_.pass(kSettled);
    for (const char* attribute : {"EnableDnsSupport", "EnableDnsHostnames"})
        simulation_.admin("ec2", "ModifyVpcAttribute",
                          {{"VpcId", vpc_}, {attribute, JsonObject{{"Value", true}}}});
    int index = 0;
    for (const char* zone : {"us-west-2a", "us-west-2b"}) {
        const auto range = "10.200." + std::to_string(index++) + ".0/24";
        const auto subnet = simulation_.admin(
            "ec2", "CreateSubnet", {{"VpcId", vpc_}, {"CidrBlock", range}, {"AvailabilityZone", zone}});
        subnets_.push_back(base::get_string(subnet, "Subnet.SubnetId"));
    }
    const auto table = simulation_.admin("ec2", "CreateRouteTable", {{"VpcId", vpc_}});
    simulation_.pass(kSettled);
    for (const auto& subnet : subnets_) {
        simulation_.admin(
            "ec2", "AssociateRouteTable",
            {{"RouteTableId", base::get_string(table, "RouteTable.RouteTableId")}, {"SubnetId", subnet}});
    }
}

void PolicyStory::use_a_given_network() {
    JsonArray subnets;
    for (const auto& subnet : subnets_) subnets.emplace_back(subnet);
    does("cluster.create", "POST", "/clusters",
         {{"name", "guest"}, {"network", JsonObject{{"vpc_id", vpc_}, {"subnet_ids", std::move(subnets)}}}});
    does("hyperpod.create", "POST", "/clusters/guest/hyperpod",
         {{"instance_groups", JsonArray{group("guests", "us-west-2a")}}});
    does("cluster.delete", "DELETE", "/clusters/guest", {{"confirm", "guest"}});
}

void PolicyStory::import_a_cluster() {
    if (refusal_) return;
    simulation_.admin("iam", "CreateRole",
                      {{"RoleName", "old-control-plane"},
                       {"AssumeRolePolicyDocument", trust_of("Service", "eks.amazonaws.com")}});
    simulation_.admin(
        "iam", "AttachRolePolicy",
        {{"RoleName", "old-control-plane"}, {"PolicyArn", "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}});
    simulation_.pass(std::chrono::seconds(30));
    JsonArray subnets;
    for (const auto& subnet : subnets_) subnets.emplace_back(subnet);
    simulation_.admin("eks", "CreateCluster",
                      {{"name", "research"},
                       {"roleArn", "arn:aws:iam::" + account_ + ":role/old-control-plane"},
                       {"resourcesVpcConfig", JsonObject{{"subnetIds", std::move(subnets)}}},
                       {"accessConfig", JsonObject{{"authenticationMode", "CONFIG_MAP"}}}});
    simulation_.pass(std::chrono::minutes(20));
    // It came with a kube-proxy of its own: the add-on over it fails, and is made anew.
    simulation_.admin("eks", "CreateAddon", {{"clusterName", "research"}, {"addonName", "kube-proxy"}});
    simulation_.pass(std::chrono::minutes(5));
    does("cluster.import", "POST", "/clusters/import",
         {{"eks_cluster_name", "research"}, {"confirm", "research"}});
    does("dependency.reconcile", "POST", "/clusters/research/dependencies/reconcile");
    does("cluster.delete", "DELETE", "/clusters/research", {{"confirm", "research"}});
}

}  // namespace instantstart::sim
