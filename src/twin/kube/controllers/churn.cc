#include "twin/kube/controllers/churn.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 5ms;
// At a time, so that requests come between.
constexpr int kMostAtOnce = 10;

bool is_of_replica_set(const JsonObject& pod) {
    return base::get_string(pod, "metadata.ownerReferences.0.kind") == "ReplicaSet";
}

}  // namespace

void Churn::start(double changes_per_second, base::Duration length) {
    rate_ = length > base::Duration::zero() ? changes_per_second : 0;
    began_ = env_.clock.monotonic();
    length_ = length;
    before_ = pod_changes_;
    pods_.clear();
    started_.notify_all();
}

void Churn::changed(const Change& change) {
    if (change.kind == kPods) ++pod_changes_;
}

// Pods of replica sets are deleted, as an eviction does it; the containers of others end, and what their
// policy says comes next. False where the pod does not run (any more).
bool Churn::disturb(const Key& key) {
    const auto pod = env_.get(kPods, key);
    if (!pod || is_terminating(*pod) || base::get_string(*pod, "status.phase") != "Running") return false;
    if (!is_of_replica_set(*pod)) return life_.exit(key, "", 0).has_value();
    env_.remove(kPods, key);
    return true;
}

void Churn::catch_up(std::int64_t wanted) {
    int looks = kMostAtOnce;
    while (pod_changes_ - before_ < wanted && looks-- > 0) {
        if (pods_.empty()) {
            for (const auto& pod : env_.objects.list(kPods))
                pods_.emplace_back(namespace_of(*pod), name_of(*pod));
            if (pods_.empty()) return;
        }
        std::swap(pods_[env_.clock.random() % pods_.size()], pods_.back());
        const Key key = std::move(pods_.back());
        pods_.pop_back();
        disturb(key);
    }
}

rt::Task<void> Churn::run() {
    while (true) {
        if (!is_running()) {
            CO_CHECK_OK(co_await started_.wait());
            continue;
        }
        CO_CHECK_OK(co_await env_.clock.sleep(kTick));
        const auto past = std::min(env_.clock.monotonic() - began_, length_);
        catch_up(static_cast<std::int64_t>(rate_ * std::chrono::duration<double>(past).count()));
        if (past >= length_) rate_ = 0;
    }
}

}  // namespace instantstart::twin::kube::controllers
