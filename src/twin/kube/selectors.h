// Label and field selectors of lists and watches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "twin/kube/kinds.h"

namespace instantstart::twin::kube {

struct Requirement {
    enum class Operator : std::uint8_t { in, not_in, exists, absent, greater, less };
    Requirement() = default;
    std::string key;
    Operator op = Operator::exists;
    std::vector<std::string> values;
};

class Selector {
public:
    Selector() = default;
    // "a=b,c!=d,e in (f,g),h notin (i),j,!k"; 400 where it cannot be read.
    static base::Result<Selector> parse(std::string_view labels, std::string_view fields,
                                        const KindInfo& kind);
    bool matches(const JsonObject& object) const;
    bool empty() const { return labels_.empty() && fields_.empty(); }
    // The single name it asks for, "" for none.
    std::string name() const;

private:
    std::vector<Requirement> labels_, fields_;
};

base::Result<std::vector<Requirement>> parse_labels(std::string_view text);
bool matches_labels(const std::vector<Requirement>& requirements, const JsonObject& labels);

}  // namespace instantstart::twin::kube
