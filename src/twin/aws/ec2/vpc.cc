// VPCs: ranges, DNS attributes, what is made and must be gone with them.
#include "base/text.h"
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {
    {"vpc-id", "VpcId"},
    {"state", "State"},
    {"cidr", "CidrBlock"},
    {"cidr-block-association.cidr-block", "CidrBlockAssociationSet.*.CidrBlock"},
    {"cidr-block-association.association-id", "CidrBlockAssociationSet.*.AssociationId"},
    {"cidr-block-association.state", "CidrBlockAssociationSet.*.CidrBlockState.State"},
    {"is-default", "IsDefault"},
    {"dhcp-options-id", "DhcpOptionsId"},
    {"owner-id", "OwnerId"}};

JsonObject cidr_association(State& state, const Cidr& cidr, std::string_view status) {
    JsonObject association;
    association["AssociationId"] = state.world.hex_id("vpc-cidr-assoc-", 17);
    association["CidrBlock"] = cidr.text();
    association["CidrBlockState"] = {{"State", status}};
    return association;
}

Reply create_vpc(State& state, const Call& call) {
    const std::string text = base::get_string(call.params, "CidrBlock");
    if (text.empty())
        return failure("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.");
    const std::optional<Cidr> cidr = parse_cidr(text);
    if (!cidr)
        return failure(
            "InvalidParameterValue",
            "Value (" + text + ") for parameter cidrBlock is invalid. This is not a valid CIDR block.");
    if (cidr->prefix < 16 || cidr->prefix > 28)
        return failure("InvalidVpc.Range", "The CIDR '" + text + "' is invalid.");
    if (auto bad = check_tags(call)) return *bad;
    if (static_cast<double>(state.vpcs.size()) >= *state.quota("VPCs per Region", 5)) {
        return failure("VpcLimitExceeded", "The maximum number of VPCs has been reached.");
    }
    JsonObject shown = make_vpc(state, *cidr, requested_tags(call, "vpc"), false).data;
    shown["State"] = "pending";
    shown["Ipv6CidrBlockAssociationSet"] = JsonArray();
    JsonObject answer;
    answer["Vpc"] = std::move(shown);
    return answer;
}

Reply describe_vpcs(State& state, const Call& call) {
    Listing listing;
    listing.result = "Vpcs";
    listing.ids_parameter = "VpcIds";
    listing.not_found_code = "InvalidVpcID.NotFound";
    listing.noun = "vpc ID";
    listing.filters = kFilters;
    return describe(state, state.vpcs, call, listing);
}

bool used_by(const Table& table, std::string_view vpc_id) {
    for (const auto& [id, record] : table) {
        if (base::get_string(record.data, "VpcId") == vpc_id) return true;
    }
    return false;
}

bool has_dependencies(const State& state, std::string_view vpc_id) {
    if (used_by(state.subnets, vpc_id) || used_by(state.interfaces, vpc_id) ||
        used_by(state.endpoints, vpc_id))
        return true;
    for (const auto& [id, gateway] : state.gateways) {
        for (const JsonValue& attachment : base::get_array(gateway.data, "Attachments")) {
            if (base::get_string(attachment, "VpcId") == vpc_id) return true;
        }
    }
    for (const auto& [id, group] : state.groups) {
        if (base::get_string(group.data, "VpcId") == vpc_id &&
            base::get_string(group.data, "GroupName") != "default")
            return true;
    }
    for (const auto& [id, table] : state.route_tables) {
        if (base::get_string(table.data, "VpcId") == vpc_id && !base::get_bool(table.hidden, "main"))
            return true;
    }
    return false;
}

void erase_of_vpc(Table& table, std::string_view vpc_id) {
    std::vector<std::string> ids;
    for (const auto& [id, record] : table) {
        if (base::get_string(record.data, "VpcId") == vpc_id) ids.push_back(id);
    }
    for (const std::string& id : ids) table.erase(id);
}

Reply delete_vpc(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "VpcId");
    const Found found = require_vpc(state, id);
    if (found.record == nullptr) return found.error;
    if (has_dependencies(state, id)) {
        return failure("DependencyViolation", "The vpc '" + id + "' has dependencies and cannot be deleted.");
    }
    std::vector<std::string> groups;
    for (const auto& [group_id, group] : state.groups) {
        if (base::get_string(group.data, "VpcId") == id) groups.push_back(group_id);
    }
    for (const std::string& group_id : groups) remove_group(state, group_id);
    erase_of_vpc(state.route_tables, id);
    erase_of_vpc(state.acls, id);
    state.vpcs.erase(id);
    return yes();
}

std::string attribute_member(std::string_view attribute) {
    if (attribute == "enableDnsSupport") return "EnableDnsSupport";
    if (attribute == "enableDnsHostnames") return "EnableDnsHostnames";
    return "EnableNetworkAddressUsageMetrics";
}

Reply describe_vpc_attribute(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "VpcId");
    const Found found = require_vpc(state, id);
    if (found.record == nullptr) return found.error;
    const std::string member = attribute_member(base::get_string(call.params, "Attribute"));
    JsonObject answer;
    answer["VpcId"] = id;
    answer[member] = {{"Value", base::get_bool(found.record->hidden, member)}};
    return answer;
}

Reply modify_vpc_attribute(State& state, const Call& call) {
    const Found found = require_vpc(state, base::get_string(call.params, "VpcId"));
    if (found.record == nullptr) return found.error;
    std::size_t given = 0;
    for (const char* member :
         {"EnableDnsSupport", "EnableDnsHostnames", "EnableNetworkAddressUsageMetrics"}) {
        if (call.params.contains(member)) ++given;
    }
    if (given != 1) return failure("InvalidParameterCombination", "Exactly one attribute must be specified.");
    for (const char* member :
         {"EnableDnsSupport", "EnableDnsHostnames", "EnableNetworkAddressUsageMetrics"}) {
        if (call.params.contains(member))
            found.record->hidden[member] = base::get_bool(call.params, std::string(member) + ".Value");
    }
    return JsonObject();
}

Reply associate_cidr(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "VpcId");
    const Found found = require_vpc(state, id);
    if (found.record == nullptr) return found.error;
    const std::string text = base::get_string(call.params, "CidrBlock");
    const std::optional<Cidr> cidr = parse_cidr(text);
    if (!cidr || cidr->prefix < 16 || cidr->prefix > 28)
        return failure("InvalidVpc.Range", "The CIDR '" + text + "' is invalid.");
    JsonArray& ranges = array_of(found.record->data, "CidrBlockAssociationSet");
    for (const JsonValue& range : ranges) {
        const std::string other = base::get_string(range, "CidrBlock");
        if (parse_cidr(other)->overlaps(*cidr)) {
            return failure("CidrConflict",
                           "The CIDR '" + text + "' conflicts with another CIDR of the VPC: " + other);
        }
    }
    if (static_cast<double>(ranges.size()) >= *state.quota("IPv4 CIDR blocks per VPC", 5)) {
        return failure("CidrLimitExceeded",
                       "This network '" + id +
                           "' has met its maximum number of allowed CIDRs: " + std::to_string(ranges.size()));
    }
    ranges.push_back(cidr_association(state, *cidr, "associated"));
    JsonObject shown = ranges.back().as_object();
    shown["CidrBlockState"] = {{"State", "associating"}};
    JsonObject answer;
    answer["CidrBlockAssociation"] = std::move(shown);
    answer["VpcId"] = id;
    return answer;
}

bool subnet_inside(const State& state, std::string_view vpc_id, const Cidr& range) {
    for (const auto& [id, subnet] : state.subnets) {
        const std::optional<Cidr> cidr = parse_cidr(base::get_string(subnet.data, "CidrBlock"));
        if (base::get_string(subnet.data, "VpcId") == vpc_id && cidr && range.contains(*cidr)) return true;
    }
    return false;
}

Reply disassociate_cidr(State& state, const Call& call) {
    const std::string association = base::get_string(call.params, "AssociationId");
    for (auto& [id, vpc] : state.vpcs) {
        JsonArray& ranges = array_of(vpc.data, "CidrBlockAssociationSet");
        for (const JsonValue& range : ranges) {
            if (base::get_string(range, "AssociationId") != association) continue;
            const std::string text = base::get_string(range, "CidrBlock");
            if (text == base::get_string(vpc.data, "CidrBlock")) {
                return failure("OperationNotPermitted",
                               "The vpc CIDR block with association ID " + association +
                                   " may not be disassociated. It is the primary IPv4 CIDR block of the VPC");
            }
            if (subnet_inside(state, id, *parse_cidr(text))) {
                return failure("InvalidCidrBlock.InUse",
                               "The vpc " + id + " currently has a subnet within CIDR block " + text);
            }
            JsonObject shown = range.get_object();
            shown["CidrBlockState"] = {{"State", "disassociating"}};
            JsonObject answer;
            answer["CidrBlockAssociation"] = std::move(shown);
            answer["VpcId"] = id;
            remove_where(ranges, "AssociationId", association);
            return answer;
        }
    }
    return failure("InvalidVpcCidrBlockAssociationID.NotFound",
                   "The vpc CIDR block association ID '" + association + "' does not exist");
}

constexpr FilterPath kAclFilters[] = {{"vpc-id", "VpcId"},
                                      {"default", "IsDefault"},
                                      {"network-acl-id", "NetworkAclId"},
                                      {"association.subnet-id", "Associations.*.SubnetId"}};

Reply describe_acls(State& state, const Call& call) {
    Listing listing;
    listing.result = "NetworkAcls";
    listing.ids_parameter = "NetworkAclIds";
    listing.not_found_code = "InvalidNetworkAclID.NotFound";
    listing.noun = "network acl ID";
    listing.filters = kAclFilters;
    listing.render = [&state](const Record& acl) {
        JsonObject shown = acl.data;
        JsonArray associations;
        for (const auto& [id, subnet] : state.subnets) {
            if (base::get_string(subnet.data, "VpcId") != base::get_string(acl.data, "VpcId")) continue;
            associations.push_back({{"NetworkAclAssociationId", "aclassoc-" + id.substr(7)},
                                    {"NetworkAclId", acl.id},
                                    {"SubnetId", id}});
        }
        shown["Associations"] = std::move(associations);
        return shown;
    };
    return describe(state, state.acls, call, listing);
}

constexpr FilterPath kDhcpFilters[] = {{"dhcp-options-id", "DhcpOptionsId"}, {"owner-id", "OwnerId"}};

Reply describe_dhcp_options(State& state, const Call& call) {
    Listing listing;
    listing.result = "DhcpOptions";
    listing.ids_parameter = "DhcpOptionsIds";
    listing.not_found_code = "InvalidDhcpOptionID.NotFound";
    listing.noun = "dhcp options ID";
    listing.filters = kDhcpFilters;
    return describe(state, state.dhcp_options, call, listing);
}

Reply describe_peerings(State&, const Call&) {
    JsonObject answer;
    answer["VpcPeeringConnections"] = JsonArray();
    return answer;
}

std::string dhcp_options(State& state) {
    for (const auto& [id, options] : state.dhcp_options) return id;
    const std::string id = state.world.hex_id("dopt-", 17);
    const std::string domain =
        state.world.region() == "us-east-1" ? "ec2.internal" : state.world.region() + ".compute.internal";
    JsonObject data;
    data["DhcpOptionsId"] = id;
    data["OwnerId"] = state.world.account();
    data["Tags"] = JsonArray();
    data["DhcpConfigurations"] = {
        {{"Key", "domain-name"}, {"Values", {{{"Value", domain}}}}},
        {{"Key", "domain-name-servers"}, {"Values", {{{"Value", "AmazonProvidedDNS"}}}}}};
    state.dhcp_options.add(id, std::move(data), state.world.now());
    return id;
}

JsonObject acl_entry(bool egress, std::int64_t number, std::string_view action) {
    JsonObject entry;
    entry["CidrBlock"] = "0.0.0.0/0";
    entry["Egress"] = egress;
    entry["Protocol"] = "-1";
    entry["RuleAction"] = action;
    entry["RuleNumber"] = number;
    return entry;
}

void make_acl(State& state, const std::string& vpc_id) {
    const std::string id = state.world.hex_id("acl-", 17);
    JsonObject data;
    data["NetworkAclId"] = id;
    data["VpcId"] = vpc_id;
    data["IsDefault"] = true;
    data["OwnerId"] = state.world.account();
    data["Tags"] = JsonArray();
    data["Entries"] = JsonArray{acl_entry(true, 100, "allow"), acl_entry(true, 32767, "deny"),
                                acl_entry(false, 100, "allow"), acl_entry(false, 32767, "deny")};
    state.acls.add(id, std::move(data), state.world.now());
}

}  // namespace

Record& make_vpc(State& state, const Cidr& cidr, JsonArray tags, bool is_default) {
    const std::string id = state.world.hex_id("vpc-", 17);
    JsonObject data;
    data["VpcId"] = id;
    data["OwnerId"] = state.world.account();
    data["InstanceTenancy"] = "default";
    data["CidrBlockAssociationSet"] = JsonArray{cidr_association(state, cidr, "associated")};
    data["IsDefault"] = is_default;
    data["State"] = "available";
    data["CidrBlock"] = cidr.text();
    data["DhcpOptionsId"] = dhcp_options(state);
    data["Tags"] = std::move(tags);
    Record& vpc = state.vpcs.add(id, std::move(data), state.world.now());
    vpc.hidden["EnableDnsSupport"] = true;
    vpc.hidden["EnableDnsHostnames"] = is_default;
    vpc.hidden["EnableNetworkAddressUsageMetrics"] = false;
    make_route_table(state, vpc, JsonArray(), true);
    make_group(state, id, "default", "default VPC security group", JsonArray());
    make_acl(state, id);
    return vpc;
}

void add_vpc_operations(Operations& operations) {
    operations["CreateVpc"] = create_vpc;
    operations["DescribeVpcs"] = describe_vpcs;
    operations["DeleteVpc"] = delete_vpc;
    operations["DescribeVpcAttribute"] = describe_vpc_attribute;
    operations["ModifyVpcAttribute"] = modify_vpc_attribute;
    operations["AssociateVpcCidrBlock"] = associate_cidr;
    operations["DisassociateVpcCidrBlock"] = disassociate_cidr;
    operations["DescribeNetworkAcls"] = describe_acls;
    operations["DescribeDhcpOptions"] = describe_dhcp_options;
    operations["DescribeVpcPeeringConnections"] = describe_peerings;
}

}  // namespace instantstart::twin::ec2
