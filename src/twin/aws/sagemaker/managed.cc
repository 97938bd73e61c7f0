#include "twin/aws/sagemaker/managed.h"

#include <utility>

namespace instantstart::twin::sagemaker {

namespace {

struct Family {
    const char* name;  // in the saved state
    Table Managed::* table;
    const char* arn;  // the member that holds it
};
constexpr Family kFamilies[] = {{"mlflow_servers", &Managed::mlflow_servers, "TrackingServerArn"},
                                {"mlflow_apps", &Managed::mlflow_apps, "Arn"},
                                {"compute_quotas", &Managed::compute_quotas, "ComputeQuotaArn"},
                                {"schedulers", &Managed::schedulers, "ClusterSchedulerConfigArn"}};

}  // namespace

JsonValue Managed::save() const {
    JsonObject saved;
    for (const Family& family : kFamilies) saved[family.name] = (this->*family.table).save();
    return saved;
}

void Managed::load(const JsonValue& saved) {
    const JsonObject* tables = saved.if_object();
    for (const Family& family : kFamilies) {
        const JsonValue* table = tables == nullptr ? nullptr : tables->if_contains(family.name);
        (this->*family.table).load(table == nullptr ? JsonValue() : *table);
    }
}

const Record* Managed::by_arn(std::string_view arn) const {
    for (const Family& family : kFamilies) {
        for (const auto& [key, record] : this->*family.table) {
            if (base::get_string(record.data, family.arn) == arn) return &record;
        }
    }
    return nullptr;
}

Record* Managed::by_arn(std::string_view arn) {
    const Record* found = std::as_const(*this).by_arn(arn);
    if (found == nullptr) return nullptr;
    for (const Family& family : kFamilies) {
        if (Record* own = (this->*family.table).find(found->id)) return own;
    }
    return nullptr;
}

void Managed::on_timer(const std::string& kind, const JsonObject& payload) {
    if (kind == "managed_server") mlflow_server_timer(*this, payload);
    if (kind == "managed_app" || kind == "managed_app_gone") mlflow_app_timer(*this, kind, payload);
    if (kind == "managed_governance") governance_timer(*this, payload);
}

ManagedOperations managed_operations() {
    ManagedOperations operations;
    add_mlflow_server_operations(operations);
    add_mlflow_app_operations(operations);
    add_governance_operations(operations);
    return operations;
}

}  // namespace instantstart::twin::sagemaker
