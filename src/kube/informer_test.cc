#include "kube/informer.h"

#include <gtest/gtest.h>

#include "kube/cache/pods.h"
#include "kube/fake_server.h"

namespace instantstart::kube {
namespace {

using namespace std::chrono_literals;
using testing::FakeServer;
using testing::json;
using testing::KubeTest;
using testing::Request;
using testing::Response;
using testing::status_of;

Task<void> stop_informer(Informer& informer) {
    co_await informer.stop();
    co_return base::ok();
}

class InformerTest : public KubeTest {
protected:
    InformerTest() { serve(server_.handler()); }
    ~InformerTest() override {
        if (informer_) EXPECT_TRUE(run(stop_informer(*informer_)).has_value());
    }
    Informer& start(std::int64_t page_size = 2, std::size_t most = 1000) {
        InformerOptions options;
        options.resource = known("pods");
        options.list.page_size = page_size;
        options.list.max_items = most;
        informer_ =
            std::make_unique<Informer>(io_.get_executor(), *client_, clock_, table_, std::move(options));
        informer_->start();
        return *informer_;
    }
    void start_ready() { ASSERT_TRUE(run(start().wait_ready(1min)).has_value()); }
    // The table holds exactly what the server does.
    bool agrees() const {
        if (table_.size() != server_.objects.size()) return false;
        for (const auto& [name, object] : server_.objects) {
            if (table_.find("ns", name) == nullptr) return false;
        }
        return true;
    }
    bool agrees_within(base::Duration limit) {
        return clock_.run_until([this] { return agrees(); }, limit);
    }
    void pass(base::Duration duration) {
        clock_.run_until([] { return false; }, duration);
    }

    FakeServer server_{io_.get_executor()};
    Symbols symbols_;
    PodTable table_{symbols_, {"app"}};
    std::unique_ptr<Informer> informer_;
};

TEST_F(InformerTest, lists_by_pages_then_follows_changes) {
    for (const char* name : {"a", "b", "c", "d", "e"}) server_.put(name);
    start_ready();
    EXPECT_EQ(server_.lists, 3);
    EXPECT_TRUE(agrees());
    server_.put("f", R"(,"status":{"phase":"Running"})");
    server_.remove("a");
    EXPECT_TRUE(agrees_within(10s));
    EXPECT_EQ(table_.find("ns", "f")->phase, PodPhase::running);
    EXPECT_EQ(informer_->error(0s), nullptr);
    EXPECT_EQ(informer_->lists(), 1U);
}

TEST_F(InformerTest, watch_goes_on_from_a_bookmark_without_a_list) {
    server_.put("a");
    start_ready();
    server_.revision = 500;  // other kinds have moved on
    server_.bookmark();
    pass(1s);
    server_.compact();
    server_.oldest = 500;
    server_.end_watches();
    pass(5s);
    server_.put("b");
    EXPECT_TRUE(agrees_within(1min));
    EXPECT_EQ(informer_->lists(), 1U);
    EXPECT_GE(informer_->watches(), 2U);
}

TEST_F(InformerTest, expired_watch_lists_again_and_drops_what_went_meanwhile) {
    for (const char* name : {"a", "b", "c"}) server_.put(name);
    start_ready();
    server_.mute = true;
    server_.remove("b");
    server_.put("d");
    server_.compact();
    server_.mute = false;
    server_.end_watches();
    EXPECT_TRUE(agrees_within(1min));
    EXPECT_EQ(informer_->lists(), 2U);
    EXPECT_EQ(informer_->error(0s), nullptr);
}

TEST_F(InformerTest, expired_within_a_watch_is_the_same) {
    server_.put("a");
    start_ready();
    pass(1s);
    ++server_.revision;
    server_.raw(
        R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone","message":"too old"}})");
    EXPECT_TRUE(clock_.run_until([this] { return informer_->lists() == 2; }, 1min));
    EXPECT_EQ(informer_->error(0s), nullptr);
}

TEST_F(InformerTest, pages_that_expire_again_and_again_end_in_one_list_of_all) {
    for (int i = 0; i < 9; ++i) server_.put("p" + std::to_string(i));
    bool whole = false;
    server_.before = [&](const Request& request) -> std::optional<Response> {
        if (request.parameter("continue")) return status_of(410, "Expired");
        if (!request.parameter("watch") && !request.parameter("limit")) whole = true;
        return std::nullopt;
    };
    start_ready();
    EXPECT_TRUE(whole);
    EXPECT_TRUE(agrees());
}

TEST_F(InformerTest, server_set_back_to_an_older_state_is_believed) {
    for (const char* name : {"a", "b", "c"}) server_.put(name);
    start_ready();
    server_.objects.clear();
    server_.revision = 2;
    server_.history.clear();
    server_.put("z");
    server_.end_watches(true);
    EXPECT_TRUE(agrees_within(5min));
    EXPECT_EQ(informer_->lists(), 2U);
}

TEST_F(InformerTest, half_open_connection_is_made_anew_and_in_the_end_listed_again) {
    server_.put("a");
    start_ready();
    server_.mute = true;
    pass(1s);
    server_.put("b");
    pass(160s);
    EXPECT_EQ(informer_->watches(), 2U);
    EXPECT_EQ(informer_->lists(), 1U);
    pass(160s);
    EXPECT_EQ(informer_->lists(), 2U);
    EXPECT_TRUE(agrees());
    EXPECT_EQ(informer_->error(0s), nullptr);
}

TEST_F(InformerTest, ten_restarts_of_the_server_lose_nothing) {
    for (int i = 0; i < 5; ++i) server_.put("p" + std::to_string(i));
    start_ready();
    for (int restart = 0; restart < 10; ++restart) {
        serve(nullptr);
        server_.end_watches(true);
        server_.remove("p" + std::to_string(restart));
        server_.put("p" + std::to_string(restart + 5));
        pass(base::Duration(3s) * (restart + 1));
        EXPECT_EQ(table_.size(), 5U);  // what was read stays readable
        serve(server_.handler());
        EXPECT_TRUE(agrees_within(2min)) << restart;
    }
    EXPECT_EQ(informer_->lists(), 1U);
}

TEST_F(InformerTest, outage_is_told_once_it_lasts_and_taken_back) {
    server_.put("a");
    start_ready();
    serve(nullptr);
    server_.end_watches(true);
    EXPECT_TRUE(clock_.run_until([this] { return informer_->error(5s) != nullptr; }, 5min));
    EXPECT_EQ(informer_->error(5s)->code, "KubernetesUnreachable");
    EXPECT_EQ(table_.size(), 1U);
    serve(server_.handler());
    EXPECT_TRUE(run(informer_->look_again(1s)).has_value());
    EXPECT_EQ(informer_->error(0s), nullptr);
}

TEST_F(InformerTest, retry_after_is_respected) {
    server_.put("a");
    int asked = 0;
    server_.before = [&](const Request&) -> std::optional<Response> {
        ++asked;
        auto refused = status_of(429, "TooManyRequests");
        refused.headers.set("Retry-After", "40");
        return refused;
    };
    start();
    const auto waited = run(informer_->wait_ready(2min));
    EXPECT_EQ(waited.error().code, "TooManyRequests");
    const auto first_round = asked;
    pass(35s);
    EXPECT_EQ(asked, first_round);
    server_.before = nullptr;
    EXPECT_TRUE(agrees_within(1min));
    EXPECT_TRUE(informer_->is_ready());
}

TEST_F(InformerTest, refusal_is_told_to_who_waits_and_tried_again_for_the_next) {
    server_.before = [](const Request&) { return std::optional(status_of(403, "Forbidden")); };
    start();
    EXPECT_EQ(run(informer_->wait_ready(1min)).error().code, "Forbidden");
    pass(2min);  // the pauses have grown
    // What is told is the server's present answer, not the one of before.
    server_.before = [](const Request&) { return std::optional(status_of(401, "Unauthorized")); };
    EXPECT_EQ(run(informer_->wait_ready(1s)).error().code, "Unauthorized");
    server_.before = nullptr;
    pass(500ms);
    EXPECT_TRUE(run(informer_->wait_ready(1s)).has_value());
}

// A page that is looked at all the time must not keep a server in trouble from coming back.
TEST_F(InformerTest, readers_ask_a_server_in_trouble_ever_less_often) {
    server_.put("a");
    start_ready();
    pass(10s);
    int asked = 0;
    server_.before = [&](const Request&) -> std::optional<Response> {
        ++asked;
        return status_of(503, "ServiceUnavailable");
    };
    server_.end_watches(true);
    pass(1s);
    const auto look = [this] {
        const auto before = clock_.monotonic();
        EXPECT_TRUE(run(informer_->look_again(1s)).has_value());
        EXPECT_LE(clock_.monotonic() - before, 1s);
    };
    for (int i = 0; i < 600; ++i) {
        look();
        pass(100ms);
    }
    EXPECT_GE(asked, 60 / 4);  // more often than its own pauses of up to 30 s
    EXPECT_LE(asked, 60 / 4 + 10);
    server_.before = nullptr;
    pass(Informer::kLongestHurryGap);
    look();
    EXPECT_EQ(informer_->error(0s), nullptr);
}

TEST_F(InformerTest, list_without_end_or_beyond_the_limit_is_refused) {
    server_.before = [](const Request& request) -> std::optional<Response> {
        if (request.parameter("watch")) return std::nullopt;
        return json(200,
                    R"({"kind":"PodList","metadata":{"resourceVersion":"1","continue":"x"},"items":[]})");
    };
    start(500, 1000);
    EXPECT_EQ(run(informer_->wait_ready(1h)).error().code, "InvalidAnswer");
    EXPECT_TRUE(run(stop_informer(*informer_)).has_value());
    server_.before = nullptr;
    for (int i = 0; i < 30; ++i) server_.put("p" + std::to_string(i));
    start(7, 20);
    EXPECT_EQ(run(informer_->wait_ready(1h)).error().code, "too_many_items");
    EXPECT_EQ(table_.size(), 20U);
}

TEST_F(InformerTest, list_cut_short_is_no_list) {
    for (int i = 0; i < 6; ++i) server_.put("p" + std::to_string(i));
    int cut = 3;
    server_.before = [&](const Request& request) -> std::optional<Response> {
        if (request.parameter("watch") || cut-- <= 0) return std::nullopt;
        return testing::lines({R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)"
                               R"({"metadata":{"namespace":"ns","name":"ghost"}})"});
    };
    start();
    EXPECT_EQ(run(informer_->wait_ready(1min)).error().code, "InvalidAnswer");
    EXPECT_TRUE(agrees_within(1min));
    EXPECT_EQ(table_.find("ns", "ghost"), nullptr);
}

TEST_F(InformerTest, broken_event_ends_in_a_list) {
    server_.put("a");
    start_ready();
    for (const char* bytes : {"garbage\n", "{\"type\":\"ADDED\"}\n", "[1]\n",
                              R"({"type":"ADDED","object":{"metadata":{}}})", R"({"type":7,"object":{}})"}) {
        pass(1min);
        const auto before = informer_->lists();
        ++server_.revision;
        server_.raw(bytes);
        server_.put("next");
        EXPECT_TRUE(clock_.run_until([&] { return informer_->lists() > before; }, 5min)) << bytes;
        server_.remove("next");
        EXPECT_TRUE(agrees_within(1min)) << bytes;
    }
}

}  // namespace
}  // namespace instantstart::kube
