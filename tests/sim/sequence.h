// Random changes to a running cluster, and the wish that they add up to: what the user last asked for, group
// by group, feature by feature, with node groups and storages. The same seed makes the same sequence.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>

#include "simulation.h"

namespace instantstart::sim {

// What the user last asked for.
struct Wish {
    Wish() = default;
    std::map<std::string, base::JsonObject> groups;       // instance_group.add's body, as updated since
    std::map<std::string, base::JsonObject> features;     // settings of those that are on
    std::map<std::string, base::JsonObject> node_groups;  // node_group.add's body, as updated since
    std::map<std::string, base::JsonObject> storages;     // storage.create's body
    std::set<std::string> zones;  // that ever had nodes: each keeps one subnet until the cluster goes
};

// One change: the request, and the wish after it.
struct Change {
    Change() = default;
    std::string method, path;
    base::JsonObject body;
    Wish then;
    // The path ends with a node of this group, to be chosen when it is asked for.
    std::string node_of, act;
    // A node of this group meets this fault just before.
    std::string struck, fault;
    // Capacity of this type and zone is away when it is asked for, and comes back half an hour later.
    std::string missing_type, missing_zone;
};
std::string to_string(const Change& change);

// What changes refer to: a training plan and a bucket of the user's.
inline constexpr const char* kPlan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/june";
inline constexpr const char* kPlanType = "ml.p5.48xlarge";
inline constexpr const char* kPlanZone = "us-west-2a";
inline constexpr const char* kBucket = "models-of-research";

// A change that the wish as it stands admits.
Change random_change(std::mt19937_64& random, const Wish& wish);

}  // namespace instantstart::sim
