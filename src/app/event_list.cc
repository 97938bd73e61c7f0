// event.list: HyperPod's and Kubernetes' events in one timeline, newest first.
#include <algorithm>

#include "app/cluster_facts.h"
#include "app/cursor.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "domain/names.h"
#include "domain/untrusted.h"

namespace instantstart::app {

namespace {

struct EventList {
    std::string cluster;
    std::optional<std::int64_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(EventList, (), (cluster, limit, cursor))

// Where an event stands in the timeline: its time, then a key that tells its source and itself.
struct Moment {
    Moment() = default;
    Moment(std::string time, std::string key) : time(std::move(time)), key(std::move(key)) {}
    std::string time, key;
    auto operator<=>(const Moment&) const = default;
};

struct Row {
    Moment moment;
    JsonObject shown;
};

// A page is read beyond its end, so that it is known whether more follow.
struct Wanted {
    Wanted() = default;
    std::size_t count = 0;
    std::optional<Moment> before;  // the last event of the page before
    bool takes(const Moment& moment) const { return !before || moment < *before; }
};

// Keys sort Kubernetes' events after HyperPod's of the same time, so they come first in a timeline that goes
// backwards.
constexpr std::string_view kHyperpod = "h/", kKubernetes = "k/";
constexpr int kMostPages = 20;

Row row_of_hyperpod(const JsonValue& event, const std::string& cluster) {
    const auto instance = base::get_string(event, "InstanceId");
    const auto id = base::get_string(event, "EventId"), time = base::get_string(event, "EventTime");
    JsonObject shown{
        {"time", time},
        {"source", "hyperpod"},
        {"level", base::get_string(event, "EventLevel", "Info")},
        {"object", instance.empty() ? base::get_string(event, "InstanceGroupName", cluster) : instance},
        {"message",
         domain::UntrustedText("hyperpod-event/" + id, base::get_string(event, "Description")).to_json()}};
    return {Moment(time, std::string(kHyperpod) + id), std::move(shown)};
}

JsonObject hyperpod_question(const std::string& hyperpod, const Wanted& wanted) {
    constexpr std::size_t kMostAtOnce = 100;
    JsonObject parameters{{"ClusterName", hyperpod}, {"SortOrder", "Descending"}};
    parameters["MaxResults"] = std::min(wanted.count, kMostAtOnce);
    const auto before = wanted.before ? base::parse_time(wanted.before->time) : std::nullopt;
    // A second more, since whether the bound itself is within is not documented: what was shown is left out.
    if (before) parameters["EventTimeBefore"] = base::format_time(*before + std::chrono::seconds(2));
    return parameters;
}

Task<void> add_hyperpod_events(Call call, std::string hyperpod, Wanted wanted, std::vector<Row>& rows) {
    if (hyperpod.empty()) co_return base::ok();
    auto parameters = hyperpod_question(hyperpod, wanted);
    const auto before = rows.size();
    for (int pages = 0; pages < kMostPages; ++pages) {
        auto asked = parameters;
        CO_TRY(auto page, co_await call.services->aws.call(call.context, "sagemaker", "ListClusterEvents",
                                                           std::move(asked)));
        for (const auto& event : base::get_array(page, "Events")) {
            auto row = row_of_hyperpod(event, hyperpod);
            if (wanted.takes(row.moment)) rows.push_back(std::move(row));
        }
        const auto next = base::get_string(page, "NextToken");
        if (next.empty() || rows.size() - before >= wanted.count) break;
        parameters["NextToken"] = next;
    }
    co_return base::ok();
}

constexpr auto kFirstList = std::chrono::seconds(3);

Row row_of_kubernetes(const kube::EventTable::Named& named, const kube::Symbols& symbols) {
    const auto& event = *named.event;
    JsonObject shown{
        {"time", event.time},
        {"source", "kubernetes"},
        {"level", event.warning ? "Warn" : "Info"},
        {"reason", symbols.text(event.reason)},
        {"object", symbols.text(event.kind) + "/" + symbols.text(event.object)},
        {"message", domain::UntrustedText("event/" + named.key, symbols.text(event.message)).to_json()}};
    return {Moment(event.time, std::string(kKubernetes) + named.key), std::move(shown)};
}

// How many there are. The cache holds the newest some thousands.
Task<std::int64_t> add_kubernetes_events(Call call, Target target, Wanted wanted, std::vector<Row>& rows) {
    CO_TRY(const auto cache, call.services->fleet->kubernetes(target));
    std::vector<kube::Cached> kinds = {kube::Cached::events};
    CO_TRY(const auto freshness, co_await cache->need(std::move(kinds), kFirstList));
    if (!freshness.complete && freshness.problem) co_return *freshness.problem;
    std::string time, key;
    if (wanted.before) {
        time = wanted.before->time;
        // After one of HyperPod's all of the same time have been shown.
        if (wanted.before->key.starts_with(kKubernetes)) key = wanted.before->key.substr(kKubernetes.size());
    }
    for (const auto& named : cache->events().newest(wanted.count, time, key)) {
        rows.push_back(row_of_kubernetes(named, cache->symbols()));
    }
    co_return static_cast<std::int64_t>(cache->events().size());
}

base::Result<std::optional<Moment>> moment_of(const std::string& scope, const EventList& input) {
    TRY(const auto text, read_cursor(scope, input.cursor.value_or("")));
    if (text.empty()) return std::optional<Moment>();
    const auto space = text.find('\n');
    return std::optional(
        Moment(text.substr(0, space), space == std::string::npos ? "" : text.substr(space + 1)));
}

// The newest `limit` rows into the answer, and where the next page begins.
void put_rows(std::vector<Row> rows, std::size_t limit, const std::string& scope, Answer& answer) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return b.moment < a.moment; });
    if (rows.size() > limit) {
        rows.resize(limit);
        const auto& last = rows.back().moment;
        answer.body["next_cursor"] = make_cursor(scope, last.time + "\n" + last.key);
        answer.body["truncated"] = true;
    }
    JsonArray events;
    for (auto& row : rows) events.push_back(std::move(row.shown));
    answer.body["events"] = std::move(events);
}

Task<Answer> run(Call call, EventList input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    const JsonObject filter{{"cluster", input.cluster}};
    const auto scope = cursor_scope("event.list", call.caller, filter);
    Wanted wanted;
    CO_TRY(wanted.before, moment_of(scope, input));
    const auto limit = static_cast<std::size_t>(input.limit.value_or(100));
    wanted.count = limit + 1;
    std::vector<Row> rows;
    Answer answer;
    auto hyperpod =
        co_await add_hyperpod_events(call, base::get_string(target.hyperpod, "ClusterName"), wanted, rows);
    if (!hyperpod) answer.warnings.push_back("HyperPod's events: " + hyperpod.error().message);
    auto total = static_cast<std::int64_t>(rows.size());
    auto kubernetes = co_await add_kubernetes_events(call, target, wanted, rows);
    if (kubernetes) total += *kubernetes;
    if (!kubernetes) answer.warnings.push_back("Kubernetes' events: " + kubernetes.error().message);
    answer.cluster = target.ref.name;
    put_rows(std::move(rows), limit, scope, answer);
    // HyperPod does not tell how many it has: what follows the last page is not counted.
    const bool more = answer.body.contains("next_cursor");
    if (!input.cursor) answer.body["total"] = total;
    answer.summary = (input.cursor ? std::to_string(base::get_array(answer.body, "events").size()) + " older"
                                   : std::to_string(total) + (more ? " or more" : "")) +
                     " events, newest first.";
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
        {cluster_field(), Field("limit", "How many at most; 100 where left out.").range(1, 500).like(50),
         Field("cursor", "next_cursor of the page before.").length(0, 1024)},
        &run);
}

}  // namespace instantstart::app
