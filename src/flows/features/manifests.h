// Manifests of operators that the product applies itself: manifests/features/<name>.yaml with its images and
// the cluster's own values filled in, and their kinds from manifests/crds/<group>_*.yaml.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flows/manifest_files.h"
#include "flows/step_kit.h"

namespace instantstart::flows {

// Images of the operators' releases, "${KUBERAY_IMAGE}" and the like: one place to raise a version. Their
// kinds are those of tools/custom-resources/go.mod: raise both.
const std::map<std::string, std::string>& operator_images();

// Errors as filled_manifest's; the operators' images need not be among `values`.
base::Result<std::vector<JsonObject>> feature_manifest(const std::string& name, ManifestValues values);
// Definitions whose file name begins with the group: "ray.io", "keda.sh".
base::Result<std::vector<JsonObject>> definitions_of(const std::vector<std::string>& groups);

// Who else runs such an operator: Deployments with this in an image, that are not ours. "" where nobody does;
// "kube-system/aws-load-balancer-controller (of a Helm release)".
Task<std::string> other_deployment(Clusters& env, StepCall call, std::string image_fragment);
// Whether something in this namespace goes before what this request switches on: the inference operator's
// add-on, where the same request switches that off.
bool goes_first(const StepCall& call, std::string_view ns);

}  // namespace instantstart::flows
