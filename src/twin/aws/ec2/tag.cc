// Tags of any EC2 resource, by id.
#include "twin/aws/ec2/ec2.h"
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {
    {"resource-id", "ResourceId"}, {"resource-type", "ResourceType"}, {"key", "Key"}, {"value", "Value"}};

struct Kind {
    Table State::* table;
    const char* type;
    std::string_view prefix;     // of its ids
    const char* not_found_code;  // of an id that has the form but names nothing
};
constexpr Kind kKinds[] = {
    {&State::vpcs, "vpc", "vpc-", "InvalidVpcID.NotFound"},
    {&State::subnets, "subnet", "subnet-", "InvalidSubnetID.NotFound"},
    {&State::gateways, "internet-gateway", "igw-", "InvalidInternetGatewayID.NotFound"},
    {&State::route_tables, "route-table", "rtb-", "InvalidRouteTableID.NotFound"},
    {&State::addresses, "elastic-ip", "eipalloc-", "InvalidAllocationID.NotFound"},
    {&State::nats, "natgateway", "nat-", "NatGatewayNotFound"},
    {&State::groups, "security-group", "sg-", "InvalidGroup.NotFound"},
    {&State::rules, "security-group-rule", "sgr-", "InvalidSecurityGroupRuleId.NotFound"},
    {&State::endpoints, "vpc-endpoint", "vpce-", "InvalidVpcEndpointId.NotFound"},
    {&State::interfaces, "network-interface", "eni-", "InvalidNetworkInterfaceID.NotFound"},
    {&State::acls, "network-acl", "acl-", "InvalidNetworkAclID.NotFound"},
    {&State::dhcp_options, "dhcp-options", "dopt-", "InvalidDhcpOptionID.NotFound"},
    {&State::launch_templates, "launch-template", "lt-", "InvalidLaunchTemplateId.NotFound"}};

const char* tags_member(const Kind& kind) {
    return kind.table == &State::interfaces ? "TagSet" : "Tags";
}

JsonArray* tags_of(State& state, std::string_view id) {
    for (const Kind& kind : kKinds) {
        Record* record = (state.*kind.table).find(id);
        if (record != nullptr && state.known(*record)) return &array_of(record->data, tags_member(kind));
    }
    return nullptr;
}

ServiceError unknown(const std::string& id) {
    for (const Kind& kind : kKinds) {
        if (id.starts_with(kind.prefix))
            return failure(kind.not_found_code,
                           "The " + std::string(kind.type) + " ID '" + id + "' does not exist");
    }
    return failure("InvalidID", "The ID '" + id + "' is not valid");
}

Reply create_tags(State& state, const Call& call) {
    const std::vector<std::string> ids = strings(call.params, "Resources");
    for (const std::string& id : ids) {
        if (tags_of(state, id) == nullptr) return unknown(id);
    }
    for (const JsonValue& tag : base::get_array(call.params, "Tags")) {
        if (base::get_string(tag, "Key").starts_with("aws:")) {
            return failure("InvalidParameterValue",
                           "Tag keys starting with 'aws:' are reserved for internal use");
        }
    }
    for (const std::string& id : ids) {
        JsonArray& tags = *tags_of(state, id);
        for (const JsonValue& tag : base::get_array(call.params, "Tags"))
            put_tag(tags, base::get_string(tag, "Key"), base::get_string(tag, "Value"));
        if (tags.size() > 50)
            return failure("TagLimitExceeded", "The maximum number of tags for a resource has been reached.");
    }
    return JsonObject();
}

Reply delete_tags(State& state, const Call& call) {
    for (const std::string& id : strings(call.params, "Resources")) {
        JsonArray* tags = tags_of(state, id);
        if (tags == nullptr) return unknown(id);
        const JsonArray& wanted = base::get_array(call.params, "Tags");
        if (wanted.empty()) tags->clear();
        for (const JsonValue& tag : wanted) {
            const std::string key = base::get_string(tag, "Key");
            const JsonObject* given = tag.if_object();
            const bool any_value = given == nullptr || !given->contains("Value");
            if (any_value || tag_value(*tags, key) == base::get_string(tag, "Value")) remove_tag(*tags, key);
        }
    }
    return JsonObject();
}

Reply describe_tags(State& state, const Call& call) {
    JsonArray list;
    for (const Kind& kind : kKinds) {
        for (const auto& [id, record] : state.*kind.table) {
            if (!state.visible(record, call)) continue;
            for (const JsonValue& tag : base::get_array(record.data, tags_member(kind))) {
                list.push_back({{"ResourceId", id},
                                {"ResourceType", kind.type},
                                {"Key", base::get_string(tag, "Key")},
                                {"Value", base::get_string(tag, "Value")}});
            }
        }
    }
    Listing listing;
    listing.result = "Tags";
    listing.filters = kFilters;
    return describe_values(call, list, listing);
}

}  // namespace

void add_tag_operations(Operations& operations) {
    operations["CreateTags"] = create_tags;
    operations["DeleteTags"] = delete_tags;
    operations["DescribeTags"] = describe_tags;
}

JsonArray Ec2::resource_tags(std::string_view arn) const {
    const std::string_view id = arn.substr(arn.rfind('/') + 1);
    for (const Kind& kind : kKinds) {
        const Record* record = (state_.*kind.table).find(id);
        if (record != nullptr) return base::get_array(record->data, tags_member(kind));
    }
    return JsonArray();
}

}  // namespace instantstart::twin::ec2
