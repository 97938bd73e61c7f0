#include "flows/components.h"

#include <algorithm>

#include "base/text.h"
#include "domain/instance_type.h"
#include "flows/manifest_files.h"

namespace instantstart::flows {

namespace {

Component addon(std::string id, std::string title, std::string name, bool is_base, bool needs_nodes) {
    Component row;
    row.id = std::move(id);
    row.title = std::move(title);
    row.addon = std::move(name);
    row.base = is_base;
    row.needs_nodes = needs_nodes;
    return row;
}

Component objects(std::string id, std::string title, bool is_base) {
    Component row;
    row.manifest = id + ".yaml";
    row.id = std::move(id);
    row.title = std::move(title);
    row.base = is_base;
    return row;
}

std::vector<Component> make_components() {
    std::vector<Component> table{
        addon("vpc_cni", "VPC CNI", "vpc-cni", true, false),
        addon("kube_proxy", "kube-proxy", "kube-proxy", true, false),
        addon("pod_identity_agent", "Pod Identity agent", "eks-pod-identity-agent", true, false),
        addon("coredns", "CoreDNS", "coredns", true, true),
        objects("hyperpod_rbac", "HyperPod access rules", true),
        objects("health_monitoring_agent", "health monitoring agent", true),
        objects("nvidia_device_plugin", "NVIDIA device plugin", false),
        objects("efa_device_plugin", "EFA device plugin", false),
        objects("neuron_device_plugin", "Neuron device plugin", false),
        addon("s3_csi", "Mountpoint for S3", "aws-mountpoint-s3-csi-driver", false, true),
        addon("cert_manager", "cert-manager", "cert-manager", false, true),
        addon("metrics_server", "metrics-server", "metrics-server", false, true),
        addon("fsx_csi", "FSx for Lustre driver", "aws-fsx-csi-driver", false, true),
    };
    for (auto& row : table) {
        // Their Deployments tolerate none of the users' taints by default and would never run on nodes that
        // are all tainted.
        if (row.id == "coredns") row.configuration = R"({"tolerations":[{"operator":"Exists"}]})";
        if (row.id == "metrics_server") row.configuration = R"({"tolerations":[{"operator":"Exists"}]})";
        if (row.id == "fsx_csi")
            row.configuration =
                R"({"node":{"tolerateAllTaints":true},"controller":{"tolerations":[{"operator":"Exists"}]}})";
        if (row.id == "s3_csi") row.configuration = R"({"node":{"tolerateAllTaints":true}})";
        if (row.id == "cert_manager") {
            row.configuration =
                R"({"tolerations":[{"operator":"Exists"}],"webhook":{"tolerations":[{"operator":"Exists"}]},)"
                R"("cainjector":{"tolerations":[{"operator":"Exists"}]}})";
        }
        if (row.id == "health_monitoring_agent") row.after = {"hyperpod_rbac"};
        if (row.id == "coredns") row.after = {"vpc_cni"};
        if (row.id == "s3_csi") row.after = {"pod_identity_agent"};
    }
    return table;
}

// The account whose registry holds the EKS add-on images of a region.
std::string addon_registry(const std::string& region) {
    static const std::map<std::string, std::string, std::less<>> kOthers = {
        {"eu-south-2", "455263428931"},     {"ap-south-2", "900889452093"},
        {"ap-southeast-3", "296578399912"}, {"ap-southeast-4", "491585149902"},
        {"af-south-1", "877085696533"},     {"ap-east-1", "800184023465"},
        {"ca-west-1", "761377655185"},      {"eu-central-2", "900612956339"},
        {"eu-south-1", "590381155156"},     {"il-central-1", "066635153087"},
        {"me-south-1", "558608220178"},     {"me-central-1", "759879836304"},
        {"us-gov-east-1", "151742754352"},  {"us-gov-west-1", "013241004608"},
        {"cn-north-1", "918309763551"},     {"cn-northwest-1", "961992271922"}};
    const auto at = kOthers.find(region);
    const auto account = at == kOthers.end() ? "602401143452" : at->second;
    return account + ".dkr.ecr." + region +
           (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

// The account whose registry holds the health monitoring agent; "" where the region has none.
std::string agent_account(const std::string& region) {
    static const std::map<std::string, std::string, std::less<>> kAccounts = {
        {"us-east-1", "767398015722"},      {"us-west-2", "905418368575"},
        {"us-east-2", "851725546812"},      {"us-west-1", "011528288828"},
        {"eu-central-1", "211125453373"},   {"eu-north-1", "654654141839"},
        {"eu-west-1", "533267293120"},      {"eu-west-2", "011528288831"},
        {"eu-south-2", "626887787726"},     {"ap-northeast-1", "533267052152"},
        {"ap-south-1", "011528288864"},     {"ap-southeast-1", "905418428165"},
        {"ap-southeast-2", "851725636348"}, {"ap-southeast-3", "971422672635"},
        {"ap-southeast-4", "084375568333"}, {"ca-central-1", "843976229209"},
        {"sa-east-1", "025066253954"}};
    const auto at = kAccounts.find(region);
    return at == kAccounts.end() ? "" : at->second;
}

constexpr const char* kAgentTag = "1.0.1892.0_1.0.424.0";

bool has_efa_plugin(const domain::InstanceType& type) {
    // These advertise an interface in the type table, but no EFA device was ever seen on their HyperPod
    // nodes.
    const bool unsure =
        type.name == "ml.c6i.32xlarge" || type.name == "ml.m6i.32xlarge" || type.name == "ml.r6i.32xlarge";
    return type.efa_interfaces > 0 && !unsure;
}

JsonArray type_list(bool (*belongs)(const domain::InstanceType&), const std::vector<std::string>& further) {
    JsonArray list;
    for (const auto& type : domain::instance_types()) {
        if (belongs(type)) list.emplace_back(type.name);
    }
    for (const auto& name : further) {
        if (domain::find_instance_type(name) == nullptr) list.emplace_back(name);
    }
    return list;
}

const ManifestValues& type_lists() {
    static const ManifestValues kLists = {
        {"NVIDIA_TYPES", type_list([](const domain::InstanceType& type) { return type.is_gpu(); }, {})},
        {"NEURON_TYPES",
         type_list([](const domain::InstanceType& type) { return type.is_neuron(); },
                   {"ml.inf2.xlarge", "ml.inf2.8xlarge", "ml.inf2.24xlarge", "ml.inf2.48xlarge"})},
        {"EFA_TYPES", type_list(&has_efa_plugin, {})}};
    return kLists;
}

// Without the agent's image where the region has none.
ManifestValues values_in(const std::string& region) {
    ManifestValues values = type_lists();
    if (const auto account = agent_account(region); !account.empty()) {
        values["HMA_IMAGE"] = JsonValue(account + ".dkr.ecr." + region +
                                        ".amazonaws.com/hyperpod-health-monitoring-agent:" + kAgentTag);
    }
    values["NVIDIA_IMAGE"] = "nvcr.io/nvidia/k8s-device-plugin:v0.16.1";
    values["EFA_IMAGE"] = JsonValue(addon_registry(region) + "/eks/aws-efa-k8s-device-plugin:v0.5.13");
    values["NEURON_IMAGE"] = "public.ecr.aws/neuron/neuron-device-plugin:2.19.16.0";
    return values;
}

}  // namespace

const std::vector<Component>& components() {
    static const auto kTable = make_components();
    return kTable;
}

const Component* find_component(std::string_view id) {
    for (const auto& row : components()) {
        if (row.id == id) return &row;
    }
    return nullptr;
}

std::vector<std::string> components_for(const std::set<std::string>& instance_types) {
    std::set<std::string> wanted;
    for (const auto& name : instance_types) {
        const auto* type = domain::find_instance_type(name);
        if (type == nullptr) continue;
        if (type->is_gpu()) wanted.insert("nvidia_device_plugin");
        if (type->is_neuron()) wanted.insert("neuron_device_plugin");
        if (has_efa_plugin(*type)) wanted.insert("efa_device_plugin");
    }
    std::vector<std::string> ids;
    for (const auto& row : components()) {
        if (row.base || wanted.contains(row.id)) ids.push_back(row.id);
    }
    return ids;
}

base::Result<std::vector<JsonObject>> component_objects(const Component& component,
                                                        const std::string& region) {
    auto filled = filled_manifest(component.manifest, values_in(region));
    if (!filled && filled.error().code == kMarkWithoutValue && agent_account(region).empty()) {
        return base::Error(base::ErrorKind::unsupported, "image_unknown",
                           "no health monitoring agent image is known for region " + region);
    }
    TRY(auto list, std::move(filled));
    for (auto& object : list) {
        auto& metadata = object["metadata"].as_object();
        if (!metadata.contains("labels")) metadata["labels"] = JsonObject{};
        metadata["labels"].as_object()["app.kubernetes.io/managed-by"] = "instantstart";
        metadata["labels"].as_object()["instantstart.dev/component"] = component.id;
    }
    return list;
}

namespace {

bool is_empty(const JsonValue& value) {
    switch (value.kind()) {
        case boost::json::kind::null: return true;
        case boost::json::kind::bool_: return !value.get_bool();
        case boost::json::kind::int64: return value.get_int64() == 0;
        case boost::json::kind::string: return value.get_string().empty();
        case boost::json::kind::array: return value.get_array().empty();
        case boost::json::kind::object:
            return std::all_of(value.get_object().begin(), value.get_object().end(),
                               [](const auto& entry) { return is_empty(entry.value()); });
        default: return false;
    }
}

bool same_number(const JsonValue& live, const JsonValue& wanted) {
    return live.is_number() && wanted.is_number() && live.to_number<double>() == wanted.to_number<double>();
}

}  // namespace

bool covers(const JsonValue& live, const JsonValue& wanted) {
    if (const auto* object = wanted.if_object()) {
        const auto* other = live.if_object();
        if (other == nullptr) return is_empty(wanted);
        return std::all_of(object->begin(), object->end(), [other](const auto& entry) {
            const auto* value = other->if_contains(entry.key());
            return value == nullptr ? is_empty(entry.value()) : covers(*value, entry.value());
        });
    }
    if (const auto* list = wanted.if_array()) {
        const auto* other = live.if_array();
        if (other == nullptr || other->size() != list->size()) return false;
        for (std::size_t index = 0; index < list->size(); ++index) {
            if (!covers((*other)[index], (*list)[index])) return false;
        }
        return true;
    }
    return live == wanted || same_number(live, wanted) || (is_empty(live) && is_empty(wanted));
}

}  // namespace instantstart::flows
