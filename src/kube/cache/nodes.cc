#include "kube/cache/nodes.h"

#include <algorithm>
#include <chrono>

#include "base/time.h"
#include "kube/cache/quantity.h"

namespace instantstart::kube {

namespace {

enum Tag : int {
    kCreated = 1,
    kType,
    kZone,
    kGroup,
    kHealth,
    kDeepCheck,
    kFaultTypes,
    kFaultReasons,
    kUnschedulable,
    kAllocatable,
    kVersion,
    kCondition,
    kConditionType,
    kConditionStatus
};

}  // namespace

struct NodeTable::Draft {
    Draft() = default;
    std::string type, zone, group, health, deep_check, fault_types, fault_reasons, version, condition_type,
        condition_status;
    Node node;

    std::int32_t* allocatable(std::string_view key) {
        if (key == "nvidia.com/gpu") return &node.gpus;
        if (key == "aws.amazon.com/neuron") return &node.neurons;
        if (key == "aws.amazon.com/neurondevice") return &node.neuron_devices;
        if (key == "vpc.amazonaws.com/efa") return &node.efas;
        return key == "pods" ? &node.pods : nullptr;
    }
};

NodeTable::NodeTable(Symbols& symbols) : symbols_(symbols), draft_(std::make_unique<Draft>()) {}
NodeTable::~NodeTable() = default;

const Node* NodeTable::find(std::string_view name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : &found->second;
}

std::vector<Wanted> NodeTable::wanted() const {
    std::vector<Wanted> allocatable;
    for (const char* key : {"nvidia.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neurondevice",
                            "vpc.amazonaws.com/efa", "pods"}) {
        allocatable.emplace_back(key, kAllocatable);
    }
    return {{"metadata",
             0,
             {{"creationTimestamp", kCreated},
              {"labels",
               0,
               {{"node.kubernetes.io/instance-type", kType},
                {"topology.kubernetes.io/zone", kZone},
                {"sagemaker.amazonaws.com/instance-group-name", kGroup},
                {"sagemaker.amazonaws.com/node-health-status", kHealth},
                {"sagemaker.amazonaws.com/deep-health-check-status", kDeepCheck},
                {"sagemaker.amazonaws.com/fault-types", kFaultTypes},
                {"sagemaker.amazonaws.com/fault-reasons", kFaultReasons}}}}},
            {"spec", 0, {{"unschedulable", kUnschedulable}}},
            {"status",
             0,
             {{"allocatable", 0, allocatable},
              {"nodeInfo", 0, {{"kubeletVersion", kVersion}}},
              {"conditions", kCondition, {{"type", kConditionType}, {"status", kConditionStatus}}}}}};
}

void NodeTable::begin() {
    auto& draft = *draft_;
    for (auto* text :
         {&draft.type, &draft.zone, &draft.group, &draft.health, &draft.deep_check, &draft.fault_types,
          &draft.fault_reasons, &draft.version, &draft.condition_type, &draft.condition_status}) {
        text->clear();
    }
    draft.node = Node();
}

void NodeTable::open(int tag) {
    if (tag != kCondition) return;
    draft_->condition_type.clear();
    draft_->condition_status.clear();
}

void NodeTable::close(int tag) {
    if (tag == kCondition && draft_->condition_type == "Ready") {
        draft_->node.ready = draft_->condition_status == "True";
    }
}

void NodeTable::text(int tag, std::string_view key, std::string_view value) {
    auto& draft = *draft_;
    switch (tag) {
        case kCreated:
            if (const auto time = base::parse_time(value)) {
                draft.node.created =
                    std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count();
            }
            break;
        case kType: draft.type = value; break;
        case kZone: draft.zone = value; break;
        case kGroup: draft.group = value; break;
        case kHealth: draft.health = value; break;
        case kDeepCheck: draft.deep_check = value; break;
        case kFaultTypes: draft.fault_types = value; break;
        case kFaultReasons: draft.fault_reasons = value; break;
        case kVersion: draft.version = value; break;
        case kAllocatable:
            if (auto* count = draft.allocatable(key)) {
                *count = static_cast<std::int32_t>(whole_quantity(value));
            }
            break;
        case kConditionType: draft.condition_type = value; break;
        case kConditionStatus: draft.condition_status = value; break;
        default: break;
    }
}

void NodeTable::number(int tag, std::string_view key, std::int64_t value) {
    if (tag != kAllocatable) return;
    if (auto* count = draft_->allocatable(key)) {
        *count = static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, kMostUnits));
    }
}

void NodeTable::flag(int tag, std::string_view /*key*/, bool value) {
    if (tag == kUnschedulable) draft_->node.cordoned = value;
}

Node NodeTable::make_node(std::string_view name) {
    const auto& draft = *draft_;
    Node node = draft.node;
    node.name = symbols_.hold(name);
    node.instance_type = symbols_.hold(draft.type);
    node.zone = symbols_.hold(draft.zone);
    node.group = symbols_.hold(draft.group);
    node.health = symbols_.hold(draft.health);
    node.deep_check = symbols_.hold(draft.deep_check);
    node.fault_types = symbols_.hold(draft.fault_types);
    node.fault_reasons = symbols_.hold(draft.fault_reasons);
    node.version = symbols_.hold(draft.version);
    return node;
}

void NodeTable::release(const Node& node) {
    for (const Symbol symbol : {node.name, node.instance_type, node.zone, node.group, node.health,
                                node.deep_check, node.fault_types, node.fault_reasons, node.version}) {
        symbols_.release(symbol);
    }
}

void NodeTable::tally(const Node& node, int sign) {
    auto& tally = tallies_[node.instance_type];
    tally.nodes += sign;
    if (node.ready) {
        tally.ready += sign;
        tally.gpus += std::int64_t{sign} * node.gpus;
        tally.neurons += std::int64_t{sign} * node.neurons;
        tally.neuron_devices += std::int64_t{sign} * node.neuron_devices;
    }
    if (tally.nodes == 0) tallies_.erase(node.instance_type);
}

bool NodeTable::put(std::string_view /*ns*/, std::string_view name) {
    auto node = make_node(name);
    auto found = nodes_.find(name);
    const bool is_new = found == nodes_.end();
    if (is_new) found = nodes_.emplace(std::string(name), Node()).first;
    auto& kept = found->second;
    kept.generation = node.generation = generation_;
    if (!is_new && kept == node) {
        release(node);
        return false;
    }
    if (!is_new) tally(kept, -1);
    tally(node, +1);
    release(kept);
    kept = node;
    ++revision_;
    membership_ += is_new ? 1 : 0;
    return true;
}

bool NodeTable::remove(std::string_view /*ns*/, std::string_view name) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return false;
    tally(found->second, -1);
    release(found->second);
    nodes_.erase(found);
    ++revision_;
    ++membership_;
    return true;
}

bool NodeTable::finish_list() {
    const auto before = nodes_.size();
    for (auto at = nodes_.begin(); at != nodes_.end();) {
        if (at->second.generation == generation_) {
            ++at;
            continue;
        }
        tally(at->second, -1);
        release(at->second);
        at = nodes_.erase(at);
    }
    if (nodes_.size() == before) return false;
    ++revision_;
    ++membership_;
    return true;
}

void NodeTable::clear() {
    for (const auto& [name, node] : nodes_) release(node);
    nodes_.clear();
    tallies_.clear();
    ++revision_;
    ++membership_;
}

}  // namespace instantstart::kube
