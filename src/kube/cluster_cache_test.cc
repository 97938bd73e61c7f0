#include "kube/cluster_cache.h"

#include <gtest/gtest.h>

#include "kube/fake_server.h"

namespace instantstart::kube {
namespace {

using namespace std::chrono_literals;
using testing::awaitable;
using testing::json;
using testing::KubeTest;
using testing::Request;
using testing::Response;
using testing::status_of;

Task<void> stop_caches(Caches& caches) {
    co_await caches.stop();
    co_return base::ok();
}

class CachesTest : public KubeTest {
protected:
    CachesTest() {
        server_.put("a");
        server_.before = [this](const Request& request) -> std::optional<Response> {
            if (request.path().ends_with("/pods")) return std::nullopt;
            if (request.parameter("watch")) return testing::lines({});
            ++other_lists_;
            return json(
                200,
                R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"n"}}]})");
        };
        serve(server_.handler());
    }
    ~CachesTest() override { EXPECT_TRUE(run(stop_caches(caches_)).has_value()); }
    Freshness need(const std::shared_ptr<ClusterCache>& cache, std::vector<Cached> kinds,
                   base::Duration limit = 5s) {
        return run(cache->need(std::move(kinds), limit)).value();
    }
    void pass(base::Duration duration) {
        clock_.run_until([] { return false; }, duration);
    }

    testing::FakeServer server_{io_.get_executor()};
    int other_lists_ = 0;
    std::shared_ptr<Client> shared_ = make();
    Caches caches_{io_.get_executor(), clock_};
};

TEST_F(CachesTest, users_of_one_cluster_share_one_list_of_each_kind_they_need) {
    const auto one = caches_.of("demo", shared_);
    const auto other = caches_.of("demo", shared_);
    EXPECT_EQ(one, other);
    EXPECT_TRUE(need(one, {Cached::pods}).complete);
    EXPECT_TRUE(need(other, {Cached::pods}).complete);
    EXPECT_EQ(server_.lists, 1);
    EXPECT_EQ(other_lists_, 0);  // nobody needed nodes or events
    EXPECT_EQ(one->pods().size(), 1U);
    EXPECT_TRUE(need(other, {Cached::nodes, Cached::pods}).complete);
    EXPECT_EQ(other_lists_, 1);
    EXPECT_NE(one->nodes().find("n"), nullptr);
}

TEST_F(CachesTest, unused_cache_is_let_go_and_made_anew_when_asked_for) {
    const auto cache = caches_.of("demo", shared_);
    EXPECT_TRUE(need(cache, {Cached::pods}).complete);
    pass(9min);
    EXPECT_EQ(caches_.of("demo", shared_), cache);
    EXPECT_TRUE(need(cache, {Cached::pods}).complete);
    pass(9min);
    EXPECT_EQ(caches_.size(), 1U);  // it was used 9 minutes ago
    pass(3min);
    EXPECT_EQ(caches_.size(), 0U);
    const auto watches = server_.watches;
    const auto lists = server_.lists;
    pass(1h);
    EXPECT_EQ(server_.watches, watches);  // nothing is followed any more
    EXPECT_TRUE(need(caches_.of("demo", shared_), {Cached::pods}).complete);
    EXPECT_EQ(server_.lists, lists + 1);
}

TEST_F(CachesTest, other_client_is_another_cluster) {
    const auto former = caches_.of("demo", shared_);
    EXPECT_TRUE(need(former, {Cached::pods}).complete);
    const std::shared_ptr<Client> renewed = make();
    const auto now = caches_.of("demo", renewed);
    EXPECT_NE(now, former);
    EXPECT_TRUE(need(now, {Cached::pods}).complete);
    pass(1s);
    EXPECT_FALSE(need(former, {Cached::pods}).complete);
    EXPECT_EQ(caches_.size(), 1U);
}

awaitable<Response> silence(rt::Clock& clock) {
    const auto slept = co_await clock.sleep(1h);
    co_return Response(slept.has_value() ? 200 : 500);
}

TEST_F(CachesTest, all_kinds_are_waited_for_together) {
    const std::vector<Cached> all = {Cached::nodes, Cached::pods, Cached::events};
    const auto cache = caches_.of("demo", shared_);
    EXPECT_TRUE(need(cache, all).complete);
    pass(10s);
    // A server that takes requests and answers none.
    network_.kill("kube:443");
    serve([this](Context, Request) { return silence(clock_); });
    pass(3min);
    for (int i = 0; i < 20; ++i) {
        const auto before = clock_.monotonic();
        const auto found = need(cache, all);
        EXPECT_TRUE(found.complete);
        EXPECT_TRUE(found.problem.has_value());
        EXPECT_LE(clock_.monotonic() - before, 1s);
        pass(700ms);
    }
}

// API servers do not keep events in their watch cache, so no bookmark comes while nothing happens.
TEST_F(CachesTest, quiet_events_are_followed_without_a_list) {
    server_.before = [](const Request& request) -> std::optional<Response> {
        if (request.path().ends_with("/events")) return std::nullopt;
        if (request.parameter("watch")) return testing::lines({});
        return json(200, R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[]})");
    };
    const auto cache = caches_.of("demo", shared_);
    EXPECT_TRUE(need(cache, {Cached::events}).complete);
    for (int i = 0; i < 3; ++i) {
        pass(3min);
        server_.end_watches();
    }
    const auto& events = cache->informer(Cached::events);
    EXPECT_EQ(events.lists(), 1U);
    EXPECT_EQ(events.watches(), 3U);  // as many as the server has ended
}

TEST_F(CachesTest, need_ends_with_its_limit_or_the_reason) {
    serve([](Context, Request) -> testing::awaitable<Response> { co_return status_of(403, "Forbidden"); });
    const auto cache = caches_.of("demo", shared_);
    const auto refused = need(cache, {Cached::nodes, Cached::pods});
    EXPECT_FALSE(refused.complete);
    EXPECT_EQ(refused.problem->code, "Forbidden");
    serve(server_.handler());
    pass(2s);
    // Who asks makes it try again at once, whatever its pause was.
    const auto found = need(cache, {Cached::nodes, Cached::pods});
    EXPECT_TRUE(found.complete);
    EXPECT_FALSE(found.problem.has_value());
    // A server that is away after that: the objects stay, and after a while the reason is told.
    serve(nullptr);
    server_.end_watches(true);
    pass(1min);
    const auto away = need(cache, {Cached::pods});
    EXPECT_TRUE(away.complete);
    EXPECT_EQ(away.problem->code, "KubernetesUnreachable");
    EXPECT_EQ(cache->pods().size(), 1U);
}

}  // namespace
}  // namespace instantstart::kube
