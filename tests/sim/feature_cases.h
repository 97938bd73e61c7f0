// Every feature with what others may do to its parts while it is on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulation.h"

namespace instantstart::sim {

// What somebody else does to the account or the cluster.
struct Harm {
    std::string what;
    std::function<void(Simulation&)> does;
};

struct FeatureCase {
    FeatureCase() = default;
    std::string feature;
    base::JsonObject settings;
    std::vector<Harm> harms;                    // the first stands in the stories with deaths
    std::function<void(Simulation&)> prepares;  // before the account is looked at for the first time
};

const std::vector<FeatureCase>& feature_cases();

}  // namespace instantstart::sim
