#include "aws/credentials.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "http/memory_network.h"
#include "rt/testing.h"

namespace instantstart::aws {
namespace {

class CredentialChain : public ::testing::Test {
protected:
    CredentialChain() : clock_(io_, 3, *base::parse_time("2026-11-30T12:00:00Z")), network_(clock_) {
        folder_ =
            std::filesystem::path(::testing::TempDir()) /
            ("credentials_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::create_directories(folder_);
        transport_ = network_.make_transport();
        variables_["AWS_CONFIG_FILE"] = file("config", "");
        variables_["AWS_SHARED_CREDENTIALS_FILE"] = file("credentials", "");
    }
    ~CredentialChain() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }

    // Answers each path with its text, and notes the requests.
    void serve(const std::string& authority, std::map<std::string, std::string> answers) {
        network_.listen(authority, [this, answers](http::Context, http::Request request) {
            return answer(answers, std::move(request));
        });
    }
    boost::asio::awaitable<http::Response> answer(std::map<std::string, std::string> answers,
                                                  http::Request request) {
        requests_.push_back(request);
        const auto found = answers.find(request.method + " " + request.target);
        if (found == answers.end()) co_return http::Response(404, "text/plain", "no");
        co_return http::Response(200, "text/plain", found->second);
    }

    SourceNeeds needs() {
        SourceNeeds out;
        out.environment = [this](const std::string& name) {
            const auto found = variables_.find(name);
            return found == variables_.end() ? std::string() : found->second;
        };
        out.transport = transport_.get();
        out.clock = &clock_;
        out.sts = [this](Context, std::string operation, base::JsonObject parameters, Credentials with) {
            return sts(std::move(operation), std::move(parameters), std::move(with));
        };
        return out;
    }
    Task<base::JsonObject> sts(std::string operation, base::JsonObject parameters, Credentials with) {
        sts_calls_.push_back(operation + " as " + with.access_key + " " + base::canonical_text(parameters));
        base::JsonObject out;
        out["Credentials"] = base::JsonObject{{"AccessKeyId", "ASIA"},
                                              {"SecretAccessKey", "s"},
                                              {"SessionToken", "t"},
                                              {"Expiration", "2026-11-30T13:00:00Z"}};
        co_return out;
    }
    base::Result<Credentials> fetch() {
        const auto source = make_credential_chain(needs());
        return rt::testing::run(io_, clock_, source->fetch(Context()));
    }

    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    http::MemoryNetwork network_;
    std::unique_ptr<http::Transport> transport_;
    std::map<std::string, std::string> variables_;
    std::filesystem::path folder_;
    std::vector<http::Request> requests_;
    std::vector<std::string> sts_calls_;
};

TEST_F(CredentialChain, environment_comes_first) {
    variables_["AWS_ACCESS_KEY_ID"] = "A";
    EXPECT_EQ(fetch().error().code, "CredentialsUnavailable");
    variables_["AWS_SECRET_ACCESS_KEY"] = "B";
    variables_["AWS_SESSION_TOKEN"] = "C";
    EXPECT_EQ(fetch().value().session_token, "C");
}

TEST_F(CredentialChain, profile_has_keys_and_the_credentials_file_wins) {
    file("config",
         "[default]\nregion = eu-west-1\naws_access_key_id = old\n[profile other]\naws_access_key_id=O\n");
    file("credentials", "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
    EXPECT_EQ(fetch().value().access_key, "A");
    variables_["AWS_PROFILE"] = "other";
    EXPECT_NE(fetch().error().message.find("aws_secret_access_key"), std::string::npos);
    variables_["AWS_PROFILE"] = "gone";
    EXPECT_NE(fetch().error().message.find("gone"), std::string::npos);
}

TEST_F(CredentialChain, role_of_a_profile_is_assumed_with_its_source) {
    file("config",
         "[profile dev]\nrole_arn = arn:r\nsource_profile = base\nexternal_id = x\n[profile base]\n"
         "aws_access_key_id = A\naws_secret_access_key = B\n[profile bad]\nrole_arn = arn:r\n");
    variables_["AWS_PROFILE"] = "dev";
    EXPECT_EQ(fetch().value().access_key, "ASIA");
    EXPECT_EQ(
        sts_calls_,
        std::vector<std::string>{
            R"(AssumeRole as A {"ExternalId":"x","RoleArn":"arn:r","RoleSessionName":"instantstart"})"});
    variables_["AWS_PROFILE"] = "bad";
    EXPECT_NE(fetch().error().message.find("source_profile"), std::string::npos);
}

TEST_F(CredentialChain, web_identity_is_exchanged) {
    variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = file("token", "jwt\n");
    variables_["AWS_ROLE_ARN"] = "arn:r";
    EXPECT_EQ(fetch().value().access_key, "ASIA");
    EXPECT_EQ(sts_calls_.at(0),
              "AssumeRoleWithWebIdentity as  "
              R"({"RoleArn":"arn:r","RoleSessionName":"instantstart","WebIdentityToken":"jwt"})");
    variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/nowhere";
    EXPECT_EQ(fetch().error().code, "CredentialsUnavailable");
}

TEST_F(CredentialChain, container_endpoint_gets_its_token) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/v1/credentials";
    variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = file("token", "pod-token\n");
    serve("169.254.170.23:80",
          {{"GET /v1/credentials",
            R"({"AccessKeyId":"A","SecretAccessKey":"B","Token":"C","Expiration":"2026-11-30T18:00:00Z"})"}});
    const auto found = fetch();
    ASSERT_TRUE(found.has_value()) << found.error().chain();
    EXPECT_EQ(found.value().session_token, "C");
    EXPECT_EQ(found.value().expires, base::parse_time("2026-11-30T18:00:00Z"));
    EXPECT_EQ(requests_.at(0).headers.get("Authorization"), "pod-token");
    serve("169.254.170.23:80", {{"GET /v1/credentials", "<html>"}});
    EXPECT_EQ(fetch().error().code, "CredentialsUnavailable");
}

TEST_F(CredentialChain, instance_metadata_is_asked_with_a_session) {
    const std::string folder = "/latest/meta-data/iam/security-credentials/";
    serve("169.254.169.254:80",
          {{"PUT /latest/api/token", "session"},
           {"GET " + folder, "my-role"},
           {"GET " + folder + "my-role", R"({"AccessKeyId":"A","SecretAccessKey":"B"})"}});
    const auto found = fetch();
    ASSERT_TRUE(found.has_value()) << found.error().chain();
    ASSERT_EQ(requests_.size(), 3U);
    EXPECT_EQ(requests_[2].headers.get("X-aws-ec2-metadata-token"), "session");
    network_.listen("169.254.169.254:80", {});
    EXPECT_EQ(fetch().error().code, "CredentialsUnavailable");
}

// A source that counts, takes a second, and gives keys for an hour or fails.
class SlowSource final : public CredentialSource {
public:
    explicit SlowSource(rt::Clock& clock) : clock_(clock) {}
    Task<Credentials> fetch(Context) override {
        ++fetches;
        CO_CHECK_OK(co_await clock_.sleep(std::chrono::seconds(1)));
        if (fails) co_return no_credentials("told to fail");
        Credentials out;
        out.access_key = "K" + std::to_string(fetches);
        out.expires = clock_.now() + std::chrono::hours(1);
        co_return out;
    }
    int fetches = 0;
    bool fails = false;

private:
    rt::Clock& clock_;
};

Task<void> get_into(CredentialCache& cache, std::vector<std::string>& out) {
    const auto got = co_await cache.get(Context());
    out.push_back(got.has_value() ? got.value().access_key : got.error().code);
    co_return base::ok();
}

TEST(CredentialCache, many_callers_cause_one_fetch_and_old_keys_serve_while_new_ones_come) {
    boost::asio::io_context io;
    rt::VirtualClock clock(io, 1, *base::parse_time("2026-11-30T12:00:00Z"));
    auto owned = std::make_unique<SlowSource>(clock);
    SlowSource& source = *owned;
    CredentialCache cache(std::move(owned), clock);
    std::vector<std::string> got;
    rt::TaskGroup group(io.get_executor(), "test");
    const auto all = [&](int count) {
        got.clear();
        for (int i = 0; i < count; ++i) group.spawn("get", get_into(cache, got));
        EXPECT_TRUE(clock.run_until([&] { return group.size() == 0; }, std::chrono::minutes(1)));
    };
    all(3);
    EXPECT_EQ(got, (std::vector<std::string>{"K1", "K1", "K1"}));
    EXPECT_EQ(source.fetches, 1);
    group.spawn("sleep", clock.sleep(std::chrono::minutes(55)));
    clock.run_until([&] { return group.size() == 0; }, std::chrono::hours(1));
    all(3);
    EXPECT_EQ(got, (std::vector<std::string>{"K1", "K1", "K2"}));
    source.fails = true;
    group.spawn("sleep", clock.sleep(std::chrono::minutes(55)));
    clock.run_until([&] { return group.size() == 0; }, std::chrono::hours(1));
    all(1);
    EXPECT_EQ(got, std::vector<std::string>{"K2"});
    group.spawn("sleep", clock.sleep(std::chrono::minutes(10)));
    clock.run_until([&] { return group.size() == 0; }, std::chrono::hours(1));
    all(1);
    EXPECT_EQ(got, std::vector<std::string>{"CredentialsUnavailable"});
}

}  // namespace
}  // namespace instantstart::aws
