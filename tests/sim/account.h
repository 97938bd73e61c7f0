// What the simulated account holds and what was done to it: the invariants of every story.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulation.h"

namespace instantstart::sim {

// How many things of each kind the account holds: "ec2.vpcs" -> 2, of every service. What is deleted but
// still listed, service-linked roles and books that only grow (tokens, events, past updates) do not count.
using Census = std::map<std::string, int>;
Census census(Simulation& simulation);
// Where the two differ, as text; "" where they do not.
std::string difference(const Census& expected, const Census& found);

// Creating calls that succeeded more than once with the same parameters (a client token makes a repetition
// harmless).
std::vector<std::string> made_twice(const std::vector<base::JsonObject>& mutations);

// The mutating calls in their order, as one text: equal for equal runs.
std::string history(Simulation& simulation);

}  // namespace instantstart::sim
