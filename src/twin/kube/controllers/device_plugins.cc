#include <algorithm>

#include "domain/instance_type.h"
#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

enum Plugin : unsigned { kNone = 0, kNvidia = 1, kEfa = 2, kNeuron = 4 };
constexpr const char* kResources[] = {"nvidia.com/gpu", "vpc.amazonaws.com/efa", "aws.amazon.com/neuron",
                                      "aws.amazon.com/neurondevice", "aws.amazon.com/neuroncore"};

unsigned plugin_of(const JsonObject& pod) {
    unsigned plugins = kNone;
    for (const auto& container : base::get_array(pod, "spec.containers")) {
        const auto image = base::get_string(container, "image");
        const auto has = [&](std::string_view word) { return image.find(word) != std::string::npos; };
        if ((has("k8s-device-plugin") && has("nvidia")) || has("nvidia-device-plugin")) plugins |= kNvidia;
        if (has("aws-efa-k8s-device-plugin")) plugins |= kEfa;
        if (has("neuron-device-plugin") || has("neuron-device")) plugins |= kNeuron;
    }
    return plugins;
}

std::int64_t cores_per_device(std::string_view type) {
    return type.find("trn2") != std::string_view::npos ? 4 : 2;
}

Amounts devices(const domain::InstanceType& type, unsigned plugins) {
    Amounts out;
    if ((plugins & kNvidia) != 0 && type.is_gpu()) out["nvidia.com/gpu"] = type.accelerators;
    if ((plugins & kEfa) != 0 && type.efa_interfaces > 0) out["vpc.amazonaws.com/efa"] = type.efa_interfaces;
    if ((plugins & kNeuron) != 0 && type.is_neuron()) {
        out["aws.amazon.com/neuron"] = type.accelerators;
        out["aws.amazon.com/neurondevice"] = type.accelerators;
        out["aws.amazon.com/neuroncore"] = type.accelerators * cores_per_device(type.name);
    }
    return out;
}

}  // namespace

void DevicePlugins::changed(const Change& change) {
    if (change.kind == kNodes && change.type == Change::Type::added)
        env_.queue.add(this, Key("", name_of(*change.object)));
    if (change.kind != kPods || plugin_of(*change.object) == kNone) return;
    const auto node = base::get_string(*change.object, "spec.nodeName");
    if (!node.empty()) env_.queue.add(this, Key("", node));
}

void DevicePlugins::sync(const Key& key) {
    const auto node = env_.objects.get(kNodes, "", key.name);
    if (!node) return;
    unsigned plugins = kNone;
    for (const auto& pod_key : env_.index.pods_on(key.name)) {
        const auto pod = env_.get(kPods, pod_key);
        if (pod && base::get_string(*pod, "status.phase") == "Running" && is_ready(*pod))
            plugins |= plugin_of(*pod);
    }
    const auto& labels = base::get_object(*node, "metadata.labels");
    const auto* label = labels.if_contains("node.kubernetes.io/instance-type");
    const std::string name =
        label != nullptr && label->is_string() ? std::string(label->get_string()) : std::string();
    const auto* type = domain::find_instance_type(name);
    if (type == nullptr) type = domain::find_instance_type("ml." + name);
    const Amounts wanted = type == nullptr ? Amounts() : devices(*type, plugins);
    JsonObject next = *node;
    bool changes = false;
    for (const char* place : {"capacity", "allocatable"}) {
        JsonObject& amounts = object_at(object_at(next, "status"), place);
        for (const char* resource : kResources) {
            const auto found = wanted.find(resource);
            const JsonValue* now = amounts.if_contains(resource);
            if (found != wanted.end()) {
                const JsonValue text(std::to_string(found->second));
                if (now != nullptr && *now == text) continue;
                amounts[resource] = text;
                changes = true;
            } else if (now != nullptr && *now != JsonValue("0")) {
                // As kubelet does: the resource stays known, with none of it.
                amounts[resource] = "0";
                changes = true;
            }
        }
    }
    if (changes) env_.write(kNodes, std::move(next));
}

}  // namespace instantstart::twin::kube::controllers
