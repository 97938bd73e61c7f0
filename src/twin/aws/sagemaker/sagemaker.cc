#include "twin/aws/sagemaker/sagemaker.h"

namespace instantstart::twin::sagemaker {

namespace {

struct Saved {
    const char* name;
    Table State::* table;
};
constexpr Saved kSaved[] = {{"clusters", &State::clusters},
                            {"groups", &State::groups},
                            {"nodes", &State::nodes},
                            {"events", &State::events}};

bool reads(std::string_view operation) {
    return operation.starts_with("Describe") || operation.starts_with("List") ||
           operation.starts_with("Search");
}

}  // namespace

SageMaker::SageMaker(World& world, kube::ClusterHost& host) : state_(world, host) {
    add_cluster_operations(operations_);
    add_update_operations(operations_);
    add_node_operations(operations_);
    add_batch_operations(operations_);
    add_event_operations(operations_);
    add_tag_operations(operations_);
}

Reply SageMaker::handle(const Call& call) {
    const auto found = operations_.find(call.operation);
    if (found == operations_.end())
        return invalid("The twin does not simulate sagemaker:" + call.operation + ".");
    Reply reply = found->second(state_, call);
    if (!reads(call.operation)) state_.world.touched();
    return reply;
}

void SageMaker::on_timer(const std::string& kind, const JsonObject& payload) {
    if (kind.starts_with("cluster_")) cluster_timer(state_, kind, payload);
    if (kind.starts_with("node_")) node_timer(state_, kind, payload);
    if (kind.starts_with("fault_")) fault_timer(state_, kind, payload);
    state_.world.touched();
}

JsonValue SageMaker::save() const {
    JsonObject saved;
    for (const Saved& entry : kSaved) saved[entry.name] = (state_.*entry.table).save();
    JsonObject tokens;
    for (const auto& [token, answer] : state_.tokens) tokens[token] = answer;
    saved["tokens"] = std::move(tokens);
    return saved;
}

void SageMaker::load(const JsonValue& state) {
    const JsonObject* saved = state.if_object();
    state_.tokens.clear();
    for (const Saved& entry : kSaved) {
        const JsonValue* table = saved == nullptr ? nullptr : saved->if_contains(entry.name);
        (state_.*entry.table).load(table == nullptr ? JsonValue() : *table);
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

}  // namespace instantstart::twin::sagemaker

namespace instantstart::twin {

std::unique_ptr<Service> make_sagemaker(World& world, kube::ClusterHost& clusters) {
    return std::make_unique<sagemaker::SageMaker>(world, clusters);
}

}  // namespace instantstart::twin
