// Amazon Managed Service for Prometheus: workspaces. Metrics are not kept; nothing in the twin asks for them.
#include "twin/aws/resource_tags.h"
#include "twin/aws/resources/record.h"
#include "twin/aws/services.h"
#include "twin/aws/small/paging.h"

namespace instantstart::twin {

namespace {

using std::chrono::seconds;

constexpr std::int64_t kMostPerPage = 1000;

class Amp final : public Service, public ResourceTags {
public:
    explicit Amp(World& world) : world_(world) {}
    std::string_view name() const override { return "amp"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override { return JsonObject{{"workspaces", workspaces_.save()}}; }
    void load(const JsonValue& state) override {
        const JsonObject* saved = state.if_object();
        const JsonValue* table = saved == nullptr ? nullptr : saved->if_contains("workspaces");
        workspaces_.load(table == nullptr ? JsonValue() : *table);
    }
    JsonArray resource_tags(std::string_view arn) const override;

private:
    Reply create(const Call& call);
    Reply describe(const Call& call);
    Reply list(const Call& call);
    Reply remove(const Call& call);
    Reply rename(const Call& call);
    Reply tags(const Call& call);
    Record* of_call(const Call& call);
    const Record* by_arn(std::string_view arn) const;

    World& world_;
    Table workspaces_;  // by id
};

ServiceError not_found(const std::string& id) {
    ServiceError error(404, "ResourceNotFoundException", "Workspace not found: " + id);
    error.members = JsonObject{{"resourceId", id}, {"resourceType", "workspace"}};
    return error;
}

ServiceError refused(std::string reason, std::string message) {
    ServiceError error(400, "ValidationException", std::move(message));
    error.members = JsonObject{{"reason", reason}};
    return error;
}

std::string status_of(const Record& workspace) {
    return base::get_string(workspace.data, "status.statusCode");
}

void set_status(Record& workspace, std::string_view status) {
    workspace.data["status"] = JsonObject{{"statusCode", status}};
}

Record* Amp::of_call(const Call& call) {
    Record* found = workspaces_.find(base::get_string(call.params, "workspaceId"));
    return found != nullptr && call.shows(found->created) ? found : nullptr;
}

const Record* Amp::by_arn(std::string_view arn) const {
    for (const auto& [id, workspace] : workspaces_) {
        if (base::get_string(workspace.data, "arn") == arn) return &workspace;
    }
    return nullptr;
}

// What CreateWorkspace answers: the description without alias, endpoint and time.
JsonObject brief(const Record& workspace) {
    JsonObject out = workspace.data;
    out["workspaceId"] = workspace.id;
    for (const char* member : {"alias", "prometheusEndpoint", "createdAt"}) out.erase(member);
    return out;
}

Reply Amp::create(const Call& call) {
    const std::string token = base::get_string(call.params, "clientToken");
    for (const auto& [id, known] : workspaces_) {
        if (!token.empty() && base::get_string(known.hidden, "token") == token) return brief(known);
    }
    const std::string id = "ws-" + world_.uuid();
    JsonObject data;
    data["workspaceId"] = id;
    if (call.params.contains("alias")) data["alias"] = base::get_string(call.params, "alias");
    data["arn"] = "arn:aws:aps:" + world_.region() + ":" + world_.account() + ":workspace/" + id;
    data["prometheusEndpoint"] =
        "https://aps-workspaces." + world_.region() + ".amazonaws.com/workspaces/" + id + "/";
    data["createdAt"] = base::format_time_millis(call.now);
    data["tags"] = base::get_object(call.params, "tags");
    if (call.params.contains("kmsKeyArn")) data["kmsKeyArn"] = base::get_string(call.params, "kmsKeyArn");
    Record& made = workspaces_.add(id, std::move(data), call.now);
    set_status(made, "CREATING");
    made.hidden["token"] = token;
    world_.after(world_.about(seconds(20)), "amp", "ready", JsonObject{{"id", id}});
    world_.touched();
    return brief(made);
}

void Amp::on_timer(const std::string& kind, const JsonObject& payload) {
    const std::string id = base::get_string(payload, "id");
    Record* found = workspaces_.find(id);
    if (found == nullptr) return;
    if (kind == "ready" && status_of(*found) == "CREATING") set_status(*found, "ACTIVE");
    if (kind == "gone" && status_of(*found) == "DELETING") workspaces_.erase(id);
    world_.touched();
}

Reply Amp::describe(const Call& call) {
    const Record* found = of_call(call);
    if (found == nullptr) return not_found(base::get_string(call.params, "workspaceId"));
    return JsonObject{{"workspace", found->data}};
}

Reply Amp::list(const Call& call) {
    const std::string alias = base::get_string(call.params, "alias");
    JsonArray out;
    for (const auto& [id, workspace] : workspaces_) {
        if (!call.shows(workspace.created)) continue;
        if (!alias.empty() && !base::get_string(workspace.data, "alias").starts_with(alias)) continue;
        JsonObject row = workspace.data;
        row.erase("prometheusEndpoint");
        out.emplace_back(std::move(row));
    }
    auto reply = small::page(call, {"workspaces", "maxResults", "nextToken", "nextToken", kMostPerPage}, out);
    if (!reply) return refused("CANNOT_PARSE", "Invalid nextToken.");
    return std::move(*reply);
}

Reply Amp::remove(const Call& call) {
    Record* found = of_call(call);
    if (found == nullptr) return not_found(base::get_string(call.params, "workspaceId"));
    if (status_of(*found) == "CREATING") {
        ServiceError error(409, "ConflictException", "The workspace is being created.");
        error.members = JsonObject{{"resourceId", found->id}, {"resourceType", "workspace"}};
        return error;
    }
    if (status_of(*found) != "DELETING") {
        set_status(*found, "DELETING");
        world_.after(world_.about(seconds(20)), "amp", "gone", JsonObject{{"id", found->id}});
        world_.touched();
    }
    return JsonObject{};
}

Reply Amp::rename(const Call& call) {
    Record* found = of_call(call);
    if (found == nullptr) return not_found(base::get_string(call.params, "workspaceId"));
    if (call.params.contains("alias"))
        found->data["alias"] = base::get_string(call.params, "alias");
    else
        found->data.erase("alias");
    world_.touched();
    return JsonObject{};
}

Reply Amp::tags(const Call& call) {
    const std::string arn = base::get_string(call.params, "resourceArn");
    const Record* known = by_arn(arn);
    Record* found = known == nullptr ? nullptr : workspaces_.find(known->id);
    if (found == nullptr) return not_found(arn);
    JsonObject tags = base::get_object(found->data, "tags");
    if (call.operation == "ListTagsForResource") return JsonObject{{"tags", std::move(tags)}};
    for (const auto& item : base::get_object(call.params, "tags")) tags[item.key()] = item.value();
    for (const std::string& key : strings(call.params, "tagKeys")) tags.erase(key);
    found->data["tags"] = std::move(tags);
    world_.touched();
    return JsonObject{};
}

JsonArray Amp::resource_tags(std::string_view arn) const {
    JsonArray out;
    const Record* found = by_arn(arn);
    if (found == nullptr) return out;
    for (const auto& item : base::get_object(found->data, "tags"))
        put_tag(out, item.key(), std::string(item.value().as_string()));
    return out;
}

Reply Amp::handle(const Call& call) {
    if (call.operation == "CreateWorkspace") return create(call);
    if (call.operation == "DescribeWorkspace") return describe(call);
    if (call.operation == "ListWorkspaces") return list(call);
    if (call.operation == "DeleteWorkspace") return remove(call);
    if (call.operation == "UpdateWorkspaceAlias") return rename(call);
    if (call.operation == "TagResource" || call.operation == "UntagResource" ||
        call.operation == "ListTagsForResource")
        return tags(call);
    return refused("UNKNOWN_OPERATION", "The simulated account does not know " + call.operation + ".");
}

}  // namespace

std::unique_ptr<Service> make_amp(World& world) {
    return std::make_unique<Amp>(world);
}

}  // namespace instantstart::twin
