// Credentials that run out while a cluster is launched. Where there are newer ones, nothing changes but a
// line in the log; where there are none, the operation waits and goes on by itself once there are.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "account.h"
#include "simulation.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonObject;

constexpr std::int64_t kShort = 900;  // seconds; STS gives none that are shorter
constexpr std::int64_t kLong = 43'200;

// What the environment of the product holds; changed while it runs, as a user does who signs in again.
struct Wallet {
    JsonObject session;
    int asked = 0;
};

AccessKeys keys_in(const std::shared_ptr<Wallet>& wallet) {
    AccessKeys keys;
    keys.environment = [wallet](const std::string& name) {
        static const std::map<std::string, std::string> kMembers = {
            {"AWS_ACCESS_KEY_ID", "AccessKeyId"},
            {"AWS_SECRET_ACCESS_KEY", "SecretAccessKey"},
            {"AWS_SESSION_TOKEN", "SessionToken"}};
        if (name == "AWS_ACCESS_KEY_ID") ++wallet->asked;
        const auto member = kMembers.find(name);
        return member == kMembers.end() ? std::string() : base::get_string(wallet->session, member->second);
    };
    return keys;
}

constexpr const char* kRole = "operator";

std::string account(Simulation& simulation) {
    return base::get_string(simulation.admin("sts", "GetCallerIdentity", {}), "Account");
}

// A role that may do everything, for whoever signs in.
void make_role(Simulation& simulation) {
    const std::string trust =
        R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::)" +
        account(simulation) + R"(:root"},"Action":"sts:AssumeRole"}]})";
    simulation.admin(
        "iam", "CreateRole",
        {{"RoleName", kRole}, {"MaxSessionDuration", kLong}, {"AssumeRolePolicyDocument", trust}});
    simulation.admin("iam", "AttachRolePolicy",
                     {{"RoleName", kRole}, {"PolicyArn", "arn:aws:iam::aws:policy/AdministratorAccess"}});
    simulation.pass(std::chrono::seconds(30));  // until it is known everywhere
}

JsonObject sign_in(Simulation& simulation, std::int64_t seconds) {
    const auto session =
        simulation.admin("sts", "AssumeRole",
                         {{"RoleArn", "arn:aws:iam::" + account(simulation) + ":role/" + kRole},
                          {"RoleSessionName", "somebody"},
                          {"DurationSeconds", seconds}});
    return base::get_object(session, "Credentials");
}

std::string launch(Simulation& simulation) {
    const auto answer = simulation.ask("POST", "/clusters/launch", launch_body(), "key-1");
    return base::get_string(answer.body, "operation.id");
}

JsonObject look(Simulation& simulation, const std::string& id) {
    return base::get_object(simulation.ask("GET", "/operations/" + id, {}).body, "operation");
}

// The mutations that came well, by operation: what was done, in whatever order.
std::map<std::string, int> done(Simulation& simulation) {
    std::map<std::string, int> found;
    for (const auto& call : simulation.mutations()) {
        if (base::get_int(call, "status") >= 400 || base::get_string(call, "service") == "sts") continue;
        ++found[base::get_string(call, "service") + " " + base::get_string(call, "operation")];
    }
    return found;
}

int refused_as_expired(Simulation& simulation) {
    int found = 0;
    std::int64_t since = 0;
    while (true) {
        const auto page = simulation.twin("GET", "/calls?since=" + std::to_string(since), {});
        const auto& rows = base::get_array(page, "calls");
        if (rows.empty()) return found;
        for (const auto& row : rows) {
            const auto code = base::get_string(row, "error_code");
            if (code.starts_with("ExpiredToken") || code == "RequestExpired") ++found;
        }
        since = base::get_int(page, "next");
    }
}

struct Calm {
    std::map<std::string, int> done;
    Census census;
};

Calm calm_launch() {
    Simulation simulation(1, {}, {});
    make_role(simulation);
    EXPECT_EQ(base::get_string(simulation.wait(launch(simulation)), "state"), "succeeded");
    Calm calm;
    calm.done = done(simulation);
    calm.census = census(simulation);
    return calm;
}

TEST(Credentials, that_are_replaced_in_time_change_nothing_but_a_line_in_the_log) {
    const auto calm = calm_launch();
    Simulation simulation(1, {}, {});
    make_role(simulation);
    const auto wallet = std::make_shared<Wallet>();
    wallet->session = sign_in(simulation, kShort);
    const auto next = sign_in(simulation, kLong);
    simulation.become(keys_in(wallet));
    const auto id = launch(simulation);
    wallet->session = next;  // the product holds the first session until AWS refuses it
    const auto operation = simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    for (const auto& step : base::get_array(operation, "steps")) {
        EXPECT_EQ(base::get_int(step, "attempt"), 1) << base::to_text(step);
        EXPECT_TRUE(base::get_object(step, "error").empty()) << base::to_text(step);
    }
    EXPECT_EQ(wallet->asked, 2);
    EXPECT_GE(refused_as_expired(simulation), 1);
    EXPECT_EQ(done(simulation), calm.done);
    EXPECT_EQ(census(simulation), calm.census);
}

TEST(Credentials, that_cannot_be_replaced_let_the_operation_wait) {
    const auto calm = calm_launch();
    Simulation simulation(1, {}, {});
    make_role(simulation);
    const auto wallet = std::make_shared<Wallet>();
    wallet->session = sign_in(simulation, kShort);
    simulation.become(keys_in(wallet));
    const auto id = launch(simulation);
    simulation.pass(std::chrono::seconds(kShort) + std::chrono::minutes(2));
    for (int hours = 0; hours < 3; ++hours) {
        const auto waits = look(simulation, id);
        EXPECT_EQ(base::get_string(waits, "state"), "waiting") << base::pretty_text(waits);
        EXPECT_EQ(base::get_string(waits, "conditions.0.type"), "CredentialsExpired");
        simulation.pass(std::chrono::hours(1));
    }
    wallet->session = sign_in(simulation, kLong);
    const auto operation = simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    EXPECT_EQ(done(simulation), calm.done);
    EXPECT_EQ(census(simulation), calm.census);
}

}  // namespace
}  // namespace instantstart::sim
