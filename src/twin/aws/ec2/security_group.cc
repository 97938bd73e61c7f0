// Security groups.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {
    {"vpc-id", "VpcId"},
    {"group-id", "GroupId"},
    {"group-name", "GroupName"},
    {"description", "Description"},
    {"owner-id", "OwnerId"},
    {"ip-permission.group-id", "IpPermissions.*.UserIdGroupPairs.*.GroupId"},
    {"ip-permission.cidr", "IpPermissions.*.IpRanges.*.CidrIp"},
    {"ip-permission.protocol", "IpPermissions.*.IpProtocol"},
    {"egress.ip-permission.group-id", "IpPermissionsEgress.*.UserIdGroupPairs.*.GroupId"},
    {"egress.ip-permission.cidr", "IpPermissionsEgress.*.IpRanges.*.CidrIp"}};

void add_source(const State& state, JsonObject& permission, const JsonObject& rule) {
    auto add = [&permission, &rule](const char* list, const char* member, std::string_view value) {
        JsonObject entry;
        entry[member] = value;
        if (rule.contains("Description")) entry["Description"] = base::get_string(rule, "Description");
        array_of(permission, list).push_back(std::move(entry));
    };
    if (rule.contains("CidrIpv4")) add("IpRanges", "CidrIp", base::get_string(rule, "CidrIpv4"));
    if (rule.contains("CidrIpv6")) add("Ipv6Ranges", "CidrIpv6", base::get_string(rule, "CidrIpv6"));
    if (rule.contains("PrefixListId"))
        add("PrefixListIds", "PrefixListId", base::get_string(rule, "PrefixListId"));
    if (rule.contains("ReferencedGroupInfo")) {
        add("UserIdGroupPairs", "GroupId", base::get_string(rule, "ReferencedGroupInfo.GroupId"));
        array_of(permission, "UserIdGroupPairs").back().as_object()["UserId"] = state.world.account();
    }
}

// Rules of one protocol and port range stand together in one permission.
JsonArray permissions(const State& state, std::string_view group_id, bool egress) {
    std::map<std::string, JsonObject> grouped;
    for (const auto& [id, rule] : state.rules) {
        if (base::get_string(rule.data, "GroupId") != group_id ||
            base::get_bool(rule.data, "IsEgress") != egress)
            continue;
        const std::string protocol = base::get_string(rule.data, "IpProtocol");
        const std::int64_t from = base::get_int(rule.data, "FromPort"),
                           to = base::get_int(rule.data, "ToPort");
        JsonObject& permission = grouped[protocol + "/" + std::to_string(from) + "/" + std::to_string(to)];
        permission["IpProtocol"] = protocol;
        if (protocol != "-1") {
            permission["FromPort"] = from;
            permission["ToPort"] = to;
        }
        for (const char* list : {"UserIdGroupPairs", "IpRanges", "Ipv6Ranges", "PrefixListIds"})
            array_of(permission, list);
        add_source(state, permission, rule.data);
    }
    JsonArray list;
    for (auto& [key, permission] : grouped) list.push_back(std::move(permission));
    return list;
}

Reply create_group(State& state, const Call& call) {
    std::string vpc_id = base::get_string(call.params, "VpcId");
    if (vpc_id.empty()) {
        for (const auto& [id, vpc] : state.vpcs) {
            if (base::get_bool(vpc.data, "IsDefault")) vpc_id = id;
        }
    }
    const Found vpc = require_vpc(state, vpc_id);
    if (vpc.record == nullptr) return vpc.error;
    if (auto bad = check_tags(call)) return *bad;
    const std::string name = base::get_string(call.params, "GroupName");
    if (name.starts_with("sg-"))
        return failure(
            "InvalidParameterValue",
            "Value (" + name + ") for parameter GroupName is invalid. It should not start with 'sg-'");
    for (const auto& [id, group] : state.groups) {
        if (base::get_string(group.data, "VpcId") == vpc_id &&
            base::get_string(group.data, "GroupName") == name) {
            return failure("InvalidGroup.Duplicate",
                           "The security group '" + name + "' already exists for VPC '" + vpc_id + "'");
        }
    }
    Record& group = make_group(state, vpc_id, name, base::get_string(call.params, "Description"),
                               requested_tags(call, "security-group"));
    JsonObject answer;
    answer["GroupId"] = group.id;
    answer["SecurityGroupArn"] = base::get_string(group.data, "SecurityGroupArn");
    if (call.params.contains("TagSpecifications")) answer["Tags"] = base::get_array(group.data, "Tags");
    return answer;
}

Reply describe_groups(State& state, const Call& call) {
    Listing listing;
    listing.result = "SecurityGroups";
    listing.ids_parameter = "GroupIds";
    listing.not_found_code = "InvalidGroup.NotFound";
    listing.noun = "security group";
    listing.filters = kFilters;
    listing.render = [&state](const Record& group) { return group_answer(state, group); };
    const std::vector<std::string> names = strings(call.params, "GroupNames");
    if (names.empty()) return describe(state, state.groups, call, listing);
    Call by_name = call;
    array_of(by_name.params, "Filters").push_back({{"Name", "group-name"}, {"Values", to_array(names)}});
    return describe(state, state.groups, by_name, listing);
}

bool in_use(const State& state, const std::string& id) {
    for (const auto& [rule_id, rule] : state.rules) {
        if (base::get_string(rule.data, "GroupId") != id &&
            base::get_string(rule.data, "ReferencedGroupInfo.GroupId") == id)
            return true;
    }
    for (const auto& [interface_id, interface] : state.interfaces) {
        for (const JsonValue& group : base::get_array(interface.data, "Groups")) {
            if (base::get_string(group, "GroupId") == id) return true;
        }
    }
    return false;
}

Reply delete_group(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "GroupId");
    const Found group = require_group(state, id);
    if (group.record == nullptr) return group.error;
    if (base::get_string(group.record->data, "GroupName") == "default") {
        return failure("CannotDelete",
                       "the specified group: \"" + id + "\" name: \"default\" cannot be deleted by a user");
    }
    if (in_use(state, id))
        return failure("DependencyViolation", "resource " + id + " has a dependent object");
    remove_group(state, id);
    JsonObject answer = yes();
    answer["GroupId"] = id;
    return answer;
}

}  // namespace

JsonObject group_answer(const State& state, const Record& group) {
    JsonObject shown = group.data;
    shown["IpPermissions"] = permissions(state, group.id, false);
    shown["IpPermissionsEgress"] = permissions(state, group.id, true);
    return shown;
}

Record& make_group(State& state, std::string_view vpc_id, std::string name, std::string description,
                   JsonArray tags) {
    const std::string id = state.world.hex_id("sg-", 17);
    const bool is_default = name == "default";
    JsonObject data;
    data["GroupId"] = id;
    data["GroupName"] = name;
    data["Description"] = description;
    data["OwnerId"] = state.world.account();
    data["VpcId"] = vpc_id;
    data["SecurityGroupArn"] = state.arn("security-group/" + id);
    data["Tags"] = std::move(tags);
    Record& group = state.groups.add(id, std::move(data), state.world.now());
    RuleSpec out;
    out.egress = true;
    out.cidr = "0.0.0.0/0";
    make_rule(state, id, out, JsonArray());
    if (is_default) {
        RuleSpec self;
        self.group = id;
        make_rule(state, id, self, JsonArray());
    }
    return group;
}

void remove_group(State& state, const std::string& id) {
    std::vector<std::string> rules;
    for (const auto& [rule_id, rule] : state.rules) {
        if (base::get_string(rule.data, "GroupId") == id) rules.push_back(rule_id);
    }
    for (const std::string& rule_id : rules) state.rules.erase(rule_id);
    state.groups.erase(id);
}

void add_group_operations(Operations& operations) {
    operations["CreateSecurityGroup"] = create_group;
    operations["DescribeSecurityGroups"] = describe_groups;
    operations["DeleteSecurityGroup"] = delete_group;
}

}  // namespace instantstart::twin::ec2
