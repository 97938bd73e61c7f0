// event.list: HyperPod's and Kubernetes' events in one timeline, newest first.
#include <algorithm>

#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "domain/names.h"
#include "domain/untrusted.h"

namespace instantstart::app {

namespace {

struct EventList {
    std::string cluster;
    std::optional<std::int64_t> limit;
};
BOOST_DESCRIBE_STRUCT(EventList, (), (cluster, limit))

Task<void> add_hyperpod_events(Call call, std::string hyperpod, std::vector<JsonObject>& rows) {
    if (hyperpod.empty()) co_return base::ok();
    JsonObject parameters{{"ClusterName", hyperpod}, {"SortOrder", "Descending"}, {"MaxResults", 100}};
    CO_TRY(auto page, co_await call.services->aws.call(call.context, "sagemaker", "ListClusterEvents",
                                                       std::move(parameters)));
    for (const auto& event : base::get_array(page, "Events")) {
        const auto instance = base::get_string(event, "InstanceId");
        rows.push_back(JsonObject{
            {"time", base::get_string(event, "EventTime")},
            {"source", "hyperpod"},
            {"level", base::get_string(event, "EventLevel", "Info")},
            {"object", instance.empty() ? base::get_string(event, "InstanceGroupName", hyperpod) : instance},
            {"message", domain::UntrustedText("hyperpod-event/" + base::get_string(event, "EventId"),
                                              base::get_string(event, "Description"))
                            .to_json()}});
    }
    co_return base::ok();
}

Task<void> add_kubernetes_events(Call call, std::string eks_name, std::vector<JsonObject>& rows) {
    CO_TRY(auto client, co_await call.services->clusters.kube(call.context, eks_name));
    const auto events = kube::known_resource("events");
    if (!events) co_return base::ok();
    kube::ListOptions options;
    CO_TRY(auto list, co_await client->list(call.context, *events, options));
    for (const auto& event : base::get_array(list, "items")) {
        auto time = base::get_string(event, "lastTimestamp");
        if (time.empty())
            time =
                base::get_string(event, "eventTime", base::get_string(event, "metadata.creationTimestamp"));
        rows.push_back(JsonObject{
            {"time", time},
            {"source", "kubernetes"},
            {"level", base::get_string(event, "type") == "Warning" ? "Warn" : "Info"},
            {"reason", base::get_string(event, "reason")},
            {"object", base::get_string(event, "involvedObject.kind") + "/" +
                           base::get_string(event, "involvedObject.name")},
            {"message", domain::UntrustedText("event/" + base::get_string(event, "metadata.namespace") + "/" +
                                                  base::get_string(event, "metadata.name"),
                                              base::get_string(event, "message"))
                            .to_json()}});
    }
    co_return base::ok();
}

Task<Answer> run(Call call, EventList input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    std::vector<JsonObject> rows;
    Answer answer;
    auto hyperpod =
        co_await add_hyperpod_events(call, base::get_string(target.hyperpod, "ClusterName"), rows);
    if (!hyperpod) answer.warnings.push_back("HyperPod's events: " + hyperpod.error().message);
    auto kubernetes = co_await add_kubernetes_events(call, target.ref.eks_name, rows);
    if (!kubernetes) answer.warnings.push_back("Kubernetes' events: " + kubernetes.error().message);
    std::sort(rows.begin(), rows.end(), [](const JsonObject& a, const JsonObject& b) {
        return base::get_string(a, "time") > base::get_string(b, "time");
    });
    const auto limit = static_cast<std::size_t>(input.limit.value_or(100));
    JsonArray events;
    for (auto& row : rows) {
        if (events.size() < limit) events.push_back(std::move(row));
    }
    answer.cluster = target.ref.name;
    answer.summary = std::to_string(rows.size()) + " events, newest first.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    if (rows.size() > limit) answer.body["truncated"] = true;
    answer.body["events"] = std::move(events);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_event_list() {
    Meta meta;
    meta.id = "event.list";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/events";
    meta.summary = "HyperPod and Kubernetes events of a cluster in one timeline, newest first.";
    meta.area = "cluster";
    meta.uses = {"eks:DescribeCluster", "sagemaker:DescribeCluster", "sagemaker:ListClusters",
                 "sagemaker:ListClusterEvents"};
    return make_query<EventList>(
        std::move(meta),
        {cluster_field(), Field("limit", "How many at most; 100 where left out.").range(1, 500).like(50)},
        &run);
}

}  // namespace instantstart::app
