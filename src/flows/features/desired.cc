#include "flows/features/desired.h"

namespace instantstart::flows {

namespace {
constexpr const char* kTable = "features";
}

Task<JsonObject> desired_features(Clusters& env, Context context, std::string cluster) {
    CO_TRY(auto entry, co_await env.store().get(context, kTable, cluster));
    if (!entry || !entry->value.is_object()) co_return JsonObject{};
    co_return std::move(entry->value.as_object());
}

Task<void> remember_features(Clusters& env, Context context, std::string cluster, JsonObject desired) {
    store::Batch batch;
    batch.put(kTable, std::move(cluster), std::move(desired));
    co_return co_await env.store().commit(context, std::move(batch));
}

Task<void> forget_features(Clusters& env, Context context, std::string cluster) {
    store::Batch batch;
    batch.remove(kTable, std::move(cluster));
    co_return co_await env.store().commit(context, std::move(batch));
}

}  // namespace instantstart::flows
