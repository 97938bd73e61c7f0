// Instance types and where they are offered.
#include <set>

#include "base/text.h"
#include "domain/instance_type.h"
#include "twin/aws/ec2/ec2.h"
#include "twin/aws/ec2/filters.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kOfferingFilters[] = {{"instance-type", "InstanceType"}, {"location", "Location"}};
constexpr FilterPath kTypeFilters[] = {
    {"instance-type", "InstanceType"},
    {"current-generation", "CurrentGeneration"},
    {"processor-info.supported-architecture", "ProcessorInfo.SupportedArchitectures.*"},
    {"network-info.efa-supported", "NetworkInfo.EfaSupported"}};

// HyperPod's list, less what EC2 calls differently; every plain type besides it that node groups use.
std::vector<std::string> all_types() {
    std::set<std::string> names = {"t3.medium", "t3.large"};
    for (const domain::InstanceType& type : domain::instance_types()) names.insert(type.ec2_name());
    return {names.begin(), names.end()};
}

std::string location(const State& state, const Zone& zone, std::string_view kind) {
    if (kind == "availability-zone") return zone.name;
    if (kind == "availability-zone-id") return zone.id;
    return state.world.region();
}

Reply describe_offerings(State& state, const Call& call) {
    const std::string kind = base::get_string(call.params, "LocationType", "region");
    JsonArray list;
    for (const std::string& type : all_types()) {
        std::set<std::string> places;
        for (const Zone& zone : state.zones()) {
            if (Ec2::offered(type, zone.name)) places.insert(location(state, zone, kind));
        }
        for (const std::string& place : places)
            list.push_back({{"InstanceType", type}, {"LocationType", kind}, {"Location", place}});
    }
    Listing listing;
    listing.result = "InstanceTypeOfferings";
    listing.filters = kOfferingFilters;
    return describe_values(call, list, listing);
}

void add_accelerators(JsonObject& entry, const domain::InstanceType& type) {
    if (type.accelerators == 0) return;
    JsonObject device;
    device["Name"] = type.accelerator_name;
    device["Manufacturer"] = type.is_gpu() ? "NVIDIA" : "AWS";
    device["Count"] = type.accelerators;
    device["MemoryInfo"] = {{"SizeInMiB", type.accelerator_memory_mib}};
    if (!type.is_gpu()) {
        device.erase("Manufacturer");
        entry["NeuronInfo"] = {
            {"NeuronDevices", JsonArray{device}},
            {"TotalNeuronDeviceMemoryInMiB", type.accelerator_memory_mib * type.accelerators}};
        return;
    }
    entry["GpuInfo"] = {{"Gpus", JsonArray{device}},
                        {"TotalGpuMemoryInMiB", type.accelerator_memory_mib * type.accelerators}};
}

JsonObject type_answer(const domain::InstanceType& type) {
    JsonObject entry;
    entry["InstanceType"] = type.ec2_name();
    entry["CurrentGeneration"] = true;
    entry["FreeTierEligible"] = false;
    entry["SupportedUsageClasses"] = JsonArray{"on-demand", "spot"};
    entry["BareMetal"] = false;
    entry["Hypervisor"] = "nitro";
    entry["ProcessorInfo"] = {
        {"SupportedArchitectures", JsonArray{type.arch == "arm64" ? "arm64" : "x86_64"}}};
    const std::int64_t threads = type.arch == "arm64" ? 1 : 2;
    entry["VCpuInfo"] = {{"DefaultVCpus", type.vcpus},
                         {"DefaultCores", type.vcpus / threads},
                         {"DefaultThreadsPerCore", threads}};
    entry["MemoryInfo"] = {{"SizeInMiB", static_cast<std::int64_t>(type.memory_gib * 1024)}};
    entry["InstanceStorageSupported"] = type.local_nvme_gb > 0;
    if (type.local_nvme_gb > 0)
        entry["InstanceStorageInfo"] = {{"TotalSizeInGB", type.local_nvme_gb}, {"NvmeSupport", "required"}};
    JsonObject network;
    network["MaximumNetworkCards"] = type.network_cards;
    network["Ipv4AddressesPerInterface"] = type.ipv4_per_interface;
    network["EfaSupported"] = type.efa_interfaces > 0;
    if (type.efa_interfaces > 0) network["EfaInfo"] = {{"MaximumEfaInterfaces", type.efa_interfaces}};
    entry["NetworkInfo"] = std::move(network);
    add_accelerators(entry, type);
    return entry;
}

Reply describe_types(State&, const Call& call) {
    const std::vector<std::string> wanted = strings(call.params, "InstanceTypes");
    JsonArray list;
    std::vector<std::string> seen;
    for (const domain::InstanceType& type : domain::instance_types()) {
        const std::string name = type.ec2_name();
        seen.push_back(name);
        if (wanted.empty() || contains(wanted, name)) list.push_back(type_answer(type));
    }
    std::vector<std::string> unknown;
    for (const std::string& name : wanted) {
        if (!contains(seen, name)) unknown.push_back(name);
    }
    if (!unknown.empty()) {
        return failure("InvalidInstanceType", "The following supplied instance types do not exist: [" +
                                                  base::join(unknown, ", ") + "]");
    }
    Listing listing;
    listing.result = "InstanceTypes";
    listing.filters = kTypeFilters;
    return describe_values(call, list, listing);
}

}  // namespace

bool Ec2::offered(std::string_view instance_type, std::string_view zone_name) {
    if (zone_name.find("-lax-") != std::string_view::npos)
        return instance_type.starts_with("t3.") || instance_type.starts_with("g4dn.");
    const std::string family(instance_type.substr(0, instance_type.find('.')));
    const char letter = zone_name.empty() ? 'a' : zone_name.back();
    const std::uint64_t start = stable_hash(family) % 3;
    const std::uint64_t place = static_cast<std::uint64_t>(letter - 'a');
    const bool huge = family.starts_with("p6e") || family.starts_with("trn2");
    const bool big = family.starts_with("p") || family.starts_with("trn");
    if (huge) return place == start;
    if (big) return place == start || place == (start + 1) % 3;
    if (family.starts_with("g") || family.starts_with("inf")) return place < 3;
    return true;
}

void add_type_operations(Operations& operations) {
    operations["DescribeInstanceTypeOfferings"] = describe_offerings;
    operations["DescribeInstanceTypes"] = describe_types;
}

}  // namespace instantstart::twin::ec2
