// What the operations on EKS managed node groups share.
#pragma once

#include <string>

#include "app/operation.h"

namespace instantstart::app {

Meta node_group_meta(std::string id, std::string method, std::string path, std::string summary);
// A row of node_group.list from EKS's description.
JsonObject node_group_row(const JsonObject& group);
// The zones of rows, from their subnets; left out where EC2 does not say.
Task<void> add_node_group_zones(Call call, JsonArray& rows);

}  // namespace instantstart::app
