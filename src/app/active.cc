#include "app/active.h"

namespace instantstart::app {

namespace {
constexpr const char* kTable = "active";
}

rt::Task<std::string> active_cluster(rt::Context context, store::Store& store, std::string principal) {
    CO_TRY(auto entry, co_await store.get(std::move(context), kTable, std::move(principal)));
    if (!entry) co_return std::string();
    co_return base::get_string(entry->value, "cluster");
}

}  // namespace instantstart::app
