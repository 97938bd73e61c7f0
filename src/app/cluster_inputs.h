// Inputs that several cluster operations share, and what is known of their fields.
#pragma once

#include <boost/describe/class.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/operation.h"
#include "domain/instance_group.h"
#include "flows/clusters.h"

namespace instantstart::app {

struct NetworkInput {
    NetworkInput() = default;
    std::optional<std::string> vpc_cidr;
    std::optional<std::vector<std::string>> zones;
    std::optional<std::vector<std::string>> api_cidrs;
    std::optional<std::string> nat;
    std::optional<std::string> vpc_id;
    std::optional<std::vector<std::string>> subnet_ids;
};
BOOST_DESCRIBE_STRUCT(NetworkInput, (), (vpc_cidr, zones, api_cidrs, nat, vpc_id, subnet_ids))

struct ClusterInput {
    ClusterInput() = default;
    std::string name;
    std::optional<std::string> kubernetes_version;
    std::optional<NetworkInput> network;
    std::optional<std::vector<std::string>> admin_principals;
    std::optional<std::string> permissions_boundary_arn;
    std::optional<std::string> kms_key_arn;
    std::optional<std::vector<std::string>> log_types;
    std::optional<std::map<std::string, std::string>> tags;
};
BOOST_DESCRIBE_STRUCT(ClusterInput, (),
                      (name, kubernetes_version, network, admin_principals, permissions_boundary_arn,
                       kms_key_arn, log_types, tags))

struct StorageInput {
    StorageInput() = default;
    std::string name = "shared";
    std::string kind;
    std::optional<std::string> bucket;
    std::optional<std::string> file_system_id;
    std::string namespace_ = "default";
};

BOOST_DESCRIBE_STRUCT(StorageInput, (), (name, kind, bucket, file_system_id, namespace_))

std::vector<Field> cluster_fields();
std::vector<Field> storage_fields(const std::string& prefix);
// Fields of an instance group; `prefix` "instance_groups." for a list's items, "" for the body itself.
std::vector<Field> group_fields(const std::string& prefix);
Field cluster_field();  // the path parameter `cluster`
Field group_field();    // the path parameter `group`
std::vector<Field> joined(std::vector<std::vector<Field>> lists);

// The cluster of a query or mutation, and the parameters that all flows in it share.
struct Target {
    Target() = default;
    flows::ClusterRef ref;
    JsonObject eks;       // EKS's description
    JsonObject hyperpod;  // SageMaker's, {} where there is none
};
Task<Target> find_target(Call call, std::string cluster);
// {cluster, eks_cluster, region, account, partition, principals, hyperpod_name, bucket}
Task<JsonObject> base_params(Call call, Target target);
// Refuses where IAM does not show our own role: EKS gives access to a role by its ARN with the path, which
// cannot be guessed.
Task<void> check_own_role(Call call);
// What was asked for when the cluster was made and holds for all that is made later: the user's tags, the
// KMS key, the permissions boundary. Read from the cluster itself.
Task<void> add_cluster_settings(Call call, Target target, JsonObject& params);

}  // namespace instantstart::app
