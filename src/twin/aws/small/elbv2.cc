// Elastic Load Balancing v2: load balancers, target groups, listeners, tags. The Kubernetes side makes them
// through Service type LoadBalancer; the API's own create calls work alike.
#include <map>

#include "base/text.h"
#include "twin/aws/services.h"
#include "twin/aws/small/paging.h"
#include "twin/aws/small/service_balancers.h"

namespace instantstart::twin {

namespace {

constexpr std::int64_t kPage = 400;

class Elbv2 final : public Service, public BalancerWatch {
public:
    explicit Elbv2(World& world) : world_(world), balancers_of_services_(world, *this) {}
    void watch(kube::ClusterHost& host, const std::string& cluster) override {
        balancers_of_services_.watch(host, cluster);
    }
    std::string_view name() const override { return "elbv2"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override;
    void load(const JsonValue& state) override;

private:
    using Objects = std::map<std::string, JsonObject>;  // by ARN; `_tags` and `_targets` are ours
    Reply create_balancer(const Call& call);
    Reply create_target_group(const Call& call);
    Reply create_listener(const Call& call);
    Reply describe(const Call& call, const Objects& objects, std::string_view key, std::string_view arns,
                   std::string_view names, const ServiceError& missing);
    Reply describe_listeners(const Call& call);
    Reply describe_tags(const Call& call);
    Reply change_tags(const Call& call);
    Reply targets(const Call& call);
    Reply remove(const Call& call, Objects& objects, std::string_view member);
    JsonObject* find(const std::string& arn);

    World& world_;
    Objects balancers_, groups_, listeners_;
    ServiceBalancers balancers_of_services_;
};

JsonObject view(const JsonObject& object) {
    JsonObject out;
    for (const auto& item : object) {
        if (!item.key().starts_with("_")) out[item.key()] = item.value();
    }
    return out;
}

ServiceError no_balancer() {
    return {400, "LoadBalancerNotFound", "One or more load balancers not found"};
}
ServiceError no_group() {
    return {400, "TargetGroupNotFound", "One or more target groups not found"};
}

JsonObject* Elbv2::find(const std::string& arn) {
    for (Objects* objects : {&balancers_, &groups_, &listeners_}) {
        if (const auto found = objects->find(arn); found != objects->end()) return &found->second;
    }
    return nullptr;
}

Reply Elbv2::create_balancer(const Call& call) {
    const std::string name = base::get_string(call.params, "Name");
    for (const auto& [arn, known] : balancers_) {
        if (base::get_string(known, "LoadBalancerName") == name)
            return ServiceError(
                400, "DuplicateLoadBalancerName",
                "A load balancer with name '" + name + "' exists, but with different settings");
    }
    const std::string type = base::get_string(call.params, "Type", "application");
    const std::string scheme = base::get_string(call.params, "Scheme", "internet-facing");
    const std::string id = world_.hex_id("", 16);
    const std::string short_type = type == "network" ? "net" : "app";
    const std::string arn = "arn:aws:elasticloadbalancing:" + world_.region() + ":" + world_.account() +
                            ":loadbalancer/" + short_type + "/" + name + "/" + id;
    JsonObject made;
    made["LoadBalancerArn"] = arn;
    made["DNSName"] = (scheme == "internal" ? "internal-" : "") + name + "-" + id + ".elb." +
                      world_.region() + ".amazonaws.com";
    made["CanonicalHostedZoneId"] = "Z18D5FSROUN65G";
    made["CreatedTime"] = base::format_time(call.now);
    made["LoadBalancerName"] = name;
    made["Scheme"] = scheme;
    made["State"] = JsonObject{{"Code", "provisioning"}};
    made["Type"] = type;
    made["IpAddressType"] = base::get_string(call.params, "IpAddressType", "ipv4");
    made["SecurityGroups"] = base::get_array(call.params, "SecurityGroups");
    JsonArray zones;
    for (const JsonValue& subnet : base::get_array(call.params, "Subnets"))
        zones.emplace_back(JsonObject{{"SubnetId", subnet}});
    made["AvailabilityZones"] = std::move(zones);
    JsonObject answer = made;
    made["_tags"] = base::get_array(call.params, "Tags");
    balancers_[arn] = std::move(made);
    world_.after(world_.about(std::chrono::minutes(2)), "elbv2", "active", JsonObject{{"arn", arn}});
    return JsonObject{{"LoadBalancers", JsonArray{std::move(answer)}}};
}

void Elbv2::on_timer(const std::string& kind, const JsonObject& payload) {
    if (kind == "service") return balancers_of_services_.due(payload);
    const auto found = balancers_.find(base::get_string(payload, "arn"));
    if (found != balancers_.end()) found->second["State"] = JsonObject{{"Code", "active"}};
}

Reply Elbv2::create_target_group(const Call& call) {
    const std::string name = base::get_string(call.params, "Name");
    for (const auto& [arn, known] : groups_) {
        if (base::get_string(known, "TargetGroupName") == name)
            return ServiceError(400, "DuplicateTargetGroupName",
                                "A target group with the same name '" + name + "' exists");
    }
    const std::string arn = "arn:aws:elasticloadbalancing:" + world_.region() + ":" + world_.account() +
                            ":targetgroup/" + name + "/" + world_.hex_id("", 16);
    JsonObject made;
    made["TargetGroupArn"] = arn;
    made["TargetGroupName"] = name;
    for (const char* member :
         {"Protocol", "Port", "VpcId", "HealthCheckProtocol", "HealthCheckPath", "HealthCheckPort"}) {
        if (call.params.contains(member)) made[member] = call.params.at(member);
    }
    made["TargetType"] = base::get_string(call.params, "TargetType", "instance");
    made["LoadBalancerArns"] = JsonArray{};
    JsonObject answer = made;
    made["_tags"] = base::get_array(call.params, "Tags");
    made["_targets"] = JsonArray{};
    groups_[arn] = std::move(made);
    world_.touched();
    return JsonObject{{"TargetGroups", JsonArray{std::move(answer)}}};
}

Reply Elbv2::create_listener(const Call& call) {
    const std::string balancer = base::get_string(call.params, "LoadBalancerArn");
    if (!balancers_.contains(balancer)) return no_balancer();
    for (const auto& [arn, known] : listeners_) {
        if (base::get_string(known, "LoadBalancerArn") == balancer &&
            base::get_int(known, "Port") == base::get_int(call.params, "Port"))
            return ServiceError(400, "DuplicateListener",
                                "A listener already exists on this port for this load balancer");
    }
    std::string arn = balancer;
    arn.replace(arn.find(":loadbalancer/"), 14, ":listener/");
    arn += "/" + world_.hex_id("", 16);
    JsonObject made;
    made["ListenerArn"] = arn;
    for (const char* member :
         {"LoadBalancerArn", "Port", "Protocol", "DefaultActions", "Certificates", "SslPolicy"}) {
        if (call.params.contains(member)) made[member] = call.params.at(member);
    }
    for (const JsonValue& action : base::get_array(call.params, "DefaultActions")) {
        const auto group = groups_.find(base::get_string(action, "TargetGroupArn"));
        if (group != groups_.end()) group->second["LoadBalancerArns"] = JsonArray{balancer};
    }
    JsonObject answer = made;
    made["_tags"] = base::get_array(call.params, "Tags");
    listeners_[arn] = std::move(made);
    world_.touched();
    return JsonObject{{"Listeners", JsonArray{std::move(answer)}}};
}

Reply Elbv2::describe(const Call& call, const Objects& objects, std::string_view key, std::string_view arns,
                      std::string_view names, const ServiceError& missing) {
    const JsonArray& wanted_arns = base::get_array(call.params, arns);
    const JsonArray& wanted_names = base::get_array(call.params, names);
    const std::string name_member = key == "LoadBalancers" ? "LoadBalancerName" : "TargetGroupName";
    const std::string of_balancer = base::get_string(call.params, "LoadBalancerArn");
    const auto among = [](const JsonArray& list, const std::string& text) {
        return std::find(list.begin(), list.end(), JsonValue(text)) != list.end();
    };
    JsonArray out;
    for (const auto& [arn, object] : objects) {
        const auto created = base::parse_time(base::get_string(object, "CreatedTime"));
        if (created && !call.shows(*created)) continue;
        if (!wanted_arns.empty() && !among(wanted_arns, arn)) continue;
        if (!wanted_names.empty() && !among(wanted_names, base::get_string(object, name_member))) continue;
        if (!of_balancer.empty() && !among(base::get_array(object, "LoadBalancerArns"), of_balancer))
            continue;
        out.emplace_back(view(object));
    }
    if (out.size() < std::max(wanted_arns.size(), wanted_names.size())) return missing;
    auto reply = small::page(call, {key, "PageSize", "Marker", "NextMarker", kPage}, out);
    if (!reply) return ServiceError(400, "ValidationError", "Invalid marker");
    return std::move(*reply);
}

Reply Elbv2::describe_listeners(const Call& call) {
    const std::string balancer = base::get_string(call.params, "LoadBalancerArn");
    const JsonArray& wanted = base::get_array(call.params, "ListenerArns");
    if (!balancer.empty() && !balancers_.contains(balancer)) return no_balancer();
    JsonArray out;
    for (const auto& [arn, listener] : listeners_) {
        if (!balancer.empty() && base::get_string(listener, "LoadBalancerArn") != balancer) continue;
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), JsonValue(arn)) == wanted.end())
            continue;
        out.emplace_back(view(listener));
    }
    return JsonObject{{"Listeners", std::move(out)}};
}

Reply Elbv2::describe_tags(const Call& call) {
    JsonArray out;
    for (const JsonValue& arn : base::get_array(call.params, "ResourceArns")) {
        const JsonObject* found = find(std::string(arn.as_string()));
        if (found == nullptr)
            return arn.as_string().find(":loadbalancer/") != std::string::npos ? no_balancer() : no_group();
        out.emplace_back(JsonObject{{"ResourceArn", arn}, {"Tags", base::get_array(*found, "_tags")}});
    }
    return JsonObject{{"TagDescriptions", std::move(out)}};
}

Reply Elbv2::change_tags(const Call& call) {
    for (const JsonValue& arn : base::get_array(call.params, "ResourceArns")) {
        JsonObject* found = find(std::string(arn.as_string()));
        if (found == nullptr) return no_balancer();
        JsonArray keys = base::get_array(call.params, "TagKeys");
        for (const JsonValue& tag : base::get_array(call.params, "Tags"))
            keys.emplace_back(base::get_string(tag, "Key"));
        JsonArray kept;
        for (const JsonValue& tag : base::get_array(*found, "_tags")) {
            if (std::find(keys.begin(), keys.end(), JsonValue(base::get_string(tag, "Key"))) == keys.end())
                kept.push_back(tag);
        }
        for (const JsonValue& tag : base::get_array(call.params, "Tags")) kept.push_back(tag);
        (*found)["_tags"] = std::move(kept);
    }
    world_.touched();
    return JsonObject{};
}

Reply Elbv2::targets(const Call& call) {
    const auto found = groups_.find(base::get_string(call.params, "TargetGroupArn"));
    if (found == groups_.end()) return no_group();
    JsonArray& targets = found->second["_targets"].as_array();
    if (call.operation == "DescribeTargetHealth") {
        JsonArray out;
        for (const JsonValue& target : targets)
            out.emplace_back(
                JsonObject{{"Target", target}, {"TargetHealth", JsonObject{{"State", "healthy"}}}});
        return JsonObject{{"TargetHealthDescriptions", std::move(out)}};
    }
    for (const JsonValue& target : base::get_array(call.params, "Targets")) {
        const auto at = std::find(targets.begin(), targets.end(), target);
        if (call.operation == "RegisterTargets" && at == targets.end()) targets.push_back(target);
        if (call.operation == "DeregisterTargets" && at != targets.end()) targets.erase(at);
    }
    world_.touched();
    return JsonObject{};
}

Reply Elbv2::remove(const Call& call, Objects& objects, std::string_view member) {
    const std::string arn = base::get_string(call.params, member);
    if (&objects == &groups_) {
        const auto found = groups_.find(arn);
        if (found != groups_.end() && !base::get_array(found->second, "LoadBalancerArns").empty())
            return ServiceError(400, "ResourceInUse",
                                "Target group '" + arn + "' is currently in use by a listener or a rule");
    }
    // Deleting what is not there succeeds, as on AWS.
    objects.erase(arn);
    if (&objects == &balancers_) {
        std::erase_if(listeners_, [&arn](const auto& item) {
            return base::get_string(item.second, "LoadBalancerArn") == arn;
        });
        for (auto& [group_arn, group] : groups_) {
            if (base::get_array(group, "LoadBalancerArns") == JsonArray{arn})
                group["LoadBalancerArns"] = JsonArray{};
        }
    }
    world_.touched();
    return JsonObject{};
}

Reply Elbv2::handle(const Call& call) {
    const std::string& operation = call.operation;
    if (operation == "CreateLoadBalancer") return create_balancer(call);
    if (operation == "CreateTargetGroup") return create_target_group(call);
    if (operation == "CreateListener") return create_listener(call);
    if (operation == "DescribeLoadBalancers")
        return describe(call, balancers_, "LoadBalancers", "LoadBalancerArns", "Names", no_balancer());
    if (operation == "DescribeTargetGroups")
        return describe(call, groups_, "TargetGroups", "TargetGroupArns", "Names", no_group());
    if (operation == "DescribeListeners") return describe_listeners(call);
    if (operation == "DescribeTags") return describe_tags(call);
    if (operation == "AddTags" || operation == "RemoveTags") return change_tags(call);
    if (operation == "RegisterTargets" || operation == "DeregisterTargets" ||
        operation == "DescribeTargetHealth")
        return targets(call);
    if (operation == "DeleteLoadBalancer") return remove(call, balancers_, "LoadBalancerArn");
    if (operation == "DeleteTargetGroup") return remove(call, groups_, "TargetGroupArn");
    if (operation == "DeleteListener") return remove(call, listeners_, "ListenerArn");
    return ServiceError(400, "InvalidAction", "The simulated account does not know " + operation + ".");
}

JsonValue Elbv2::save() const {
    const auto saved = [](const Objects& objects) {
        JsonObject out;
        for (const auto& [arn, object] : objects) out[arn] = object;
        return out;
    };
    return JsonObject{
        {"balancers", saved(balancers_)}, {"groups", saved(groups_)}, {"listeners", saved(listeners_)}};
}

void Elbv2::load(const JsonValue& state) {
    const auto loaded = [&state](std::string_view key) {
        Objects out;
        for (const auto& item : base::get_object(state, key))
            out[std::string(item.key())] = item.value().as_object();
        return out;
    };
    balancers_ = loaded("balancers");
    groups_ = loaded("groups");
    listeners_ = loaded("listeners");
}

}  // namespace

std::unique_ptr<Service> make_elbv2(World& world) {
    return std::make_unique<Elbv2>(world);
}

}  // namespace instantstart::twin
