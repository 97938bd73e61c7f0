// State of the twin's EC2: tables of resources, and what its files share. Handlers are free functions over
// it, one file per noun.
#pragma once

#include <map>
#include <set>

#include "twin/aws/resources/record.h"

namespace instantstart::twin::ec2 {

struct Cidr {
    std::uint32_t base = 0;
    int prefix = 0;
    std::uint32_t size() const { return prefix == 0 ? 0xffffffffU : 1U << (32 - prefix); }
    bool overlaps(const Cidr& other) const;
    bool contains(const Cidr& other) const;
    std::string text() const;
};
// IPv4 in prefix notation; the base is cut to the network. nullopt where it is none.
std::optional<Cidr> parse_cidr(std::string_view text);
std::string address_text(std::uint32_t address);
std::optional<std::uint32_t> parse_address(std::string_view text);

struct Zone {
    std::string name, id, type, parent;
    bool opted_in = true;
};
// The zones of a region. Names map to ids out of order, as in every account.
std::vector<Zone> zones_of(std::string_view region);
const Zone* find_zone(const std::vector<Zone>& zones, std::string_view name_or_id);

struct State {
    explicit State(World& owner) : world(owner) {}
    World& world;
    Table vpcs, subnets, gateways, route_tables, addresses, nats, groups, rules, endpoints, interfaces, acls,
        dhcp_options, launch_templates;
    std::map<std::string, std::string, std::less<>> tokens;  // operation and token, what they made
    std::map<std::string, std::set<std::uint32_t>, std::less<>>
        used;  // addresses taken in a subnet, but the five of AWS

    // A new resource shows up in Describe after up to a second, as EC2's own copies do; stale faults lengthen
    // it.
    bool visible(const Record& record, const Call& call) const;
    // Calls that depend on a fresh resource may not know it for the first half second.
    bool known(const Record& record) const;
    std::string arn(std::string_view resource) const;
    std::optional<double> quota(std::string_view name, double fallback) const;
    void rebuild_used();
    std::vector<Zone> zones() const { return zones_of(world.region()); }
};

using Handler = Reply (*)(State&, const Call&);
using Operations = std::map<std::string, Handler, std::less<>>;

void add_vpc_operations(Operations& operations);
void add_subnet_operations(Operations& operations);
void add_gateway_operations(Operations& operations);
void add_route_operations(Operations& operations);
void add_address_operations(Operations& operations);
void add_nat_operations(Operations& operations);
void add_group_operations(Operations& operations);
void add_rule_operations(Operations& operations);
void add_endpoint_operations(Operations& operations);
void add_interface_operations(Operations& operations);
void add_region_operations(Operations& operations);
void add_type_operations(Operations& operations);
void add_tag_operations(Operations& operations);
void add_template_operations(Operations& operations);

// Tags of TagSpecifications for this resource type.
JsonArray requested_tags(const Call& call, std::string_view resource_type);
// A refusal where a tag is not allowed (key "aws:…").
std::optional<ServiceError> check_tags(const Call& call);

// The record, or AWS's NotFound error, also where it is too fresh to be known.
struct Found {
    Record* record = nullptr;
    ServiceError error;
};
Found require(State& state, Table& table, std::string_view id, std::string_view code, std::string_view noun);
Found require_vpc(State& state, std::string_view id);
Found require_subnet(State& state, std::string_view id);
Found require_group(State& state, std::string_view id);

// Parts of making a VPC, shared by CreateVpc and the default VPC.
Record& make_vpc(State& state, const Cidr& cidr, JsonArray tags, bool is_default);
Record& make_subnet(State& state, const Record& vpc, const Cidr& cidr, const Zone& zone, JsonArray tags,
                    bool is_default);
Record& make_group(State& state, std::string_view vpc_id, std::string name, std::string description,
                   JsonArray tags);
JsonObject group_answer(const State& state, const Record& group);
void remove_group(State& state, const std::string& id);
struct RuleSpec {
    RuleSpec() = default;
    bool egress = false;
    std::string protocol = "-1";
    std::int64_t from = -1, to = -1;
    std::string cidr, cidr6, prefix_list, group, description;
};
Record& make_rule(State& state, const std::string& group_id, const RuleSpec& spec, JsonArray tags);
Record& make_route_table(State& state, const Record& vpc, JsonArray tags, bool main);
void attach_gateway(State& state, Record& gateway, const std::string& vpc_id);
void remove_interface(State& state, const std::string& id);
std::int64_t free_addresses(const State& state, const Record& subnet);

// Timers of NAT gateways and endpoints.
void nat_timer(State& state, const std::string& kind, const JsonObject& payload);
void endpoint_timer(State& state, const std::string& kind, const JsonObject& payload);

// Removes the members of `list` whose member `name` is `value`; how many.
std::size_t remove_where(JsonArray& list, std::string_view name, std::string_view value);
JsonArray& array_of(JsonObject& object, std::string_view name);
JsonObject yes();  // {"Return": true}

}  // namespace instantstart::twin::ec2
