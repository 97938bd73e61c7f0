// All of an account that a feature could leave something in, with its contents: roles with their documents,
// add-ons with their configuration, the HyperPod cluster's settings, the objects of the cluster.
#pragma once

#include <map>
#include <string>

#include "simulation.h"

namespace instantstart::sim {

using Account = std::map<std::string, std::string>;

// Of the cluster "phoenix".
Account account_of(Simulation& simulation);

// What is gone, changed or new, a line each.
std::string difference(const Account& before, const Account& after);

}  // namespace instantstart::sim
