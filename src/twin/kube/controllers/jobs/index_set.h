// IndexSet: completion indexes of a Job, as its status writes them ("0-2,5").
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace instantstart::twin::kube::controllers {

class IndexSet {
public:
    IndexSet() = default;
    // What cannot be read counts for nothing; indexes from `below` on are left out.
    explicit IndexSet(std::string_view text, std::int64_t below);
    void add(std::int64_t index) { indexes_.insert(index); }
    bool has(std::int64_t index) const { return indexes_.contains(index); }
    std::int64_t size() const { return static_cast<std::int64_t>(indexes_.size()); }
    bool empty() const { return indexes_.empty(); }
    std::string text() const;

private:
    std::set<std::int64_t> indexes_;
};

}  // namespace instantstart::twin::kube::controllers
