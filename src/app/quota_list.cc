// quota.list: how many instances of each type may run in HyperPod clusters, and how many do.
#include <algorithm>

#include "app/domain_makers.h"
#include "app/preflight.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct QuotaList {
    std::optional<std::string> instance_type;
};
BOOST_DESCRIBE_STRUCT(QuotaList, (), (instance_type))

Task<Answer> run(Call call, QuotaList input) {
    CO_TRY(auto limits, co_await quota_limits(call, "sagemaker", Look::kept_will_do));
    CO_TRY(auto usage, co_await hyperpod_usage(call));
    JsonArray rows;
    for (const auto& [name, limit] : limits) {
        const auto row = quota_row(name);
        if (row.type.empty() || (input.instance_type && row.type != *input.instance_type)) continue;
        const auto used = type_quota(limits, usage, row.type, row.spot).used;
        const auto whole = static_cast<std::int64_t>(limit.value);
        rows.push_back(JsonObject{{"name", name},
                                  {"quota_code", limit.code},
                                  {"instance_type", row.type},
                                  {"limit", whole},
                                  {"used", used},
                                  {"free", std::max<std::int64_t>(0, whole - used)}});
    }
    Answer answer;
    answer.summary = std::to_string(rows.size()) + " quotas for cluster usage.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["quotas"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_quota_list() {
    Meta meta;
    meta.id = "quota.list";
    meta.method = "GET";
    meta.path = "/quotas";
    meta.summary =
        "Service quotas of instances in HyperPod clusters: limit, used over all clusters, and free.";
    meta.area = "quotas";
    meta.uses = {"service-quotas:ListServiceQuotas", "service-quotas:ListAWSDefaultServiceQuotas",
                 "sagemaker:ListClusters", "sagemaker:DescribeCluster"};
    return make_query<QuotaList>(
        std::move(meta), {Field("instance_type", "Only this type.").length(1, 64).like("ml.g5.12xlarge")},
        &run);
}

}  // namespace instantstart::app
