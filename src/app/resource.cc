#include "app/resource.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace instantstart::app {

namespace {

// Last words of paths that say what is done, not to which object.
constexpr std::array<std::string_view, 10> kVerbs = {"launch", "import",         "activate", "reconcile",
                                                     "cancel", "retry",          "reboot",   "replace",
                                                     "assign", "update-software"};

bool is_parameter(const std::string& part) {
    return part.size() > 2 && part.front() == '{';
}

// "instance-groups" -> "instance-group".
std::string singular(const std::string& word) {
    return word.ends_with("s") ? word.substr(0, word.size() - 1) : word;
}

// The name of what a POST to a collection creates, "" where it creates nothing with a name.
std::string created_name(const Meta& meta, const JsonObject& normalized, const std::string& last) {
    if (meta.method != "POST" || is_parameter(last) || last == "hyperpod") return "";
    const std::string name = base::get_string(normalized, "name");
    return name.empty() ? base::get_string(normalized, "eks_cluster_name") : name;
}

}  // namespace

std::string resource_of(const Meta& meta, const JsonObject& normalized) {
    std::vector<std::string> parts = base::split(meta.path, '/');
    std::erase(parts, "");
    std::vector<std::string> made;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool last = i + 1 == parts.size();
        if (is_parameter(parts[i])) {
            made.push_back(base::get_string(normalized, parts[i].substr(1, parts[i].size() - 2)));
        } else if (!last && is_parameter(parts[i + 1])) {
            made.push_back(singular(parts[i]));
        } else if (!last || std::find(kVerbs.begin(), kVerbs.end(), parts[i]) == kVerbs.end()) {
            made.push_back(parts[i]);
        }
    }
    const std::string name = parts.empty() ? "" : created_name(meta, normalized, parts.back());
    if (!name.empty() && !made.empty()) {
        made.back() = singular(made.back());
        made.push_back(name);
    }
    return base::join(made, "/");
}

}  // namespace instantstart::app
