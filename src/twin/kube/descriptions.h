// One sentence for the fields that people ask `kubectl explain` about.
#pragma once

#include <string>
#include <string_view>

namespace instantstart::twin::kube {

// `type` as in the schema table ("core/v1.Pod"), `field` "" for the type itself; "" where there is no
// sentence.
std::string describe(std::string_view type, std::string_view field);

}  // namespace instantstart::twin::kube
