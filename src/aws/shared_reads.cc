#include "aws/shared_reads.h"

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>

#include "aws/pages.h"
#include "rt/event.h"

namespace instantstart::aws {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Facts of the region change by AWS's announcements, versions and quotas within days, and people who have
// just had a quota raised try again within minutes. Descriptions of clusters are kept for one page's worth of
// queries. Who the caller is is not here: app::Identity keeps it, and lets go of it when keys expire.
constexpr auto kRules = std::to_array<KeepRule>({
    {"ec2", "DescribeAvailabilityZones", hours(1), OwnWrites::leave_it},
    {"ec2", "DescribeInstanceTypeOfferings", hours(1), OwnWrites::leave_it},
    {"ec2", "DescribeInstanceTypes", hours(1), OwnWrites::leave_it},
    {"eks", "DescribeAddonVersions", minutes(10), OwnWrites::leave_it},
    {"eks", "DescribeClusterVersions", minutes(10), OwnWrites::leave_it},
    {"eks", "ListAccessPolicies", hours(1), OwnWrites::leave_it},
    {"pricing", "GetProducts", hours(1), OwnWrites::leave_it},
    {"service-quotas", "GetServiceQuota", minutes(2), OwnWrites::drop_it},
    {"service-quotas", "ListAWSDefaultServiceQuotas", minutes(10), OwnWrites::drop_it},
    {"service-quotas", "ListServiceQuotas", minutes(2), OwnWrites::drop_it},
    {"eks", "DescribeCluster", seconds(1), OwnWrites::drop_it},
    {"eks", "ListClusters", seconds(1), OwnWrites::drop_it},
    {"sagemaker", "DescribeCluster", seconds(1), OwnWrites::drop_it},
    {"sagemaker", "ListClusterNodes", seconds(1), OwnWrites::drop_it},
    {"sagemaker", "ListClusters", seconds(1), OwnWrites::drop_it},
});

// A page's token goes stale sooner than its items, and a page that is kept may outlive the one after it.
constexpr auto kPageLife = minutes(5);
constexpr base::Duration kPageWorthKeeping = minutes(1);

bool is_read(std::string_view service, std::string_view operation) {
    const model::Service* found = model::embedded(service);
    const model::Operation* known = found == nullptr ? nullptr : found->operation(operation);
    return known != nullptr && known->read_only();
}

bool is_shareable(std::string_view service, std::string_view operation) {
    if (service == "sts") return operation == "GetCallerIdentity";
    if (service == "s3" && operation == "GetObject") return false;
    static constexpr std::string_view kVerbs[] = {"Describe", "List", "Get", "Head"};
    return std::any_of(std::begin(kVerbs), std::end(kVerbs),
                       [operation](std::string_view verb) { return operation.starts_with(verb); });
}

std::string key_of(const std::string& service, const std::string& operation, const JsonObject& parameters) {
    return service + "\n" + operation + "\n" + base::canonical_text(JsonValue(parameters));
}

// One of several pages, or a page of a walk.
bool is_one_of_pages(const std::string& service, const std::string& operation, const JsonObject& parameters,
                     const JsonObject& answer) {
    const model::Service* found = model::embedded(service);
    const model::Operation* known = found == nullptr ? nullptr : found->operation(operation);
    if (known == nullptr || known->paginator == nullptr) return false;
    const auto& tokens = known->paginator->input_tokens;
    return !next_tokens(*known, answer).empty() ||
           std::any_of(tokens.begin(), tokens.end(),
                       [&parameters](const std::string& token) { return parameters.contains(token); });
}

// Of one caller alone: it was told to stop, or its own time ran out.
bool is_private(const base::Error& error, const Context& context) {
    if (error.kind == base::ErrorKind::cancelled) return true;
    return error.kind == base::ErrorKind::deadline && context.deadline().has_value();
}

}  // namespace

const KeepRule* keep_rule(std::string_view service, std::string_view operation) {
    const auto* found = std::find_if(kRules.begin(), kRules.end(), [&](const KeepRule& rule) {
        return rule.service == service && rule.operation == operation;
    });
    return found == kRules.end() ? nullptr : found;
}

struct SharedReads::Flight {
    explicit Flight(boost::asio::any_io_executor executor) : ended(std::move(executor)) {}
    rt::Event ended;
    base::Duration began{};
    std::uint64_t writes_before = 0;
    bool is_over = false;
    std::optional<base::Result<JsonObject>> outcome;  // none where its maker left alone
};

struct SharedReads::Kept {
    Kept() = default;
    JsonObject answer;
    base::Duration until{};
    std::string service;
    bool drops = false;
};

class SharedReads::Fresh final : public Client {
public:
    explicit Fresh(SharedReads& reads) : reads_(reads) {}
    Task<JsonObject> call(Context context, std::string service, std::string operation, JsonObject parameters,
                          CallOptions options) override {
        options.fresh = true;
        return reads_.call(std::move(context), std::move(service), std::move(operation),
                           std::move(parameters), std::move(options));
    }
    Task<std::string> eks_token(Context context, std::string cluster) override {
        return reads_.eks_token(std::move(context), std::move(cluster));
    }
    std::string region() const override { return reads_.region(); }
    std::string partition() const override { return reads_.partition(); }
    Task<JsonObject> explain(Context context) override { return reads_.explain(std::move(context)); }

private:
    SharedReads& reads_;
};

SharedReads::SharedReads(Client& inner, rt::Clock& clock)
    : inner_(inner), clock_(clock), fresh_(std::make_unique<Fresh>(*this)) {}
SharedReads::~SharedReads() = default;

Task<std::string> SharedReads::eks_token(Context context, std::string cluster) {
    return inner_.eks_token(std::move(context), std::move(cluster));
}

Task<JsonObject> SharedReads::explain(Context context) {
    return inner_.explain(std::move(context));
}

Task<JsonObject> SharedReads::call(Context context, std::string service, std::string operation,
                                   JsonObject parameters, CallOptions options) {
    if (is_read(service, operation)) {
        if (is_shareable(service, operation)) {
            co_return co_await read(std::move(context), std::move(service), std::move(operation),
                                    std::move(parameters), std::move(options));
        }
        co_return co_await inner_.call(std::move(context), std::move(service), std::move(operation),
                                       std::move(parameters), std::move(options));
    }
    auto answer = co_await inner_.call(std::move(context), service, std::move(operation),
                                       std::move(parameters), std::move(options));
    // However it ended: a refused or lost call may have changed something.
    ++writes_[service];
    drop_kept_of(service);
    co_return answer;
}

Task<JsonObject> SharedReads::read(Context context, std::string service, std::string operation,
                                   JsonObject parameters, CallOptions options) {
    const std::string key = key_of(service, operation, parameters);
    // Calls that are to be tried differently are not the same flight, but their answers are.
    const std::string flight_key =
        key + "\n" + std::to_string(options.attempts) + " " + std::to_string(options.timeout.count());
    while (true) {
        if (!options.fresh) {
            if (const JsonObject* found = kept(key)) {
                spare(service, operation, Spared::kept);
                co_return *found;
            }
        }
        const std::shared_ptr<Flight> other = flight_to_join(service, flight_key);
        if (other == nullptr) break;
        if (context.deadline()) {
            CO_CHECK_OK(co_await other->ended.wait_for(clock_, *context.deadline() - clock_.monotonic()));
        } else {
            CO_CHECK_OK(co_await other->ended.wait());
        }
        if (!other->outcome) continue;  // its maker left: this one or another takes its place
        spare(service, operation, Spared::joined);
        co_return *other->outcome;
    }
    const auto mine = std::make_shared<Flight>(co_await boost::asio::this_coro::executor);
    mine->began = clock_.monotonic();
    mine->writes_before = writes_[service];
    flights_[flight_key] = mine;
    auto answer = co_await inner_.call(context, service, operation, parameters, options);
    mine->is_over = true;
    const auto at = flights_.find(flight_key);
    if (at != flights_.end() && at->second == mine) flights_.erase(at);
    if (answer && (mine->writes_before == writes_[service]))
        keep(key, service, operation, parameters, *answer);
    // Who waits holds the flight too: where nobody does, a large answer is not copied.
    if (mine.use_count() > 1 && (answer || !is_private(answer.error(), context))) mine->outcome = answer;
    mine->ended.notify_all();
    co_return answer;
}

std::shared_ptr<SharedReads::Flight> SharedReads::flight_to_join(const std::string& service,
                                                                 const std::string& key) const {
    const auto at = flights_.find(key);
    if (at == flights_.end() || at->second->is_over) return nullptr;
    const auto writes = writes_.find(service);
    const std::uint64_t ended = writes == writes_.end() ? 0 : writes->second;
    if (at->second->writes_before != ended) return nullptr;
    if (clock_.monotonic() - at->second->began > kJoinAge) return nullptr;
    return at->second;
}

const JsonObject* SharedReads::kept(const std::string& key) {
    const auto at = kept_.find(key);
    if (at == kept_.end() || at->second.until <= clock_.monotonic()) return nullptr;
    return &at->second.answer;
}

void SharedReads::keep(const std::string& key, const std::string& service, const std::string& operation,
                       const JsonObject& parameters, const JsonObject& answer) {
    const KeepRule* rule = keep_rule(service, operation);
    if (rule == nullptr) return;
    base::Duration life = rule->life;
    if (is_one_of_pages(service, operation, parameters, answer)) {
        // A walk takes longer than such a page lives, and its hundreds of pages would push out all else.
        if (life < kPageWorthKeeping) return;
        life = std::min<base::Duration>(life, kPageLife);
    }
    if (kept_.erase(key) > 0) std::erase(order_, key);
    if (order_.size() >= kKeptMost) drop_expired();
    if (order_.size() >= kKeptMost) {
        kept_.erase(order_.front());
        order_.pop_front();
    }
    Kept& entry = kept_[key];
    entry.answer = answer;
    entry.until = clock_.monotonic() + life;
    entry.service = service;
    entry.drops = rule->own_writes == OwnWrites::drop_it;
    order_.push_back(key);
}

void SharedReads::drop_expired() {
    const auto now = clock_.monotonic();
    std::erase_if(order_, [&](const std::string& key) {
        const auto at = kept_.find(key);
        if (at->second.until > now) return false;
        kept_.erase(at);
        return true;
    });
}

void SharedReads::drop_kept_of(const std::string& service) {
    std::erase_if(order_, [&](const std::string& key) {
        const auto at = kept_.find(key);
        if (at->second.service != service || !at->second.drops) return false;
        kept_.erase(at);
        return true;
    });
}

void SharedReads::spare(const std::string& service, const std::string& operation, Spared how) const {
    if (on_spared) on_spared(service, operation, how);
}

}  // namespace instantstart::aws
