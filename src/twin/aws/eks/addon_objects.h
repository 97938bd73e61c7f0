// What an add-on brings into its cluster, and how it fares there.
#pragma once

#include "twin/aws/eks/addon_catalogue.h"
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

// Applies the add-on's objects under the manager "eks". `role` annotates its service accounts.
void apply_addon(State& state, const Record& cluster, std::string_view name, const std::string& role,
                 const JsonObject& configuration);
void remove_addon_objects(State& state, const std::string& cluster, std::string_view name);

// Why its objects cannot be made now: a definition is missing, or a webhook on Deployments has no endpoint.
struct Obstacle {
    std::string code, message;
};
std::optional<Obstacle> addon_obstacle(State& state, const std::string& cluster, std::string_view name);

enum class Health : std::uint8_t { ready, waiting, no_nodes };
// Are its Deployments available? `no_nodes` where no node could run them.
Health addon_health(State& state, const std::string& cluster, std::string_view name);

}  // namespace instantstart::twin::eks
