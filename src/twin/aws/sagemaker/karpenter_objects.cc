// Karpenter's kinds, and the statuses of its objects.
#include <algorithm>

#include "twin/aws/sagemaker/karpenter.h"

namespace instantstart::twin::sagemaker {

namespace {

const kube::Kind kCrds("apiextensions.k8s.io", "customresourcedefinitions");

// The schemas that matter to whoever writes these objects; the rest is kept as it comes.
constexpr const char* kClassSpec = R"({"type":"object","required":["instanceGroups"],"properties":{
  "instanceGroups":{"type":"array","minItems":1,"maxItems":10,
    "items":{"type":"string","minLength":1,"maxLength":63,"pattern":"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$"}}}})";
constexpr const char* kPoolSpec = R"({"type":"object","required":["template"],"properties":{
  "disruption":{"type":"object","required":["consolidateAfter"],"x-kubernetes-preserve-unknown-fields":true,
    "properties":{"consolidateAfter":{"type":"string","pattern":"^(([0-9]+(s|m|h))+|Never)$"},
      "consolidationPolicy":{"type":"string","enum":["WhenEmpty","WhenEmptyOrUnderutilized","Balanced"]}}},
  "limits":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
  "weight":{"type":"integer","minimum":1,"maximum":100},
  "template":{"type":"object","required":["spec"],"properties":{
    "metadata":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "spec":{"type":"object","required":["nodeClassRef","requirements"],"x-kubernetes-preserve-unknown-fields":true,
      "properties":{"nodeClassRef":{"type":"object","required":["group","kind","name"],"properties":{
        "group":{"type":"string"},"kind":{"type":"string"},"name":{"type":"string"}}},
        "requirements":{"type":"array","maxItems":100,
          "items":{"type":"object","required":["key","operator"],"x-kubernetes-preserve-unknown-fields":true,
            "properties":{"key":{"type":"string"},"operator":{"type":"string",
              "enum":["In","NotIn","Exists","DoesNotExist","Gt","Lt"]}}}}}}}}}})";
constexpr const char* kOpen = R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})";

struct Definition {
    const kube::Kind* kind;
    const char *name, *singular, *spec;
};
const Definition kDefinitions[] = {{&kNodeClasses, "HyperpodNodeClass", "hyperpodnodeclass", kClassSpec},
                                   {&kNodePools, "NodePool", "nodepool", kPoolSpec},
                                   {&kNodeClaims, "NodeClaim", "nodeclaim", kOpen}};

JsonValue parsed(const char* text) {
    auto value = base::parse_json(text, 64);
    return value ? *value : JsonValue();
}

JsonObject crd_of(const Definition& definition) {
    JsonObject properties{{"apiVersion", {{"type", "string"}}},
                          {"kind", {{"type", "string"}}},
                          {"metadata", {{"type", "object"}}},
                          {"spec", parsed(definition.spec)},
                          {"status", parsed(kOpen)}};
    JsonObject version{
        {"name", "v1"},
        {"served", true},
        {"storage", true},
        {"subresources", {{"status", JsonObject()}}},
        {"schema",
         {{"openAPIV3Schema",
           {{"type", "object"}, {"required", JsonArray{"spec"}}, {"properties", properties}}}}}};
    const std::string& plural = definition.kind->plural;
    return {{"apiVersion", "apiextensions.k8s.io/v1"},
            {"kind", "CustomResourceDefinition"},
            {"metadata", {{"name", plural + "." + definition.kind->group}}},
            {"spec",
             {{"group", definition.kind->group},
              {"scope", "Cluster"},
              {"names",
               {{"kind", definition.name},
                {"plural", plural},
                {"singular", definition.singular},
                {"listKind", std::string(definition.name) + "List"}}},
              {"versions", JsonArray{JsonValue(version)}}}}};
}

bool serves_v1(const JsonObject& crd) {
    for (const JsonValue& version : base::get_array(crd, "spec.versions")) {
        if (base::get_string(version, "name") == "v1" && base::get_bool(version.get_object(), "served"))
            return true;
    }
    return false;
}

JsonObject condition(std::string_view type, bool status, std::string_view reason, std::string_view message) {
    return {{"type", type}, {"status", status ? "True" : "False"}, {"reason", reason}, {"message", message}};
}

// Why a class cannot use the group; reason and message, empty where it can.
std::pair<std::string, std::string> unusable(State& state, const Record& cluster, const std::string& name) {
    const Record* group = find_group(state, cluster, name);
    if (group == nullptr || status_of(*group) == "Deleting")
        return {"InstanceGroupNotFound", "Instance group " + name + " does not exist in the cluster"};
    if (!base::get_string(group->data, "TrainingPlanArn").empty())
        return {"InstanceGroupUnsupported", "Instance group " + name + " uses a training plan"};
    if (!base::get_array(group->data, "OnStartDeepHealthChecks").empty())
        return {"InstanceGroupUnsupported", "Instance group " + name + " has deep health checks"};
    return {};
}

JsonArray subnets_of(State& state, const Record& cluster, const Record& group) {
    JsonArray list;
    for (const std::string& id : strings(network_of(cluster, group), "Subnets")) {
        const Record* subnet = state.ec2().subnet(id);
        if (subnet == nullptr) continue;
        list.push_back({{"id", id},
                        {"zone", base::get_string(subnet->data, "AvailabilityZone")},
                        {"zoneId", base::get_string(subnet->data, "AvailabilityZoneId")}});
    }
    return list;
}

bool one_zone(const JsonArray& subnets) {
    return std::all_of(subnets.begin(), subnets.end(), [&subnets](const JsonValue& each) {
        return base::get_string(each, "zone") == base::get_string(subnets.front(), "zone");
    });
}

struct Judgement {
    std::pair<std::string, std::string> groups, subnets;  // reason and message of what is wrong
    JsonArray shown;
    std::vector<Record*> found;
};

Judgement judge(State& state, const Record& cluster, const JsonObject& object) {
    Judgement made;
    for (const std::string& name : strings(object, "spec.instanceGroups")) {
        if (const auto why = unusable(state, cluster, name); !why.first.empty()) {
            made.groups = why;
            continue;
        }
        Record* group = find_group(state, cluster, name);
        const JsonArray subnets = subnets_of(state, cluster, *group);
        if (subnets.empty() || !one_zone(subnets))
            made.subnets = {"SubnetsInvalid",
                            "The subnets of instance group " + name + " must be in one Availability Zone"};
        made.found.push_back(group);
        made.shown.push_back(
            {{"name", name},
             {"instanceTypes", to_array(types_of(*group))},
             {"subnets", subnets},
             {"capacities", JsonObject{{"capacityType", is_spot(*group) ? "spot" : "on-demand"}}},
             {"desiredLabels", base::get_object(group->data, "KubernetesConfig.DesiredLabels")}});
    }
    return made;
}

JsonObject claim_of(const Record& node, const std::string& name) {
    const std::string pool = base::get_string(node.hidden, "pool");
    return {{"apiVersion", "karpenter.sh/v1"},
            {"kind", "NodeClaim"},
            {"metadata", {{"name", name}, {"labels", {{"karpenter.sh/nodepool", pool}}}}},
            {"spec",
             {{"nodeClassRef",
               {{"group", kNodeClasses.group},
                {"kind", "HyperpodNodeClass"},
                {"name", base::get_string(node.hidden, "class")}}},
              {"requirements",
               JsonArray{JsonObject{{"key", "node.kubernetes.io/instance-type"},
                                    {"operator", "In"},
                                    {"values", JsonArray{base::get_string(node.data, "InstanceType")}}}}}}}};
}

bool node_ready(const JsonObject& node) {
    for (const JsonValue& each : base::get_array(node, "status.conditions")) {
        if (base::get_string(each, "type") == "Ready") return base::get_string(each, "status") == "True";
    }
    return false;
}

}  // namespace

bool put_karpenter_kinds(kube::ObjectStore& objects) {
    for (const Definition& definition : kDefinitions) {
        const std::string name = definition.kind->plural + "." + definition.kind->group;
        const kube::ObjectPtr present = objects.get(kCrds, "", name);
        if (present != nullptr && !serves_v1(*present)) return false;
    }
    for (const Definition& definition : kDefinitions) {
        const std::string name = definition.kind->plural + "." + definition.kind->group;
        if (objects.get(kCrds, "", name) == nullptr)
            static_cast<void>(objects.apply(kCrds, crd_of(definition), "hyperpod"));
    }
    return true;
}

void write_status(State& state, kube::ObjectStore& objects, const kube::Kind& kind, const JsonObject& object,
                  const JsonArray& conditions, JsonObject members) {
    JsonArray made;
    const JsonArray& before = base::get_array(object, "status.conditions");
    for (const JsonValue& wanted : conditions) {
        JsonObject entry = wanted.get_object();
        entry["observedGeneration"] = base::get_int(object, "metadata.generation", 1);
        entry["lastTransitionTime"] = base::format_time(state.world.now());
        for (const JsonValue& earlier : before) {
            if (base::get_string(earlier, "type") == base::get_string(entry, "type") &&
                base::get_string(earlier, "status") == base::get_string(entry, "status"))
                entry["lastTransitionTime"] = base::get_string(earlier, "lastTransitionTime");
        }
        made.push_back(std::move(entry));
    }
    members["conditions"] = std::move(made);
    if (base::get_object(object, "status") == members) return;
    JsonObject changed = object;
    changed["status"] = std::move(members);
    static_cast<void>(objects.update(kind, std::move(changed)));
}

std::vector<NodeClass> read_classes(State& state, const Record& cluster, kube::ObjectStore& objects) {
    std::vector<NodeClass> classes;
    for (const kube::ObjectPtr& object : objects.list(kNodeClasses)) {
        Judgement judged = judge(state, cluster, *object);
        const bool groups = judged.groups.first.empty(), subnets = judged.subnets.first.empty();
        const std::string reason = groups ? "SubnetsReady" : "InstanceGroupReady";
        JsonArray conditions{
            condition("InstanceGroupReady", groups, groups ? "InstanceGroupReady" : judged.groups.first,
                      judged.groups.second),
            condition("SubnetsReady", subnets, subnets ? "SubnetsReady" : judged.subnets.first,
                      judged.subnets.second),
            condition("Ready", groups && subnets, groups && subnets ? "Ready" : "UnhealthyDependents",
                      groups && subnets ? "" : reason + "=False")};
        JsonObject members;
        members["instanceGroups"] = std::move(judged.shown);
        write_status(state, objects, kNodeClasses, *object, conditions, std::move(members));
        NodeClass found;
        found.name = base::get_string(*object, "metadata.name");
        found.ready = groups && subnets;
        found.groups = std::move(judged.found);
        classes.push_back(std::move(found));
    }
    return classes;
}

std::vector<NodePool> read_pools(State& state, const Record& cluster, kube::ObjectStore& objects,
                                 const std::vector<NodeClass>& classes) {
    std::vector<NodePool> pools;
    for (const kube::ObjectPtr& object : objects.list(kNodePools)) {
        const JsonObject& ref = base::get_object(*object, "spec.template.spec.nodeClassRef");
        if (base::get_string(ref, "group") != kNodeClasses.group ||
            base::get_string(ref, "kind") != "HyperpodNodeClass")
            continue;
        NodePool pool;
        pool.name = base::get_string(*object, "metadata.name");
        pool.spec = base::get_object(*object, "spec");
        for (const NodeClass& each : classes) {
            if (each.name == base::get_string(ref, "name") && each.ready) pool.node_class = &each;
        }
        const bool ready = pool.node_class != nullptr;
        std::int64_t nodes = 0;
        for (const Record* node : nodes_of(state, cluster)) {
            if (base::get_string(node->hidden, "pool") == pool.name && has_instance(*node)) ++nodes;
        }
        JsonObject members;
        members["resources"] = {{"nodes", std::to_string(nodes)}};
        members["nodes"] = nodes;
        JsonArray conditions{
            condition("ValidationSucceeded", true, "ValidationSucceeded", ""),
            condition("NodeClassReady", ready, ready ? "NodeClassReady" : "NodeClassNotReady",
                      ready ? "" : "NodeClass is not ready or does not exist"),
            condition("Ready", ready, ready ? "Ready" : "UnhealthyDependents",
                      ready ? "" : "NodeClassReady=False")};
        write_status(state, objects, kNodePools, *object, conditions, std::move(members));
        pools.push_back(std::move(pool));
    }
    std::sort(pools.begin(), pools.end(), [](const NodePool& a, const NodePool& b) {
        return std::pair(-base::get_int(a.spec, "weight", 1), a.name) <
               std::pair(-base::get_int(b.spec, "weight", 1), b.name);
    });
    return pools;
}

void write_claims(State& state, const Record& cluster, kube::ObjectStore& objects) {
    std::vector<std::string> wanted;
    for (const Record* node : nodes_of(state, cluster)) {
        const std::string pool = base::get_string(node->hidden, "pool");
        if (pool.empty() || node_status(*node) == "ShuttingDown") continue;
        const std::string name = pool + "-" + node->id.substr(0, 5);
        wanted.push_back(name);
        if (objects.get(kNodeClaims, "", name) == nullptr)
            static_cast<void>(objects.create(kNodeClaims, claim_of(*node, name)));
        const kube::ObjectPtr claim = objects.get(kNodeClaims, "", name);
        if (claim == nullptr) continue;
        const kube::ObjectPtr joined = objects.get(kube::Kind("", "nodes"), "", kube_name(*node));
        const bool launched = node->data.contains("InstanceId"), registered = joined != nullptr,
                   ready = registered && node_ready(*joined);
        JsonObject members;
        if (launched) members["capacity"] = JsonObject();
        if (registered) {
            members["nodeName"] = kube_name(*node);
            members["providerID"] = base::get_string(*joined, "spec.providerID");
        }
        JsonArray conditions{condition("Launched", launched, "Launched", ""),
                             condition("Registered", registered, "Registered", ""),
                             condition("Initialized", ready, "Initialized", ""),
                             condition("Ready", ready, "Ready", "")};
        write_status(state, objects, kNodeClaims, *claim, conditions, std::move(members));
    }
    for (const kube::ObjectPtr& claim : objects.list(kNodeClaims)) {
        const std::string name = base::get_string(*claim, "metadata.name");
        if (!contains(wanted, name)) static_cast<void>(objects.remove(kNodeClaims, "", name));
    }
}

}  // namespace instantstart::twin::sagemaker
