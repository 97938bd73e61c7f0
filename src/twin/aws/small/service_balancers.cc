#include "twin/aws/small/service_balancers.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "twin/kube/controllers/env.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin {

namespace {

using std::chrono::seconds;

const kube::Kind kServices("", "services"), kDeployments("apps", "deployments");
constexpr std::string_view kFinalizer = "service.kubernetes.io/load-balancer-cleanup";
constexpr std::string_view kNetworkFinalizer = "service.k8s.aws/resources";
constexpr const char* kController = "aws-load-balancer-controller";
constexpr const char* kNetworkClass = "service.k8s.aws/nlb";
constexpr const char* kPrefix = "service.beta.kubernetes.io/aws-load-balancer-";

std::string note(const JsonObject& service, std::string_view name) {
    const auto* value =
        base::get_object(service, "metadata.annotations").if_contains(kPrefix + std::string(name));
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool wants_balancer(const JsonObject& service) {
    return base::get_string(service, "spec.type") == "LoadBalancer" && !kube::is_terminating(service);
}

bool is_held(const JsonObject& service) {
    return kube::controllers::has_finalizer(service, kFinalizer) ||
           kube::controllers::has_finalizer(service, kNetworkFinalizer);
}

// The AWS load balancer controller serves: a pod of it is available.
bool has_network_controller(kube::Cluster& cluster) {
    const auto all = cluster.objects().list(kDeployments);
    return std::any_of(all.begin(), all.end(), [](const kube::ObjectPtr& one) {
        return kube::name_of(*one).find(kController) != std::string::npos &&
               base::get_int(*one, "status.availableReplicas") > 0;
    });
}

enum class Maker : std::uint8_t { classic, network, nobody };

// Who makes it: the class or the annotation say so; without either the controller's webhook takes it.
Maker maker_of(kube::Cluster& cluster, const JsonObject& service) {
    const auto asked_class = base::get_string(service, "spec.loadBalancerClass");
    const auto type = note(service, "type");
    const bool asks_network = asked_class == kNetworkClass || type == "external" || type == "nlb-ip";
    if (!asked_class.empty() && asked_class != kNetworkClass) return Maker::nobody;
    const bool here = has_network_controller(cluster);
    if (asks_network) return here ? Maker::network : Maker::nobody;
    return here && type.empty() ? Maker::network : Maker::classic;
}

// "k8s-default-web-0123456789", at most 32 characters.
std::string network_name(const std::string& cluster, const JsonObject& service) {
    auto given = note(service, "name");
    if (!given.empty()) return given;
    const auto plain = [](const std::string& text) {
        std::string out;
        for (const char c : text) {
            if (c != '-' && out.size() < 8) out += c;
        }
        return out;
    };
    return "k8s-" + plain(kube::namespace_of(service)) + "-" + plain(kube::name_of(service)) + "-" +
           base::sha256_hex(cluster + base::get_string(service, "metadata.uid")).substr(0, 10);
}

JsonArray tags_of(const std::string& cluster, const std::string& stack) {
    return {JsonObject{{"Key", "elbv2.k8s.aws/cluster"}, {"Value", cluster}},
            JsonObject{{"Key", "service.k8s.aws/stack"}, {"Value", stack}},
            JsonObject{{"Key", "service.k8s.aws/resource"}, {"Value", "LoadBalancer"}}};
}

}  // namespace

void ServiceBalancers::watch(kube::ClusterHost& host, const std::string& name) {
    host_ = &host;
    kube::Cluster* cluster = host.find(name);
    if (cluster == nullptr) return;
    subscriptions_[name] =
        cluster->objects().subscribe([this, name](const kube::Change& change) { changed(name, change); });
}

void ServiceBalancers::changed(const std::string& cluster, const kube::Change& change) {
    const JsonObject& object = *change.object;
    if (change.kind == kServices && change.type != kube::Change::Type::deleted) {
        const bool served = base::find_path(object, "status.loadBalancer.ingress.0") != nullptr;
        const bool wants = wants_balancer(object);
        if (wants ? served : !is_held(object)) return;
        Place place;
        place.cluster = cluster;
        place.ns = kube::namespace_of(object);
        place.name = kube::name_of(object);
        look_later(place, seconds(wants ? 3 : 10));
    } else if (change.kind == kDeployments && kube::name_of(object).find(kController) != std::string::npos) {
        // Services that have waited for the controller.
        for (const auto& service : host_->find(cluster)->objects().list(kServices)) {
            if (!wants_balancer(*service) ||
                base::find_path(*service, "status.loadBalancer.ingress.0") != nullptr)
                continue;
            Place place;
            place.cluster = cluster;
            place.ns = kube::namespace_of(*service);
            place.name = kube::name_of(*service);
            look_later(place, seconds(3));
        }
    }
}

void ServiceBalancers::look_later(const Place& place, base::Duration delay) {
    if (!waiting_.insert(place.cluster + "/" + place.ns + "/" + place.name).second) return;
    world_.after(world_.about(delay), "elbv2", "service",
                 JsonObject{{"cluster", place.cluster}, {"namespace", place.ns}, {"name", place.name}});
}

void ServiceBalancers::due(const JsonObject& payload) {
    Place place;
    place.cluster = base::get_string(payload, "cluster");
    place.ns = base::get_string(payload, "namespace");
    place.name = base::get_string(payload, "name");
    waiting_.erase(place.cluster + "/" + place.ns + "/" + place.name);
    kube::Cluster* cluster = host_ == nullptr ? nullptr : host_->find(place.cluster);
    if (cluster == nullptr) return;
    const auto service = cluster->objects().get(kServices, place.ns, place.name);
    if (service == nullptr) return;
    if (wants_balancer(*service)) {
        ensure(*cluster, place, *service);
    } else if (is_held(*service)) {
        remove(*cluster, place, *service);
    }
}

void ServiceBalancers::tell(kube::Cluster& cluster, const JsonObject& service, std::string_view type,
                            std::string_view reason, const std::string& message, std::string_view component) {
    kube::controllers::Events events(cluster.objects(), world_.clock());
    events.write(service, type, reason, message, component);
}

base::Result<JsonObject> ServiceBalancers::ask(Service& service, const char* operation, JsonObject params) {
    Call call;
    call.service = service.name();
    call.operation = operation;
    call.region = world_.region();
    call.params = std::move(params);
    call.now = world_.now();
    auto reply = service.handle(call);
    if (auto* answer = std::get_if<JsonObject>(&reply)) return std::move(*answer);
    const auto& error = std::get<ServiceError>(reply);
    return base::Error(base::ErrorKind::invalid, error.code, error.message);
}

// The subnets of the cluster's network that carry the tag for this kind of balancer.
base::Result<JsonArray> ServiceBalancers::subnets_of(const Place& place, bool internal) {
    Service* eks = world_.service("eks");
    Service* ec2 = world_.service("ec2");
    if (eks == nullptr || ec2 == nullptr) return JsonArray();
    TRY(const auto described, ask(*eks, "DescribeCluster", JsonObject{{"name", place.cluster}}));
    const auto vpc = base::get_string(described, "cluster.resourcesVpcConfig.vpcId");
    const std::string tag = internal ? "kubernetes.io/role/internal-elb" : "kubernetes.io/role/elb";
    const JsonArray filters{JsonObject{{"Name", "vpc-id"}, {"Values", JsonArray{JsonValue(vpc)}}},
                            JsonObject{{"Name", "tag-key"}, {"Values", JsonArray{JsonValue(tag)}}}};
    TRY(const auto listed, ask(*ec2, "DescribeSubnets", JsonObject{{"Filters", filters}}));
    std::map<std::string, std::string> by_zone;  // one of each zone
    for (const auto& subnet : base::get_array(listed, "Subnets"))
        by_zone.emplace(base::get_string(subnet, "AvailabilityZone"), base::get_string(subnet, "SubnetId"));
    JsonArray out;
    for (const auto& [zone, id] : by_zone) out.emplace_back(id);
    if (!out.empty()) return out;
    return base::Error(base::ErrorKind::invalid, "FailedBuildModel",
                       "Failed build model due to unable to resolve at least one subnet (0 match VPC and "
                       "tags: [" +
                           tag + "])");
}

base::Result<std::string> ServiceBalancers::network_balancer(const Place& place, const JsonObject& service) {
    const auto name = network_name(place.cluster, service);
    const auto known =
        ask(elbv2_, "DescribeLoadBalancers", JsonObject{{"Names", JsonArray{JsonValue(name)}}});
    if (known) return base::get_string(*known, "LoadBalancers.0.DNSName");
    const auto scheme = note(service, "scheme");
    const bool internal = scheme != "internet-facing";
    TRY(const auto subnets, subnets_of(place, internal));
    const auto tags = tags_of(place.cluster, place.ns + "/" + place.name);
    TRY(const auto made, ask(elbv2_, "CreateLoadBalancer",
                             JsonObject{{"Name", name},
                                        {"Type", "network"},
                                        {"Scheme", internal ? "internal" : "internet-facing"},
                                        {"Subnets", subnets},
                                        {"Tags", tags}}));
    for (const auto& port : base::get_array(service, "spec.ports")) {
        const auto number = base::get_int(port, "port");
        const auto protocol = base::get_string(port, "protocol", "TCP");
        const auto group_name = name.substr(0, 26) + "-" + std::to_string(number);
        TRY(const auto group,
            ask(elbv2_, "CreateTargetGroup",
                JsonObject{{"Name", group_name},
                           {"Protocol", protocol},
                           {"Port", number},
                           {"TargetType", note(service, "nlb-target-type") == "ip" ? "ip" : "instance"},
                           {"Tags", tags}}));
        const JsonObject forward{
            {"Type", "forward"},
            {"TargetGroupArn", base::get_string(group, "TargetGroups.0.TargetGroupArn")}};
        TRY(const auto listener,
            ask(elbv2_, "CreateListener",
                JsonObject{{"LoadBalancerArn", base::get_string(made, "LoadBalancers.0.LoadBalancerArn")},
                           {"Port", number},
                           {"Protocol", protocol},
                           {"DefaultActions", JsonArray{forward}}}));
        static_cast<void>(listener);
    }
    return base::get_string(made, "LoadBalancers.0.DNSName");
}

std::string ServiceBalancers::classic_name(const JsonObject& service) const {
    auto uid = base::get_string(service, "metadata.uid");
    std::erase(uid, '-');
    const auto number = std::strtoull(base::sha256_hex(uid).substr(0, 8).c_str(), nullptr, 16);
    return (note(service, "internal") == "true" ? "internal-a" : "a") + uid.substr(0, 31) + "-" +
           std::to_string(number) + "." + world_.region() + ".elb.amazonaws.com";
}

void ServiceBalancers::ensure(kube::Cluster& cluster, const Place& place, const JsonObject& service) {
    const auto maker = maker_of(cluster, service);
    if (maker == Maker::nobody) return;  // its controller is not there; when it comes it is looked at again
    const bool network = maker == Maker::network;
    if (!network)
        tell(cluster, service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer",
             "service-controller");
    const auto host =
        network ? network_balancer(place, service) : base::Result<std::string>(classic_name(service));
    if (!host) {
        tell(cluster, service, "Warning", "FailedBuildModel", host.error().message, "service");
        return look_later(place, std::chrono::minutes(1));
    }
    JsonObject next = service;
    if (network && base::get_string(next, "spec.loadBalancerClass").empty())
        kube::object_at(next, "spec")["loadBalancerClass"] = kNetworkClass;
    if (!is_held(next)) {
        kube::controllers::list_at(kube::metadata_of(next), "finalizers")
            .push_back(JsonValue(network ? kNetworkFinalizer : kFinalizer));
    }
    kube::object_at(next, "status")["loadBalancer"] =
        JsonObject{{"ingress", JsonArray{JsonObject{{"hostname", *host}}}}};
    auto written = cluster.objects().update(kServices, std::move(next));
    static_cast<void>(written);
    tell(cluster, service, "Normal", network ? "SuccessfullyReconciled" : "EnsuredLoadBalancer",
         network ? "Successfully reconciled" : "Ensured load balancer",
         network ? "service" : "service-controller");
}

void ServiceBalancers::remove(kube::Cluster& cluster, const Place& place, const JsonObject& service) {
    const auto name = network_name(place.cluster, service);
    const auto known =
        ask(elbv2_, "DescribeLoadBalancers", JsonObject{{"Names", JsonArray{JsonValue(name)}}});
    if (known) {
        const auto arn = base::get_string(*known, "LoadBalancers.0.LoadBalancerArn");
        const auto groups = ask(elbv2_, "DescribeTargetGroups", JsonObject{{"LoadBalancerArn", arn}});
        static_cast<void>(ask(elbv2_, "DeleteLoadBalancer", JsonObject{{"LoadBalancerArn", arn}}));
        for (const auto& group : groups ? base::get_array(*groups, "TargetGroups") : JsonArray()) {
            static_cast<void>(ask(elbv2_, "DeleteTargetGroup",
                                  JsonObject{{"TargetGroupArn", base::get_string(group, "TargetGroupArn")}}));
        }
    } else {
        tell(cluster, service, "Normal", "DeletingLoadBalancer", "Deleting load balancer",
             "service-controller");
        tell(cluster, service, "Normal", "DeletedLoadBalancer", "Deleted load balancer",
             "service-controller");
    }
    JsonObject next = service;
    kube::controllers::remove_finalizer(next, kFinalizer);
    kube::controllers::remove_finalizer(next, kNetworkFinalizer);
    kube::object_at(next, "status")["loadBalancer"] = JsonObject();
    auto written = cluster.objects().update(kServices, std::move(next));
    static_cast<void>(written);
}

}  // namespace instantstart::twin
