// The printed IAM policy, proven on the twin: every operation runs under exactly it; without any one
// statement, and without any one action, what needs it ends in an error that names the action, the resource
// and that statement; and Meta::uses names the calls that are made, no fewer and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "aws/model/iam_actions.h"
#include "policy_story.h"
#include "server/iam_policy.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonArray;
using base::JsonObject;

constexpr const char* kAccount = "111122223333";

const app::Catalogue& catalogue() {
    static const auto kCatalogue = app::make_catalogue();
    return *kCatalogue;
}

server::PolicyOptions narrow() {
    server::PolicyOptions options;
    options.limits.region = "us-west-2";
    options.limits.account = kAccount;
    return options;
}

const JsonObject& printed() {
    static const JsonObject kPolicy = server::iam_policy(catalogue(), narrow());
    return kPolicy;
}

std::vector<std::string> sids() {
    std::vector<std::string> made;
    for (const auto& statement : base::get_array(printed(), "Statement"))
        made.push_back(base::get_string(statement, "Sid"));
    return made;
}

JsonObject without_statement(JsonObject policy, const std::string& sid) {
    JsonArray kept;
    for (const auto& statement : base::get_array(policy, "Statement")) {
        if (base::get_string(statement, "Sid") != sid) kept.push_back(statement);
    }
    policy["Statement"] = std::move(kept);
    return policy;
}

JsonObject without_action(JsonObject policy, const std::string& action) {
    JsonArray kept;
    for (base::JsonValue statement : base::get_array(policy, "Statement")) {
        auto& actions = statement.as_object()["Action"].as_array();
        for (auto at = actions.begin(); at != actions.end();)
            at = at->as_string() == action ? actions.erase(at) : at + 1;
        if (!actions.empty()) kept.push_back(std::move(statement));
    }
    policy["Statement"] = std::move(kept);
    return policy;
}

std::set<std::string> actions_of(const std::set<std::string>& calls) {
    std::set<std::string> actions;
    for (const auto& call : calls) {
        const auto colon = call.find(':');
        for (const auto& row : aws::model::iam_actions(call.substr(0, colon), call.substr(colon + 1)))
            actions.insert(row.action);
    }
    return actions;
}

PolicyStoryOptions story_of(JsonObject policy) {
    PolicyStoryOptions options;
    options.policy = std::move(policy);
    return options;
}

std::string told(const std::optional<Refusal>& refusal) {
    return refusal ? refusal->operation + ": " + base::pretty_text(refusal->error) : "all went well";
}

bool names(const std::string& text, const std::string& word) {
    return text.find(word) != std::string::npos;
}

// --- under exactly the policy

// The whole story with all calls, told once.
const PolicyStory& calm() {
    static PolicyStory story(story_of(printed()));
    static const auto kRefusal = story.tell();
    EXPECT_FALSE(kRefusal.has_value()) << told(kRefusal);
    return story;
}

TEST(Policy, every_operation_runs_under_exactly_the_printed_policy) {
    EXPECT_FALSE(calm().calls().empty());
    const bool shows = std::getenv("INSTANTSTART_SIM_CALLS") != nullptr;
    for (const auto& [operation, calls] : calm().calls()) {
        if (!shows) break;
        std::printf("%s\n", operation.c_str());
        for (const auto& call : calls) std::printf("    %s\n", call.c_str());
    }
}

// Calls that keep the views of running clusters fresh after they were asked for, whatever else goes on.
const std::set<std::string>& in_the_background() {
    static const std::set<std::string> kCalls = [] {
        const auto& uses = catalogue().find("cluster.get")->meta().uses;
        return std::set<std::string>(uses.begin(), uses.end());
    }();
    return kCalls;
}

TEST(Policy, uses_of_an_operation_hold_every_call_it_makes) {
    for (const auto& [id, calls] : calm().calls()) {
        if (id == "start") continue;
        const auto* operation = catalogue().find(id);
        ASSERT_NE(operation, nullptr) << id;
        const auto& uses = operation->meta().uses;
        for (const auto& call : calls) {
            if (in_the_background().contains(call)) continue;
            EXPECT_TRUE(std::find(uses.begin(), uses.end(), call) != uses.end())
                << id << " calls " << call << ", which its Meta::uses does not name";
        }
    }
}

TEST(Policy, uses_name_no_call_that_is_never_made) {
    std::set<std::string> made;
    for (const auto& [id, calls] : calm().calls()) made.insert(calls.begin(), calls.end());
    for (const auto& use : server::used_aws_operations(catalogue()))
        EXPECT_TRUE(made.contains(use))
            << use << " stands in a Meta::uses, and no operation of the story calls it";
}

TEST(Policy, every_operation_with_uses_is_in_the_story) {
    for (const auto& operation : catalogue().operations()) {
        if (operation->meta().uses.empty()) continue;
        EXPECT_TRUE(calm().calls().contains(operation->meta().id))
            << operation->meta().id << " has uses, and the story does not ask for it";
    }
}

// --- without one statement

// Which operation fails first where a statement is missing: none is unproven.
const std::map<std::string, std::string>& proven_by() {
    static const std::map<std::string, std::string> kTable = {{"SeeNetwork", "cluster.launch"},
                                                              {"SeeVpcSettings", "cluster.launch"},
                                                              {"SeeRegion", "cluster.launch"},
                                                              {"SeeBalancers", "cluster.delete"},
                                                              {"SeeQuotas", "quota.list"},
                                                              {"TagHyperPod", "feature.update"},
                                                              {"MendOwnTrust", "feature.update"},
                                                              {"PassRolesToPods", "feature.update"},
                                                              {"SeePrices", "price.list"},
                                                              {"SeeFileSystems", "storage.create"},
                                                              {"SeeMlflow", "feature.update"},
                                                              {"SeeWorkspaces", "feature.update"},
                                                              {"MakeMlflow", "feature.update"},
                                                              {"ChangeOwnMlflow", "mlflow.open"},
                                                              {"MakeWorkspaces", "feature.update"},
                                                              {"TagWorkspaces", "feature.update"},
                                                              {"DeleteOwnWorkspaces", "feature.update"},
                                                              {"SeeRoles", "hyperpod.delete"},
                                                              {"SeeAnyRole", "cluster.launch"},
                                                              {"SeeOwnRoles", "cluster.launch"},
                                                              {"SeeBuckets", "cluster.launch"},
                                                              {"SeeEks", "cluster.launch"},
                                                              {"SeeAccess", "cluster.launch"},
                                                              {"SeeHyperPod", "cluster.launch"},
                                                              {"MakeNetwork", "cluster.launch"},
                                                              {"TagNewNetwork", "cluster.launch"},
                                                              {"UseOwnNetwork", "cluster.launch"},
                                                              {"UseAnyVpc", "cluster.launch"},
                                                              {"ChangeOwnNetwork", "cluster.launch"},
                                                              {"JoinEksGroup", "cluster.launch"},
                                                              {"DeleteBalancerGroups", "cluster.delete"},
                                                              {"DeleteLeftInterfaces", "cluster.delete"},
                                                              {"MakeEks", "cluster.launch"},
                                                              {"TagNewEks", "cluster.launch"},
                                                              {"ChangeEks", "cluster.launch"},
                                                              {"DeleteOwnEks", "cluster.delete"},
                                                              {"DeleteNodeGroups", "node_group.delete"},
                                                              {"MakeHyperPod", "cluster.launch"},
                                                              {"ChangeHyperPod", "instance_group.add"},
                                                              {"MakeOwnRoles", "cluster.launch"},
                                                              {"TagNewRoles", "cluster.launch"},
                                                              {"FillOwnRoles", "cluster.launch"},
                                                              {"AttachToOwnRoles", "cluster.launch"},
                                                              {"DeleteOwnRoles", "node_group.delete"},
                                                              {"EmptyOwnProfiles", "cluster.delete"},
                                                              {"OwnProviders", "cluster.launch"},
                                                              {"PassRolesToEks", "cluster.launch"},
                                                              {"PassRolesToHyperPod", "cluster.launch"},
                                                              {"MakeServiceRoles", "cluster.launch"},
                                                              {"OwnBuckets", "cluster.launch"},
                                                              {"OwnObjects", "cluster.launch"}};
    return kTable;
}

// AWS names in its refusal what the call was about, where it was about something of its own; but an answer to
// a HEAD has no words.
bool is_about_a_resource(const JsonObject& error) {
    const auto called = base::get_string(error, "aws_operation");
    if (called.starts_with("s3:Head")) return false;
    const auto operations = called.empty() ? aws::model::iam_table_operations() : std::vector{called};
    return std::any_of(operations.begin(), operations.end(), [&error](const std::string& operation) {
        const auto colon = operation.find(':');
        const auto rows = aws::model::iam_actions(operation.substr(0, colon), operation.substr(colon + 1));
        return std::any_of(rows.begin(), rows.end(), [&error](const auto& row) {
            return row.action == base::get_string(error, "missing_action") && row.resource != "*";
        });
    });
}

void expect_resource_told(const JsonObject& error) {
    EXPECT_EQ(!base::get_string(error, "resource").empty(), is_about_a_resource(error));
}

void expect_explained(const Refusal& refusal, const std::string& sid) {
    const auto& error = refusal.error;
    SCOPED_TRACE(refusal.operation + ": " + base::pretty_text(error));
    EXPECT_EQ(base::get_string(error, "code"), "aws_access_denied");
    EXPECT_TRUE(names(base::get_string(error, "statement"), sid));
    EXPECT_TRUE(names(base::get_string(error, "hint"), sid));
    expect_resource_told(error);
    bool in_document = false;
    for (const auto& statement : base::get_array(error, "policy.Statement")) {
        in_document = in_document || base::get_string(statement, "Sid") == sid;
        EXPECT_EQ(base::get_array(statement, "Action"), JsonArray{base::get_string(error, "missing_action")});
    }
    EXPECT_TRUE(in_document);
}

// Statements that only look something up for information: without them the operations go on, and say so.
const std::map<std::string, std::string>& advisory_statements() {
    static const std::map<std::string, std::string> kTable = {{"SeeLogGroups", "logs:DescribeLogGroups"}};
    return kTable;
}

void expect_needed(const std::string& sid) {
    PolicyStory story(story_of(without_statement(printed(), sid)));
    const auto refusal = story.tell();
    const auto advisory = advisory_statements().find(sid);
    if (advisory != advisory_statements().end()) {
        EXPECT_FALSE(refusal.has_value()) << told(refusal);
        EXPECT_TRUE(names(story.said(), "is not authorized to perform: " + advisory->second)) << story.said();
        return;
    }
    ASSERT_TRUE(refusal.has_value()) << "nothing needs " << sid;
    expect_explained(*refusal, sid);
    const auto proof = proven_by().find(sid);
    ASSERT_NE(proof, proven_by().end()) << sid << " is proven by " << refusal->operation;
    EXPECT_EQ(proof->second, refusal->operation) << sid;
}

// Every n-th of a list, as the kill points of the other stories are thinned.
std::size_t stride() {
    constexpr std::int64_t kWidest = 10;
    return static_cast<std::size_t>(std::min(setting("INSTANTSTART_SIM_STRIDE", kWidest), kWidest));
}

TEST(Statements, are_each_needed_and_named_where_they_are_missing) {
    const auto all = sids();
    for (std::size_t index = 0; index < all.size(); index += stride()) {
        SCOPED_TRACE(all[index]);
        expect_needed(all[index]);
    }
}

// --- without one action

// Look-ups of the plan that only inform, by design: without the right the plan warns.
const std::set<std::string>& advisory_actions() {
    static const std::set<std::string> kActions = {"ec2:DescribeInstanceTypeOfferings",
                                                   "ec2:DescribeVpcPeeringConnections",
                                                   "ec2:DescribeNetworkInterfaces",
                                                   "eks:DescribeClusterVersions",
                                                   "eks:ListClusters",
                                                   "iam:ListOpenIDConnectProviders",
                                                   "iam:ListRoles",
                                                   "pricing:GetProducts",
                                                   "servicequotas:ListAWSDefaultServiceQuotas",
                                                   "servicequotas:ListServiceQuotas",
                                                   "sagemaker:ListClusters"};
    return kActions;
}

std::vector<std::string> actions_of_launch() {
    std::set<std::string> granted;
    for (const auto& statement : base::get_array(printed(), "Statement")) {
        for (const auto& action : base::get_array(statement, "Action")) granted.emplace(action.as_string());
    }
    std::vector<std::string> both;
    // Of this launch alone: the whole story has launches with features, too.
    auto options = story_of(printed());
    options.launch_only = true;
    PolicyStory story(std::move(options));
    EXPECT_FALSE(story.tell().has_value());
    auto needed = actions_of(story.calls().at("cluster.launch"));
    // An add-on's own associations come with podIdentityAssociations, which no launch gives.
    needed.erase("eks:CreatePodIdentityAssociation");
    std::set_intersection(granted.begin(), granted.end(), needed.begin(), needed.end(),
                          std::back_inserter(both));
    return both;
}

// Asked while nodes are waited for, to explain the waiting: a refusal stands beside the step meanwhile.
const std::set<std::string>& actions_that_explain() {
    static const std::set<std::string> kActions = {"sagemaker:ListClusterEvents"};
    return kActions;
}

void expect_launch_explained(const std::string& action) {
    auto options = story_of(without_action(printed(), action));
    options.launch_only = true;
    PolicyStory story(std::move(options));
    const auto refusal = story.tell();
    if (actions_that_explain().contains(action)) {
        EXPECT_FALSE(refusal.has_value()) << told(refusal);
        return;
    }
    if (advisory_actions().contains(action)) {
        EXPECT_FALSE(refusal.has_value()) << told(refusal);
        EXPECT_TRUE(names(story.said(), "is not authorized to perform: " + action)) << story.said();
        return;
    }
    ASSERT_TRUE(refusal.has_value()) << "the launch does not need " << action;
    EXPECT_EQ(base::get_string(refusal->error, "missing_action"), action) << told(refusal);
    const auto sid = base::get_string(refusal->error, "statement");
    EXPECT_FALSE(sid.empty()) << told(refusal);
    EXPECT_TRUE(names(base::get_string(refusal->error, "hint"), sid)) << told(refusal);
    SCOPED_TRACE(told(refusal));
    expect_resource_told(refusal->error);
    const auto statements = base::get_array(printed(), "Statement");
    const bool has = std::any_of(statements.begin(), statements.end(), [&](const auto& statement) {
        const auto& list = base::get_array(statement, "Action");
        return names(sid, base::get_string(statement, "Sid")) &&
               std::find(list.begin(), list.end(), base::JsonValue(action)) != list.end();
    });
    EXPECT_TRUE(has) << sid << " does not hold " << action;
}

TEST(Actions, of_a_launch_are_each_named_where_they_are_denied) {
    const auto actions = actions_of_launch();
    EXPECT_GT(actions.size(), 60U);
    for (std::size_t index = 0; index < actions.size(); index += stride()) {
        SCOPED_TRACE(actions[index]);
        expect_launch_explained(actions[index]);
    }
}

// --- what doctor asks

TEST(Policy, doctors_questions_are_answered_by_each_statement) {
    PolicyStory whole(story_of(printed()));
    std::size_t index = 0;
    for (const auto& question : server::policy_questions(catalogue(), narrow())) {
        const auto sid = base::get_string(question, "Sid");
        EXPECT_EQ(whole.refused_by_simulator(question), std::vector<std::string>()) << sid;
        if (index++ % stride() != 0) continue;
        PolicyStory lacking(story_of(without_statement(printed(), sid)));
        EXPECT_FALSE(lacking.refused_by_simulator(question).empty()) << sid;
    }
}

// --- what flags bring

std::optional<Refusal> launched(PolicyStoryOptions options) {
    options.launch_only = true;
    PolicyStory story(std::move(options));
    return story.tell();
}

TEST(Policy, boundary_is_demanded_of_every_role) {
    auto bound = narrow();
    bound.limits.permissions_boundary = std::string("arn:aws:iam::") + kAccount + ":policy/company-boundary";
    auto options = story_of(server::iam_policy(catalogue(), bound));
    const auto without = launched(options);
    ASSERT_TRUE(without.has_value());
    EXPECT_EQ(base::get_string(without->error, "missing_action"), "iam:CreateRole") << told(without);
    EXPECT_EQ(base::get_string(without->error, "statement"), "MakeOwnRoles") << told(without);
    options.with_boundary = true;
    const auto with = launched(options);
    EXPECT_FALSE(with.has_value()) << told(with);
}

TEST(Policy, own_roles_keys_and_images_need_their_flags) {
    auto all = narrow();
    all.limits.execution_roles = {std::string("arn:aws:iam::") + kAccount + ":role/research-nodes"};
    all.limits.kms_keys = {"arn:aws:kms:us-west-2:111122223333:key/0f5c0c22-0000-4000-8000-000000000001"};
    all.limits.custom_images = true;
    const auto run = [](const server::PolicyOptions& flags) {
        auto options = story_of(server::iam_policy(catalogue(), flags));
        options.with_own_things = true;
        return launched(std::move(options));
    };
    const auto good = run(all);
    EXPECT_FALSE(good.has_value()) << told(good);
    const auto expect_missing = [&run](const server::PolicyOptions& flags, const char* sid,
                                       const char* flag) {
        const auto refusal = run(flags);
        ASSERT_TRUE(refusal.has_value()) << flag;
        expect_explained(*refusal, sid);
        EXPECT_TRUE(names(base::get_string(refusal->error, "hint"), flag)) << told(refusal);
    };
    auto some = all;
    some.limits.execution_roles.clear();
    expect_missing(some, "PassRolesToHyperPod", "--execution-role");
    some = all;
    some.limits.kms_keys.clear();
    expect_missing(some, "UseKeys", "--kms-key");
    some = all;
    some.limits.custom_images = false;
    expect_missing(some, "SeeImages", "--custom-images");
}

TEST(Policy, sees_no_other_account_and_region) {
    auto elsewhere = narrow();
    elsewhere.limits.account = "999999999999";
    EXPECT_TRUE(launched(story_of(server::iam_policy(catalogue(), elsewhere))).has_value());
    elsewhere = narrow();
    elsewhere.limits.region = "eu-central-1";
    EXPECT_TRUE(launched(story_of(server::iam_policy(catalogue(), elsewhere))).has_value());
    EXPECT_FALSE(launched(story_of(server::iam_policy(catalogue()))).has_value());
}

}  // namespace
}  // namespace instantstart::sim
