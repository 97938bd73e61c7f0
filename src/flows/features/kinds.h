// The kinds of parts, and makers of parts that several features use.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

// An IAM role with its policies. args: role_name or purpose (then the name follows), managed (names of AWS's
// policies), trust: "pods" (Pod Identity), a service's principal, or
// {"service_account": "namespace:name", "service"?: further principal}.
const PartKind& role_kind();
// An EKS Pod Identity association. args: namespace, service_account, and the role's as above (purpose or
// role_name).
const PartKind& association_kind();
// An EKS add-on of the feature alone, with Part::configuration. args: name, configuration (the same where it
// is a constant), role (as above: purpose or role_name, empty for none).
const PartKind& addon_kind();
// A component of flows/components.h that is an add-on. args: component.
const PartKind& component_kind();
// The cluster's OIDC provider.
const PartKind& oidc_kind();
// Kubernetes objects, from Part::objects; marked by labels; Deployments are waited for. In order; removed in
// the reverse order. args: by_products [objects by kind and name that others write while it runs; they go,
// too].
const PartKind& objects_kind();
// That kinds are served and that every service behind a webhook configuration, in the namespace webhooks_of,
// has a ready endpoint. args: crds [names], webhooks_of, services [{namespace, name}].
const PartKind& answering_kind();
// A setting of the HyperPod cluster by sagemaker:UpdateCluster. args: on and off (members of the request),
// is_on (what DescribeCluster then shows, at least).
const PartKind& hyperpod_setting_kind();
// A tag of the HyperPod cluster. args: key, value.
const PartKind& hyperpod_tag_kind();
// An S3 bucket of the feature's own; it goes only where it is empty or holds what the feature itself put
// there. args: prefix (the cluster's name, account and region follow).
const PartKind& bucket_kind();
std::string part_bucket_name(const StepCall& call, const JsonObject& args);

Part component_part(std::string component);
Part cert_manager_answers();  // after component_part("cert_manager"): others ask it as soon as they start
Part oidc_part();
Part role_part(std::string id, const std::string& purpose, JsonObject trust_and_managed);
Part answering_part(std::string id, std::string name, JsonObject args);

// Name and ARN of a role by args (purpose or role_name).
std::string part_role_name(const StepCall& call, const JsonObject& args);
std::string part_role_arn(const StepCall& call, const JsonObject& args);

// Labels of a feature's Kubernetes objects: managed-by, and which feature.
void mark_objects(std::vector<JsonObject>& objects, const std::string& feature);

}  // namespace instantstart::flows
