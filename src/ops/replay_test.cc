// The rules by which a request stands for an operation that is there already.
#include <gtest/gtest.h>

#include "ops/engine_fixture.h"

namespace instantstart::ops::toy {
namespace {

class ReplayTest : public EngineTest {
protected:
    void SetUp() override {
        world.takes = 5min;
        begin();
    }
    Submission keyed(const std::string& key) {
        auto made = request();
        made.idempotency_key = key;
        return made;
    }
};

TEST_F(ReplayTest, same_key_same_body_is_the_same_operation_running_or_ended) {
    const auto id = submit_id(keyed("k"));
    auto running = submit(keyed("k"));
    ASSERT_TRUE(running);
    EXPECT_TRUE(running->replayed);
    EXPECT_EQ(base::get_string(running->operation, "id"), id);
    life->wait(id);
    const auto acts = world.acts;
    auto ended = submit(keyed("k"));
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->replayed);
    EXPECT_EQ(base::get_int(ended->operation, "result.made"), 4);
    EXPECT_EQ(world.acts, acts);
    begin();
    auto restarted = submit(keyed("k"));
    ASSERT_TRUE(restarted);
    EXPECT_TRUE(restarted->replayed);
}

TEST_F(ReplayTest, same_key_of_a_failed_operation_shows_it_with_a_hint) {
    world.act_errors["a"] = {base::Error(base::ErrorKind::invalid, "Bad", "bad")};
    const auto id = submit_id(keyed("k"));
    life->wait(id);
    auto again = submit(keyed("k"));
    ASSERT_TRUE(again);
    EXPECT_EQ(state(again->operation), "failed");
    EXPECT_NE(base::get_string(again->operation, "error.hint").find("operation_retry"), std::string::npos);
}

TEST_F(ReplayTest, same_key_with_another_body_is_refused_and_names_the_difference) {
    submit_id(keyed("k"));
    auto other = keyed("k");
    other.body["count"] = 2;
    auto refused = submit(other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "idempotency_key_reused");
    ASSERT_EQ(refused.error().fields.size(), 1U);
    EXPECT_EQ(refused.error().fields[0].pointer, "/count");
    EXPECT_FALSE(base::get_string(refused.error().extra, "operation_id").empty());
}

TEST_F(ReplayTest, same_key_of_another_principal_is_another_key) {
    const auto id = submit_id(keyed("k"));
    auto other = keyed("k");
    other.principal = "somebody";
    other.resource = "cluster/other";
    other.body["name"] = "cluster/other";
    auto submitted = submit(other);
    ASSERT_TRUE(submitted);
    EXPECT_FALSE(submitted->replayed);
    EXPECT_NE(base::get_string(submitted->operation, "id"), id);
}

TEST_F(ReplayTest, a_new_key_for_what_is_in_flight_stands_for_it_from_then_on) {
    const auto id = submit_id(request());
    auto with_key = submit(keyed("new"));
    ASSERT_TRUE(with_key);
    EXPECT_TRUE(with_key->replayed);
    EXPECT_EQ(base::get_string(with_key->operation, "id"), id);
    life->wait(id);
    auto later = submit(keyed("new"));
    ASSERT_TRUE(later);
    EXPECT_EQ(base::get_string(later->operation, "id"), id);
}

TEST_F(ReplayTest, another_request_on_a_busy_resource_is_refused) {
    const auto id = submit_id(request());
    auto other = request();
    other.body["count"] = 3;
    auto refused = submit(other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "operation_in_progress");
    EXPECT_EQ(base::get_string(refused.error().extra, "operation_id"), id);
    life->wait(id);
    EXPECT_TRUE(submit(other));
}

TEST_F(ReplayTest, parents_that_cover_conflict_with_their_children_both_ways) {
    auto parent = request("cluster/demo");
    parent.covers_children = true;
    const auto child = request("cluster/demo/instance-group/a");
    submit_id(parent);
    EXPECT_EQ(submit(child).error().code, "operation_in_progress");
    EXPECT_TRUE(submit(request("cluster/demolition/instance-group/a")));
    submit_id(request("cluster/two/instance-group/a"));
    EXPECT_TRUE(submit(request("cluster/two/instance-group/b")));
    auto second = request("cluster/two");
    second.covers_children = true;
    EXPECT_EQ(submit(second).error().code, "operation_in_progress");
}

TEST_F(ReplayTest, what_is_not_idempotent_is_not_repeated_for_fifteen_minutes_without_a_key) {
    auto reboot = request("cluster/demo/node/i-1");
    reboot.naturally_idempotent = false;
    const auto id = submit_id(reboot);
    life->wait(id);
    auto again = submit(reboot);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->replayed);
    EXPECT_EQ(base::get_string(again->operation, "id"), id);
    EXPECT_NE(base::get_string(again->operation, "hint").find("idempotency_key"), std::string::npos);
    auto with_key = reboot;
    with_key.idempotency_key = "second";
    auto second = submit(with_key);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->replayed);
    life->wait(base::get_string(second->operation, "id"));
    life->clock.run_until([] { return false; }, 0s);
    EXPECT_TRUE(life->run(life->clock.sleep(16min)));
    auto later = submit(reboot);
    ASSERT_TRUE(later);
    EXPECT_FALSE(later->replayed);
}

TEST_F(ReplayTest, an_old_key_is_refused_never_executed) {
    const auto id = submit_id(keyed("k"));
    life->wait(id);
    EXPECT_TRUE(life->run(life->clock.sleep(24h * 8), 24h * 9));
    auto refused = submit(keyed("k"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "idempotency_key_expired");
}

TEST_F(ReplayTest, nothing_to_do_ends_at_once_and_is_kept) {
    auto same = keyed("k");
    same.no_change = true;
    same.no_change_result = {{"cluster", "demo"}};
    auto submitted = submit(same);
    ASSERT_TRUE(submitted);
    EXPECT_EQ(state(submitted->operation), "succeeded");
    EXPECT_TRUE(base::get_bool(submitted->operation, "no_change"));
    EXPECT_EQ(base::get_string(submitted->operation, "result.cluster"), "demo");
    EXPECT_TRUE(world.acts.empty());
    EXPECT_TRUE(submit(same)->replayed);
}

TEST_F(ReplayTest, find_replay_needs_no_plan) {
    auto asked = keyed("k");
    asked.resource.clear();
    auto before = life->run(life->engine->find_replay(Context(), asked));
    ASSERT_TRUE(before);
    EXPECT_FALSE(before->has_value());
    const auto id = submit_id(keyed("k"));
    auto after = life->run(life->engine->find_replay(Context(), asked));
    ASSERT_TRUE(after);
    ASSERT_TRUE(after->has_value());
    EXPECT_EQ(base::get_string((*after)->operation, "id"), id);
}

TEST_F(ReplayTest, a_second_retry_without_a_key_shows_the_first) {
    world.act_errors["a"] = std::vector<base::Error>(2, base::Error(base::ErrorKind::invalid, "Bad", "bad"));
    const auto id = submit_id(request());
    life->wait(id);
    EXPECT_FALSE(life->run(life->engine->retry(Context(), id, "admin", "mcp", "r1"))->replayed);
    life->wait(id);
    EXPECT_TRUE(life->run(life->engine->retry(Context(), id, "admin", "mcp", "r1"))->replayed);
    EXPECT_TRUE(life->run(life->engine->retry(Context(), id, "admin", "mcp", ""))->replayed);
    EXPECT_EQ(world.acts["a"], 2);
    EXPECT_FALSE(life->run(life->engine->retry(Context(), id, "admin", "mcp", "r2"))->replayed);
    EXPECT_EQ(state(life->wait(id)), "succeeded");
}

TEST_F(ReplayTest, lists_newest_first_by_resource_and_state_in_pages) {
    std::vector<std::string> ids;
    ids.reserve(5);
    for (int i = 0; i < 5; ++i) ids.push_back(submit_id(request("cluster/demo/node/" + std::to_string(i))));
    submit_id(request("cluster/demonstration"));
    Engine::ListQuery query;
    query.resource_prefix = "cluster/demo";
    query.limit = 3;
    auto first = life->run(life->engine->list(Context(), query));
    ASSERT_TRUE(first);
    EXPECT_EQ(first->total, 5U);
    ASSERT_EQ(first->operations.size(), 3U);
    EXPECT_EQ(base::get_string(first->operations[0], "id"), ids[4]);
    query.after = first->next;
    auto second = life->run(life->engine->list(Context(), query));
    ASSERT_TRUE(second);
    ASSERT_EQ(second->operations.size(), 2U);
    EXPECT_EQ(base::get_string(second->operations[1], "id"), ids[0]);
    EXPECT_EQ(second->next, "");
    query.state = "failed";
    EXPECT_EQ(life->run(life->engine->list(Context(), query))->total, 0U);
    EXPECT_EQ(base::get_string(life->engine->newest("cluster/demo"), "id"), ids[4]);
    EXPECT_EQ(base::get_string(life->engine->newest("cluster/demo/node/1"), "id"), ids[1]);
    EXPECT_TRUE(life->engine->newest("cluster/dem").empty());
}

}  // namespace
}  // namespace instantstart::ops::toy
