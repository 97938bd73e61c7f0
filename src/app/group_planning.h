// What every operation that brings instance groups settles: canonical groups, their components, sentences.
#pragma once

#include "app/cluster_planning.h"

namespace instantstart::app {

// AWS's own roles that the first HyperPod cluster of an account brings.
std::vector<std::string> hyperpod_roles();

// params.groups and params.components (base ones and what these and the existing groups need).
void put_groups(JsonObject& params, const std::vector<domain::InstanceGroup>& groups,
                const JsonObject& hyperpod);
std::vector<std::string> group_sentences(const std::vector<domain::InstanceGroup>& groups);
// params.storage from the request; faults where the kind is not offered or the bucket is not ours.
Task<void> put_storage(Call call, StorageInput input, std::string at, JsonObject& params, Findings& found);

}  // namespace instantstart::app
