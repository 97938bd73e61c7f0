// Ec2: the twin's EC2, and what EKS, HyperPod and others of the twin ask of it.
#pragma once

#include <memory>

#include "twin/aws/ec2/state.h"
#include "twin/aws/resource_tags.h"

namespace instantstart::twin::ec2 {

struct InterfaceSpec {
    InterfaceSpec() = default;
    std::string subnet_id;
    std::vector<std::string> group_ids;
    std::string description;
    std::string requester;           // account or service id; with it the interface is requester-managed
    std::string type = "interface";  // "nat_gateway", "vpc_endpoint"
    std::string instance_owner;      // attachment's owner, "" for an unattached one
    std::size_t addresses = 1;
    JsonArray tags;
};

class Ec2 final : public Service, public ResourceTags {
public:
    explicit Ec2(World& world);

    std::string_view name() const override { return "ec2"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override;
    void load(const JsonValue& state) override;
    JsonArray resource_tags(std::string_view arn) const override;

    // For the twin's other services.
    const Record* vpc(std::string_view id) const { return state_.vpcs.find(id); }
    const Record* subnet(std::string_view id) const { return state_.subnets.find(id); }
    const Record* group(std::string_view id) const { return state_.groups.find(id); }
    std::vector<Zone> zones() const { return state_.zones(); }
    std::int64_t free_addresses(std::string_view subnet_id) const;
    // A group with rules for itself both ways and general egress; its id.
    std::string create_group(std::string_view vpc_id, std::string name, std::string description,
                             JsonArray tags);
    void delete_group(const std::string& id);
    // Has the group a rule of all protocols for itself, inbound and outbound?
    bool has_self_rules(std::string_view group_id) const;
    // The interface's id; nullopt where the subnet has not enough addresses.
    std::optional<std::string> create_interface(const InterfaceSpec& spec);
    void delete_interface(const std::string& id);
    // What is left by a deleted cluster: no more attached, no more requester-managed.
    void abandon_interface(const std::string& id, std::string description);
    std::string interface_address(std::string_view id) const;
    // By id or name; null where there is none.
    const Record* launch_template(std::string_view id_or_name);
    // Is the type offered in the zone (by name)?
    static bool offered(std::string_view instance_type, std::string_view zone_name);

private:
    void make_default_vpc();

    State state_;
    Operations operations_;
};

}  // namespace instantstart::twin::ec2
