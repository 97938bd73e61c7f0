// The policies that AWS brings to every account: those that HyperPod, EKS and their nodes use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace instantstart::twin::iam {

struct ManagedPolicy {
    ManagedPolicy() = default;
    std::string name, path;            // "AmazonEKSClusterPolicy", "/"
    std::vector<std::string> actions;  // what its document allows, on "*"
    std::string arn() const;
    std::string document() const;
};

const std::vector<ManagedPolicy>& managed_policies();
const ManagedPolicy* find_managed_policy(std::string_view arn);

}  // namespace instantstart::twin::iam
