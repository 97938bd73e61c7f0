#include "domain/lustre.h"

#include <algorithm>
#include <array>
#include <utility>

#include "domain/cidr.h"

namespace instantstart::domain {

namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

using Ports = std::pair<std::int64_t, std::int64_t>;
constexpr std::array kPorts = {Ports{988, 988}, Ports{1018, 1023}};

bool speaks(const JsonValue& permission, std::int64_t port) {
    const auto protocol = base::get_string(permission, "IpProtocol");
    if (protocol == "-1") return true;
    return protocol == "tcp" && base::get_int(permission, "FromPort", 0) <= port &&
           port <= base::get_int(permission, "ToPort", 65535);
}

bool is_from(const JsonValue& permission, const LustreSide& sender) {
    for (const auto& pair : base::get_array(permission, "UserIdGroupPairs")) {
        const auto group = base::get_string(pair, "GroupId");
        if (std::find(sender.groups.begin(), sender.groups.end(), group) != sender.groups.end()) return true;
    }
    const auto own = parse_cidr(sender.cidr);
    for (const auto& entry : base::get_array(permission, "IpRanges")) {
        const auto range = parse_cidr(base::get_string(entry, "CidrIp"));
        if (own && range && range->contains(*own)) return true;
    }
    return false;
}

bool lets_in(const JsonArray& descriptions, const LustreSide& receiver, const LustreSide& sender,
             std::int64_t port) {
    for (const auto& group : descriptions) {
        const auto id = base::get_string(group, "GroupId");
        if (std::find(receiver.groups.begin(), receiver.groups.end(), id) == receiver.groups.end()) continue;
        for (const auto& permission : base::get_array(group, "IpPermissions")) {
            if (speaks(permission, port) && is_from(permission, sender)) return true;
        }
    }
    return false;
}

void add_missing(const JsonArray& descriptions, const LustreSide& receiver, const LustreSide& sender,
                 std::vector<LustreRule>& missing) {
    if (receiver.groups.empty() || sender.groups.empty()) return;
    for (const auto& [from, to] : kPorts) {
        bool open = true;
        for (auto port = from; port <= to; ++port)
            open = open && lets_in(descriptions, receiver, sender, port);
        if (open) continue;
        LustreRule rule;
        rule.group = receiver.groups.front();
        rule.peer = sender.groups.front();
        rule.from = from;
        rule.to = to;
        missing.push_back(std::move(rule));
    }
}

}  // namespace

std::vector<LustreRule> missing_lustre_rules(const JsonArray& descriptions, const LustreSide& file_system,
                                             const LustreSide& nodes) {
    std::vector<LustreRule> missing;
    add_missing(descriptions, file_system, nodes, missing);
    add_missing(descriptions, nodes, file_system, missing);
    return missing;
}

JsonArray lustre_permissions(const std::string& peer) {
    JsonArray permissions;
    for (const auto& [from, to] : kPorts) {
        permissions.push_back(JsonObject{{"IpProtocol", "tcp"},
                                         {"FromPort", from},
                                         {"ToPort", to},
                                         {"UserIdGroupPairs", JsonArray{JsonObject{{"GroupId", peer}}}}});
    }
    return permissions;
}

}  // namespace instantstart::domain
