#include "flows/clusters.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/names.h"

namespace instantstart::flows {

namespace {

constexpr auto kFresh = std::chrono::seconds(2);
constexpr const char* kImports = "clusters";
constexpr const char* kActive = "active";

bool is_missing(const base::Error& error) {
    return error.kind == base::ErrorKind::not_found || error.code.starts_with("ResourceNotFound");
}

}  // namespace

struct Clusters::Kept {
    template <class T>
    struct Dated {
        Dated() = default;
        base::Duration at{};
        T value;
    };
    std::optional<Identity> identity;
    std::map<std::string, Dated<JsonObject>> eks;
    std::map<std::string, Dated<JsonObject>> hyperpod;  // by EKS name
    std::map<std::string, std::string> hyperpod_names;  // by EKS name, kept for good
    struct Access {
        Access() = default;
        std::string made;  // endpoint and when the cluster was created
        std::shared_ptr<kube::Client> client;
    };
    std::map<std::string, Access> access;
};

Clusters::Clusters(rt::Clock& clock, aws::Client& aws, store::Store& store, http::Transport& transport)
    : clock_(clock), aws_(aws), store_(store), transport_(transport), kept_(std::make_unique<Kept>()) {}
Clusters::~Clusters() = default;

Task<Identity> Clusters::identity(Context context) {
    if (kept_->identity) co_return *kept_->identity;
    CO_TRY(auto caller, co_await aws_.call(context, "sts", "GetCallerIdentity", JsonObject{}));
    Identity who;
    who.account = base::get_string(caller, "Account");
    who.caller_arn = base::get_string(caller, "Arn");
    who.role_arn = who.caller_arn;
    // "arn:aws:sts::ACCOUNT:assumed-role/NAME/SESSION": the role's own ARN has a path that only IAM knows.
    const auto parts = base::split(who.caller_arn, '/');
    if (parts.size() >= 2 && parts[0].find(":assumed-role") != std::string::npos) {
        JsonObject parameters{{"RoleName", parts[1]}};
        auto role = co_await aws_.call(context, "iam", "GetRole", std::move(parameters));
        if (role) {
            who.role_arn = base::get_string(*role, "Role.Arn");
        } else {
            who.role_arn = "arn:" + aws_.partition() + ":iam::" + who.account + ":role/" + parts[1];
            if (role.error().kind != base::ErrorKind::denied) co_return std::move(role).error();
            who.role_refusal = role.error().message;
        }
    }
    if (who.role_refusal.empty()) kept_->identity = who;  // a guess is not kept
    co_return who;
}

namespace {

ClusterRef ref_of(const JsonObject& row) {
    ClusterRef ref;
    ref.name = base::get_string(row, "name");
    ref.eks_name = base::get_string(row, "eks_name");
    ref.hyperpod_name = base::get_string(row, "hyperpod_name");
    ref.imported = true;
    return ref;
}

}  // namespace

Task<std::vector<ClusterRef>> Clusters::list(Context context) {
    std::vector<ClusterRef> refs;
    std::set<std::string> imported;
    store::Scan scan;
    scan.table = kImports;
    CO_TRY(auto rows, co_await store_.scan(context, scan));
    for (const auto& row : rows) {
        if (!row.value.is_object()) continue;
        refs.push_back(ref_of(row.value.as_object()));
        imported.insert(refs.back().eks_name);
    }
    CO_TRY(auto names, co_await aws_.collect(context, "eks", "ListClusters", JsonObject{}));
    for (const auto& item : names) {
        const auto name = item.is_string() ? std::string(item.as_string()) : "";
        if (name.empty() || imported.contains(name)) continue;
        auto described = co_await eks(context, name);
        if (!described) {
            if (is_missing(described.error())) continue;
            co_return std::move(described).error();
        }
        const auto* tags = described->if_contains("tags");
        if (tags == nullptr || domain::tag_of(*tags, domain::kTagCluster).empty()) continue;
        ClusterRef ref;
        ref.name = ref.eks_name = name;
        refs.push_back(std::move(ref));
    }
    std::sort(refs.begin(), refs.end(),
              [](const ClusterRef& a, const ClusterRef& b) { return a.name < b.name; });
    co_return refs;
}

Task<ClusterRef> Clusters::find(Context context, std::string name) {
    CO_TRY(auto entry, co_await store_.get(context, kImports, name));
    if (entry && entry->value.is_object()) co_return ref_of(entry->value.as_object());
    if (!domain::check_cluster_name(name, "/cluster")) {
        co_return base::not_found_error("cluster \"" + domain::clean_text(name, 64) + "\"");
    }
    auto described = co_await eks(context, name);
    if (!described) {
        if (is_missing(described.error())) co_return base::not_found_error("cluster \"" + name + "\"");
        co_return std::move(described).error();
    }
    const auto* tags = described->if_contains("tags");
    if (tags == nullptr || domain::tag_of(*tags, domain::kTagCluster).empty()) {
        co_return base::conflict_error("not_ours",
                                       "EKS cluster \"" + name + "\" exists but was not made by InstantStart")
            .with_hint("Take it in with cluster.import.");
    }
    ClusterRef ref;
    ref.name = ref.eks_name = name;
    co_return ref;
}

Task<std::string> Clusters::active(Context context, std::string principal) {
    CO_TRY(auto entry, co_await store_.get(context, kActive, principal));
    co_return entry ? base::get_string(entry->value, "cluster") : std::string();
}

Task<void> Clusters::set_active(Context context, std::string principal, std::string name) {
    store::Batch batch;
    batch.put(kActive, principal, JsonObject{{"cluster", name}});
    co_return co_await store_.commit(context, std::move(batch));
}

Task<void> Clusters::forget_active(Context context, std::string name) {
    store::Scan scan;
    scan.table = kActive;
    CO_TRY(auto rows, co_await store_.scan(context, scan));
    store::Batch batch;
    bool any = false;
    for (const auto& row : rows) {
        if (base::get_string(row.value, "cluster") != name) continue;
        batch.remove(kActive, row.key);
        any = true;
    }
    if (!any) co_return base::ok();
    co_return co_await store_.commit(context, std::move(batch));
}

Task<void> Clusters::remember_import(Context context, ClusterRef ref) {
    store::Batch batch;
    batch.put(
        kImports, ref.name,
        JsonObject{{"name", ref.name}, {"eks_name", ref.eks_name}, {"hyperpod_name", ref.hyperpod_name}});
    co_return co_await store_.commit(context, std::move(batch));
}

Task<void> Clusters::forget_import(Context context, std::string name) {
    store::Batch batch;
    batch.remove(kImports, name);
    co_return co_await store_.commit(context, std::move(batch));
}

Task<JsonObject> Clusters::eks(Context context, std::string eks_name) {
    const auto at = kept_->eks.find(eks_name);
    if (at != kept_->eks.end() && clock_.monotonic() - at->second.at < kFresh) co_return at->second.value;
    JsonObject parameters{{"name", eks_name}};
    auto answer = co_await aws_.call(context, "eks", "DescribeCluster", std::move(parameters));
    if (!answer) {
        kept_->eks.erase(eks_name);
        co_return std::move(answer).error();
    }
    auto& kept = kept_->eks[eks_name];
    kept.at = clock_.monotonic();
    kept.value = base::get_object(*answer, "cluster");
    co_return kept.value;
}

namespace {

Task<JsonObject> describe_hyperpod(aws::Client& aws, Context context, std::string name, std::string eks_arn) {
    JsonObject parameters{{"ClusterName", name}};
    auto answer = co_await aws.call(context, "sagemaker", "DescribeCluster", std::move(parameters));
    if (!answer) {
        if (is_missing(answer.error())) co_return JsonObject{};
        co_return std::move(answer).error();
    }
    if (base::get_string(*answer, "Orchestrator.Eks.ClusterArn") != eks_arn) co_return JsonObject{};
    co_return std::move(*answer);
}

}  // namespace

Task<JsonObject> Clusters::hyperpod(Context context, ClusterRef ref) {
    const auto at = kept_->hyperpod.find(ref.eks_name);
    if (at != kept_->hyperpod.end() && clock_.monotonic() - at->second.at < kFresh)
        co_return at->second.value;
    CO_TRY(auto cluster, co_await eks(context, ref.eks_name));
    const auto arn = base::get_string(cluster, "arn");
    auto& name = kept_->hyperpod_names[ref.eks_name];
    const auto likely = !ref.hyperpod_name.empty() ? ref.hyperpod_name : name.empty() ? ref.name : name;
    CO_TRY(auto found, co_await describe_hyperpod(aws_, context, likely, arn));
    if (found.empty()) {
        CO_TRY(auto all, co_await aws_.collect(context, "sagemaker", "ListClusters", JsonObject{}));
        for (const auto& summary : all) {
            const auto other = base::get_string(summary, "ClusterName");
            if (other == likely) continue;
            CO_TRY(found, co_await describe_hyperpod(aws_, context, other, arn));
            if (!found.empty()) break;
        }
    }
    kept_->hyperpod_names[ref.eks_name] = base::get_string(found, "ClusterName");
    auto& kept = kept_->hyperpod[ref.eks_name];
    kept.at = clock_.monotonic();
    kept.value = std::move(found);
    co_return kept.value;
}

namespace {

using AskedAt = std::shared_ptr<std::optional<base::Duration>>;

// A token that Kubernetes does not take may be signed by a session that has run out, and only AWS says so: it
// is asked, at most every half minute, and where there are newer credentials the client takes them.
Task<void> check_session(aws::Client& aws, rt::Clock& clock, AskedAt asked_at, Context context) {
    const auto now = clock.monotonic();
    if (*asked_at && now - **asked_at < std::chrono::seconds(30)) co_return base::ok();
    *asked_at = now;
    aws::CallOptions options;
    options.fresh = true;
    auto caller = co_await aws.call(context, "sts", "GetCallerIdentity", JsonObject{}, options);
    if (!caller && caller.error().kind == base::ErrorKind::denied) co_return std::move(caller).error();
    co_return base::ok();
}

// Made on this machine; the Kubernetes client keeps it and renews it before it expires. `fresh`: the last one
// was not taken.
Task<std::string> token_for(aws::Client& aws, rt::Clock& clock, AskedAt asked_at, Context context,
                            std::string eks_name, bool fresh) {
    if (fresh) CO_CHECK_OK(co_await check_session(aws, clock, asked_at, context));
    co_return co_await aws.eks_token(context, eks_name);
}

}  // namespace

Task<std::shared_ptr<kube::Client>> Clusters::kube(Context context, std::string eks_name) {
    CO_TRY(auto cluster, co_await eks(context, eks_name));
    co_return client_of(cluster);
}

base::Result<std::shared_ptr<kube::Client>> Clusters::client_of(const JsonObject& eks) {
    const auto eks_name = base::get_string(eks, "name");
    const auto url = base::get_string(eks, "endpoint");
    if (url.empty()) {
        return base::Error(base::ErrorKind::unavailable, "KubernetesUnreachable",
                           "EKS cluster \"" + eks_name + "\" has no endpoint yet");
    }
    // A cluster that was made anew under the same name is another one, even behind the same URL.
    const auto made = url + " " + base::get_string(eks, "createdAt");
    auto& access = kept_->access[eks_name];
    if (access.client && access.made == made) return access.client;
    kube::Endpoint endpoint;
    endpoint.url = url;
    if (!base::base64_decode(base::get_string(eks, "certificateAuthority.data"), endpoint.ca_pem)) {
        return base::internal_error("the certificate authority of the EKS cluster is not base64");
    }
    auto asked_at = std::make_shared<std::optional<base::Duration>>();
    endpoint.token = [&aws = aws_, &clock = clock_, asked_at, eks_name](Context asked, bool fresh) {
        return token_for(aws, clock, asked_at, std::move(asked), eks_name, fresh);
    };
    access.made = made;
    access.client = std::shared_ptr<kube::Client>(kube::make_client(std::move(endpoint), transport_, clock_));
    return access.client;
}

void Clusters::forget(const std::string& eks_name) {
    kept_->eks.erase(eks_name);
    kept_->hyperpod.erase(eks_name);
}

}  // namespace instantstart::flows
