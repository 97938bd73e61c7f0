#include "flows/features/elastic_jobs.h"

#include "base/text.h"
#include "domain/names.h"

namespace instantstart::flows {

namespace {

constexpr std::size_t kNamed = 3;  // of many jobs, in a sentence

bool has_ended(const JsonValue& job) {
    for (const auto& condition : base::get_array(job, "status.conditions")) {
        const auto type = base::get_string(condition, "type");
        if ((type == "Completed" || type == "Failed") && base::get_string(condition, "status") == "True")
            return true;
    }
    return false;
}

}  // namespace

Task<std::vector<std::string>> elastic_jobs(Clusters& env, Context context, std::string eks_name) {
    const kube::Resource kind("sagemaker.amazonaws.com", "v1", "hyperpodpytorchjobs", "HyperPodPyTorchJob",
                              true);
    CO_TRY(auto client, co_await env.kube(context, eks_name));
    const kube::ListOptions options;
    std::vector<std::string> names;
    auto list = co_await client->list(context, kind, options);
    if (!list && list.error().kind == base::ErrorKind::not_found) co_return names;
    CO_CHECK_OK(list);
    for (const auto& job : base::get_array(*list, "items")) {
        if (base::find_path(job, "spec.elasticPolicy") == nullptr || has_ended(job)) continue;
        const auto name =
            base::get_string(job, "metadata.namespace") + "/" + base::get_string(job, "metadata.name");
        names.push_back(domain::clean_text(name, 200));
    }
    co_return names;
}

std::string elastic_words(const std::vector<std::string>& jobs) {
    const auto end = jobs.size() > kNamed ? jobs.begin() + kNamed : jobs.end();
    const auto named = base::join(std::vector<std::string>(jobs.begin(), end), ", ");
    const auto more = jobs.size() > kNamed ? " and " + std::to_string(jobs.size() - kNamed) + " more" : "";
    return "elastic training (HyperPodPyTorchJob " + named + more + ")";
}

}  // namespace instantstart::flows
