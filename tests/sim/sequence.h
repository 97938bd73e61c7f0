// Sequences: random changes of capacity and features on one cluster, under deaths and bad weather. What was
// last asked for is kept beside as plain data; at the end the account must hold that and nothing else.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>

#include "account.h"
#include "simulation.h"

namespace instantstart::sim {

// What the user last asked for.
struct Wish {
    Wish() = default;
    std::map<std::string, base::JsonObject> groups;    // instance_group.add's body, as updated since
    std::map<std::string, base::JsonObject> features;  // settings of those that are on
};

// One change: the request, and the wish after it.
struct Change {
    Change() = default;
    std::string method, path;
    base::JsonObject body;
    Wish then;
    // Capacity of this type and zone is away when it is asked for, and comes back half an hour later.
    std::string missing_type, missing_zone;
};
std::string to_string(const Change& change);

// A change that the wish as it stands admits.
Change random_change(std::mt19937_64& random, const Wish& wish);

}  // namespace instantstart::sim
