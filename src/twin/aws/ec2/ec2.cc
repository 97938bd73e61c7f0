#include "twin/aws/ec2/ec2.h"

#include "twin/aws/ec2/interface.h"
#include "twin/aws/resources/page_token.h"

namespace instantstart::twin::ec2 {

namespace {

struct Saved {
    const char* name;
    Table State::* table;
};
constexpr Saved kSaved[] = {{"vpcs", &State::vpcs},
                            {"subnets", &State::subnets},
                            {"gateways", &State::gateways},
                            {"route_tables", &State::route_tables},
                            {"addresses", &State::addresses},
                            {"nats", &State::nats},
                            {"groups", &State::groups},
                            {"rules", &State::rules},
                            {"endpoints", &State::endpoints},
                            {"interfaces", &State::interfaces},
                            {"acls", &State::acls},
                            {"dhcp_options", &State::dhcp_options},
                            {"launch_templates", &State::launch_templates}};

bool reads(std::string_view operation) {
    return operation.starts_with("Describe") || operation.starts_with("Get");
}

}  // namespace

Ec2::Ec2(World& world) : state_(world) {
    add_vpc_operations(operations_);
    add_subnet_operations(operations_);
    add_gateway_operations(operations_);
    add_route_operations(operations_);
    add_address_operations(operations_);
    add_nat_operations(operations_);
    add_group_operations(operations_);
    add_rule_operations(operations_);
    add_endpoint_operations(operations_);
    add_interface_operations(operations_);
    add_region_operations(operations_);
    add_type_operations(operations_);
    add_tag_operations(operations_);
    add_template_operations(operations_);
    make_default_vpc();
}

Reply Ec2::handle(const Call& call) {
    const auto found = operations_.find(call.operation);
    if (found == operations_.end()) {
        return failure("UnsupportedOperation", "The twin does not simulate ec2:" + call.operation + ".");
    }
    if (base::get_bool(call.params, "DryRun")) {
        return failure("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412);
    }
    if (!page_position(base::get_string(call.params, "NextToken")))
        return failure("InvalidPaginationToken",
                       "The specified pagination token is not valid or is expired.");
    Reply reply = found->second(state_, call);
    if (!reads(call.operation)) state_.world.touched();
    return reply;
}

void Ec2::on_timer(const std::string& kind, const JsonObject& payload) {
    if (kind.starts_with("nat_")) nat_timer(state_, kind, payload);
    if (kind.starts_with("endpoint_")) endpoint_timer(state_, kind, payload);
    state_.world.touched();
}

JsonValue Ec2::save() const {
    JsonObject saved;
    for (const Saved& entry : kSaved) saved[entry.name] = (state_.*entry.table).save();
    JsonObject tokens;
    for (const auto& [token, id] : state_.tokens) tokens[token] = id;
    saved["tokens"] = std::move(tokens);
    return saved;
}

void Ec2::load(const JsonValue& state) {
    const JsonObject* saved = state.if_object();
    state_.tokens.clear();
    for (const Saved& entry : kSaved) {
        const JsonValue* table = saved == nullptr ? nullptr : saved->if_contains(entry.name);
        (state_.*entry.table).load(table == nullptr ? JsonValue() : *table);
    }
    if (saved != nullptr) {
        for (const auto& [token, id] : base::get_object(*saved, "tokens"))
            state_.tokens[token] = std::string(id.as_string());
    }
    state_.rebuild_used();
    if (saved == nullptr || saved->empty()) make_default_vpc();
}

void Ec2::make_default_vpc() {
    const Record& vpc = make_vpc(state_, *parse_cidr("172.31.0.0/16"), JsonArray(), true);
    const std::string vpc_id = vpc.id;
    Cidr range = *parse_cidr("172.31.0.0/20");
    for (const Zone& zone : state_.zones()) {
        if (zone.type != "availability-zone") continue;
        make_subnet(state_, vpc, range, zone, JsonArray(), true);
        range.base += range.size();
    }
    const std::string gateway_id = state_.world.hex_id("igw-", 17);
    JsonObject data;
    data["Attachments"] = JsonArray();
    data["InternetGatewayId"] = gateway_id;
    data["OwnerId"] = state_.world.account();
    data["Tags"] = JsonArray();
    attach_gateway(state_, state_.gateways.add(gateway_id, std::move(data), state_.world.now()), vpc_id);
    for (auto& [id, table] : state_.route_tables) {
        if (base::get_string(table.data, "VpcId") != vpc_id) continue;
        JsonObject route;
        route["DestinationCidrBlock"] = "0.0.0.0/0";
        route["GatewayId"] = gateway_id;
        route["Origin"] = "CreateRoute";
        route["State"] = "active";
        array_of(table.data, "Routes").push_back(std::move(route));
    }
    // The account is older than the process: its default VPC is known at once.
    for (const Saved& entry : kSaved) {
        for (auto& [id, record] : state_.*entry.table) record.created -= std::chrono::hours(24 * 365);
    }
}

std::int64_t Ec2::free_addresses(std::string_view subnet_id) const {
    const Record* subnet = state_.subnets.find(subnet_id);
    return subnet == nullptr ? 0 : ec2::free_addresses(state_, *subnet);
}

std::string Ec2::create_group(std::string_view vpc_id, std::string name, std::string description,
                              JsonArray tags) {
    Record& group = make_group(state_, vpc_id, std::move(name), std::move(description), std::move(tags));
    RuleSpec self;
    self.group = group.id;
    make_rule(state_, group.id, self, JsonArray());
    self.egress = true;
    make_rule(state_, group.id, self, JsonArray());
    state_.world.touched();
    return group.id;
}

void Ec2::delete_group(const std::string& id) {
    remove_group(state_, id);
}

bool Ec2::has_self_rules(std::string_view group_id) const {
    bool in = false, out = false;
    for (const auto& [id, rule] : state_.rules) {
        const bool own = base::get_string(rule.data, "GroupId") == group_id;
        const bool self = base::get_string(rule.data, "ReferencedGroupInfo.GroupId") == group_id;
        if (!own || !self || base::get_string(rule.data, "IpProtocol") != "-1") continue;
        (base::get_bool(rule.data, "IsEgress") ? out : in) = true;
    }
    return in && out;
}

std::optional<std::string> Ec2::create_interface(const InterfaceSpec& spec) {
    return make_interface(state_, spec);
}

void Ec2::delete_interface(const std::string& id) {
    remove_interface(state_, id);
}

void Ec2::abandon_interface(const std::string& id, std::string description) {
    Record* interface = state_.interfaces.find(id);
    if (interface == nullptr) return;
    interface->data.erase("Attachment");
    interface->data.erase("RequesterId");
    interface->data["RequesterManaged"] = false;
    interface->data["Status"] = "available";
    interface->data["Description"] = description;
}

std::string Ec2::interface_address(std::string_view id) const {
    const Record* interface = state_.interfaces.find(id);
    return interface == nullptr ? "" : base::get_string(interface->data, "PrivateIpAddress");
}

}  // namespace instantstart::twin::ec2

namespace instantstart::twin {

std::unique_ptr<Service> make_ec2(World& world) {
    return std::make_unique<ec2::Ec2>(world);
}

}  // namespace instantstart::twin
