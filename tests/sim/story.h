// A story: an account lives through a launch and more, while the product is killed and the network and AWS
// misbehave; at the end of each chapter the account is what it would be had nothing gone wrong.
#pragma once

#include <string>
#include <vector>

#include "account.h"
#include "simulation.h"

namespace instantstart::sim {

// The request of the main job: a cluster "phoenix" with two workers and storage.
const base::JsonObject& launch_body();

// A number from the environment.
std::int64_t setting(const char* name, std::int64_t fallback);

struct Weather {
    Weather() = default;
    NetworkChances network;
    double throttle = 0;  // of every AWS call
    double stale = 0;     // of EC2's reads: they show the account as it was 5 s ago
    base::Duration downtime{};
};

struct Story {
    Story() = default;
    std::uint64_t seed = 1;
    Weather weather;
    std::vector<KillPoint> kills;
    bool removes = true;  // ends with cluster.delete and an empty account
    bool grows = false;   // between: one more instance group, and the dependencies reconciled
};
std::string to_string(const Story& story);

struct Ending {
    Ending() = default;
    std::size_t commits = 0, calls = 0, deaths = 0;
    base::Duration elapsed{};
    std::string history;
    Census census;  // after the launch
};

// Tells the story and expects every invariant; failures name the story.
Ending tell(const Story& story);

}  // namespace instantstart::sim
