#include "domain/instance_type.h"

#include <algorithm>

#include "base/embedded.h"
#include "base/json.h"
#include "base/result.h"

namespace instantstart::domain {

namespace {

InstanceType from_json(const base::JsonObject& row) {
    InstanceType type;
    type.name = base::get_string(row, "name");
    type.vcpus = base::get_int(row, "vcpus");
    if (const auto* memory = row.if_contains("memory_gib")) type.memory_gib = memory->to_number<double>();
    type.accelerators = base::get_int(row, "accelerators");
    type.accelerator_name = base::get_string(row, "accelerator_name");
    type.accelerator_manufacturer = base::get_string(row, "accelerator_manufacturer");
    type.accelerator_resource = base::get_string(row, "accelerator_resource");
    type.accelerator_memory_mib = base::get_int(row, "accelerator_memory_mib");
    type.efa_interfaces = base::get_int(row, "efa_interfaces");
    type.network_cards = base::get_int(row, "network_cards", 1);
    type.network_mbps = base::get_int(row, "network_mbps");
    type.local_nvme_gb = base::get_int(row, "local_nvme_gb");
    type.ipv4_per_interface = base::get_int(row, "ipv4_per_interface");
    type.max_pods = base::get_int(
        row, "max_pods",
        type.ipv4_per_interface > 0 ? std::min<std::int64_t>(type.ipv4_per_interface - 1, 49) : 49);
    type.training_plan = base::get_bool(row, "training_plan");
    // EC2's data says nothing of some types: of these Grace alone is no amd64 processor.
    type.arch = base::get_string(row, "arch", type.name.starts_with("ml.p6e-gb") ? "arm64" : "amd64");
    return type;
}

std::vector<InstanceType> load() {
    std::vector<InstanceType> types;
    for (const auto& file : embedded::data()) {
        if (file.name != "instance-types.json") continue;
        auto parsed = base::parse_json(file.content);
        CHECK(parsed.has_value());
        for (const auto& row : parsed->as_array()) types.push_back(from_json(row.as_object()));
    }
    CHECK(!types.empty());
    return types;
}

}  // namespace

std::string InstanceType::ec2_name() const {
    return name.starts_with("ml.") ? name.substr(3) : name;
}

const std::vector<InstanceType>& instance_types() {
    static const std::vector<InstanceType> kTypes = load();
    return kTypes;
}

const InstanceType* find_instance_type(std::string_view name) {
    const auto& types = instance_types();
    const auto at = std::lower_bound(
        types.begin(), types.end(), name,
        [](const InstanceType& type, std::string_view wanted) { return type.name < wanted; });
    return at != types.end() && at->name == name ? &*at : nullptr;
}

}  // namespace instantstart::domain
