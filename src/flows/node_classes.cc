#include "flows/node_classes.h"

namespace instantstart::flows {

Task<ManagedGroups> managed_groups(Clusters& env, Context context, std::string eks_name) {
    const kube::Resource classes("karpenter.sagemaker.amazonaws.com", "v1", "hyperpodnodeclasses",
                                 "HyperpodNodeClass", false);
    CO_TRY(auto client, co_await env.kube(context, eks_name));
    const kube::ListOptions options;
    ManagedGroups groups;
    auto list = co_await client->list(context, classes, options);
    if (!list && list.error().kind == base::ErrorKind::not_found) co_return groups;
    CO_CHECK_OK(list);
    for (const auto& item : base::get_array(*list, "items")) {
        for (const auto& name : base::get_array(item, "spec.instanceGroups")) {
            if (name.is_string())
                groups[std::string(name.as_string())].push_back(base::get_string(item, "metadata.name"));
        }
    }
    co_return groups;
}

}  // namespace instantstart::flows
