// What a change of an instance group asks for, and which of it HyperPod can never change.
#pragma once

#include <boost/describe/class.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "domain/instance_group.h"

namespace instantstart::domain {

struct NamedCapacity {
    NamedCapacity() = default;
    std::optional<std::string> type;
    std::optional<std::string> training_plan_arn;
};
BOOST_DESCRIBE_STRUCT(NamedCapacity, (), (type, training_plan_arn))

// Only what is named changes. The second half are the fixed fields: naming them as they are is no change.
struct GroupChange {
    GroupChange() = default;
    std::optional<std::int64_t> count;
    std::optional<std::int64_t> min_count;
    std::optional<std::map<std::string, std::string>> labels;
    std::optional<std::vector<Taint>> taints;
    std::optional<std::vector<std::string>> deep_health_checks;
    std::optional<std::string> training_plan_arn;  // "" removes it
    std::optional<std::string> lifecycle_script;
    std::optional<bool> autoscaled;  // whether managed autoscaling may take the group

    std::optional<std::string> instance_type;
    std::optional<std::vector<std::string>> instance_types;
    std::optional<std::string> zone;
    std::optional<NamedCapacity> capacity;
    std::optional<std::string> interface_type;
    std::optional<std::string> subnet_id;
    std::optional<std::int64_t> volume_size_gib;
    std::optional<std::int64_t> threads_per_core;
};
BOOST_DESCRIBE_STRUCT(GroupChange, (),
                      (count, min_count, labels, taints, deep_health_checks, training_plan_arn,
                       lifecycle_script, autoscaled, instance_type, instance_types, zone, capacity,
                       interface_type, subnet_id, volume_size_gib, threads_per_core))

// A fault for each fixed field that is named with another value than the group has.
std::vector<base::FieldError> fixed_fields(const InstanceGroup& now, const GroupChange& change);
// The group as it would be: what the rules of groups are asked about.
InstanceGroup changed(const InstanceGroup& now, const GroupChange& change);

}  // namespace instantstart::domain
