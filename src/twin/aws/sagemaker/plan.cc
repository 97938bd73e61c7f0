// What a plan is to its groups, and how its windows open and close.
#include "twin/aws/sagemaker/plan.h"

#include <algorithm>

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::hours;

constexpr const char* kBlocks = "ReservedCapacitySummaries";

Record* plan_by_arn(State& state, std::string_view arn) {
    for (auto& [name, plan] : state.plans) {
        if (base::get_string(plan.data, "TrainingPlanArn") == arn) return &plan;
    }
    return nullptr;
}

// Instances that the plan's groups have now.
std::int64_t in_use(State& state, std::string_view arn) {
    std::int64_t count = 0;
    for (const auto& [logical, node] : state.nodes) {
        if (node.data.contains("InstanceId") && base::get_string(node.hidden, "plan") == arn) ++count;
    }
    return count;
}

std::int64_t unhealthy(State& state, std::string_view arn) {
    std::int64_t count = 0;
    for (const auto& [logical, node] : state.nodes) {
        if (base::get_string(node.hidden, "plan") == arn && node.hidden.contains("fault")) ++count;
    }
    return count;
}

// What groups of the cluster have asked of the plan, but for one of them.
std::int64_t asked_for(State& state, std::string_view arn, const Record* cluster, std::string_view but) {
    std::int64_t count = 0;
    for (const auto& [key, group] : state.groups) {
        const bool same = cluster != nullptr &&
                          base::get_string(group.hidden, "cluster") == cluster_id(*cluster) &&
                          base::get_string(group.data, "InstanceGroupName") == but;
        if (!same && base::get_string(group.data, "TrainingPlanArn") == arn)
            count += base::get_int(group.data, "TargetCount");
    }
    return count;
}

std::optional<ServiceError> check_zone(State& state, const Record& plan, const JsonObject& group,
                                       const JsonObject& vpc_config) {
    const JsonObject& own = base::get_object(group, "OverrideVpcConfig");
    for (const JsonValue& block : base::get_array(plan.data, kBlocks)) {
        const std::string zone = base::get_string(block, "AvailabilityZone");
        for (const std::string& id : strings(own.empty() ? vpc_config : own, "Subnets")) {
            const Record* subnet = state.ec2().subnet(id);
            if (subnet != nullptr && base::get_string(subnet->data, "AvailabilityZone") == zone)
                return std::nullopt;
        }
    }
    return invalid("The instance group " + base::get_string(group, "InstanceGroupName") +
                   " has no subnet in the Availability Zone of the training plan " + plan.id + ", " +
                   base::get_string(plan.data, std::string(kBlocks) + ".0.AvailabilityZone") + ".");
}

void set_status(Record& plan, std::size_t index, const char* status, const char* time_member,
                const std::string& time) {
    JsonArray blocks = base::get_array(plan.data, kBlocks);
    if (index >= blocks.size()) return;
    JsonObject& block = blocks[index].as_object();
    block["Status"] = status;
    block[time_member] = time;
    plan.data[kBlocks] = std::move(blocks);
}

// Groups bound to the plan are filled, or wait.
void reconcile_groups(State& state, std::string_view arn) {
    std::vector<std::string> clusters;
    for (const auto& [key, group] : state.groups) {
        if (base::get_string(group.data, "TrainingPlanArn") == arn)
            clusters.push_back(base::get_string(group.hidden, "cluster"));
    }
    std::sort(clusters.begin(), clusters.end());
    clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
    for (const std::string& id : clusters) {
        Record* cluster = find_cluster_by_id(state, id);
        if (cluster == nullptr) continue;
        reconcile(state, *cluster);
        settle(state, *cluster);
    }
}

// The window is over: AWS takes the instances back. Their groups keep their targets.
void reclaim(State& state, std::string_view arn) {
    std::vector<Record*> nodes;
    for (auto& [logical, node] : state.nodes) {
        if (has_instance(node) && base::get_string(node.hidden, "plan") == arn) nodes.push_back(&node);
    }
    for (Record* node : nodes) {
        const Record* cluster = find_cluster_by_id(state, base::get_string(node->hidden, "cluster"));
        if (cluster == nullptr) continue;
        EventSpec event;
        event.resource = "Instance";
        event.level = "Warn";
        event.group = base::get_string(node->data, "InstanceGroupName");
        event.instance = base::get_string(node->data, "InstanceId");
        event.description = "The training plan's capacity has ended: the instance is reclaimed";
        event.metadata["Instance"] = {{"NodeLogicalId", node->id}};
        add_event(state, *cluster, std::move(event));
        replace_node(state, *node);
        node->hidden["was_running"] = false;
    }
}

bool any_after(const Record& plan, std::size_t index) {
    return index + 1 < base::get_array(plan.data, kBlocks).size();
}

}  // namespace

std::string plan_status(State& state, std::string_view arn) {
    const Record* plan = plan_by_arn(state, arn);
    return plan == nullptr ? "" : base::get_string(plan->data, "Status");
}

JsonObject plan_answer(State& state, const Record& plan) {
    JsonObject shown = plan.data;
    const std::string arn = base::get_string(shown, "TrainingPlanArn"),
                      status = base::get_string(shown, "Status");
    const std::int64_t used = in_use(state, arn), sick = unhealthy(state, arn);
    const bool over = status == "Expired" || status == "Failed";
    shown["InUseInstanceCount"] = used;
    shown["UnhealthyInstanceCount"] = sick;
    shown["AvailableInstanceCount"] =
        over ? 0 : std::max<std::int64_t>(0, base::get_int(shown, "TotalInstanceCount") - used);
    return shown;
}

std::optional<ServiceError> check_plan(State& state, const JsonObject& group, const JsonObject& vpc_config,
                                       const Record* cluster) {
    const std::string arn = base::get_string(group, "TrainingPlanArn"),
                      name = base::get_string(group, "InstanceGroupName");
    if (arn.empty()) return std::nullopt;
    const Record* plan = plan_by_arn(state, arn);
    if (plan == nullptr) return invalid("Training plan " + arn + " does not exist.");
    if (!contains(strings(plan->data, "TargetResources"), "hyperpod-cluster"))
        return invalid("Training plan " + arn + " is not for the target resource hyperpod-cluster.");
    const std::string status = base::get_string(plan->data, "Status");
    if (status != "Scheduled" && status != "Active")
        return invalid("Training plan " + arn + " must be Scheduled or Active, but is " + status + ".");
    const std::string type = base::get_string(plan->data, std::string(kBlocks) + ".0.InstanceType");
    if (base::get_string(group, "InstanceType") != type) {
        return invalid("The instance group " + name + " must have the instance type of its training plan, " +
                       type + ".");
    }
    if (auto bad = check_zone(state, *plan, group, vpc_config)) return bad;
    const std::int64_t total = base::get_int(plan->data, "TotalInstanceCount"),
                       others = asked_for(state, arn, cluster, name);
    if (base::get_int(group, "InstanceCount") + others > total) {
        return invalid("The instance group " + name + " asks for " +
                       std::to_string(base::get_int(group, "InstanceCount")) +
                       " instances, but training plan " + arn + " has " +
                       std::to_string(std::max<std::int64_t>(0, total - others)) + " available.");
    }
    return std::nullopt;
}

std::optional<OpenBlock> open_block(State& state, std::string_view arn) {
    const Record* plan = plan_by_arn(state, arn);
    if (plan == nullptr) return std::nullopt;
    for (const JsonValue& block : base::get_array(plan->data, kBlocks)) {
        if (base::get_string(block, "Status") != "Active") continue;
        OpenBlock open;
        open.zone = base::get_string(block, "AvailabilityZone");
        open.type = base::get_string(block, "InstanceType");
        open.left = base::get_int(block, "TotalInstanceCount") - in_use(state, arn);
        return open;
    }
    return std::nullopt;
}

void set_plan_timers(State& state, const Record& plan, base::Duration start) {
    // Blocks follow one another; between two of them there may be a gap.
    const JsonArray& gaps = base::get_array(plan.hidden, "gaps");
    base::Duration at = start;
    std::int64_t index = 0;
    for (const JsonValue& block : base::get_array(plan.data, kBlocks)) {
        const JsonObject payload{
            {"plan", plan.id}, {"run", base::get_string(plan.hidden, "run")}, {"block", index}};
        state.world.after(at, "sagemaker", "plan_open", payload);
        at += hours(base::get_int(block, "DurationHours"));
        state.world.after(at, "sagemaker", "plan_close", payload);
        if (static_cast<std::size_t>(index) < gaps.size())
            at += hours(gaps[static_cast<std::size_t>(index)].to_number<std::int64_t>());
        ++index;
    }
}

void plan_timer(State& state, const std::string& kind, const JsonObject& payload) {
    if (kind == "plan_offering_gone") {
        state.offerings.erase(base::get_string(payload, "offering"));
        return;
    }
    Record* plan = state.plans.find(base::get_string(payload, "plan"));
    if (plan == nullptr || base::get_string(plan->hidden, "run") != base::get_string(payload, "run")) return;
    const std::string arn = base::get_string(plan->data, "TrainingPlanArn");
    const auto index = static_cast<std::size_t>(base::get_int(payload, "block"));
    // Times on the wire are wall-clock times: what has come is told with the time at which it came.
    if (kind == "plan_paid") {
        plan->data["Status"] = "Scheduled";
        JsonArray blocks = base::get_array(plan->data, kBlocks);
        for (JsonValue& block : blocks) block.as_object()["Status"] = "Scheduled";
        plan->data[kBlocks] = std::move(blocks);
        return;
    }
    if (kind == "plan_open") {
        plan->data["Status"] = "Active";
        if (index == 0) plan->data["StartTime"] = state.time();
        set_status(*plan, index, "Active", "StartTime", state.time());
    }
    if (kind == "plan_close") {
        plan->data["Status"] = any_after(*plan, index) ? "Scheduled" : "Expired";
        if (!any_after(*plan, index)) plan->data["EndTime"] = state.time();
        set_status(*plan, index, "Expired", "EndTime", state.time());
        reclaim(state, arn);
    }
    reconcile_groups(state, arn);
}

}  // namespace instantstart::twin::sagemaker
