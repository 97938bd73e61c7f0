// storage.list, storage.create, storage.delete, storage.browse: S3 buckets and file systems of FSx for
// Lustre, mounted in pods.
#include "app/cursor.h"
#include "app/domain_makers.h"
#include "app/group_planning.h"
#include "app/lustre_planning.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "domain/names.h"
#include "flows/components.h"
#include "flows/storage_steps.h"

namespace instantstart::app {

namespace {

struct StorageList {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(StorageList, (), (cluster))

Task<Answer> list(Call call, StorageList input) {
    CO_TRY(auto ref, co_await call.services->clusters.find(call.context, input.cluster));
    CO_TRY(auto rows, co_await flows::storage_rows(call.services->clusters, call.context, ref.eks_name));
    Answer answer;
    answer.cluster = ref.name;
    answer.summary = std::to_string(rows.size()) + " storages.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["storages"] = std::move(rows);
    co_return answer;
}

struct StorageCreate : StorageInput {
    StorageCreate() = default;
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(StorageCreate, (StorageInput), (cluster))

Task<JsonObject> find_storage(Call call, flows::ClusterRef ref, std::string name) {
    CO_TRY(auto rows, co_await flows::storage_rows(call.services->clusters, call.context, ref.eks_name));
    for (const auto& row : rows) {
        if (base::get_string(row, "name") == name) co_return row.as_object();
    }
    co_return base::not_found_error("storage \"" + name + "\"").with_hint("storage.list names the storages.");
}

// What lies behind a storage, by kind.
std::string source_key(const JsonObject& storage) {
    return base::get_string(storage, "kind") == "fsx_lustre" ? "file_system_id" : "bucket";
}
std::string source_id(const JsonObject& storage) {
    return base::get_string(storage, source_key(storage));
}
std::string source_of(const JsonObject& storage) {
    return (source_key(storage) == "bucket" ? "bucket " : "file system ") + source_id(storage);
}

// Without its driver a bound claim mounts nowhere.
Task<bool> has_driver(Call call, flows::ClusterRef ref, std::string kind) {
    const std::string driver = kind == "fsx_lustre" ? "fsx_csi" : "s3_csi";
    CO_TRY(auto row, co_await flows::component_state(call.services->clusters, call.context, ref.eks_name,
                                                     call.services->aws.region(), driver));
    const auto state = base::get_string(row, "state");
    co_return state != "absent" && state != "failed";
}

Task<Plan> plan_create(Call call, StorageCreate input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto params, co_await base_params(call, target));
    CO_CHECK_OK(co_await add_cluster_settings(call, target, params));
    Findings found;
    const auto& wanted = static_cast<const StorageInput&>(input);
    if (input.kind == "fsx_lustre") {
        CO_CHECK_OK(co_await put_lustre_storage(call, target, wanted, params, found));
    } else {
        CO_CHECK_OK(co_await put_storage(call, wanted, "", params, found));
    }
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/storage/" + input.name;
    made.flow = "storage_create";
    auto existing = co_await find_storage(call, target.ref, input.name);
    if (existing && found.faults.empty()) {
        const auto& storage = base::get_object(params, "storage");
        const bool same = source_of(*existing) == source_of(storage) &&
                          base::get_string(*existing, "namespace") == input.namespace_;
        if (!same)
            co_return base::conflict_error("already_exists", "a storage \"" + input.name + "\" on " +
                                                                 source_of(*existing) + " exists already")
                .with_hint("Choose another name, or delete that storage first.");
        CO_TRY(const bool driven, co_await has_driver(call, target.ref, input.kind));
        made.no_change = driven && base::get_string(*existing, "status") == "Bound" &&
                         base::get_array(storage, "rules").empty();
        made.no_change_result = JsonObject{{"claim", input.name}, {source_key(storage), source_id(storage)}};
    }
    const auto& storage = base::get_object(params, "storage");
    made.creates.push_back("claim " + input.namespace_ + "/" + input.name + " on " + source_of(storage));
    for (const auto& rule : base::get_array(storage, "rules"))
        made.changes.push_back("security group " + base::get_string(rule, "group") +
                               " lets Lustre's ports in from " + base::get_string(rule, "peer"));
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

struct StorageDelete {
    std::string cluster;
    std::string storage;
};
BOOST_DESCRIBE_STRUCT(StorageDelete, (), (cluster, storage))

Task<Plan> plan_delete(Call call, StorageDelete input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto params, co_await base_params(call, target));
    CO_TRY(auto storage, co_await find_storage(call, target.ref, input.storage));
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/storage/" + input.storage;
    made.flow = "storage_delete";
    made.removes.push_back("claim " + base::get_string(storage, "namespace") + "/" + input.storage +
                           " and its volume; " + source_of(storage) + " stays");
    made.confirm_value = input.storage;
    params["storage"] = std::move(storage);
    made.flow_params = std::move(params);
    co_return made;
}

struct StorageBrowse {
    std::string cluster;
    std::string storage;
    std::optional<std::string> prefix;
    std::optional<std::int64_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(StorageBrowse, (), (cluster, storage, prefix, limit, cursor))

JsonArray object_rows(const JsonObject& page) {
    JsonArray rows;
    for (const auto& folder : base::get_array(page, "CommonPrefixes")) {
        rows.push_back(JsonObject{{"key", domain::clean_text(base::get_string(folder, "Prefix"), 1024)},
                                  {"kind", "folder"}});
    }
    for (const auto& object : base::get_array(page, "Contents")) {
        rows.push_back(JsonObject{{"key", domain::clean_text(base::get_string(object, "Key"), 1024)},
                                  {"kind", "object"},
                                  {"size_bytes", base::get_int(object, "Size")},
                                  {"modified_at", base::get_string(object, "LastModified")}});
    }
    return rows;
}

Task<Answer> browse(Call call, StorageBrowse input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto storage, co_await find_storage(call, target.ref, input.storage));
    if (base::get_string(storage, "kind") != "s3") {
        co_return base::conflict_error("not_browsable",
                                       "the files of " + source_of(storage) + " are seen by pods alone")
            .with_hint("Mount the claim in a pod and list them there.");
    }
    CO_TRY(auto who, co_await call.services->clusters.identity(call.context));
    const auto scope = cursor_scope(
        "storage.browse", call.caller,
        JsonObject{
            {"cluster", input.cluster}, {"storage", input.storage}, {"prefix", input.prefix.value_or("")}});
    CO_TRY(const auto after, read_cursor(scope, input.cursor.value_or("")));
    JsonObject parameters{{"Bucket", base::get_string(storage, "bucket")},
                          {"ExpectedBucketOwner", who.account},
                          {"Delimiter", "/"},
                          {"MaxKeys", input.limit.value_or(100)}};
    if (input.prefix) parameters["Prefix"] = *input.prefix;
    if (!after.empty()) parameters["ContinuationToken"] = after;
    CO_TRY(auto page,
           co_await call.services->aws.call(call.context, "s3", "ListObjectsV2", std::move(parameters)));
    auto rows = object_rows(page);
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary =
        std::to_string(rows.size()) + " entries in bucket " + base::get_string(storage, "bucket") + ".";
    answer.body["objects"] = std::move(rows);
    const auto next = base::get_string(page, "NextContinuationToken");
    if (!next.empty()) {
        answer.body["next_cursor"] = make_cursor(scope, next);
        answer.body["truncated"] = true;
    }
    co_return answer;
}

Meta storage_meta(std::string id, std::string method, std::string path, std::string summary) {
    Meta meta;
    meta.id = std::move(id);
    meta.method = std::move(method);
    meta.path = "/clusters/{cluster}/storages" + std::move(path);
    meta.summary = std::move(summary);
    meta.area = "storage";
    meta.uses = {"eks:DescribeCluster", "sagemaker:DescribeCluster", "sagemaker:ListClusters"};
    return meta;
}

Field storage_field() {
    return Field("storage", "Name of the storage.").length(1, 63).like("shared");
}

}  // namespace

std::unique_ptr<Operation> make_storage_list() {
    auto meta = storage_meta(
        "storage.list", "GET", "",
        "The storages of a cluster: their buckets or file systems, claims and whether they are bound.");
    return make_query<StorageList>(std::move(meta), {cluster_field()}, &list);
}

std::unique_ptr<Operation> make_storage_create() {
    auto meta = storage_meta(
        "storage.create", "POST", "",
        "Mount a bucket or an FSx for Lustre file system in pods: the driver, a volume and a claim that pods "
        "name.");
    meta.role = Role::operator_role;
    meta.shows_result = "storage.list";
    meta.uses = used_by_storage();
    return make_long_running<StorageCreate>(std::move(meta), joined({{cluster_field()}, storage_fields("")}),
                                            &plan_create);
}

std::unique_ptr<Operation> make_storage_delete() {
    auto meta =
        storage_meta("storage.delete", "DELETE", "/{storage}",
                     "Delete a storage's claim and volume; bucket or file system and their data stay.");
    meta.role = Role::operator_role;
    meta.removes = Removes::always;
    meta.default_tool = false;
    meta.shows_result = "storage.list";
    meta.uses.insert(meta.uses.end(),
                     {"ec2:DescribeSecurityGroups", "ec2:RevokeSecurityGroupIngress", "iam:GetRole",
                      "iam:GetRolePolicy", "iam:DeleteRolePolicy", "sts:GetCallerIdentity"});
    return make_long_running<StorageDelete>(std::move(meta), {cluster_field(), storage_field()},
                                            &plan_delete);
}

std::unique_ptr<Operation> make_storage_browse() {
    auto meta = storage_meta("storage.browse", "GET", "/{storage}/objects",
                             "The objects and folders of a storage's bucket under a prefix.");
    meta.uses.insert(meta.uses.end(), {"s3:ListObjectsV2", "sts:GetCallerIdentity", "iam:GetRole"});
    return make_query<StorageBrowse>(
        std::move(meta),
        {cluster_field(), storage_field(),
         Field("prefix", "Only what begins with this, such as models/.").length(0, 1024).like("models/"),
         Field("limit", "How many at most; 100 where left out.").range(1, 1000).like(100),
         Field("cursor", "next_cursor of the page before.").length(0, 4096)},
        &browse);
}

}  // namespace instantstart::app
