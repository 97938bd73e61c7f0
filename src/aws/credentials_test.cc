#include "aws/credentials.h"

#include <gtest/gtest.h>

#include "rt/testing.h"

namespace instantstart::aws {
namespace {

using namespace std::chrono_literals;

// A source that counts, takes a second, and gives keys for an hour or fails.
class SlowSource final : public CredentialSource {
public:
    explicit SlowSource(rt::Clock& clock) : clock_(clock) {}
    Task<Credentials> fetch(Context) override {
        ++fetches;
        CO_CHECK_OK(co_await clock_.sleep(1s));
        if (fails) co_return no_credentials("told to fail");
        Credentials out;
        out.access_key = same ? "same" : "K" + std::to_string(fetches);
        out.secret_key = "s";
        out.source = "a test";
        out.expires = clock_.now() + life;
        co_return out;
    }
    int fetches = 0;
    bool fails = false, same = false;
    base::Duration life = 1h;

private:
    rt::Clock& clock_;
};

Task<void> get_into(CredentialCache& cache, std::vector<std::string>& out) {
    const auto got = co_await cache.get(Context());
    out.push_back(got.has_value() ? got.value().access_key : got.error().code);
    co_return base::ok();
}

class Cache : public ::testing::Test {
protected:
    Cache() {
        auto owned = std::make_unique<SlowSource>(clock_);
        source_ = owned.get();
        cache_ = std::make_unique<CredentialCache>(std::move(owned), clock_);
    }
    // What `count` callers get who come at once.
    std::vector<std::string> get(int count = 1) {
        std::vector<std::string> got;
        rt::TaskGroup group(io_.get_executor(), "test");
        for (int i = 0; i < count; ++i) group.spawn("get", get_into(*cache_, got));
        EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 1min));
        return got;
    }
    void pass(base::Duration time) {
        rt::TaskGroup group(io_.get_executor(), "test");
        group.spawn("sleep", clock_.sleep(time));
        clock_.run_until([&] { return group.size() == 0; }, 24h);
    }
    static std::vector<std::string> times(std::size_t count, const std::string& text) {
        return std::vector<std::string>(count, text);
    }

    boost::asio::io_context io_;
    rt::VirtualClock clock_{io_, 1, *base::parse_time("2026-11-30T12:00:00Z")};
    SlowSource* source_ = nullptr;
    std::unique_ptr<CredentialCache> cache_;
};

TEST_F(Cache, a_hundred_callers_cause_one_fetch) {
    EXPECT_EQ(get(100), times(100, "K1"));
    EXPECT_EQ(source_->fetches, 1);
    EXPECT_EQ(get(100), times(100, "K1"));
    EXPECT_EQ(source_->fetches, 1);
}

TEST_F(Cache, old_keys_serve_while_new_ones_come) {
    get();
    pass(55min);
    EXPECT_EQ(get(3), (std::vector<std::string>{"K1", "K1", "K2"}));
    EXPECT_EQ(source_->fetches, 2);
}

TEST_F(Cache, failing_refresh_keeps_what_is_usable_and_is_not_hammered) {
    get();
    pass(55min);
    source_->fails = true;
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(get(), times(1, "K1"));
        pass(1s);
    }
    EXPECT_GT(source_->fetches, 5);
    EXPECT_LT(source_->fetches, 20);
    pass(5min);
    EXPECT_EQ(get(), times(1, "CredentialsUnavailable"));
    source_->fails = false;
    pass(31s);
    EXPECT_EQ(get().front().front(), 'K');
}

TEST_F(Cache, callers_share_a_failure_and_the_next_ones_do_not_ask_again_at_once) {
    source_->fails = true;
    EXPECT_EQ(get(100), times(100, "CredentialsUnavailable"));
    EXPECT_EQ(get(100), times(100, "CredentialsUnavailable"));
    EXPECT_EQ(source_->fetches, 1);
    pass(2s);
    source_->fails = false;
    EXPECT_EQ(get(100), times(100, "K2"));
    EXPECT_EQ(source_->fetches, 2);
}

TEST_F(Cache, keys_that_aws_calls_expired_are_fetched_anew_once) {
    get();
    Credentials used;
    used.access_key = "K1";
    cache_->expire(used);
    EXPECT_EQ(get(100), times(100, "K2"));
    cache_->expire(used);  // somebody who was late to hear it
    EXPECT_EQ(get(), times(1, "K2"));
    EXPECT_EQ(source_->fetches, 2);
}

TEST_F(Cache, source_that_repeats_refused_keys_is_asked_after_a_pause) {
    source_->same = true;
    get();
    Credentials used;
    used.access_key = "same";
    for (int i = 0; i < 20; ++i) {
        cache_->expire(used);
        EXPECT_EQ(get(), times(1, "same"));
    }
    EXPECT_LE(source_->fetches, 6);
    source_->same = false;
    pass(31s);
    EXPECT_EQ(get().front().front(), 'K');
}

TEST_F(Cache, short_lived_keys_are_used_for_most_of_their_life) {
    source_->life = 3min;
    EXPECT_EQ(get(), times(1, "K1"));
    pass(90s);
    EXPECT_EQ(get(), times(1, "K1"));
    pass(40s);
    EXPECT_EQ(get(), times(1, "K2"));
}

TEST_F(Cache, keys_that_have_expired_already_are_refused_with_the_reason) {
    source_->life = -1h;
    const auto got = rt::testing::run(io_, clock_, cache_->get(Context()));
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, "CredentialsExpired");
    EXPECT_NE(got.error().message.find("expired at 2026-11-30T11:00:01Z (a test)"), std::string::npos)
        << got.error().message;
}

TEST_F(Cache, cancelled_fetch_leaves_the_next_caller_to_fetch) {
    std::vector<std::string> first, second;
    rt::TaskGroup leaving(io_.get_executor(), "leaving"), staying(io_.get_executor(), "staying");
    leaving.spawn("get", get_into(*cache_, first));
    staying.spawn("get", get_into(*cache_, second));
    clock_.run_until([&] { return source_->fetches == 1; }, 1min);
    leaving.cancel();
    clock_.run_until([&] { return leaving.size() + staying.size() == 0; }, 1min);
    EXPECT_EQ(first, times(1, "cancelled"));
    EXPECT_EQ(second, times(1, "K2"));
}

}  // namespace
}  // namespace instantstart::aws
