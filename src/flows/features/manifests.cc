#include "flows/features/manifests.h"

#include "base/embedded.h"

namespace instantstart::flows {

const std::map<std::string, std::string>& operator_images() {
    static const std::map<std::string, std::string> kImages = {
        {"KUBERAY_IMAGE", "quay.io/kuberay/operator:v1.5.0"},
        {"KEDA_IMAGE", "ghcr.io/kedacore/keda:2.21.0"},
        {"KEDA_METRICS_IMAGE", "ghcr.io/kedacore/keda-metrics-apiserver:2.21.0"},
        {"KEDA_WEBHOOKS_IMAGE", "ghcr.io/kedacore/keda-admission-webhooks:2.21.0"},
        {"LBC_IMAGE", "public.ecr.aws/eks/aws-load-balancer-controller:v2.13.2"}};
    return kImages;
}

base::Result<std::vector<JsonObject>> feature_manifest(const std::string& name, ManifestValues values) {
    for (const auto& [image, place] : operator_images()) values[image] = JsonValue(place);
    return filled_manifest("features/" + name + ".yaml", values);
}

base::Result<std::vector<JsonObject>> definitions_of(const std::vector<std::string>& groups) {
    constexpr std::size_t kDepth = 256;  // schemas of schemas
    std::vector<JsonObject> list;
    for (const auto& file : embedded::manifests()) {
        for (const auto& group : groups) {
            if (!file.name.starts_with("crds/" + group + "_")) continue;
            TRY(auto parsed, base::parse_json(file.content, kDepth));  // one line of JSON each
            list.push_back(std::move(parsed.as_object()));
        }
    }
    if (list.empty()) return base::internal_error("no definitions of " + groups.front() + " are built in");
    return list;
}

namespace {

bool has_image(const JsonValue& deployment, const std::string& fragment) {
    for (const auto& container : base::get_array(deployment, "spec.template.spec.containers")) {
        if (base::get_string(container, "image").find(fragment) != std::string::npos) return true;
    }
    return false;
}

std::string label_of(const JsonValue& object, std::string_view key) {
    const auto* labels = base::find_path(object, "metadata.labels");
    const auto* value =
        labels != nullptr && labels->is_object() ? labels->as_object().if_contains(key) : nullptr;
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

}  // namespace

bool goes_first(const StepCall& call, std::string_view ns) {
    const auto& inference = base::get_object(call.params, "features.inference_operator");
    return ns == "hyperpod-inference-system" && inference.contains("enabled") &&
           !base::get_bool(inference, "enabled");
}

Task<std::string> other_deployment(Clusters& env, StepCall call, std::string image_fragment) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto deployments = kube::known_resource("deployments.apps");
    CHECK(deployments.has_value());
    CO_TRY(auto list, co_await client->list(call.context, *deployments, kube::ListOptions()));
    for (const auto& deployment : base::get_array(list, "items")) {
        const auto manager = label_of(deployment, "app.kubernetes.io/managed-by");
        if (manager == "instantstart" || !has_image(deployment, image_fragment)) continue;
        if (goes_first(call, base::get_string(deployment, "metadata.namespace"))) continue;
        std::string who;
        if (manager == "Helm") who = " (of a Helm release)";
        if (manager == "EKS") who = " (of an EKS add-on)";
        co_return domain::clean_text(base::get_string(deployment, "metadata.namespace") + "/" +
                                         base::get_string(deployment, "metadata.name") + who,
                                     200);
    }
    co_return std::string();
}

}  // namespace instantstart::flows
