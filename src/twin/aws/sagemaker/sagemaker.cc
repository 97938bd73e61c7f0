#include "twin/aws/sagemaker/sagemaker.h"

#include <algorithm>

#include "twin/aws/resources/page_token.h"
#include "twin/aws/sagemaker/deep_check.h"
#include "twin/aws/sagemaker/karpenter.h"
#include "twin/aws/sagemaker/plan.h"
#include "twin/aws/sagemaker/watch.h"

namespace instantstart::twin::sagemaker {

namespace {

struct Saved {
    const char* name;
    Table State::* table;
};
constexpr Saved kSaved[] = {{"clusters", &State::clusters}, {"groups", &State::groups},
                            {"nodes", &State::nodes},       {"events", &State::events},
                            {"plans", &State::plans},       {"offerings", &State::offerings}};

bool reads(std::string_view operation) {
    return operation.starts_with("Describe") || operation.starts_with("List") ||
           operation.starts_with("Search");
}

}  // namespace

SageMaker::SageMaker(World& world, kube::ClusterHost& host)
    : state_(world, host), managed_(state_), managed_operations_(managed_operations()) {
    add_cluster_operations(operations_);
    add_update_operations(operations_);
    add_software_operations(operations_);
    add_node_operations(operations_);
    add_batch_operations(operations_);
    add_event_operations(operations_);
    add_tag_operations(operations_);
    add_deep_check_operations(operations_);
    add_plan_operations(operations_);
}

Reply SageMaker::handle(const Call& call) {
    const auto found = operations_.find(call.operation);
    const auto managed = managed_operations_.find(call.operation);
    if (found == operations_.end() && managed == managed_operations_.end())
        return invalid("The twin does not simulate sagemaker:" + call.operation + ".");
    if (!page_position(base::get_string(call.params, "NextToken")))
        return invalid("Invalid pagination token: NextToken");
    Reply reply =
        managed == managed_operations_.end() ? found->second(state_, call) : managed->second(managed_, call);
    if (!reads(call.operation)) state_.world.touched();
    return reply;
}

void SageMaker::on_timer(const std::string& kind, const JsonObject& payload) {
    if (kind.starts_with("cluster_")) cluster_timer(state_, kind, payload);
    if (kind.starts_with("node_")) node_timer(state_, kind, payload);
    if (kind.starts_with("fault_")) fault_timer(state_, kind, payload);
    if (kind.starts_with("check_")) deep_check_timer(state_, kind, payload);
    if (kind.starts_with("software_")) software_timer(state_, payload);
    if (kind.starts_with("plan_")) plan_timer(state_, kind, payload);
    if (kind.starts_with("scaling_")) scaling_timer(state_, kind, payload);
    if (kind.starts_with("managed_")) managed_.on_timer(kind, payload);
    state_.world.touched();
}

JsonValue SageMaker::save() const {
    JsonObject saved;
    for (const Saved& entry : kSaved) saved[entry.name] = (state_.*entry.table).save();
    JsonObject tokens;
    for (const auto& [token, answer] : state_.tokens) tokens[token] = answer;
    saved["tokens"] = std::move(tokens);
    saved["image_release"] = state_.image_release;
    saved["managed"] = managed_.save();
    return saved;
}

void SageMaker::load(const JsonValue& state) {
    const JsonObject* saved = state.if_object();
    state_.tokens.clear();
    state_.watches.clear();
    state_.passes.clear();
    state_.event_serial = 0;
    state_.image_release = base::get_int(state, "image_release", 1);
    const JsonValue* managed = saved == nullptr ? nullptr : saved->if_contains("managed");
    managed_.load(managed == nullptr ? JsonValue() : *managed);
    for (const Saved& entry : kSaved) {
        const JsonValue* table = saved == nullptr ? nullptr : saved->if_contains(entry.name);
        (state_.*entry.table).load(table == nullptr ? JsonValue() : *table);
    }
    for (const auto& [id, event] : state_.events)
        state_.event_serial = std::max(state_.event_serial, base::get_int(event.hidden, "serial"));
    for (const auto& [name, cluster] : state_.clusters) {
        watch_cluster(state_, cluster);
        if (scales(cluster)) plan_pass(state_, cluster);
    }
    if (saved == nullptr) return;
    for (const auto& [token, answer] : base::get_object(*saved, "tokens")) state_.tokens[token] = answer;
}

base::Result<void> SageMaker::fail_node(const std::string& instance_id, const std::string& fault,
                                        std::optional<std::int64_t> code) {
    base::Result<void> done = break_node(state_, instance_id, fault, code);
    state_.world.touched();
    return done;
}

void SageMaker::put_plan(const PlanSpec& spec) {
    sagemaker::put_plan(state_, spec);
    state_.world.touched();
}

std::string SageMaker::cluster_on(std::string_view eks_cluster_arn) const {
    for (const auto& [name, cluster] : state_.clusters) {
        if (base::get_string(cluster.data, "Orchestrator.Eks.ClusterArn") == eks_cluster_arn)
            return base::get_string(cluster.data, "ClusterArn");
    }
    return "";
}

void SageMaker::publish_image() {
    ++state_.image_release;
    state_.world.touched();
}

}  // namespace instantstart::twin::sagemaker

namespace instantstart::twin {

std::unique_ptr<Service> make_sagemaker(World& world, kube::ClusterHost& clusters) {
    return std::make_unique<sagemaker::SageMaker>(world, clusters);
}

}  // namespace instantstart::twin
