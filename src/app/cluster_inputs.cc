#include "app/cluster_inputs.h"

#include "domain/names.h"

namespace instantstart::app {

namespace {

// ARNs by service and kind: what AWS would refuse only minutes later, or store without effect.
constexpr const char* kKeyArn = "^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/[A-Za-z0-9/_-]+$";
constexpr const char* kRoleArn = "^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$";
constexpr const char* kPrincipalArn = "^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]+$";
constexpr const char* kBoundaryArn = "^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+$";
constexpr const char* kArn = "^arn:[^:]+:[a-z0-9-]+:[^:]*:[^:]*:.+$";
constexpr const char* kRange = "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$";

}  // namespace

std::vector<Field> joined(std::vector<std::vector<Field>> lists) {
    std::vector<Field> all;
    for (auto& list : lists) {
        for (auto& field : list) all.push_back(std::move(field));
    }
    return all;
}

Field cluster_field() {
    return Field("cluster", "The cluster's name, or \"active\" for the caller's active cluster.")
        .length(1, 100)
        .like("demo");
}

Field group_field() {
    return Field("group", "Name of the instance group.").length(1, 63).like("workers");
}

std::vector<Field> cluster_fields() {
    return {
        Field("name", "Name of the cluster: lower-case letters, digits and hyphens, at most 28.")
            .matches(std::string(domain::kClusterNamePattern))
            .like("demo"),
        Field("kubernetes_version",
              "Kubernetes version, such as 1.33; where left out, the newest that HyperPod supports.")
            .matches("^1\\.[0-9]{2}$")
            .like("1.33"),
        Field("network", "The cluster's network; where left out a VPC of its own is made."),
        Field("network.vpc_cidr",
              "Range of the new VPC, /16 to /19; where left out the first free 10.N.0.0/16.")
            .matches(kRange)
            .like("10.0.0.0/16"),
        Field("network.zones", "The two zones of the control plane.")
            .length(2, 2)
            .like(JsonArray{"us-west-2a", "us-west-2b"}),
        Field("network.api_cidrs", "Ranges that may reach the public API endpoint; where left out, any.")
            .rare()
            .length(1, 40)
            .matches(kRange)
            .like(JsonArray{"203.0.113.0/24"}),
        Field("network.nat", "NAT gateways: one for all, one per zone, or none.")
            .one_of({"single", "per_zone", "none"})
            .like("single"),
        Field("network.vpc_id", "An existing VPC to use instead of a new one.")
            .rare()
            .matches("^vpc-[0-9a-f]{8,17}$")
            .like("vpc-0123456789abcdef0"),
        Field("network.subnet_ids", "Existing subnets in two zones, together with vpc_id.")
            .rare()
            .length(2, 16)
            .matches("^subnet-[0-9a-f]{8,17}$")
            .like(JsonArray{"subnet-0123456789abcdef0", "subnet-0123456789abcdef1"}),
        Field("admin_principals", "ARNs of further IAM roles or users that become cluster administrators.")
            .length(0, 20)
            .matches(kPrincipalArn)
            .like(JsonArray{"arn:aws:iam::111122223333:role/ops"}),
        Field("permissions_boundary_arn", "Permissions boundary that every role made here gets.")
            .matches(kBoundaryArn)
            .like("arn:aws:iam::111122223333:policy/boundary"),
        Field("kms_key_arn", "KMS key for Kubernetes secrets and the bucket.")
            .matches(kKeyArn)
            .like("arn:aws:kms:us-west-2:111122223333:key/1"),
        Field("log_types", "Control-plane logs to write to CloudWatch.")
            .length(1, 5)
            .one_of({"api", "audit", "authenticator", "controllerManager", "scheduler"})
            .like(JsonArray{"audit"}),
        Field("tags", "Further tags for everything that is made.")
            .length(0, 40)
            .like(JsonObject{{"team", "research"}}),
    };
}

std::vector<Field> storage_fields(const std::string& prefix) {
    return {
        Field(prefix + "name", "Name of the storage and of its claim.")
            .matches("^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$")
            .defaults("shared")
            .like("shared"),
        Field(prefix + "kind", "Kind of storage: s3 mounts a bucket, fsx_lustre an existing file system.")
            .one_of({"s3", "fsx_lustre"})
            .like("s3"),
        Field(prefix + "bucket",
              "An existing bucket of this account; where left out the cluster's own is made.")
            .matches("^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
            .like("sagemaker-data"),
        Field(prefix + "file_system_id",
              "With fsx_lustre: an existing file system in the cluster's VPC, in a zone of its groups.")
            .rare()
            .matches("^fs-[0-9a-f]{8,17}$")
            .like("fs-0123456789abcdef0"),
        Field(prefix + "namespace", "Kubernetes namespace of the claim.")
            .rare()
            .matches("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
            .defaults("default")
            .like("default"),
    };
}

namespace {

std::vector<Field> group_capacity_fields(const std::string& at) {
    return {
        Field(at + "name", "Name of the instance group.")
            .matches("^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$")
            .like("workers"),
        Field(at + "instance_type", "Instance type with its ml. prefix; or give instance_types.")
            .length(1, 64)
            .like("ml.g5.12xlarge"),
        Field(at + "instance_types", "Instance types in order of preference, instead of one.")
            .length(1, 20)
            .like(JsonArray{"ml.g5.12xlarge"}),
        Field(at + "count", "How many instances.").range(0, 6758).like(2),
        Field(at + "zone", "Availability zone of the instances (zone_list names them).")
            .length(1, 32)
            .like("us-west-2a"),
        Field(at + "min_count", "Start only with at least so many instances.").rare().range(0, 6758).like(1),
        Field(at + "capacity", "How the instances are bought; on demand where left out."),
        Field(at + "capacity.type", "Kind of capacity.")
            .one_of({"on_demand", "spot", "training_plan"})
            .defaults("on_demand")
            .like("on_demand"),
        Field(at + "capacity.training_plan_arn", "The training plan whose capacity is used.")
            .length(50, 2048)
            .matches(kArn)
            .like("arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan"),
        Field(at + "interface_type", "Network interfaces of the further cards: EFA with IP, or EFA alone.")
            .one_of({"efa", "efa-only"})
            .like("efa"),
        Field(at + "autoscaled", "Managed autoscaling sets the count (which must be 0).").like(false),
    };
}

std::vector<Field> group_node_fields(const std::string& at) {
    return {
        Field(at + "volume_size_gib", "Size of an extra EBS volume on each instance.")
            .rare()
            .range(1, 16384)
            .like(500),
        Field(at + "threads_per_core", "Threads per core: 1, or 2 for all virtual CPUs.")
            .rare()
            .range(1, 2)
            .like(2),
        Field(at + "deep_health_checks", "Deep health checks that each new instance passes first.")
            .length(1, 2)
            .one_of({"InstanceStress", "InstanceConnectivity"})
            .like(JsonArray{"InstanceStress"}),
        Field(at + "labels", "Kubernetes labels of the nodes.")
            .length(0, 50)
            .like(JsonObject{{"team", "research"}}),
        Field(at + "taints", "Kubernetes taints of the nodes.").length(0, 50),
        Field(at + "taints.key", "Key of the taint.").length(1, 317).like("dedicated"),
        Field(at + "taints.value", "Value of the taint.").length(0, 63).like("training"),
        Field(at + "taints.effect", "What the taint does.")
            .one_of({"NoSchedule", "PreferNoSchedule", "NoExecute"})
            .like("NoSchedule"),
        Field(at + "subnet_id", "An existing subnet in the zone, instead of the /20 that is provided.")
            .rare()
            .matches("^subnet-[0-9a-f]{8,17}$")
            .like("subnet-0123456789abcdef0"),
        Field(at + "security_group_ids", "Security groups, together with subnet_id.")
            .rare()
            .length(1, 5)
            .matches("^sg-[0-9a-f]{8,17}$")
            .like(JsonArray{"sg-0123456789abcdef0"}),
        Field(at + "lifecycle_script",
              "S3 URI of a script for new nodes, in a bucket sagemaker-…; a harmless one where left out.")
            .rare()
            .length(1, 1024)
            .like("s3://sagemaker-data/scripts/on_create.sh"),
        Field(at + "image_id", "A custom AMI of this account.")
            .rare()
            .matches("^ami-[0-9a-f]{8,17}$")
            .like("ami-0123456789abcdef0"),
        Field(at + "kms_key_arn", "KMS key of the extra volume.")
            .rare()
            .matches(kKeyArn)
            .like("arn:aws:kms:us-west-2:111122223333:key/1"),
        Field(at + "execution_role_arn", "An existing role for the nodes, instead of the one that is made.")
            .rare()
            .matches(kRoleArn)
            .like("arn:aws:iam::111122223333:role/nodes"),
    };
}

}  // namespace

std::vector<Field> group_fields(const std::string& prefix) {
    std::vector<Field> list;
    if (!prefix.empty())
        list.push_back(Field(prefix.substr(0, prefix.size() - 1), "The instance groups.").length(0, 100));
    return joined({std::move(list), group_capacity_fields(prefix), group_node_fields(prefix)});
}

Task<Target> find_target(Call call, std::string cluster) {
    Target target;
    auto& clusters = call.services->clusters;
    CO_TRY(target.ref, co_await clusters.find(call.context, cluster));
    CO_TRY(target.eks, co_await clusters.eks(call.context, target.ref.eks_name));
    CO_TRY(target.hyperpod, co_await clusters.hyperpod(call.context, target.ref));
    co_return target;
}

Task<JsonObject> base_params(Call call, Target target) {
    CO_TRY(auto who, co_await call.services->clusters.identity(call.context));
    const auto region = call.services->aws.region();
    const auto running = base::get_string(target.hyperpod, "ClusterName");
    co_return JsonObject{{"cluster", target.ref.name},
                         {"eks_cluster", target.ref.eks_name},
                         {"region", region},
                         {"account", who.account},
                         {"partition", call.services->aws.partition()},
                         {"principals", JsonArray{JsonValue(who.role_arn)}},
                         {"hyperpod_name", running.empty() ? target.ref.name : running},
                         {"imported", target.ref.imported},
                         {"bucket", domain::bucket_name(target.ref.name, who.account, region)}};
}

Task<void> check_own_role(Call call) {
    CO_TRY(auto who, co_await call.services->clusters.identity(call.context));
    if (who.role_refusal.empty()) co_return base::ok();
    co_return base::Error(base::ErrorKind::denied, "AccessDenied",
                          "the path of this product's own role is not known: " + who.role_refusal);
}

Task<void> add_cluster_settings(Call call, Target target, JsonObject& params) {
    JsonObject tags;
    for (const auto& [key, value] : base::get_object(target.eks, "tags")) {
        const bool own = key.starts_with("instantstart:") || key.starts_with("aws:");
        if (!own && !target.ref.imported) tags[key] = value;
    }
    if (!tags.empty()) params["tags"] = std::move(tags);
    if (target.ref.imported) co_return base::ok();
    const auto& encryption = base::get_array(target.eks, "encryptionConfig");
    const auto key = encryption.empty() ? "" : base::get_string(encryption.front(), "provider.keyArn");
    if (!key.empty()) params["kms_key_arn"] = key;
    const auto arn = base::get_string(target.eks, "roleArn");
    JsonObject parameters{{"RoleName", arn.substr(arn.rfind('/') + 1)}};
    CO_TRY(auto role,
           co_await call.services->aws.call(call.context, "iam", "GetRole", std::move(parameters)));
    const auto boundary = base::get_string(role, "Role.PermissionsBoundary.PermissionsBoundaryArn");
    if (!boundary.empty()) params["permissions_boundary_arn"] = boundary;
    co_return base::ok();
}

}  // namespace instantstart::app
