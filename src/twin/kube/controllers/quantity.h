// Kubernetes quantities ("100m", "1.5", "2Gi", "1e3") in thousandths.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"

namespace instantstart::twin::kube::controllers {

using Amounts = std::map<std::string, std::int64_t, std::less<>>;  // in thousandths

std::int64_t parse_milli(std::string_view text);  // 0 where unreadable
Amounts amounts_of(const base::JsonObject& quantities);
// What a pod asks of its node: containers summed, the largest init container if it is more, "pods" 1.
Amounts pod_requests(const base::JsonObject& pod);

}  // namespace instantstart::twin::kube::controllers
