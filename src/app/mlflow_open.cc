// mlflow.open: a link that signs a browser into the cluster's MLflow. AWS makes it for one use within
// minutes; it is given to the caller and kept nowhere.
#include "app/cluster_inputs.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "flows/features/mlflow.h"
#include "flows/features/sight.h"

namespace instantstart::app {

namespace {

constexpr std::int64_t kUsualSeconds = 60;

struct MlflowOpen {
    std::string cluster;
    std::int64_t expires_seconds = kUsualSeconds;
};
BOOST_DESCRIBE_STRUCT(MlflowOpen, (), (cluster, expires_seconds))

base::Error not_usable(const std::string& cluster, const std::string& status) {
    if (status.empty()) {
        return base::conflict_error("mlflow_off", "cluster " + cluster + " has no MLflow")
            .with_hint("Switch it on with feature.update, {\"mlflow\": {\"enabled\": true}}.");
    }
    return base::conflict_error("mlflow_not_ready", "MLflow of " + cluster + " is " + status)
        .with_hint(
            "Try again once feature.list says that mlflow is on; feature.update starts one that was "
            "stopped.");
}

Task<std::string> link_to(Call call, JsonObject found, std::int64_t seconds) {
    const bool server = base::get_string(found, "kind") == "tracking_server";
    const auto arn = base::get_string(found, "arn");
    JsonObject parameters{{"ExpiresInSeconds", seconds}};
    if (server) {
        parameters["TrackingServerName"] = arn.substr(arn.rfind('/') + 1);
    } else {
        parameters["Arn"] = arn;
    }
    if (server) {
        CO_TRY(auto answer, co_await call.services->aws.call(call.context, "sagemaker",
                                                             "CreatePresignedMlflowTrackingServerUrl",
                                                             std::move(parameters)));
        co_return base::get_string(answer, "AuthorizedUrl");
    }
    CO_TRY(auto answer, co_await call.services->aws.call(
                            call.context, "sagemaker", "CreatePresignedMlflowAppUrl", std::move(parameters)));
    co_return base::get_string(answer, "AuthorizedUrl");
}

Task<Answer> run(Call call, MlflowOpen input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto params, co_await base_params(call, target));
    const auto look = flows::sight_call(call.context, std::move(params), target.eks);
    CO_TRY(auto found, co_await flows::mlflow_found(call.services->clusters, look));
    const auto status = base::get_string(found, "status");
    if (!base::get_bool(found, "usable")) co_return not_usable(target.ref.name, status);
    CO_TRY(const auto url, co_await link_to(call, found, input.expires_seconds));
    found.erase("usable");
    found["url"] = url;
    found["expires_seconds"] = input.expires_seconds;
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary = "A link into MLflow of " + target.ref.name + ", good once within " +
                     std::to_string(input.expires_seconds) + " seconds. Whoever has it is signed in.";
    answer.body["mlflow"] = std::move(found);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_mlflow_open() {
    Meta meta;
    meta.id = "mlflow.open";
    meta.method = "POST";
    meta.path = "/clusters/{cluster}/mlflow/open";
    meta.summary = "A link that signs a browser into the cluster's MLflow, good once within seconds.";
    meta.role = Role::operator_role;
    meta.area = "features";
    meta.default_tool = false;
    meta.uses = {"eks:DescribeCluster",
                 "sagemaker:DescribeCluster",
                 "sagemaker:ListClusters",
                 "sagemaker:ListTags",
                 "sagemaker:DescribeMlflowTrackingServer",
                 "sagemaker:ListMlflowApps",
                 "sagemaker:DescribeMlflowApp",
                 "sagemaker:CreatePresignedMlflowAppUrl",
                 "sagemaker:CreatePresignedMlflowTrackingServerUrl",
                 "iam:GetRole",
                 "sts:GetCallerIdentity"};
    return make_query<MlflowOpen>(
        std::move(meta),
        {cluster_field(), Field("expires_seconds", "How long the link can be used to sign in.")
                              .range(5, 300)
                              .defaults(kUsualSeconds)
                              .like(kUsualSeconds)},
        &run);
}

}  // namespace instantstart::app
