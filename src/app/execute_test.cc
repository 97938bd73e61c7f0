#include "app/execute.h"

#include <gmock/gmock.h>

#include "app/testing.h"

namespace instantstart::app {
namespace {

using testing::World;

std::string code_of(const base::Result<Outcome>& result) {
    return result ? "" : result.error().code;
}

std::vector<std::string> audited(World& world) {
    auto page = world.run(world.audit.list({}, 100, ""));
    std::vector<std::string> made;
    for (const auto& record : page->records) {
        made.push_back(base::get_string(record, "operation") + " " + base::get_string(record, "outcome"));
    }
    return made;
}

JsonObject making(const char* name) {
    return {{"cluster", "demo"}, {"name", name}};
}

TEST(Execute, query_answers_with_what_it_acted_on_and_without_empty_members) {
    World world;
    auto answer = world.execute(world.ask("thing.get", {{"cluster", "demo"}}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(base::to_text(answer->body.at("thing").as_object()), R"({"cluster":"demo"})");
    EXPECT_EQ(base::get_string(answer->body, "resolved.cluster"), "demo");
}

TEST(Execute, faults_of_fields_and_of_options_come_together) {
    World world;
    auto answer = world.execute(
        world.ask("thing.make", {{"cluster", "demo"}, {"name", "Bad"}, {"dry_run", 1}, {"colour", "red"}}));
    ASSERT_FALSE(answer);
    std::vector<std::string> pointers;
    for (const auto& field : answer.error().fields) pointers.push_back(field.pointer);
    EXPECT_THAT(pointers, ::testing::ElementsAre("/dry_run", "/colour", "/name"));
    EXPECT_EQ(answer.error().changed, JsonValue(false));
}

TEST(Execute, a_started_operation_is_answered_and_its_repeat_is_a_replay) {
    World world;
    auto first = world.execute(world.ask("thing.make", making("one")));
    ASSERT_TRUE(first) << first.error().chain();
    EXPECT_TRUE(first->started);
    EXPECT_EQ(base::get_string(first->body, "status_tool"), "operation_get");
    EXPECT_GT(base::get_int(first->body, "poll_after_seconds"), 0);
    auto again = world.execute(world.ask("thing.make", making("one")));
    ASSERT_TRUE(again) << again.error().chain();
    EXPECT_TRUE(base::get_bool(again->body, "replayed"));
    EXPECT_EQ(base::get_string(again->body, "operation.id"), base::get_string(first->body, "operation.id"));
    EXPECT_EQ(base::get_string(first->body, "operation.resource"), "cluster/demo/thing/one");
}

TEST(Execute, a_key_with_another_body_is_refused) {
    World world;
    JsonObject arguments = making("one");
    arguments["idempotency_key"] = "k1";
    ASSERT_TRUE(world.execute(world.ask("thing.make", arguments)));
    arguments["name"] = "two";
    EXPECT_EQ(code_of(world.execute(world.ask("thing.make", arguments))), "idempotency_key_reused");
}

TEST(Execute, dry_run_answers_the_plan_and_starts_nothing) {
    World world;
    JsonObject arguments = making("one");
    arguments["dry_run"] = true;
    auto answer = world.execute(world.ask("thing.make", arguments));
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->started);
    EXPECT_EQ(base::get_array(answer->body, "plan.steps").size(), 1U);
    EXPECT_EQ(base::get_string(answer->body, "plan.plan_digest").size(), 16U);
    auto listed = world.execute(world.ask("operation.list", {}));
    EXPECT_EQ(base::get_int(listed->body, "total", -1), 0);
    EXPECT_TRUE(audited(world).empty());
}

TEST(Execute, nothing_to_do_ends_at_once) {
    World world;
    auto answer = world.execute(world.ask("thing.make", making("there")));
    ASSERT_TRUE(answer) << answer.error().chain();
    EXPECT_FALSE(answer->started);
    EXPECT_TRUE(base::get_bool(answer->body, "operation.no_change"));
    EXPECT_THAT(audited(world), ::testing::ElementsAre("thing.make no_change"));
}

TEST(Execute, what_removes_asks_for_the_exact_confirmation) {
    World world;
    JsonObject arguments = {{"cluster", "demo"}, {"thing", "one"}};
    auto asked = world.execute(world.ask("thing.delete", arguments));
    EXPECT_EQ(code_of(asked), "confirmation_required");
    EXPECT_EQ(asked.error().extra.at("confirm"), JsonValue("one"));
    arguments["confirm"] = "two";
    EXPECT_EQ(code_of(world.execute(world.ask("thing.delete", arguments))), "confirmation_required");
    arguments["confirm"] = "one";
    EXPECT_TRUE(world.execute(world.ask("thing.delete", arguments)));
    EXPECT_EQ(audited(world).size(), 3U);
}

TEST(Execute, a_plan_that_has_changed_is_not_carried_out) {
    World world;
    JsonObject arguments = making("one");
    arguments["expected_plan"] = "0000000000000000";
    EXPECT_EQ(code_of(world.execute(world.ask("thing.make", arguments))), "plan_changed");
}

TEST(Execute, roles_and_read_only_refuse_and_are_audited) {
    World world;
    EXPECT_EQ(code_of(world.execute(world.ask("thing.make", making("one"), Role::viewer))), "forbidden");
    Invocation read_only = world.ask("thing.make", making("one"));
    read_only.read_only = true;
    EXPECT_EQ(code_of(world.execute(std::move(read_only))), "read_only");
    EXPECT_THAT(audited(world), ::testing::ElementsAre("thing.make read_only", "thing.make forbidden"));
}

TEST(Execute, the_active_cluster_is_the_principals_own_and_never_removed_from) {
    World world;
    EXPECT_EQ(code_of(world.execute(world.ask("thing.get", {{"cluster", "active"}}))), "no_active_cluster");
    ASSERT_TRUE(world.run(world.clusters.set_active({}, "ada", "demo")));
    auto answer = world.execute(world.ask("thing.get", {{"cluster", "active"}}));
    EXPECT_EQ(base::get_string(answer->body, "resolved.cluster"), "demo");
    EXPECT_EQ(code_of(world.execute(world.ask("thing.delete", {{"cluster", "active"}, {"thing", "one"}}))),
              "invalid_field");
    Invocation by_agent = world.ask("thing.touch", {{"cluster", "active"}});
    by_agent.must_name_cluster = true;
    EXPECT_EQ(code_of(world.execute(std::move(by_agent))), "invalid_field");
}

TEST(Execute, changes_beyond_the_rate_are_throttled_but_replays_are_not) {
    World world;
    std::string last;
    for (int i = 0; i < 40 && last.empty(); ++i)
        last = code_of(world.execute(world.ask("thing.touch", {{"cluster", "demo"}})));
    EXPECT_EQ(last, "rate_limited");
    JsonObject dry = {{"cluster", "demo"}, {"dry_run", true}};
    EXPECT_TRUE(world.execute(world.ask("thing.touch", dry)));
}

TEST(Execute, without_an_account_writes_are_refused_and_environment_says_why) {
    World world;
    world.aws.refusal = base::Error(base::ErrorKind::denied, "CredentialsUnavailable", "no credentials");
    EXPECT_EQ(code_of(world.execute(world.ask("thing.touch", {{"cluster", "demo"}}))),
              "credentials_unavailable");
    auto answer = world.execute(world.ask("environment.get", {}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(base::get_string(answer->body, "environment.problem.code"), "credentials_unavailable");
}

TEST(Execute, preview_plans_for_viewers_and_points_into_the_arguments) {
    World world;
    auto planned = world.execute(
        world.ask("plan.preview", {{"operation", "thing.make"}, {"arguments", making("one")}}, Role::viewer));
    ASSERT_TRUE(planned) << planned.error().chain();
    EXPECT_EQ(base::get_string(planned->body, "plan.operation"), "thing.make");
    auto wrong =
        world.execute(world.ask("plan.preview", {{"operation", "thing.make"}, {"arguments", making("BAD")}}));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().fields.at(0).pointer, "/arguments/name");
    auto unknown = world.execute(world.ask("plan.preview", {{"operation", "thing.mak"}}));
    EXPECT_EQ(unknown.error().fields.at(0).did_you_mean, "thing.make");
}

TEST(Execute, cursors_belong_to_their_list) {
    World world;
    EXPECT_EQ(code_of(world.execute(world.ask("operation.list", {{"cursor", "nonsense"}}))),
              "invalid_cursor");
}

TEST(Catalogue, literal_paths_go_before_parameters_and_every_field_has_a_sentence) {
    const auto catalogue = testing::toy_catalogue();
    EXPECT_EQ(catalogue->route("GET", "/clusters/a%20b/thing").parameters.at(0).second, "a b");
    EXPECT_EQ(catalogue->route("PUT", "/clusters/demo/thing").allowed_methods,
              std::vector<std::string>{"GET"});
    EXPECT_EQ(catalogue->route("GET", "/nowhere").operation, nullptr);
}

}  // namespace
}  // namespace instantstart::app
