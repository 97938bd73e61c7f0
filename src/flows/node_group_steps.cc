#include "flows/node_group_steps.h"

#include <algorithm>

#include "base/text.h"
#include "flows/ec2_kit.h"
#include "flows/network_steps.h"
#include "flows/removal_steps.h"
#include "flows/role_steps.h"

namespace instantstart::flows {

namespace {

std::string name_of(const StepCall& call) {
    const auto* group = call.params.if_contains("node_group");
    if (group != nullptr && group->is_string()) return std::string(group->get_string());
    return base::get_string(call.params, "node_group.name");
}

std::string template_role(const std::string& group) {
    return "launch_template_" + group;
}

// "NoSchedule" → "NO_SCHEDULE", as EKS writes effects.
std::string eks_effect(const std::string& effect) {
    if (effect == "NoSchedule") return "NO_SCHEDULE";
    return effect == "NoExecute" ? "NO_EXECUTE" : "PREFER_NO_SCHEDULE";
}

JsonArray eks_taints(const JsonArray& taints) {
    JsonArray list;
    for (const auto& taint : taints) {
        JsonObject row{{"key", base::get_string(taint, "key")},
                       {"effect", eks_effect(base::get_string(taint, "effect"))}};
        const auto value = base::get_string(taint, "value");
        if (!value.empty()) row["value"] = value;
        list.push_back(std::move(row));
    }
    return list;
}

// --- launch template

// Nodes and volumes carry our tags; metadata answers to tokens only, and not to pods: these have roles of
// their own by pod identity or OIDC.
JsonObject template_data(const JsonObject& params) {
    const auto& group = base::get_object(params, "node_group");
    JsonArray tags{
        JsonObject{{"Key", domain::kTagCluster}, {"Value", base::get_string(params, "cluster")}},
        JsonObject{{"Key", domain::kTagRegion}, {"Value", base::get_string(params, "region")}},
        JsonObject{{"Key", "Name"},
                   {"Value", base::get_string(params, "cluster") + "-" + base::get_string(group, "name")}}};
    for (const auto& [key, value] : base::get_object(params, "tags"))
        tags.push_back(JsonObject{{"Key", key}, {"Value", value}});
    JsonArray specifications;
    for (const char* type : {"instance", "volume", "network-interface"})
        specifications.push_back(JsonObject{{"ResourceType", type}, {"Tags", tags}});
    JsonObject volume{{"VolumeSize", base::get_int(group, "volume_size_gib")},
                      {"VolumeType", "gp3"},
                      {"Encrypted", true},
                      {"DeleteOnTermination", true}};
    const auto key = base::get_string(params, "kms_key_arn");
    if (!key.empty()) volume["KmsKeyId"] = key;
    return {{"MetadataOptions",
             {{"HttpTokens", "required"}, {"HttpPutResponseHopLimit", 1}, {"HttpEndpoint", "enabled"}}},
            {"BlockDeviceMappings",
             JsonArray{JsonObject{{"DeviceName", "/dev/xvda"}, {"Ebs", std::move(volume)}}}},
            {"TagSpecifications", std::move(specifications)}};
}

// With interfaces of its own a template names its security groups; else EKS puts the cluster's on.
JsonArray efa_interfaces(std::int64_t cards) {
    JsonArray list;
    for (std::int64_t card = 0; card < std::max<std::int64_t>(1, cards); ++card) {
        list.push_back(JsonObject{
            {"NetworkCardIndex", card},
            {"DeviceIndex", card == 0 ? 0 : 1},
            {"InterfaceType", "efa"},
            {"DeleteOnTermination", true},
            {"Groups", JsonArray{"@eks.cluster_security_group_id", "@network.security_group_id"}}});
    }
    return list;
}

std::string add_launch_template(Steps& steps, const JsonObject& params) {
    const auto& group = base::get_object(params, "node_group");
    const auto name = base::get_string(group, "name");
    const auto full = node_group_template_name(base::get_string(params, "cluster"), name);
    Ec2Resource made("launch_template", "launch_template", "Create launch template", {"network"});
    made.role = template_role(name);
    made.name = full;
    made.token = true;
    auto data = template_data(params);
    if (base::get_bool(group, "efa"))
        data["NetworkInterfaces"] = efa_interfaces(base::get_int(group, "network_cards"));
    made.parameters = {{"LaunchTemplateName", full}, {"LaunchTemplateData", std::move(data)}};
    steps.add(ec2_row(std::move(made)));
    return "launch_template";
}

// --- the node group

Observation ours_or_not(const StepCall& call, const JsonObject& described) {
    const auto* tags = described.if_contains("tags");
    if (tags != nullptr && domain::tag_of(*tags, domain::kTagCluster) == cluster_of(call))
        return ops::absent();
    return ops::impossible(base::conflict_error("not_ours", "a node group \"" + name_of(call) +
                                                                "\" without our tags exists in the cluster")
                               .with_hint("Choose another name."));
}

std::string issues_of(const JsonObject& described) {
    std::vector<std::string> texts;
    for (const auto& issue : base::get_array(described, "health.issues")) {
        texts.push_back(base::get_string(issue, "code") + ": " +
                        domain::clean_text(base::get_string(issue, "message"), 300));
    }
    return texts.empty() ? "EKS gives no reason" : base::join(texts, "; ");
}

Observation failed(const std::string& status, const JsonObject& described) {
    return ops::impossible(
        base::conflict_error("node_group_failed", "EKS says " + status + ": " + issues_of(described))
            .with_hint("Delete it (node_group.delete), and add it with another type, zone or capacity."));
}

Task<Observation> observe_group(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto described, co_await describe_node_group(env, call.context, eks_of(call), name_of(call)));
    if (described.empty()) {
        if (is_fresh(env, call)) co_return ops::in_progress("waiting until EKS shows the node group");
        co_return ops::absent();
    }
    auto judged = ours_or_not(call, described);
    if (judged.presence == Presence::impossible) co_return judged;
    const auto status = base::get_string(described, "status");
    if (status == "CREATE_FAILED") co_return failed(status, described);
    if (status != "ACTIVE" && status != "DEGRADED" && status != "UPDATING")
        co_return ops::in_progress("EKS says " + status);
    co_return ops::done({{"arn", base::get_string(described, "nodegroupArn")}});
}

Task<JsonObject> act_group(Clusters& env, StepCall call, JsonObject) {
    auto request = node_group_request(call);
    CO_CHECK_OK(co_await mutate(env, call, "eks", "CreateNodegroup", std::move(request)));
    co_return made(env, name_of(call));
}

bool is_ready(const JsonValue& node) {
    const auto& conditions = base::get_array(node, "status.conditions");
    return std::any_of(conditions.begin(), conditions.end(), [](const JsonValue& condition) {
        return base::get_string(condition, "type") == "Ready" &&
               base::get_string(condition, "status") == "True";
    });
}

Task<Observation> observe_nodes(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto described, co_await describe_node_group(env, call.context, eks_of(call), name_of(call)));
    const auto wanted = base::get_int(described, "scalingConfig.desiredSize");
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    kube::ListOptions options;
    options.label_selector = "eks.amazonaws.com/nodegroup=" + name_of(call);
    CO_TRY(auto list, co_await client->list(call.context, *nodes, options));
    const auto& items = base::get_array(list, "items");
    const auto ready = static_cast<std::int64_t>(std::count_if(items.begin(), items.end(), &is_ready));
    const auto there = static_cast<std::int64_t>(items.size());
    if (ready == wanted && there == wanted) co_return ops::done({{"nodes", wanted}});
    auto waiting = ops::in_progress(std::to_string(ready) + " of " + std::to_string(wanted) + " nodes ready");
    if (!base::get_array(described, "health.issues").empty()) {
        waiting.conditions = {
            {"type", "WaitingForCapacity"}, {"group", name_of(call)}, {"message", issues_of(described)}};
    }
    co_return waiting;
}

void add_nodes(Steps& steps, std::string after) {
    auto schedule = minutes_of(2, 15);
    schedule.limit = std::chrono::hours(24);
    steps.add(Row("nodes", "See the nodes of the node group ready", {std::move(after), "kubernetes_access"})
                  .does(&observe_nodes, nullptr)
                  .takes(schedule)
                  .as("check"));
}

// --- a change

Task<Observation> observe_change(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto described, co_await describe_node_group(env, call.context, eks_of(call), name_of(call)));
    if (described.empty()) {
        co_return ops::impossible(base::not_found_error("node group \"" + name_of(call) + "\"")
                                      .with_hint("Somebody deleted it meanwhile."));
    }
    const auto status = base::get_string(described, "status");
    if (status == "UPDATING" || status == "CREATING") co_return ops::in_progress("EKS says " + status);
    if (node_group_is_as_asked(described, base::get_object(call.params, "changes"))) co_return ops::done({});
    if (status != "ACTIVE" && status != "DEGRADED") co_return failed(status, described);
    co_return ops::absent();
}

Task<JsonObject> act_change(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto described, co_await describe_node_group(env, call.context, eks_of(call), name_of(call)));
    auto request = node_group_change_request(call, described);
    CO_CHECK_OK(co_await mutate(env, call, "eks", "UpdateNodegroupConfig", std::move(request)));
    co_return JsonObject{};
}

// --- removal

Task<Observation> observe_gone(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto described, co_await describe_node_group(env, call.context, eks_of(call), name_of(call)));
    if (described.empty()) co_return ops::done({});
    const auto status = base::get_string(described, "status");
    if (status == "DELETING") co_return ops::in_progress("EKS says DELETING");
    if (status == "UPDATING" || status == "CREATING") co_return ops::in_progress("EKS says " + status);
    if (status == "DELETE_FAILED" && call.acted) co_return failed(status, described);
    co_return ops::absent();
}

Task<JsonObject> act_gone(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"clusterName", eks_of(call)}, {"nodegroupName", name_of(call)}};
    auto answer = co_await env.aws().call(call.context, "eks", "DeleteNodegroup", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

Task<Observation> observe_template_gone(Clusters& env, StepCall call, JsonObject) {
    auto filters = tag_filters(call, template_role(name_of(call)));
    CO_TRY(auto templates, co_await ec2_list(env, call.context, "launch_template", std::move(filters)));
    co_return templates.empty() ? ops::done({}) : ops::absent();
}

Task<JsonObject> act_template_gone(Clusters& env, StepCall call, JsonObject) {
    auto filters = tag_filters(call, template_role(name_of(call)));
    CO_TRY(auto templates, co_await ec2_list(env, call.context, "launch_template", std::move(filters)));
    for (const auto& item : templates) {
        JsonObject parameters{{"LaunchTemplateId", base::get_string(item, "LaunchTemplateId")}};
        auto answer =
            co_await env.aws().call(call.context, "ec2", "DeleteLaunchTemplate", std::move(parameters));
        if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    }
    co_return JsonObject{};
}

std::string role_of(const StepCall& call) {
    return domain::role_name(cluster_of(call), base::get_string(call.params, "region"),
                             node_group_role_purpose(name_of(call)));
}

Task<Observation> observe_role_gone(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"RoleName", role_of(call)}};
    auto role = co_await env.aws().call(call.context, "iam", "GetRole", std::move(parameters));
    if (!role && is_absent(role.error())) co_return ops::done({});
    CO_CHECK_OK(role);
    const auto& tags = base::get_array(*role, "Role.Tags");
    if (domain::tag_of(tags, domain::kTagCluster) != cluster_of(call))
        co_return ops::skipped("the role of that name is not ours");
    co_return ops::absent();
}

Task<JsonObject> act_role_gone(Clusters& env, StepCall call, JsonObject) {
    CO_CHECK_OK(co_await remove_role(env, call, role_of(call)));
    co_return JsonObject{};
}

// The access entry that EKS made for the role's nodes. One that outlives its role keeps nodes out that a
// later role of the same name has: entries hold on to the role's id, not to its name.
JsonObject entry_of(const StepCall& call) {
    const auto scope = scope_of(call);
    return {{"clusterName", eks_of(call)},
            {"principalArn", "arn:" + scope.partition + ":iam::" + scope.account + ":role/" + role_of(call)}};
}

Task<Observation> observe_entry_gone(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto role, co_await observe_role_gone(env, call, {}));
    if (role.skipped) co_return role;
    auto entry = co_await env.aws().call(call.context, "eks", "DescribeAccessEntry", entry_of(call));
    if (!entry && is_absent(entry.error())) co_return ops::done({});
    CO_CHECK_OK(entry);
    if (base::get_string(*entry, "accessEntry.type") != "EC2_LINUX")
        co_return ops::skipped("somebody uses the role's access entry otherwise");
    co_return ops::absent();
}

Task<JsonObject> act_entry_gone(Clusters& env, StepCall call, JsonObject) {
    auto answer = co_await mutate(env, call, "eks", "DeleteAccessEntry", entry_of(call));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

}  // namespace

std::string node_group_role_purpose(const std::string& group) {
    return "nodegroup-" + group;
}

std::string node_group_template_name(const std::string& cluster, const std::string& group) {
    constexpr std::size_t kLongest = 128;  // EC2's limit
    return domain::shorten("instantstart-" + cluster + "-" + group, kLongest);
}

Task<JsonObject> describe_node_group(Clusters& env, Context context, std::string eks_name,
                                     std::string group) {
    JsonObject parameters{{"clusterName", eks_name}, {"nodegroupName", group}};
    auto answer = co_await env.aws().call(context, "eks", "DescribeNodegroup", std::move(parameters));
    if (!answer && is_absent(answer.error())) co_return JsonObject{};
    CO_CHECK_OK(answer);
    co_return base::get_object(*answer, "nodegroup");
}

JsonObject node_group_request(const StepCall& call) {
    const auto& group = base::get_object(call.params, "node_group");
    const auto name = base::get_string(group, "name");
    const auto subnet =
        base::get_string(call.result_of("compute_subnet_" + base::get_string(group, "zone")), "id");
    JsonObject request{
        {"clusterName", eks_of(call)},
        {"nodegroupName", name},
        {"scalingConfig",
         {{"minSize", base::get_int(group, "min_count")},
          {"maxSize", base::get_int(group, "max_count")},
          {"desiredSize", base::get_int(group, "count")}}},
        {"subnets", JsonArray{JsonValue(subnet)}},
        {"instanceTypes", base::get_array(group, "instance_types")},
        {"amiType", base::get_string(group, "ami_type")},
        {"nodeRole", base::get_string(call.result_of("node_role"), "arn")},
        {"capacityType", base::get_string(group, "capacity") == "spot" ? "SPOT" : "ON_DEMAND"},
        {"launchTemplate",
         {{"id", base::get_string(call.result_of("launch_template"), "id")}, {"version", "1"}}},
        {"tags", domain::tag_map(owner_of(call, "node_group_" + name))}};
    if (const auto& labels = base::get_object(group, "labels"); !labels.empty()) request["labels"] = labels;
    if (const auto& taints = base::get_array(group, "taints"); !taints.empty())
        request["taints"] = eks_taints(taints);
    return request;
}

namespace {

JsonObject scaling_of(const JsonObject& described, const JsonObject& changes) {
    JsonObject scaling = base::get_object(described, "scalingConfig");
    for (const auto& [field, member] : {std::pair("count", "desiredSize"), std::pair("min_count", "minSize"),
                                        std::pair("max_count", "maxSize")}) {
        if (const auto* value = changes.if_contains(field)) scaling[member] = *value;
    }
    return scaling;
}

// What of `now` is not in `then`.
JsonArray missing_in(const JsonArray& then, const JsonArray& now) {
    JsonArray list;
    for (const auto& item : now) {
        if (std::find(then.begin(), then.end(), item) == then.end()) list.push_back(item);
    }
    return list;
}

void put_labels(const JsonObject& now, const JsonObject& then, JsonObject& request) {
    JsonObject set;
    JsonArray removed;
    for (const auto& [key, value] : then) {
        const auto* before = now.if_contains(key);
        if (before == nullptr || *before != value) set[key] = value;
    }
    for (const auto& [key, value] : now) {
        if (!then.contains(key)) removed.emplace_back(key);
    }
    JsonObject labels;
    if (!set.empty()) labels["addOrUpdateLabels"] = std::move(set);
    if (!removed.empty()) labels["removeLabels"] = std::move(removed);
    if (!labels.empty()) request["labels"] = std::move(labels);
}

void put_taints(const JsonArray& now, const JsonArray& then, JsonObject& request) {
    auto set = missing_in(now, then), removed = missing_in(then, now);
    JsonObject taints;
    if (!set.empty()) taints["addOrUpdateTaints"] = std::move(set);
    if (!removed.empty()) taints["removeTaints"] = std::move(removed);
    if (!taints.empty()) request["taints"] = std::move(taints);
}

}  // namespace

JsonObject node_group_change_request(const StepCall& call, const JsonObject& described) {
    const auto& changes = base::get_object(call.params, "changes");
    JsonObject request{{"clusterName", eks_of(call)}, {"nodegroupName", name_of(call)}};
    auto scaling = scaling_of(described, changes);
    if (scaling != base::get_object(described, "scalingConfig"))
        request["scalingConfig"] = std::move(scaling);
    if (changes.contains("labels"))
        put_labels(base::get_object(described, "labels"), base::get_object(changes, "labels"), request);
    if (changes.contains("taints"))
        put_taints(base::get_array(described, "taints"), eks_taints(base::get_array(changes, "taints")),
                   request);
    return request;
}

bool node_group_is_as_asked(const JsonObject& described, const JsonObject& changes) {
    StepCall asked;
    asked.params = {{"changes", changes}};
    constexpr std::size_t kNamesOnly = 2;
    return node_group_change_request(asked, described).size() == kNamesOnly;
}

void add_node_group(Steps& steps, const JsonObject& params) {
    RolePlan role("node_role", "EKS node group",
                  node_group_role_purpose(base::get_string(params, "node_group.name")));
    role.service = "ec2.amazonaws.com";
    role.managed = {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly",
                    "AmazonEKS_CNI_Policy"};
    add_role(steps, role);
    std::vector<std::string> needs{"eks", "node_role_policies"};
    needs.push_back(add_compute_subnet(steps, params, base::get_string(params, "node_group.zone")));
    needs.push_back(add_launch_template(steps, params));
    steps.add(Row("node_group", "Create node group", std::move(needs))
                  .does(&observe_group, &act_group)
                  .takes(minutes_of(3, 15))
                  .iam());
    add_nodes(steps, "node_group");
}

void add_node_group_change(Steps& steps) {
    steps.add(Row("node_group", "Change the node group", {"eks"})
                  .does(&observe_change, &act_change)
                  .takes(minutes_of(1, 15))
                  .as("change"));
    add_nodes(steps, "node_group");
}

void add_node_group_removal(Steps& steps) {
    steps.add(Row("node_group_gone", "Delete the node group", {"eks"})
                  .does(&observe_gone, &act_gone)
                  .takes(minutes_of(4, 15))
                  .as("delete"));
    steps.add(Row("launch_template_gone", "Delete its launch template", {"node_group_gone"})
                  .does(&observe_template_gone, &act_template_gone)
                  .as("delete"));
    steps.add(Row("access_entry_gone", "Delete its nodes' access entry", {"node_group_gone"})
                  .does(&observe_entry_gone, &act_entry_gone)
                  .as("delete"));
    steps.add(Row("node_role_gone", "Delete its role", {"access_entry_gone"})
                  .does(&observe_role_gone, &act_role_gone)
                  .as("delete"));
}

}  // namespace instantstart::flows
