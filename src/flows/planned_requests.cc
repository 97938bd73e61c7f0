// The requests of the flows as they will be, but for what only earlier steps can find out: stand-ins of the
// right form take its place.
#include "domain/names.h"
#include "flows/eks_steps.h"
#include "flows/group_change_steps.h"
#include "flows/hyperpod_steps.h"
#include "flows/request_fields.h"
#include "flows/role_steps.h"

namespace instantstart::flows {

namespace {

constexpr const char* kSubnet = "subnet-00000000000000000";
constexpr const char* kSecurityGroup = "sg-00000000000000000";
constexpr const char* kIssuer = "oidc.eks.region.amazonaws.com/id/0";

StepCall stand_in_call(const JsonObject& params) {
    StepCall call;
    call.params = params;
    call.operation_id = "op_0";
    call.client_token = "0";
    const auto scope = scope_of(call);
    const std::string role = "arn:" + scope.partition + ":iam::" + scope.account + ":role/r";
    const std::string eks =
        "arn:" + scope.partition + ":eks:" + scope.region + ":" + scope.account + ":cluster/c";
    call.results = {{"security_group", {{"id", kSecurityGroup}}},
                    {"cluster_role", {{"arn", role}}},
                    {"execution_role", {{"arn", role}}},
                    {"eks", {{"arn", eks}, {"issuer", kIssuer}}},
                    {"lifecycle_script", {{"uri", "s3://sagemaker-b/s/"}, {"file", "on_create.sh"}}},
                    {"network", {{"security_group_id", kSecurityGroup}}}};
    for (const auto& group : base::get_array(params, "groups")) {
        const auto zone = base::get_string(group, "zone");
        call.results["compute_subnet_" + zone] = JsonObject{{"id", kSubnet}};
    }
    return call;
}

void add_cluster(const StepCall& call, std::vector<PlannedRequest>& requests) {
    const auto range = base::get_string(call.params, "network.vpc_cidr");
    if (!range.empty()) {
        const JsonObject tags{{"ResourceType", "vpc"}, {"Tags", domain::tag_list(owner_of(call, "vpc"))}};
        requests.emplace_back("ec2", "CreateVpc",
                              JsonObject{{"CidrBlock", range}, {"TagSpecifications", JsonArray{tags}}});
    }
    const JsonObject role{{"purpose", "eks"}, {"service", "eks.amazonaws.com"}};
    requests.emplace_back("iam", "CreateRole", role_request(call, role));
    auto subnets = base::get_array(call.params, "network.subnet_ids");
    if (subnets.empty()) subnets = {kSubnet, kSubnet};
    requests.emplace_back("eks", "CreateCluster", eks_request(call, std::move(subnets)));
    for (const auto& principal : base::get_array(call.params, "principals")) {
        requests.emplace_back("eks", "CreateAccessEntry",
                              access_request(call, std::string(principal.as_string())));
    }
}

void add_storage(const StepCall& call, std::vector<PlannedRequest>& requests) {
    const auto& storage = base::get_object(call.params, "storage");
    if (storage.empty()) return;
    const bool own = base::get_bool(storage, "own_bucket");
    requests.emplace_back("s3", own ? "CreateBucket" : "HeadBucket",
                          JsonObject{{"Bucket", base::get_string(storage, "bucket")}});
}

}  // namespace

std::vector<PlannedRequest> planned_requests(const std::string& flow, const JsonObject& params) {
    std::vector<PlannedRequest> requests;
    const StepCall call = stand_in_call(params);
    if (flow == "cluster_create" || flow == "cluster_launch") add_cluster(call, requests);
    if (flow == "cluster_launch" || flow == "hyperpod_create") {
        requests.emplace_back("sagemaker", "CreateCluster", hyperpod_request(call));
    }
    if (flow == "cluster_launch") add_storage(call, requests);
    if (flow == "instance_group_update") {
        requests.emplace_back("sagemaker", "UpdateCluster",
                              change_request(call, base::get_object(params, "details")));
    }
    if (flow == "instance_group_add") {
        for (const auto& group : base::get_array(params, "groups")) {
            requests.emplace_back("sagemaker", "UpdateCluster",
                                  group_request(call, base::get_string(group, "name")));
        }
    }
    return requests;
}

}  // namespace instantstart::flows
