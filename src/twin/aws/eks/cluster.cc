// EKS clusters: created, described, deleted.
#include <set>

#include "base/text.h"
#include "twin/aws/eks/addon_objects.h"
#include "twin/aws/eks/operators.h"
#include "twin/aws/eks/state.h"
#include "twin/aws/small/service_balancers.h"

namespace instantstart::twin::eks {

namespace {

using std::chrono::minutes;

std::string hex_upper(State& state) {
    std::string digits = state.world.hex_id("", 32);
    for (char& digit : digits) digit = static_cast<char>(digit >= 'a' ? digit - 'a' + 'A' : digit);
    return digits;
}

// Zones that EKS does not serve with its control plane.
bool unsupported_zone(const std::string& zone_id) {
    return zone_id == "use1-az3" || zone_id == "usw1-az2" || zone_id == "cac1-az3" ||
           zone_id.find("lax") != std::string::npos;
}

std::optional<ServiceError> check_subnets(State& state, const Call& call, std::string& vpc_id) {
    std::set<std::string> zones;
    ec2::Ec2& ec2 = state.ec2();
    const std::vector<std::string> subnets = strings(call.params, "resourcesVpcConfig.subnetIds");
    for (const std::string& id : subnets) {
        const Record* subnet = ec2.subnet(id);
        if (subnet == nullptr)
            return invalid("The subnet ID '" + id +
                           "' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: "
                           "InvalidSubnetID.NotFound)");
        const std::string vpc = base::get_string(subnet->data, "VpcId");
        if (!vpc_id.empty() && vpc != vpc_id) return invalid("Subnets specified must belong to the same VPC");
        vpc_id = vpc;
        if (unsupported_zone(base::get_string(subnet->data, "AvailabilityZoneId"))) {
            const std::string zone = base::get_string(subnet->data, "AvailabilityZone");
            JsonArray valid;
            for (const ec2::Zone& known : ec2.zones()) {
                if (!unsupported_zone(known.id)) valid.emplace_back(known.name);
            }
            ServiceError error = failure(
                "UnsupportedAvailabilityZoneException",
                "Cannot create cluster '" + base::get_string(call.params, "name") + "' because " + zone +
                    ", the targeted availability zone, does not currently have sufficient capacity to "
                    "support the cluster. Retry and choose from these availability zones");
            error.members["clusterName"] = base::get_string(call.params, "name");
            error.members["validZones"] = std::move(valid);
            return error;
        }
        if (ec2.free_addresses(id) < 5) return invalid("Subnet " + id + " has not enough free addresses");
        zones.insert(base::get_string(subnet->data, "AvailabilityZone"));
    }
    if (zones.size() < 2) return invalid("Subnets specified must be in at least two different AZs");
    for (const std::string& id : strings(call.params, "resourcesVpcConfig.securityGroupIds")) {
        const Record* group = ec2.group(id);
        if (group == nullptr || base::get_string(group->data, "VpcId") != vpc_id) {
            return invalid("Security group(s) [" + id + "] are not in the same VPC as the subnets");
        }
    }
    return std::nullopt;
}

std::optional<ServiceError> check_create(State& state, const Call& call, std::string& vpc_id) {
    const std::string name = base::get_string(call.params, "name");
    if (state.clusters.find(name) != nullptr) {
        ServiceError error =
            failure("ResourceInUseException", "Cluster already exists with name: " + name, 409);
        error.members["clusterName"] = name;
        return error;
    }
    const std::string version = base::get_string(call.params, "version", default_kubernetes_version());
    if (!contains(kubernetes_versions(), version))
        return invalid("unsupported Kubernetes version " + version);
    if (auto bad = check_role(state, base::get_string(call.params, "roleArn"), "eks.amazonaws.com"))
        return bad;
    if (static_cast<double>(state.clusters.size()) >= state.world.quota("Clusters").value_or(100)) {
        return failure("ResourceLimitExceededException", "Cluster limit exceeded");
    }
    return check_subnets(state, call, vpc_id);
}

JsonObject vpc_config(const Call& call, const std::string& vpc_id, const std::string& group_id) {
    const JsonObject& given = base::get_object(call.params, "resourcesVpcConfig");
    JsonObject config;
    config["subnetIds"] = base::get_array(given, "subnetIds");
    config["securityGroupIds"] = base::get_array(given, "securityGroupIds");
    config["clusterSecurityGroupId"] = group_id;
    config["vpcId"] = vpc_id;
    config["endpointPublicAccess"] = base::get_bool(given, "endpointPublicAccess", true);
    config["endpointPrivateAccess"] = base::get_bool(given, "endpointPrivateAccess", false);
    const JsonArray& cidrs = base::get_array(given, "publicAccessCidrs");
    config["publicAccessCidrs"] = cidrs.empty() ? JsonArray{"0.0.0.0/0"} : cidrs;
    return config;
}

JsonObject network_config(State& state, const Call& call, const std::string& vpc_id) {
    const std::string range = base::get_string(state.ec2().vpc(vpc_id)->data, "CidrBlock");
    JsonObject config;
    config["serviceIpv4Cidr"] =
        base::get_string(call.params, "kubernetesNetworkConfig.serviceIpv4Cidr",
                         range.starts_with("10.") ? "172.20.0.0/16" : "10.100.0.0/16");
    config["ipFamily"] = base::get_string(call.params, "kubernetesNetworkConfig.ipFamily", "ipv4");
    config["elasticLoadBalancing"] = {{"enabled", false}};
    return config;
}

JsonObject logging_config(const Call& call) {
    const JsonArray& given = base::get_array(call.params, "logging.clusterLogging");
    JsonObject off;
    off["types"] = JsonArray{"api", "audit", "authenticator", "controllerManager", "scheduler"};
    off["enabled"] = false;
    JsonObject config;
    config["clusterLogging"] = given.empty() ? JsonArray{off} : given;
    return config;
}

JsonObject cluster_data(State& state, const Call& call, const std::string& vpc_id,
                        const std::string& group_id) {
    const std::string name = base::get_string(call.params, "name");
    JsonObject data;
    data["name"] = name;
    data["arn"] = state.arn("cluster/" + name);
    data["createdAt"] = state.time();
    data["version"] = base::get_string(call.params, "version", default_kubernetes_version());
    data["roleArn"] = base::get_string(call.params, "roleArn");
    data["resourcesVpcConfig"] = vpc_config(call, vpc_id, group_id);
    data["kubernetesNetworkConfig"] = network_config(state, call, vpc_id);
    data["logging"] = logging_config(call);
    data["status"] = "CREATING";
    data["certificateAuthority"] = JsonObject();
    data["platformVersion"] = "eks.7";
    data["tags"] = base::get_object(call.params, "tags");
    data["accessConfig"] = {{"authenticationMode",
                             base::get_string(call.params, "accessConfig.authenticationMode", "CONFIG_MAP")}};
    data["upgradePolicy"] = {
        {"supportType", base::get_string(call.params, "upgradePolicy.supportType", "EXTENDED")}};
    data["deletionProtection"] = base::get_bool(call.params, "deletionProtection");
    if (call.params.contains("encryptionConfig"))
        data["encryptionConfig"] = base::get_array(call.params, "encryptionConfig");
    return data;
}

// Two interfaces, in two zones, belong to the control plane.
JsonArray make_interfaces(State& state, const JsonObject& data, const std::string& group_id) {
    JsonArray made;
    std::set<std::string> zones;
    for (const std::string& subnet_id : strings(data, "resourcesVpcConfig.subnetIds")) {
        const std::string zone = base::get_string(state.ec2().subnet(subnet_id)->data, "AvailabilityZone");
        if (made.size() == 2 || !zones.insert(zone).second) continue;
        ec2::InterfaceSpec spec;
        spec.subnet_id = subnet_id;
        spec.group_ids = strings(data, "resourcesVpcConfig.securityGroupIds");
        spec.group_ids.insert(spec.group_ids.begin(), group_id);
        spec.description = "Amazon EKS " + base::get_string(data, "name");
        spec.requester = "amazon-eks";
        spec.instance_owner = "amazon-eks";
        if (auto id = state.ec2().create_interface(spec)) made.emplace_back(*id);
    }
    return made;
}

JsonObject shown(const State& state, const Record& cluster) {
    JsonObject data = cluster.data;
    const std::string status = base::get_string(data, "status");
    if (status == "CREATING" || status == "FAILED") return data;
    const std::string issuer = "https://oidc.eks." + state.world.region() + ".amazonaws.com/id/" +
                               base::get_string(cluster.hidden, "oidc");
    data["endpoint"] = state.kube_url + "/clusters/" + cluster.id;
    data["certificateAuthority"] = {{"data", base::base64_encode(state.ca_pem)}};
    data["identity"] = {{"oidc", {{"issuer", issuer}}}};
    data["health"] = {{"issues", JsonArray()}};
    return data;
}

JsonObject answer_of(const State& state, const Record& cluster) {
    JsonObject answer;
    answer["cluster"] = shown(state, cluster);
    return answer;
}

Reply create_cluster(State& state, const Call& call) {
    const std::string name = base::get_string(call.params, "name");
    const std::string token = base::get_string(call.params, "clientRequestToken");
    const auto earlier = state.tokens.find("cluster/" + token);
    if (!token.empty() && earlier != state.tokens.end() && earlier->second == name) {
        if (const Record* cluster = state.clusters.find(name)) return answer_of(state, *cluster);
    }
    std::string vpc_id;
    if (auto bad = check_create(state, call, vpc_id)) return *bad;
    JsonArray group_tags;
    put_tag(group_tags, "Name", "eks-cluster-sg-" + name);
    put_tag(group_tags, "aws:eks:cluster-name", name);
    put_tag(group_tags, "kubernetes.io/cluster/" + name, "owned");
    const std::string group_id = state.ec2().create_group(
        vpc_id, "eks-cluster-sg-" + name + "-" + std::to_string(stable_hash(name) % 1000000000),
        "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as "
        "well as any managed workloads.",
        std::move(group_tags));
    Record& cluster =
        state.clusters.add(name, cluster_data(state, call, vpc_id, group_id), state.world.now());
    cluster.hidden["interfaces"] = make_interfaces(state, cluster.data, group_id);
    cluster.hidden["oidc"] = hex_upper(state);
    cluster.hidden["bootstrap_addons"] = base::get_bool(call.params, "bootstrapSelfManagedAddons", true);
    if (base::get_bool(call.params, "accessConfig.bootstrapClusterCreatorAdminPermissions", true)) {
        const std::string principal = call.caller.role_arn.empty() ? call.caller.arn : call.caller.role_arn;
        cluster.hidden["creator"] = principal;
        if (base::get_string(cluster.data, "accessConfig.authenticationMode") != "CONFIG_MAP") {
            add_policy(state, make_entry(state, name, principal, "STANDARD", JsonArray()), kAdminPolicy,
                       {{"type", "cluster"}});
        }
    }
    if (!token.empty()) state.tokens["cluster/" + token] = name;
    state.world.iam().ensure_service_linked_role("eks.amazonaws.com", "AWSServiceRoleForAmazonEKS");
    state.world.after(state.world.about(minutes(9)), "eks", "cluster_ready",
                      {{"name", name}, {"oidc", cluster.hidden["oidc"]}});
    return answer_of(state, cluster);
}

Reply describe_cluster(State& state, const Call& call) {
    const Found found = require_cluster(state, base::get_string(call.params, "name"));
    if (found.record == nullptr) return found.error;
    if (!call.shows(found.record->created))
        return missing("No cluster found for name: " + found.record->id + ".");
    return answer_of(state, *found.record);
}

Reply list_clusters(State& state, const Call& call) {
    JsonArray names;
    for (const auto& [name, cluster] : state.clusters) {
        if (call.shows(cluster.created)) names.emplace_back(name);
    }
    return listed(call, "clusters", names);
}

bool has_of(const Table& table, const std::string& cluster) {
    for (const auto& [key, record] : table) {
        if (base::get_string(record.data, "clusterName") == cluster) return true;
    }
    return false;
}

Reply delete_cluster(State& state, const Call& call) {
    const std::string name = base::get_string(call.params, "name");
    const Found found = require_cluster(state, name);
    if (found.record == nullptr) return found.error;
    const std::string status = base::get_string(found.record->data, "status");
    if (base::get_bool(found.record->data, "deletionProtection")) {
        return failure("InvalidRequestException", "Cluster " + name + " has deletion protection enabled");
    }
    if (has_of(state.nodegroups, name)) {
        ServiceError error = failure("ResourceInUseException", "Cluster has nodegroups attached", 409);
        error.members["clusterName"] = name;
        return error;
    }
    if (status == "CREATING" || status == "UPDATING") {
        return failure("ResourceInUseException",
                       "Cannot delete because cluster " + name + " currently has an update in progress", 409);
    }
    if (status != "DELETING") {
        found.record->data["status"] = "DELETING";
        state.world.after(state.world.about(minutes(4)), "eks", "cluster_gone",
                          {{"name", name}, {"oidc", found.record->hidden["oidc"]}});
    }
    return answer_of(state, *found.record);
}

void erase_of(Table& table, const std::string& cluster) {
    std::vector<std::string> keys;
    for (const auto& [key, record] : table) {
        if (base::get_string(record.data, "clusterName") == cluster ||
            base::get_string(record.hidden, "cluster") == cluster)
            keys.push_back(key);
    }
    for (const std::string& key : keys) table.erase(key);
}

void cluster_gone(State& state, Record& cluster) {
    const std::string name = cluster.id;
    for (const std::string& interface : strings(cluster.hidden, "interfaces"))
        state.ec2().delete_interface(interface);
    const std::string group = base::get_string(cluster.data, "resourcesVpcConfig.clusterSecurityGroupId");
    // As with AWS: a group that others still name in rules or wear on interfaces stays behind.
    Call remove;
    remove.service = "ec2";
    remove.operation = "DeleteSecurityGroup";
    remove.params["GroupId"] = group;
    static_cast<void>(state.ec2().handle(remove));
    for (Table* table :
         {&state.addons, &state.updates, &state.associations, &state.nodegroups, &state.entries})
        erase_of(*table, name);
    state.host.remove(name);
    state.clusters.erase(name);
}

}  // namespace

void cluster_timer(State& state, const std::string& kind, const JsonObject& payload) {
    Record* cluster = state.clusters.find(base::get_string(payload, "name"));
    // A timer of an earlier cluster of the name is none of ours.
    if (cluster == nullptr || base::get_string(cluster->hidden, "oidc") != base::get_string(payload, "oidc"))
        return;
    if (kind == "cluster_ready" && base::get_string(cluster->data, "status") == "CREATING") {
        cluster->data["status"] = "ACTIVE";
        make_kube_cluster(state, *cluster);
        if (base::get_bool(cluster->hidden, "bootstrap_addons")) {
            for (const char* addon : {"vpc-cni", "kube-proxy", "coredns"})
                apply_addon(state, *cluster, addon, "", JsonObject());
        }
    }
    if (kind == "cluster_gone" && base::get_string(cluster->data, "status") == "DELETING")
        cluster_gone(state, *cluster);
}

void make_kube_cluster(State& state, const Record& cluster) {
    kube::ClusterConfig config;
    config.name = cluster.id;
    config.version = base::get_string(cluster.data, "version");
    const Record* vpc = state.ec2().vpc(base::get_string(cluster.data, "resourcesVpcConfig.vpcId"));
    if (vpc != nullptr) config.cluster_cidr = base::get_string(vpc->data, "CidrBlock");
    config.service_cidr = base::get_string(cluster.data, "kubernetesNetworkConfig.serviceIpv4Cidr");
    config.speed = state.world.speed();
    State* const states = &state;
    config.authenticate = [states, name = cluster.id](std::string_view token) {
        return authenticate(*states, name, token);
    };
    if (state.host.find(cluster.id) != nullptr) return;
    state.host.create(std::move(config));
    auto* balancers = dynamic_cast<BalancerWatch*>(state.world.service("elbv2"));
    if (balancers != nullptr) balancers->watch(state.host, cluster.id);
    watch_operators(state, cluster.id);
}

void add_cluster_operations(Operations& operations) {
    operations["CreateCluster"] = create_cluster;
    operations["DescribeCluster"] = describe_cluster;
    operations["ListClusters"] = list_clusters;
    operations["DeleteCluster"] = delete_cluster;
}

}  // namespace instantstart::twin::eks
