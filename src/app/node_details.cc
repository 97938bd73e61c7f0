#include "app/node_details.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "domain/names.h"
#include "domain/untrusted.h"
#include "flows/node_steps.h"

namespace instantstart::app {

namespace {

constexpr std::string_view kPrefix = "sagemaker.amazonaws.com/";
constexpr std::int64_t kHistory = 25;
constexpr std::int64_t kOfGroup = 100;   // events of its group that are looked through
constexpr std::size_t kFormerMost = 10;  // former instances of the group that are looked at

std::string text_of(const JsonObject& object, std::string_view key) {
    const auto* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string hyperpod_label(const JsonObject& labels, const char* name) {
    return domain::clean_text(text_of(labels, std::string(kPrefix) + name), 200);
}

// "OnDemand" → "on_demand", as requests write it.
std::string capacity_word(const std::string& type) {
    if (type == "Spot") return "spot";
    return type == "OnDemand" ? "on_demand" : base::to_lower(type);
}

void put_sagemaker(const JsonObject& details, JsonObject& row) {
    row["logical_id"] = text_of(details, "NodeLogicalId");
    row["capacity"] = capacity_word(text_of(details, "CapacityType"));
    row["image"] = JsonObject{{"current", text_of(details, "CurrentImageId")},
                              {"desired", text_of(details, "DesiredImageId")},
                              {"status", text_of(details, "ImageVersionStatus")}};
    row["last_software_update_at"] = text_of(details, "LastSoftwareUpdateTime");
    row["threads_per_core"] = base::get_int(details, "ThreadsPerCore");
    row["private_ip"] = text_of(details, "PrivatePrimaryIp");
}

// The health agent's finding stands in labels, and with time and message in an annotation.
JsonArray faults_of(const JsonObject& metadata) {
    const auto& labels = base::get_object(metadata, "labels");
    const auto kind = hyperpod_label(labels, "fault-types");
    if (kind.empty()) return {};
    JsonObject fault{{"kind", kind}, {"code", hyperpod_label(labels, "fault-reasons")}};
    const auto& annotations = base::get_object(metadata, "annotations");
    auto said = base::parse_json(text_of(annotations, std::string(kPrefix) + "fault-details"));
    if (said && said->is_object()) {
        fault["time"] = domain::clean_text(base::get_string(*said, "timestamp"), 40);
        fault["message"] = domain::clean_text(base::get_string(*said, "message"), 300);
    }
    return {std::move(fault)};
}

void put_kubernetes(const JsonObject& node, JsonObject& row) {
    const auto& metadata = base::get_object(node, "metadata");
    const auto& labels = base::get_object(metadata, "labels");
    const auto check = hyperpod_label(labels, "deep-health-check-status");
    if (!check.empty()) row["deep_health_check"] = JsonObject{{"status", check}};
    row["faults"] = faults_of(metadata);
    row["labels"] = labels;
    row["taints"] = base::get_array(node, "spec.taints");
    JsonArray conditions;
    for (const auto& condition : base::get_array(node, "status.conditions")) {
        conditions.push_back(
            JsonObject{{"type", base::get_string(condition, "type")},
                       {"status", base::get_string(condition, "status")},
                       {"reason", domain::clean_text(base::get_string(condition, "reason"), 100)},
                       {"since", base::get_string(condition, "lastTransitionTime")}});
    }
    row["conditions"] = std::move(conditions);
}

Task<void> add_sagemaker(Call call, std::string hyperpod, JsonObject& row) {
    const auto id = base::get_string(row, "instance_id");
    CO_TRY(auto details,
           co_await flows::find_hyperpod_node(call.services->clusters, call.context, hyperpod, id));
    put_sagemaker(details, row);
    co_return base::ok();
}

Task<void> add_kubernetes(Call call, std::string eks_name, JsonObject& row) {
    CO_TRY(auto client, co_await call.services->clusters.kube(call.context, eks_name));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    const auto name = base::get_string(row, "name");
    auto node = co_await client->get(call.context, *nodes, "", name);
    if (!node && node.error().kind == base::ErrorKind::not_found) co_return base::ok();
    CO_CHECK_OK(node);
    put_kubernetes(*node, row);
    co_return base::ok();
}

// Newest first; `chosen` is NodeId or InstanceGroupName.
Task<JsonArray> events_of(Call call, std::string hyperpod, const char* chosen, std::string name,
                          std::int64_t most) {
    JsonObject parameters{{"ClusterName", hyperpod},
                          {chosen, name},
                          {"ResourceType", "Instance"},
                          {"SortOrder", "Descending"},
                          {"MaxResults", most}};
    CO_TRY(auto page, co_await call.services->aws.call(call.context, "sagemaker", "ListClusterEvents",
                                                       std::move(parameters)));
    co_return base::get_array(page, "Events");
}

// The logical id of the node that an event tells of: only its details have it.
Task<std::string> logical_id_of(Call call, std::string hyperpod, std::string event) {
    JsonObject parameters{{"ClusterName", hyperpod}, {"EventId", event}};
    CO_TRY(auto answer, co_await call.services->aws.call(call.context, "sagemaker", "DescribeClusterEvent",
                                                         std::move(parameters)));
    co_return base::get_string(answer, "EventDetails.EventDetails.EventMetadata.Instance.NodeLogicalId");
}

bool holds(const std::shared_ptr<const HyperpodNodes>& nodes, const std::string& id) {
    return nodes != nullptr && nodes->holds(flows::node_name_of(id));
}

// What befell the instances that stood in this one's place: the fault that led to a replacement is an event
// of the instance that is gone. Instances of the group that are there (`present`) are others.
Task<JsonArray> earlier_events(Call call, std::string hyperpod, JsonObject row,
                               std::shared_ptr<const HyperpodNodes> present) {
    const auto logical = base::get_string(row, "logical_id"), own = base::get_string(row, "instance_id");
    JsonArray found;
    if (logical.empty()) co_return found;
    CO_TRY(auto events,
           co_await events_of(call, hyperpod, "InstanceGroupName", base::get_string(row, "group"), kOfGroup));
    std::map<std::string, bool> stood_here;
    for (const auto& event : events) {
        const auto id = base::get_string(event, "InstanceId");
        if (id.empty() || id == own || holds(present, id)) continue;
        if (!stood_here.contains(id)) {
            if (stood_here.size() == kFormerMost) continue;
            CO_TRY(const auto of, co_await logical_id_of(call, hyperpod, base::get_string(event, "EventId")));
            stood_here[id] = of == logical;
        }
        if (stood_here[id]) found.push_back(event);
    }
    co_return found;
}

JsonObject history_row(const JsonValue& event) {
    return {{"time", base::get_string(event, "EventTime")},
            {"instance_id", base::get_string(event, "InstanceId")},
            {"level", base::get_string(event, "EventLevel", "Info")},
            {"message", domain::UntrustedText("hyperpod-event/" + base::get_string(event, "EventId"),
                                              base::get_string(event, "Description"))
                            .to_json()}};
}

Task<void> add_history(Call call, std::string hyperpod, std::shared_ptr<const HyperpodNodes> present,
                       JsonObject& row) {
    const auto id = base::get_string(row, "instance_id");
    CO_TRY(auto events, co_await events_of(call, hyperpod, "NodeId", id, kHistory));
    auto earlier = co_await earlier_events(call, hyperpod, row, std::move(present));
    JsonArray history;
    for (const auto& event : events) history.push_back(history_row(event));
    // The node's own events are newer than those of what stood there before.
    if (earlier) {
        for (const auto& event : *earlier) {
            if (static_cast<std::int64_t>(history.size()) < kHistory) history.push_back(history_row(event));
        }
    }
    row["history"] = std::move(history);
    if (!earlier) co_return std::move(earlier).error();
    co_return base::ok();
}

}  // namespace

Task<std::vector<std::string>> add_node_details(Call call, Target target,
                                                std::shared_ptr<const HyperpodNodes> present,
                                                JsonObject& row) {
    std::vector<std::string> warnings;
    const auto hyperpod = base::get_string(target.hyperpod, "ClusterName");
    const bool of_hyperpod = !base::get_string(row, "instance_id").empty() && !hyperpod.empty();
    const auto note = [&warnings](const base::Result<void>& read, const char* what) {
        if (!read) warnings.push_back(std::string(what) + " could not be read: " + read.error().message);
    };
    base::Result<void> details = base::ok();
    base::Result<void> history = base::ok();
    if (of_hyperpod) {
        details = co_await add_sagemaker(call, hyperpod, row);
        history = co_await add_history(call, hyperpod, std::move(present), row);
    }
    auto kubernetes = co_await add_kubernetes(call, target.ref.eks_name, row);
    for (const auto* read : {&details, &history, &kubernetes}) {
        if (!*read && read->error().kind == base::ErrorKind::cancelled) co_return read->error();
    }
    note(details, "SageMaker's description of the node");
    note(history, "the node's history");
    note(kubernetes, "the Kubernetes node");
    co_return warnings;
}

Task<std::string> name_by_logical_id(Call call, Target target, std::string logical_id) {
    const auto hyperpod = base::get_string(target.hyperpod, "ClusterName");
    if (hyperpod.empty()) co_return std::string();
    CO_TRY(auto details,
           co_await flows::find_hyperpod_node(call.services->clusters, call.context, hyperpod, logical_id));
    const auto id = base::get_string(details, "InstanceId");
    co_return id.empty() ? std::string() : flows::node_name_of(id);
}

}  // namespace instantstart::app
