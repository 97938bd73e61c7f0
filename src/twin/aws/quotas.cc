#include "twin/aws/quotas.h"

#include <algorithm>

#include "base/digest.h"
#include "domain/instance_type.h"

namespace instantstart::twin {

namespace {

struct FixedRow {
    const char* service;
    const char* code;
    const char* name;
    double value;
};

constexpr FixedRow kFixed[] = {
    {"vpc", "L-F678F1CE", "VPCs per Region", 5},
    {"vpc", "L-A4707A72", "Internet gateways per Region", 5},
    {"vpc", "L-FE5A380F", "NAT gateways per Availability Zone", 5},
    {"vpc", "L-DF5E4CA3", "Network interfaces per Region", 5000},
    {"vpc", "L-407747CB", "Subnets per VPC", 200},
    {"vpc", "L-589F43AA", "Route tables per VPC", 200},
    {"vpc", "L-93826ACB", "Routes per route table", 500},
    {"vpc", "L-83CA0A9D", "IPv4 CIDR blocks per VPC", 5},
    {"vpc", "L-E79EC296", "VPC security groups per Region", 2500},
    {"vpc", "L-0EA8095F", "Inbound or outbound rules per security group", 60},
    {"vpc", "L-2AFB9258", "Security groups per network interface", 5},
    {"vpc", "L-1B52E74A", "Gateway VPC endpoints per Region", 20},
    {"vpc", "L-29B6F2EB", "Interface VPC endpoints per VPC", 50},
    {"ec2", "L-0263D0A3", "EC2-VPC Elastic IPs", 5},
    {"ec2", "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 256},
    {"ec2", "L-DB2E81BA", "Running On-Demand G and VT instances", 256},
    {"ec2", "L-417A185B", "Running On-Demand P instances", 384},
    {"ec2", "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 256},
    {"ec2", "L-3819A6DF", "All G and VT Spot Instance Requests", 256},
    {"eks", "L-1194D53C", "Clusters", 100},
    {"eks", "L-6D54EA21", "Managed node groups per cluster", 30},
    {"eks", "L-BD136A63", "Nodes per managed node group", 450},
    {"iam", "L-FE177D64", "Roles per account", 1000},
    {"iam", "L-858F3967", "OpenId connect providers per account", 100},
    {"iam", "L-E95E4862", "Customer managed policies per account", 1500},
    {"iam", "L-0DA4ABF3", "Managed policies per role", 10},
    {"iam", "L-6E65F664", "Instance profiles per account", 1000},
    {"s3", "L-DC2B2D3D", "General purpose buckets", 10000},
    {"elasticloadbalancing", "L-53DA6B97", "Application Load Balancers per Region", 50},
    {"elasticloadbalancing", "L-69A177A2", "Network Load Balancers per Region", 50},
    {"sagemaker", "L-8762A75F", "Maximum number instances allowed per SageMaker HyperPod cluster", 512},
    {"sagemaker", "L-5AEA6D19", "Total number of instances allowed across SageMaker HyperPod clusters", 2048},
    {"sagemaker", "L-D7DC8C19", "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
     16384},
    {"sagemaker", "L-9E1D6F2B", "Total number of SageMaker HyperPod clusters", 100},
};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"EKS Clusters", "Clusters"},
    {"EKS clusters", "Clusters"},
    {"IAM roles", "Roles per account"},
    {"OIDC providers", "OpenId connect providers per account"},
    {"Maximum number of instances allowed per SageMaker HyperPod cluster",
     "Maximum number instances allowed per SageMaker HyperPod cluster"},
};

std::string service_title(std::string_view code) {
    if (code == "vpc") return "Amazon Virtual Private Cloud (Amazon VPC)";
    if (code == "ec2") return "Amazon Elastic Compute Cloud (Amazon EC2)";
    if (code == "eks") return "Amazon Elastic Kubernetes Service (Amazon EKS)";
    if (code == "iam") return "AWS Identity and Access Management (IAM)";
    if (code == "s3") return "Amazon Simple Storage Service (Amazon S3)";
    if (code == "elasticloadbalancing") return "Elastic Load Balancing (ELB)";
    return "Amazon SageMaker";
}

std::string code_of(std::string_view name) {
    std::string digits = base::sha256_hex(name).substr(0, 8);
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c; });
    return "L-" + digits;
}

}  // namespace

Quotas::Quotas(bool zero_accelerated) {
    for (const FixedRow& fixed : kFixed) {
        QuotaRow row;
        row.service_code = fixed.service;
        row.code = fixed.code;
        row.name = fixed.name;
        row.standard = fixed.value;
        row.global = row.service_code == "iam";
        rows_.push_back(std::move(row));
    }
    for (const domain::InstanceType& type : domain::instance_types()) {
        QuotaRow row;
        row.service_code = "sagemaker";
        row.name = type.name + " for cluster usage";
        row.code = code_of(row.name);
        row.standard = type.accelerators > 0 && zero_accelerated ? 0 : 64;
        rows_.push_back(std::move(row));
    }
    for (QuotaRow& row : rows_) row.service_name = service_title(row.service_code);
}

const QuotaRow* Quotas::find(std::string_view name) const {
    for (const QuotaRow& row : rows_) {
        if (row.name == name) return &row;
    }
    // Some rows have names that say little without their service; callers of the world may use fuller ones.
    for (const auto& [alias, real] : kAliases) {
        if (name == alias) return find(real);
    }
    return nullptr;
}

std::optional<double> Quotas::value(std::string_view name) const {
    const QuotaRow* row = find(name);
    const auto set = values_.find(row != nullptr ? std::string_view(row->name) : name);
    if (set != values_.end()) return set->second;
    if (row == nullptr) return std::nullopt;
    return row->standard;
}

void Quotas::set(std::string_view name, double value) {
    const QuotaRow* row = find(name);
    values_[row != nullptr ? row->name : std::string(name)] = value;
}

base::JsonValue Quotas::save() const {
    base::JsonObject out;
    for (const auto& [name, value] : values_) out[name] = value;
    return out;
}

void Quotas::load(const base::JsonValue& state) {
    values_.clear();
    if (!state.is_object()) return;
    for (const auto& item : state.as_object()) {
        if (item.value().is_number()) values_[std::string(item.key())] = item.value().to_number<double>();
    }
}

}  // namespace instantstart::twin
