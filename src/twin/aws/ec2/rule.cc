// Rules of security groups: authorised, revoked, described one by one.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"group-id", "GroupId"},
                                   {"security-group-rule-id", "SecurityGroupRuleId"}};

std::string normal_protocol(const JsonObject& permission) {
    std::string protocol = base::get_string(permission, "IpProtocol", "-1");
    if (protocol == "6") return "tcp";
    if (protocol == "17") return "udp";
    if (protocol == "1") return "icmp";
    if (protocol == "all") return "-1";
    return protocol;
}

std::vector<RuleSpec> specs_of(const JsonObject& permission, bool egress) {
    RuleSpec common;
    common.egress = egress;
    common.protocol = normal_protocol(permission);
    if (common.protocol != "-1") {
        common.from = base::get_int(permission, "FromPort", -1);
        common.to = base::get_int(permission, "ToPort", -1);
    }
    std::vector<RuleSpec> specs;
    auto add = [&specs, &common](const JsonValue& source, const char* member, std::string RuleSpec::* field) {
        RuleSpec spec = common;
        spec.*field = base::get_string(source, member);
        spec.description = base::get_string(source, "Description");
        specs.push_back(std::move(spec));
    };
    for (const JsonValue& source : base::get_array(permission, "IpRanges"))
        add(source, "CidrIp", &RuleSpec::cidr);
    for (const JsonValue& source : base::get_array(permission, "Ipv6Ranges"))
        add(source, "CidrIpv6", &RuleSpec::cidr6);
    for (const JsonValue& source : base::get_array(permission, "PrefixListIds"))
        add(source, "PrefixListId", &RuleSpec::prefix_list);
    for (const JsonValue& source : base::get_array(permission, "UserIdGroupPairs"))
        add(source, "GroupId", &RuleSpec::group);
    return specs;
}

std::vector<RuleSpec> requested(const Call& call, bool egress) {
    std::vector<RuleSpec> specs;
    for (const JsonValue& permission : base::get_array(call.params, "IpPermissions")) {
        for (RuleSpec& spec : specs_of(permission.get_object(), egress)) specs.push_back(std::move(spec));
    }
    if (call.params.contains("CidrIp")) {  // the short form
        JsonObject permission = call.params;
        permission["IpRanges"] = JsonArray{JsonObject{{"CidrIp", base::get_string(call.params, "CidrIp")}}};
        for (RuleSpec& spec : specs_of(permission, egress)) specs.push_back(std::move(spec));
    }
    return specs;
}

bool same_rule(const JsonObject& rule, const RuleSpec& spec) {
    return base::get_bool(rule, "IsEgress") == spec.egress &&
           base::get_string(rule, "IpProtocol") == spec.protocol &&
           base::get_int(rule, "FromPort") == spec.from && base::get_int(rule, "ToPort") == spec.to &&
           base::get_string(rule, "CidrIpv4") == spec.cidr &&
           base::get_string(rule, "CidrIpv6") == spec.cidr6 &&
           base::get_string(rule, "PrefixListId") == spec.prefix_list &&
           base::get_string(rule, "ReferencedGroupInfo.GroupId") == spec.group;
}

Record* find_rule(State& state, std::string_view group_id, const RuleSpec& spec) {
    for (auto& [id, rule] : state.rules) {
        if (base::get_string(rule.data, "GroupId") == group_id && same_rule(rule.data, spec)) return &rule;
    }
    return nullptr;
}

std::string peer_text(const RuleSpec& spec) {
    std::string peer = spec.cidr + spec.cidr6 + spec.prefix_list + spec.group;
    const std::string ports = spec.protocol == "-1"
                                  ? "ALL"
                                  : spec.protocol + ", from port: " + std::to_string(spec.from) +
                                        ", to port: " + std::to_string(spec.to);
    return "peer: " + peer + ", " + ports + ", ALLOW";
}

std::optional<ServiceError> check_spec(State& state, const Record& group, const RuleSpec& spec) {
    if (!spec.cidr.empty() && !parse_cidr(spec.cidr)) {
        return failure("InvalidParameterValue", "CIDR block " + spec.cidr + " is malformed");
    }
    if (!spec.group.empty()) {
        const Found peer = require_group(state, spec.group);
        if (peer.record == nullptr) return peer.error;
        if (base::get_string(peer.record->data, "VpcId") != base::get_string(group.data, "VpcId")) {
            return failure("InvalidGroup.NotFound",
                           "You have specified two resources that belong to different networks.");
        }
    }
    if (find_rule(state, group.id, spec) != nullptr) {
        return failure("InvalidPermission.Duplicate",
                       "the specified rule \"" + peer_text(spec) + "\" already exists");
    }
    return std::nullopt;
}

Reply authorize(State& state, const Call& call, bool egress) {
    const std::string group_id = base::get_string(call.params, "GroupId");
    const Found group = require_group(state, group_id);
    if (group.record == nullptr) return group.error;
    const std::vector<RuleSpec> specs = requested(call, egress);
    if (specs.empty())
        return failure("MissingParameter", "Either 'ipPermissions' or 'cidrIp' should be provided.");
    if (auto bad = check_tags(call)) return *bad;
    for (const RuleSpec& spec : specs) {
        if (auto bad = check_spec(state, *group.record, spec)) return *bad;
    }
    JsonObject answer = yes();
    for (const RuleSpec& spec : specs) {
        const Record& rule = make_rule(state, group_id, spec, requested_tags(call, "security-group-rule"));
        array_of(answer, "SecurityGroupRules").push_back(rule.data);
    }
    return answer;
}

Reply revoke(State& state, const Call& call, bool egress) {
    const std::string group_id = base::get_string(call.params, "GroupId");
    const Found group = require_group(state, group_id);
    if (group.record == nullptr) return group.error;
    std::vector<std::string> ids;
    for (const std::string& id : strings(call.params, "SecurityGroupRuleIds")) {
        const Record* rule = state.rules.find(id);
        if (rule == nullptr || base::get_string(rule->data, "GroupId") != group_id ||
            base::get_bool(rule->data, "IsEgress") != egress) {
            return failure("InvalidSecurityGroupRuleId.NotFound",
                           "The security group rule ID '" + id + "' does not exist");
        }
        ids.push_back(id);
    }
    for (const RuleSpec& spec : requested(call, egress)) {
        const Record* rule = find_rule(state, group_id, spec);
        if (rule == nullptr)
            return failure("InvalidPermission.NotFound",
                           "The specified rule does not exist in this security group.");
        ids.push_back(rule->id);
    }
    for (const std::string& id : ids) state.rules.erase(id);
    return yes();
}

Reply authorize_ingress(State& state, const Call& call) {
    return authorize(state, call, false);
}
Reply authorize_egress(State& state, const Call& call) {
    return authorize(state, call, true);
}
Reply revoke_ingress(State& state, const Call& call) {
    return revoke(state, call, false);
}
Reply revoke_egress(State& state, const Call& call) {
    return revoke(state, call, true);
}

Reply describe_rules(State& state, const Call& call) {
    Listing listing;
    listing.result = "SecurityGroupRules";
    listing.ids_parameter = "SecurityGroupRuleIds";
    listing.not_found_code = "InvalidSecurityGroupRuleId.NotFound";
    listing.noun = "security group rule ID";
    listing.filters = kFilters;
    return describe(state, state.rules, call, listing);
}

}  // namespace

Record& make_rule(State& state, const std::string& group_id, const RuleSpec& spec, JsonArray tags) {
    const std::string id = state.world.hex_id("sgr-", 17);
    JsonObject data;
    data["SecurityGroupRuleId"] = id;
    data["GroupId"] = group_id;
    data["GroupOwnerId"] = state.world.account();
    data["IsEgress"] = spec.egress;
    data["IpProtocol"] = spec.protocol;
    data["FromPort"] = spec.from;
    data["ToPort"] = spec.to;
    if (!spec.cidr.empty()) data["CidrIpv4"] = spec.cidr;
    if (!spec.cidr6.empty()) data["CidrIpv6"] = spec.cidr6;
    if (!spec.prefix_list.empty()) data["PrefixListId"] = spec.prefix_list;
    if (!spec.group.empty())
        data["ReferencedGroupInfo"] = {{"GroupId", spec.group}, {"UserId", state.world.account()}};
    if (!spec.description.empty()) data["Description"] = spec.description;
    data["SecurityGroupRuleArn"] = state.arn("security-group-rule/" + id);
    data["Tags"] = std::move(tags);
    return state.rules.add(id, std::move(data), state.world.now());
}

void add_rule_operations(Operations& operations) {
    operations["AuthorizeSecurityGroupIngress"] = authorize_ingress;
    operations["AuthorizeSecurityGroupEgress"] = authorize_egress;
    operations["RevokeSecurityGroupIngress"] = revoke_ingress;
    operations["RevokeSecurityGroupEgress"] = revoke_egress;
    operations["DescribeSecurityGroupRules"] = describe_rules;
}

}  // namespace instantstart::twin::ec2
