// Instance types of HyperPod with their hardware facts, from data/instance-types.json (EC2 hardware data;
// HyperPod's enum of the pinned API model). Values only; loaded once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace instantstart::domain {

struct InstanceType {
    std::string name;  // with "ml.": "ml.p5.48xlarge"
    std::int64_t vcpus = 0;
    double memory_gib = 0;
    std::int64_t accelerators = 0;
    std::string accelerator_name;          // "H100"
    std::string accelerator_manufacturer;  // "nvidia", "aws"
    std::string accelerator_resource;      // "nvidia.com/gpu", "aws.amazon.com/neuron", "" for none
    std::int64_t accelerator_memory_mib = 0;
    std::int64_t efa_interfaces = 0;
    std::int64_t network_cards = 1;
    std::int64_t network_mbps = 0;
    std::int64_t local_nvme_gb = 0;
    std::int64_t ipv4_per_interface = 0;
    std::int64_t max_pods = 0;  // pods per HyperPod node on EKS; (IPv4 per interface - 1), at most 49, where
                                // AWS's table has no row; 49 where neither is known
    bool training_plan = false;
    std::string arch;  // amd64, arm64 (one thread a core)

    std::string ec2_name() const;  // without "ml."
    bool is_gpu() const { return accelerator_resource == "nvidia.com/gpu"; }
    bool is_neuron() const { return accelerator_resource.starts_with("aws.amazon.com/neuron"); }
};

const std::vector<InstanceType>& instance_types();              // sorted by name
const InstanceType* find_instance_type(std::string_view name);  // null where unknown

}  // namespace instantstart::domain
