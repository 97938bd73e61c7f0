// MLflow apps: found by ARN, which does not hold the name; two may have the same one. A deleted app stays in
// the answers for a while, with status Deleted.
#include "twin/aws/sagemaker/managed.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr const char* kVersion = "3.4";

ServiceError missing(const std::string& arn) {
    return failure("ResourceNotFound", "MlflowApp " + arn + " does not exist.");
}

Record* of_call(Managed& state, const Call& call) {
    Record* found = state.mlflow_apps.find(base::get_string(call.params, "Arn"));
    return found != nullptr && call.shows(found->created) ? found : nullptr;
}

std::string status_of_app(const Record& app) {
    return base::get_string(app.data, "Status");
}

bool usable(const Record& app) {
    const std::string status = status_of_app(app);
    return status == "Created" || status == "Updated" || status == "UpdateFailed";
}

JsonObject arn_of(const Record& app) {
    return {{"Arn", app.id}};
}

void begin(Managed& state, Record& app, std::string_view status, base::Duration typical) {
    app.data["Status"] = status;
    app.data["LastModifiedTime"] = state.time();
    state.world.after(state.world.about(typical), "sagemaker", "managed_app", {{"arn", app.id}});
}

Reply create_app(Managed& state, const Call& call) {
    if (auto bad = check_mlflow(state, call)) return *bad;
    const std::string arn = "arn:aws:sagemaker:" + state.world.region() + ":" + state.world.account() +
                            ":mlflow-app/app-" + state.world.hex_id("", 12);
    JsonObject data;
    data["Arn"] = arn;
    data["MlflowVersion"] = kVersion;
    data["ModelRegistrationMode"] = "AutoModelRegistrationDisabled";
    data["AccountDefaultStatus"] = "DISABLED";
    data["WeeklyMaintenanceWindowStart"] = "Tue:03:30";
    for (const char* member :
         {"Name", "ArtifactStoreUri", "RoleArn", "ModelRegistrationMode", "WeeklyMaintenanceWindowStart",
          "AccountDefaultStatus", "DefaultDomainIdList"}) {
        if (const JsonValue* value = call.params.if_contains(member)) data[member] = *value;
    }
    data["CreationTime"] = state.time();
    data["CreatedBy"] = mlflow_user(call);
    data["LastModifiedBy"] = mlflow_user(call);
    Record& made = state.mlflow_apps.add(arn, std::move(data), state.world.now());
    made.hidden["tags"] = base::get_array(call.params, "Tags");
    begin(state, made, "Creating", minutes(3));
    return arn_of(made);
}

Reply describe_app(Managed& state, const Call& call) {
    const Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "Arn"));
    return found->data;
}

Reply list_apps(Managed& state, const Call& call) {
    return mlflow_page(call, state.mlflow_apps, "Summaries", "Status",
                       {"Arn", "Name", "Status", "CreationTime", "LastModifiedTime", "MlflowVersion"});
}

Reply update_app(Managed& state, const Call& call) {
    Record* found = of_call(state, call);
    if (found == nullptr || status_of_app(*found) == "Deleted")
        return missing(base::get_string(call.params, "Arn"));
    if (!usable(*found))
        return failure("ConflictException",
                       "MlflowApp cannot be updated while it is " + status_of_app(*found));
    for (const char* member :
         {"Name", "ArtifactStoreUri", "ModelRegistrationMode", "WeeklyMaintenanceWindowStart",
          "AccountDefaultStatus", "DefaultDomainIdList"}) {
        if (const JsonValue* value = call.params.if_contains(member)) found->data[member] = *value;
    }
    begin(state, *found, "Updating", minutes(2));
    return arn_of(*found);
}

Reply delete_app(Managed& state, const Call& call) {
    Record* found = of_call(state, call);
    if (found == nullptr || status_of_app(*found) == "Deleted")
        return missing(base::get_string(call.params, "Arn"));
    const std::string status = status_of_app(*found);
    if (status == "Creating" || status == "Updating")
        return invalid("MlflowApp cannot be deleted while it is " + status + ".");
    if (status != "Deleting") begin(state, *found, "Deleting", minutes(2));
    return arn_of(*found);
}

Reply app_link(Managed& state, const Call& call) {
    const Record* found = of_call(state, call);
    if (found == nullptr || status_of_app(*found) == "Deleted")
        return missing(base::get_string(call.params, "Arn"));
    if (!usable(*found)) return invalid("MlflowApp is " + status_of_app(*found) + ".");
    const std::string id = found->id.substr(found->id.rfind('/') + 1);
    return JsonObject{{"AuthorizedUrl", mlflow_link(state, "https://" + id + ".mlflow.sagemaker." +
                                                               state.world.region() + ".app.aws")}};
}

}  // namespace

void mlflow_app_timer(Managed& state, const std::string& kind, const JsonObject& payload) {
    Record* app = state.mlflow_apps.find(base::get_string(payload, "arn"));
    if (app == nullptr) return;
    const std::string status = status_of_app(*app);
    if (kind == "managed_app_gone" && status == "Deleted") {
        state.mlflow_apps.erase(std::string(app->id));
        return;
    }
    if (status == "Creating") app->data["Status"] = "Created";
    if (status == "Updating") app->data["Status"] = "Updated";
    if (status != "Deleting") return;
    app->data["Status"] = "Deleted";
    state.world.after(hours(1), "sagemaker", "managed_app_gone", {{"arn", app->id}});
}

void add_mlflow_app_operations(ManagedOperations& operations) {
    operations["CreateMlflowApp"] = create_app;
    operations["DescribeMlflowApp"] = describe_app;
    operations["ListMlflowApps"] = list_apps;
    operations["UpdateMlflowApp"] = update_app;
    operations["DeleteMlflowApp"] = delete_app;
    operations["CreatePresignedMlflowAppUrl"] = app_link;
}

}  // namespace instantstart::twin::sagemaker
