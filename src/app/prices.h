// Prices of instances in HyperPod clusters, and of EC2's own, from AWS's price list, and what a plan's groups
// cost by the hour.
// A price that was read is kept in the store with its date: for a day it is not asked again, and for a month
// it serves where the price list cannot be reached. No price stands in this program.
#pragma once

#include "app/operation.h"

namespace instantstart::app {

struct Price {
    Price() = default;
    double hourly_usd = 0;
    std::string as_of;  // the day it was read: "2026-11-30"
};

// On demand, in this region; in a HyperPod cluster where the type begins with "ml.", else in EC2 with Linux.
// not_found "no_price" where the list has none; the error of the call where it
// cannot be asked and nothing is kept.
Task<Price> hourly_price(Call call, std::string instance_type);

// What `groups` (canonical instance groups) cost by the hour, into plan.cost; of a group with several types
// the dearest counts, Spot at most as much, a training plan is paid for already. A warning where a price
// cannot be had: then there is no cost.
Task<void> put_cost(Call call, JsonArray groups, Plan& plan);

}  // namespace instantstart::app
