// Managed: what the twin's SageMaker keeps beside HyperPod: MLflow's tracking servers and apps, and task
// governance's policies. Owned by the service; its handlers are free functions, as HyperPod's are.
#pragma once

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

struct Managed {
    explicit Managed(State& owner) : hyperpod(owner), world(owner.world), host(owner.host) {}
    State& hyperpod;
    World& world;
    kube::ClusterHost& host;
    Table mlflow_servers, mlflow_apps, compute_quotas, schedulers;  // by name; by ARN; by id; by id

    std::string time() const { return hyperpod.time(); }
    JsonValue save() const;
    void load(const JsonValue& saved);
    // The tagged resource of that ARN; null where it is none of these.
    const Record* by_arn(std::string_view arn) const;
    Record* by_arn(std::string_view arn);
    void on_timer(const std::string& kind, const JsonObject& payload);
};

using ManagedHandler = Reply (*)(Managed&, const Call&);
using ManagedOperations = std::map<std::string, ManagedHandler, std::less<>>;

// All of them, MLflow's and governance's. AddTags, ListTags and DeleteTags are not among them.
ManagedOperations managed_operations();
void add_mlflow_server_operations(ManagedOperations& operations);
void add_mlflow_app_operations(ManagedOperations& operations);
void add_governance_operations(ManagedOperations& operations);

// The artifact store and the role of a server or an app, as a create call names them; nullopt where they
// will do.
std::optional<ServiceError> check_mlflow(Managed& state, const Call& call);
// Who made or changed it.
JsonObject mlflow_user(const Call& call);
// A link that signs a browser in.
std::string mlflow_link(Managed& state, const std::string& url);
// A page of a List operation, newest first or as SortOrder says; filters on times, status and version are
// applied. `status` names the member that holds it.
JsonObject mlflow_page(const Call& call, const Table& table, const char* items, const char* status,
                       std::initializer_list<const char*> members);

void mlflow_server_timer(Managed& state, const JsonObject& payload);
void mlflow_app_timer(Managed& state, const std::string& kind, const JsonObject& payload);
void governance_timer(Managed& state, const JsonObject& payload);

}  // namespace instantstart::twin::sagemaker
