// Task governance's policies: one scheduler configuration a cluster, a compute quota a team. They come to be
// in the cluster as Kueue's objects, which the add-on must have brought.
#include "twin/aws/sagemaker/managed.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::seconds;

constexpr const char* kAddon = "amazon-sagemaker-hyperpod-taskgovernance";
const kube::Kind kNamespaces("", "namespaces"), kClusterQueues("kueue.x-k8s.io", "clusterqueues"),
    kLocalQueues("kueue.x-k8s.io", "localqueues"), kPriorities("kueue.x-k8s.io", "workloadpriorityclasses"),
    kCrds("apiextensions.k8s.io", "customresourcedefinitions");

// What tells a quota from a scheduler configuration.
struct Family {
    Table Managed::* table;
    const char* id;
    const char* arn;
    const char* version;
    const char* part;  // of the ARN
    std::initializer_list<const char*> given;
};
const Family kSchedulers{
    &Managed::schedulers,        "ClusterSchedulerConfigId",
    "ClusterSchedulerConfigArn", "ClusterSchedulerConfigVersion",
    "cluster-scheduler-config",  {"Name", "ClusterArn", "SchedulerConfig", "Description"}};
const Family kQuotas{
    &Managed::compute_quotas,
    "ComputeQuotaId",
    "ComputeQuotaArn",
    "ComputeQuotaVersion",
    "compute-quota",
    {"Name", "ClusterArn", "ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description"}};

ServiceError missing(const Family& family, const Call& call) {
    return failure("ResourceNotFound", std::string(family.id) + " " +
                                           base::get_string(call.params, family.id) + " does not exist.");
}

Record* of_call(Managed& state, const Family& family, const Call& call) {
    Record* found = (state.*family.table).find(base::get_string(call.params, family.id));
    return found != nullptr && call.shows(found->created) ? found : nullptr;
}

Record* cluster_of(Managed& state, std::string_view arn) {
    for (auto& [name, cluster] : state.hyperpod.clusters) {
        if (base::get_string(cluster.data, "ClusterArn") == arn) return &cluster;
    }
    return nullptr;
}

std::string team_of(const Record& quota) {
    return base::get_string(quota.data, "ComputeQuotaTarget.TeamName");
}

// A name, a team and a cluster's configuration are there once each.
std::optional<ServiceError> check_unique(Managed& state, const Family& family, const Call& call) {
    const std::string arn = base::get_string(call.params, "ClusterArn");
    const std::string team = base::get_string(call.params, "ComputeQuotaTarget.TeamName");
    if (cluster_of(state, arn) == nullptr) return invalid("Cluster " + arn + " does not exist.");
    for (const auto& [id, known] : state.*family.table) {
        if (base::get_string(known.data, "ClusterArn") != arn) continue;
        const bool same_name = base::get_string(known.data, "Name") == base::get_string(call.params, "Name");
        const bool same_team = !team.empty() && team_of(known) == team;
        if (family.table == &Managed::schedulers || same_name || same_team)
            return failure("ConflictException",
                           "The cluster has " + std::string(family.part) + " " + id + " for this already.");
    }
    return std::nullopt;
}

void later(Managed& state, const Record& record) {
    state.world.after(state.world.about(seconds(30)), "sagemaker", "managed_governance", {{"id", record.id}});
}

Reply create(Managed& state, const Family& family, const Call& call) {
    if (auto bad = check_unique(state, family, call)) return *bad;
    const std::string id = state.world.hex_id("", 12);
    JsonObject data;
    data[family.id] = id;
    data[family.arn] = "arn:aws:sagemaker:" + state.world.region() + ":" + state.world.account() + ":" +
                       family.part + "/" + id;
    data[family.version] = 1;
    data["Status"] = "Creating";
    data["CreationTime"] = state.time();
    data["LastModifiedTime"] = state.time();
    for (const char* member : family.given) {
        if (const JsonValue* value = call.params.if_contains(member)) data[member] = *value;
    }
    if (family.table == &Managed::compute_quotas && !data.contains("ActivationState"))
        data["ActivationState"] = "Enabled";
    Record& made = (state.*family.table).add(id, std::move(data), state.world.now());
    made.hidden["tags"] = base::get_array(call.params, "Tags");
    later(state, made);
    return JsonObject{{family.arn, made.data[family.arn]}, {family.id, id}};
}

Reply describe(Managed& state, const Family& family, const Call& call) {
    const Record* found = of_call(state, family, call);
    if (found == nullptr) return missing(family, call);
    return found->data;
}

Reply update(Managed& state, const Family& family, const Call& call) {
    Record* found = of_call(state, family, call);
    if (found == nullptr) return missing(family, call);
    const std::int64_t version = base::get_int(found->data, family.version);
    if (base::get_string(found->data, "Status").ends_with("ing"))
        return failure("ConflictException", "It is " + base::get_string(found->data, "Status") + ".");
    if (base::get_int(call.params, "TargetVersion") != version)
        return failure("ConflictException",
                       "TargetVersion is not the current version, " + std::to_string(version) + ".");
    for (const char* member : family.given) {
        if (const JsonValue* value = call.params.if_contains(member)) found->data[member] = *value;
    }
    found->data[family.version] = version + 1;
    found->data["Status"] = "Updating";
    found->data["LastModifiedTime"] = state.time();
    later(state, *found);
    return JsonObject{{family.arn, found->data[family.arn]}, {family.version, version + 1}};
}

Reply remove(Managed& state, const Family& family, const Call& call) {
    Record* found = of_call(state, family, call);
    if (found == nullptr) return missing(family, call);
    found->data["Status"] = "Deleting";
    later(state, *found);
    return JsonObject{};
}

Reply list(Managed& state, const Family& family, const Call& call, const char* items) {
    const auto fits = [&call](const Record& record, const char* member) {
        const std::string wanted = base::get_string(call.params, member);
        return wanted.empty() || base::get_string(record.data, member) == wanted;
    };
    JsonArray rows;
    for (const auto& [id, record] : state.*family.table) {
        const std::string part = base::get_string(call.params, "NameContains");
        const bool named = base::get_string(record.data, "Name").find(part) != std::string::npos;
        if (!named || !call.shows(record.created) || !fits(record, "ClusterArn") || !fits(record, "Status"))
            continue;
        JsonObject row = record.data;
        row.erase("Description");
        row.erase("SchedulerConfig");
        rows.push_back(std::move(row));
    }
    Page page = paginate(rows, base::get_int(call.params, "MaxResults", 10),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer[items] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

// --- Kueue's objects

using Objects = std::vector<std::pair<kube::Kind, JsonObject>>;

JsonObject head(std::string_view version, std::string_view kind, std::string_view ns, std::string name) {
    JsonObject metadata{{"name", std::move(name)}};
    if (!ns.empty()) metadata["namespace"] = ns;
    metadata["labels"] = JsonObject{{"sagemaker.amazonaws.com/managed-by", "task-governance"}};
    return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Objects objects_of(const Record& record) {
    constexpr const char* kVersion = "kueue.x-k8s.io/v1beta1";
    Objects made;
    for (const JsonValue& row : base::get_array(record.data, "SchedulerConfig.PriorityClasses")) {
        JsonObject priority =
            head(kVersion, "WorkloadPriorityClass", "", base::get_string(row, "Name") + "-priority");
        priority["value"] = base::get_int(row, "Weight");
        made.emplace_back(kPriorities, std::move(priority));
    }
    if (team_of(record).empty()) return made;
    const std::string ns = "hyperpod-ns-" + team_of(record);
    made.emplace_back(kNamespaces, head("v1", "Namespace", "", ns));
    JsonObject queue = head(kVersion, "ClusterQueue", "", ns + "-clusterqueue");
    queue["spec"] = JsonObject{{"namespaceSelector", JsonObject()}};
    made.emplace_back(kClusterQueues, std::move(queue));
    JsonObject local = head(kVersion, "LocalQueue", ns, ns + "-localqueue");
    local["spec"] = JsonObject{{"clusterQueue", ns + "-clusterqueue"}};
    made.emplace_back(kLocalQueues, std::move(local));
    return made;
}

kube::Cluster* live_cluster(Managed& state, const Record& record) {
    const Record* cluster = cluster_of(state, base::get_string(record.data, "ClusterArn"));
    return cluster == nullptr ? nullptr : state.host.find(eks_name(state.hyperpod, *cluster));
}

bool has_kueue(kube::Cluster& cluster) {
    return cluster.objects().get(kCrds, "", "clusterqueues.kueue.x-k8s.io") != nullptr;
}

void settle_record(Managed& state, Record& record) {
    kube::Cluster* live = live_cluster(state, record);
    const bool creating = base::get_string(record.data, "Status") == "Creating";
    if (live == nullptr || !has_kueue(*live)) {
        record.data["Status"] = creating ? "CreateFailed" : "UpdateFailed";
        record.data["FailureReason"] = "The add-on " + std::string(kAddon) + " is not installed.";
        return;
    }
    for (auto& [kind, object] : objects_of(record))
        static_cast<void>(live->objects().apply(kind, std::move(object), "hyperpod"));
    record.data["Status"] = creating ? "Created" : "Updated";
    record.data.erase("FailureReason");
}

}  // namespace

void governance_timer(Managed& state, const JsonObject& payload) {
    for (const Family* family : {&kSchedulers, &kQuotas}) {
        Table& table = state.*(family->table);
        Record* record = table.find(base::get_string(payload, "id"));
        if (record == nullptr) continue;
        if (base::get_string(record->data, "Status") != "Deleting") return settle_record(state, *record);
        if (kube::Cluster* live = live_cluster(state, *record)) {
            for (const auto& [kind, object] : objects_of(*record)) {
                if (kind != kNamespaces)
                    static_cast<void>(live->objects().remove(kind,
                                                             base::get_string(object, "metadata.namespace"),
                                                             base::get_string(object, "metadata.name")));
            }
        }
        table.erase(std::string(record->id));
        return;
    }
}

void add_governance_operations(ManagedOperations& operations) {
    operations["CreateClusterSchedulerConfig"] = [](Managed& s, const Call& c) {
        return create(s, kSchedulers, c);
    };
    operations["DescribeClusterSchedulerConfig"] = [](Managed& s, const Call& c) {
        return describe(s, kSchedulers, c);
    };
    operations["UpdateClusterSchedulerConfig"] = [](Managed& s, const Call& c) {
        return update(s, kSchedulers, c);
    };
    operations["DeleteClusterSchedulerConfig"] = [](Managed& s, const Call& c) {
        return remove(s, kSchedulers, c);
    };
    operations["ListClusterSchedulerConfigs"] = [](Managed& s, const Call& c) {
        return list(s, kSchedulers, c, "ClusterSchedulerConfigSummaries");
    };
    operations["CreateComputeQuota"] = [](Managed& s, const Call& c) { return create(s, kQuotas, c); };
    operations["DescribeComputeQuota"] = [](Managed& s, const Call& c) { return describe(s, kQuotas, c); };
    operations["UpdateComputeQuota"] = [](Managed& s, const Call& c) { return update(s, kQuotas, c); };
    operations["DeleteComputeQuota"] = [](Managed& s, const Call& c) { return remove(s, kQuotas, c); };
    operations["ListComputeQuotas"] = [](Managed& s, const Call& c) {
        return list(s, kQuotas, c, "ComputeQuotaSummaries");
    };
}

}  // namespace instantstart::twin::sagemaker
