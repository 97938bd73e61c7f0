#include "twin/kube/controllers/jobs/index_set.h"

#include <charconv>
#include <optional>
#include <vector>

#include "base/text.h"

namespace instantstart::twin::kube::controllers {

namespace {

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return out;
}

}  // namespace

IndexSet::IndexSet(std::string_view text, std::int64_t below) {
    if (text.empty()) return;
    for (const auto& part : base::split(text, ',')) {
        const auto dash = part.find('-');
        const auto first = number(std::string_view(part).substr(0, dash));
        const auto last = dash == std::string::npos ? first : number(std::string_view(part).substr(dash + 1));
        if (!first || !last) continue;
        for (auto index = *first; index <= *last && index < below; ++index) indexes_.insert(index);
    }
}

std::string IndexSet::text() const {
    std::string out;
    for (auto at = indexes_.begin(); at != indexes_.end();) {
        const auto first = *at;
        auto last = first;
        for (++at; at != indexes_.end() && *at == last + 1; ++at) last = *at;
        out += (out.empty() ? "" : ",") + std::to_string(first);
        if (last > first) out += (last == first + 1 ? "," : "-") + std::to_string(last);
    }
    return out;
}

}  // namespace instantstart::twin::kube::controllers
