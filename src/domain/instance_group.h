// An instance group as users ask for it, and the combinations that HyperPod would refuse, checked before any
// call.
#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "domain/exclusions.h"

namespace instantstart::domain {

struct Taint {
    Taint() = default;
    std::string key;
    std::optional<std::string> value;
    std::string effect;
};
BOOST_DESCRIBE_STRUCT(Taint, (), (key, value, effect))

struct Capacity {
    Capacity() = default;
    std::string type = "on_demand";
    std::optional<std::string> training_plan_arn;
};
BOOST_DESCRIBE_STRUCT(Capacity, (), (type, training_plan_arn))

struct InstanceGroup {
    InstanceGroup() = default;
    std::string name;
    std::optional<std::string> instance_type;
    std::optional<std::vector<std::string>> instance_types;
    std::int64_t count = 0;
    std::string zone;
    std::optional<std::int64_t> min_count;
    std::optional<Capacity> capacity;
    std::optional<std::string> interface_type;
    std::optional<bool> autoscaled;
    std::optional<std::int64_t> volume_size_gib;
    std::optional<std::int64_t> threads_per_core;
    std::optional<std::vector<std::string>> deep_health_checks;
    std::optional<std::map<std::string, std::string>> labels;
    std::optional<std::vector<Taint>> taints;
    std::optional<std::string> subnet_id;
    std::optional<std::vector<std::string>> security_group_ids;
    std::optional<std::string> lifecycle_script;
    std::optional<std::string> image_id;
    std::optional<std::string> kms_key_arn;
    std::optional<std::string> execution_role_arn;

    std::vector<std::string> types() const;  // instance_type or instance_types
};
BOOST_DESCRIBE_STRUCT(InstanceGroup, (),
                      (name, instance_type, instance_types, count, zone, min_count, capacity, interface_type,
                       autoscaled, volume_size_gib, threads_per_core, deep_health_checks, labels, taints,
                       subnet_id, security_group_ids, lifecycle_script, image_id, kms_key_arn,
                       execution_role_arn))

// What of a group excludes something (exclusions.h): its capacity, its mode, what its types lack.
Properties properties_of(const InstanceGroup& group);
// How a group is known whose count managed autoscaling sets: a label that its nodes carry. Ours alone: labels
// that users give never have this prefix.
inline constexpr std::string_view kAutoscaledLabel = "instantstart.dev/autoscaled";
inline constexpr std::string_view kOwnLabels = "instantstart.dev/";

// All faults of one group; pointers begin with `at` ("/instance_groups/0", or "" for the body itself).
std::vector<base::FieldError> check_group(const InstanceGroup& group, const std::string& at);
// Each group, and names that occur twice. `taken` are the names of groups that exist.
std::vector<base::FieldError> check_groups(const std::vector<InstanceGroup>& groups, const std::string& at,
                                           const std::vector<std::string>& taken);

// Addresses of the subnet that one node of the type can take: 50 on its first card, one on each further one
// with EFA.
std::int64_t addresses_per_node(const InstanceGroup& group);

}  // namespace instantstart::domain
