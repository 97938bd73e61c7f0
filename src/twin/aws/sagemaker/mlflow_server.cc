// MLflow tracking servers: found by name, half an hour in the making, stopped and started, and usable only
// while IsActive says so, whatever the status is.
#include <algorithm>

#include "base/text.h"
#include "twin/aws/sagemaker/managed.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;

constexpr const char* kVersion = "3.0";

ServiceError missing(const std::string& name) {
    return failure("ResourceNotFound", "TrackingServer with name " + name + " does not exist.");
}

Record* of_call(Managed& state, const Call& call) {
    Record* found = state.mlflow_servers.find(base::get_string(call.params, "TrackingServerName"));
    return found != nullptr && call.shows(found->created) ? found : nullptr;
}

std::string status_of_server(const Record& server) {
    return base::get_string(server.data, "TrackingServerStatus");
}

void set_status(Managed& state, Record& server, std::string_view status, bool active) {
    server.data["TrackingServerStatus"] = status;
    server.data["IsActive"] = active ? "Active" : "Inactive";
    server.data["LastModifiedTime"] = state.time();
}

bool at_rest(const Record& server) {
    const std::string status = status_of_server(server);
    return !status.ends_with("ing") && status != "MaintenanceInProgress";
}

JsonObject arn_of(const Record& server) {
    return {{"TrackingServerArn", base::get_string(server.data, "TrackingServerArn")}};
}

// Each transition carries a turn: a timer of an earlier one changes nothing.
void begin(Managed& state, Record& server, std::string_view status, bool active, base::Duration typical) {
    set_status(state, server, status, active);
    const std::int64_t turn = base::get_int(server.hidden, "turn") + 1;
    server.hidden["turn"] = turn;
    state.world.after(state.world.about(typical), "sagemaker", "managed_server",
                      {{"arn", base::get_string(server.data, "TrackingServerArn")}, {"turn", turn}});
}

Reply create_server(Managed& state, const Call& call) {
    const std::string name = base::get_string(call.params, "TrackingServerName");
    if (state.mlflow_servers.find(name) != nullptr)
        return invalid("TrackingServer with name " + name + " already exists.");
    if (auto bad = check_mlflow(state, call)) return *bad;
    JsonObject data;
    data["TrackingServerArn"] = "arn:aws:sagemaker:" + state.world.region() + ":" + state.world.account() +
                                ":mlflow-tracking-server/" + name;
    data["TrackingServerName"] = name;
    data["ArtifactStoreUri"] = base::get_string(call.params, "ArtifactStoreUri");
    data["TrackingServerSize"] = base::get_string(call.params, "TrackingServerSize", "Small");
    data["MlflowVersion"] = base::get_string(call.params, "MlflowVersion", kVersion);
    data["RoleArn"] = base::get_string(call.params, "RoleArn");
    data["AutomaticModelRegistration"] = base::get_bool(call.params, "AutomaticModelRegistration");
    data["WeeklyMaintenanceWindowStart"] =
        base::get_string(call.params, "WeeklyMaintenanceWindowStart", "Tue:03:30");
    data["TrackingServerUrl"] =
        "https://t-" + state.world.hex_id("", 12) + "." + state.world.region() + ".experiments.sagemaker.aws";
    data["CreationTime"] = state.time();
    data["CreatedBy"] = mlflow_user(call);
    data["LastModifiedBy"] = mlflow_user(call);
    Record& made = state.mlflow_servers.add(name, std::move(data), state.world.now());
    made.hidden["tags"] = base::get_array(call.params, "Tags");
    begin(state, made, "Creating", false, minutes(20));
    return arn_of(made);
}

Reply describe_server(Managed& state, const Call& call) {
    const Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "TrackingServerName"));
    return found->data;
}

Reply list_servers(Managed& state, const Call& call) {
    return mlflow_page(call, state.mlflow_servers, "TrackingServerSummaries", "TrackingServerStatus",
                       {"TrackingServerArn", "TrackingServerName", "CreationTime", "LastModifiedTime",
                        "TrackingServerStatus", "IsActive", "MlflowVersion"});
}

Reply update_server(Managed& state, const Call& call) {
    Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "TrackingServerName"));
    if (!at_rest(*found))
        return failure("ConflictException", "TrackingServer is " + status_of_server(*found) + ".");
    const bool active = base::get_string(found->data, "IsActive") == "Active";
    for (const char* member : {"ArtifactStoreUri", "TrackingServerSize", "AutomaticModelRegistration",
                               "WeeklyMaintenanceWindowStart"}) {
        if (const JsonValue* value = call.params.if_contains(member)) found->data[member] = *value;
    }
    found->data["LastModifiedBy"] = mlflow_user(call);
    begin(state, *found, "Updating", active, minutes(10));
    return arn_of(*found);
}

Reply start_server(Managed& state, const Call& call) {
    Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "TrackingServerName"));
    const std::string status = status_of_server(*found);
    if (status != "Stopped" && status != "StartFailed" && status != "StopFailed")
        return failure("ConflictException", "TrackingServer cannot be started while it is " + status + ".");
    begin(state, *found, "Starting", false, minutes(6));
    return arn_of(*found);
}

Reply stop_server(Managed& state, const Call& call) {
    Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "TrackingServerName"));
    if (!at_rest(*found) || base::get_string(found->data, "IsActive") != "Active")
        return failure("ConflictException",
                       "TrackingServer cannot be stopped while it is " + status_of_server(*found) + ".");
    begin(state, *found, "Stopping", false, minutes(4));
    return arn_of(*found);
}

Reply delete_server(Managed& state, const Call& call) {
    Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "TrackingServerName"));
    const std::string status = status_of_server(*found);
    if (status != "Deleting" && !at_rest(*found))
        return invalid("TrackingServer cannot be deleted while it is " + status + ".");
    JsonObject answer = arn_of(*found);
    if (status != "Deleting") begin(state, *found, "Deleting", false, minutes(5));
    return answer;
}

Reply server_link(Managed& state, const Call& call) {
    const Record* found = of_call(state, call);
    if (found == nullptr) return missing(base::get_string(call.params, "TrackingServerName"));
    if (base::get_string(found->data, "IsActive") != "Active")
        return invalid("TrackingServer is not active: it is " + status_of_server(*found) + ".");
    return JsonObject{
        {"AuthorizedUrl", mlflow_link(state, base::get_string(found->data, "TrackingServerUrl"))}};
}

}  // namespace

std::optional<ServiceError> check_mlflow(Managed& state, const Call& call) {
    const std::string store = base::get_string(call.params, "ArtifactStoreUri");
    if (!store.starts_with("s3://") || store.size() < 9)
        return invalid("ArtifactStoreUri must be the URI of an S3 bucket or prefix: " + store);
    const std::string role = base::get_string(call.params, "RoleArn");
    IamView& iam = state.world.iam();
    const auto trusts = [&] { return contains(iam.trusted_services(role), "sagemaker.amazonaws.com"); };
    if (iam.role_exists(role) && trusts() && iam.role_usable(role)) return std::nullopt;
    return invalid("Could not assume role " + role +
                   ". Please ensure that the role exists and allows principal 'sagemaker.amazonaws.com' to "
                   "assume the role.");
}

JsonObject mlflow_user(const Call& call) {
    return {{"IamIdentity", {{"Arn", call.caller.arn}, {"PrincipalId", call.caller.user_id}}}};
}

std::string mlflow_link(Managed& state, const std::string& url) {
    return url + "/auth?authToken=" + base::base64url_encode(state.world.clock().random_id(96));
}

JsonObject mlflow_page(const Call& call, const Table& table, const char* items, const char* status,
                       std::initializer_list<const char*> members) {
    const auto after = base::parse_time(base::get_string(call.params, "CreatedAfter"));
    const auto before = base::parse_time(base::get_string(call.params, "CreatedBefore"));
    const auto fits = [&](const Record& record, const char* asked, const char* member) {
        const std::string wanted = base::get_string(call.params, asked);
        return wanted.empty() || base::get_string(record.data, member) == wanted;
    };
    std::vector<const Record*> chosen;
    for (const auto& [key, record] : table) {
        const bool in_time = (!after || record.created > *after) && (!before || record.created < *before);
        if (in_time && call.shows(record.created) && fits(record, status, status) &&
            fits(record, "MlflowVersion", "MlflowVersion"))
            chosen.push_back(&record);
    }
    std::sort(chosen.begin(), chosen.end(), [](const Record* a, const Record* b) {
        return std::pair(a->created, a->id) < std::pair(b->created, b->id);
    });
    if (base::get_string(call.params, "SortOrder", "Descending") == "Descending")
        std::reverse(chosen.begin(), chosen.end());
    JsonArray rows;
    for (const Record* record : chosen) {
        JsonObject row;
        for (const char* member : members) {
            if (const JsonValue* value = record->data.if_contains(member)) row[member] = *value;
        }
        rows.push_back(std::move(row));
    }
    Page page = paginate(rows, base::get_int(call.params, "MaxResults", 10),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer[items] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

void mlflow_server_timer(Managed& state, const JsonObject& payload) {
    for (auto& [name, server] : state.mlflow_servers) {
        if (base::get_string(server.data, "TrackingServerArn") != base::get_string(payload, "arn")) continue;
        if (base::get_int(server.hidden, "turn") != base::get_int(payload, "turn")) return;
        const std::string status = status_of_server(server);
        const bool active = base::get_string(server.data, "IsActive") == "Active";
        if (status == "Creating") set_status(state, server, "Created", true);
        if (status == "Starting") set_status(state, server, "Started", true);
        if (status == "Stopping") set_status(state, server, "Stopped", false);
        if (status == "Updating") set_status(state, server, "Updated", active);
        if (status == "Deleting") state.mlflow_servers.erase(std::string(name));
        return;
    }
}

void add_mlflow_server_operations(ManagedOperations& operations) {
    operations["CreateMlflowTrackingServer"] = create_server;
    operations["DescribeMlflowTrackingServer"] = describe_server;
    operations["ListMlflowTrackingServers"] = list_servers;
    operations["UpdateMlflowTrackingServer"] = update_server;
    operations["StartMlflowTrackingServer"] = start_server;
    operations["StopMlflowTrackingServer"] = stop_server;
    operations["DeleteMlflowTrackingServer"] = delete_server;
    operations["CreatePresignedMlflowTrackingServerUrl"] = server_link;
}

}  // namespace instantstart::twin::sagemaker
