// What an object takes of a ResourceQuota, and which quotas speak of it.
#pragma once

#include <set>
#include <vector>

#include "twin/kube/cluster.h"
#include "twin/kube/controllers/quantity.h"

namespace instantstart::twin::kube {

inline const Kind kQuotas("", "resourcequotas");

// By the names that quotas use ("pods", "requests.cpu", "requests.nvidia.com/gpu", "count/jobs.batch"). A pod
// that has ended takes nothing.
controllers::Amounts quota_use(const Kind& kind, const JsonObject& object);
// The quota's scopes hold for the object.
bool quota_concerns(const JsonObject& quota, const Kind& kind, const JsonObject& object);
// The kinds whose objects a quota counts.
std::set<Kind> quota_kinds(const JsonObject& quota);
// Sum over the namespace, of what the quota limits.
controllers::Amounts quota_total(const ObjectStore& objects, const JsonObject& quota);
// "1500m", "2", "3Gi".
std::string amount_text(std::string_view name, std::int64_t milli);

}  // namespace instantstart::twin::kube
