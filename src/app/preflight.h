// Preflight: what would make AWS refuse later, found before the first mutating call. A fault names the field,
// the figure and the way out; a look-up that fails is a warning.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/cluster_inputs.h"
#include "domain/pods.h"
#include "domain/zones.h"

namespace instantstart::app {

struct Findings {
    Findings() = default;
    std::vector<base::FieldError> faults;
    std::vector<std::string> warnings;
    std::vector<std::string> creates;  // what AWS makes beside what was asked for
    JsonArray quota, addresses;        // rows of the plan
    std::int64_t interfaces = 0;       // network interfaces that the plan needs, and the field that says why
    std::string interfaces_pointer;
};

Task<std::vector<domain::Zone>> list_zones(Call call);
// Names of the zones that offer an EC2 instance type (without "ml.").
Task<std::set<std::string>> zones_offering(Call call, std::string type);

// Groups and where they go.
struct GroupRequest {
    GroupRequest() = default;
    std::vector<domain::InstanceGroup> groups;
    std::string at = "/instance_groups";  // "" for the one group that is the body
    std::string cluster;                  // "" where it is only being made
    JsonObject hyperpod;                  // SageMaker's description, {} where there is none
    domain::PodNeeds pods;
};
// Their own rules, zones, offerings, quotas over all clusters, addresses of the subnets, pods per node.
Task<Findings> check_instance_groups(Call call, GroupRequest request);

// A subnet and the addresses left in it: all of a /20 where it is only going to be made.
struct Room {
    Room() = default;
    std::string subnet = "a new /20 subnet";
    std::int64_t free = 4091;  // 4,096 without the five that AWS keeps
};
// Of the compute subnet of a zone; `cluster` is "" where that is only being made.
Task<Room> room_in_zone(Call call, std::string cluster, std::string zone, Findings& found);

// Whether a compute subnet of this VPC will lead out, and to S3: warnings, since there are ways that are not
// seen here (a transit gateway, a proxy). Our own VPCs have both.
Task<void> check_way_out(Call call, std::string vpc, Findings& found);

// The training plans that groups name: type, zone, dates and free count.
Task<void> check_training_plans(Call call, GroupRequest request, Findings& found);

// The region of a key's ARN, which must be the one where it is used: keys work in their own region alone.
void check_key_region(Call call, const std::string& key_arn, const std::string& pointer, Findings& found);

// Its subnet_id, and security_group_ids with it.
Task<void> check_given_subnet(Call call, domain::InstanceGroup group, std::string at, Findings& found);

// What a new cluster takes of the account's quotas.
struct ClusterNeeds {
    ClusterNeeds() = default;
    bool network = true;                 // a VPC and an internet gateway
    std::vector<std::string> nat_zones;  // a gateway with its address in each
    std::int64_t roles = 3;
};
Task<void> check_cluster_quotas(Call call, ClusterNeeds needs, Findings& found);
// After all else: found.interfaces against the region's quota.
Task<void> check_interfaces(Call call, Findings& found);
// Which of these roles of AWS's own do not exist yet: AWS makes them with the first object that needs them.
Task<void> check_service_roles(Call call, std::vector<std::string> names, Findings& found);

// Instances wanted over all HyperPod clusters, by type. Of a group with several types its nodes count by what
// they are, and those that are still to come by the type that is tried first.
struct Usage {
    Usage() = default;
    std::map<std::string, std::int64_t> spot, other;
    std::int64_t total = 0;
};
Task<Usage> hyperpod_usage(Call call);

struct QuotaLimit {
    QuotaLimit() = default;
    double value = 0;
    std::string code;
};
using QuotaLimits = std::map<std::string, QuotaLimit>;  // by name
// The row of a type's instances: AWS has one for Spot beside it for some; else both count against the same.
struct TypeQuota {
    TypeQuota() = default;
    std::string name;
    std::int64_t used = 0;
};
TypeQuota type_quota(const QuotaLimits& limits, const Usage& usage, const std::string& type, bool spot);
// "ml.p5.48xlarge for spot cluster usage" → the type, and whether the row is Spot's; "" for other rows.
struct QuotaRow {
    QuotaRow() = default;
    std::string type;
    bool spot = false;
};
QuotaRow quota_row(const std::string& name);
// A plan is refused by what is so now: a quota that was raised a moment ago must count. For a list what is
// kept will do.
enum class Look : std::uint8_t { fresh, kept_will_do };
Task<QuotaLimits> quota_limits(Call call, std::string service, Look look);

// One quota against what is wanted: a row of the plan, and a fault where it is too small.
struct Demand {
    Demand() = default;
    std::string service, name, pointer;
    std::int64_t used = 0, needed = 0;
};
void judge(const QuotaLimits& limits, const Demand& demand, Findings& found);
Task<void> check_group_quotas(Call call, GroupRequest request, Findings& found);

}  // namespace instantstart::app
