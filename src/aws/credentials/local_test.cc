// The sources of the machine: container endpoint, instance metadata, credential_process.
#include <unistd.h>

#include "aws/credentials/documents.h"
#include "aws/credentials/process.h"
#include "aws/credentials/source_fixture.h"
#include "rt/task_group.h"

namespace instantstart::aws {
namespace {

const char* const kKeys =
    R"({"AccessKeyId":"A","SecretAccessKey":"B","Token":"C","Expiration":"2026-11-30T18:00:00Z"})";

class Container : public SourceFixture {
protected:
    Container() { variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/v1/credentials"; }
    const std::string agent_ = "169.254.170.23:80";
};

TEST_F(Container, token_file_is_read_at_each_fetch) {
    variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = file("token", "pod-token\n");
    serve(agent_, {{"GET /v1/credentials", {200, kKeys}}});
    const auto found = fetch();
    ASSERT_TRUE(found.has_value()) << found.error().chain();
    EXPECT_EQ(found->session_token, "C");
    EXPECT_EQ(found->expires, base::parse_time("2026-11-30T18:00:00Z"));
    file("token", "renewed");
    EXPECT_EQ(key(), "A");
    EXPECT_EQ(requests_.at(0).headers.get("Authorization"), "pod-token");
    EXPECT_EQ(requests_.at(1).headers.get("Authorization"), "renewed");
    file("token", "");
    EXPECT_TRUE(fails_with("cannot be read or is empty"));
    file("token", "a\r\nEvil: b");
    EXPECT_TRUE(fails_with("has a line break within"));
    EXPECT_EQ(requests_.size(), 2U);
}

TEST_F(Container, relative_address_is_at_the_agent_of_ecs) {
    variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/x?id=1";
    variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "Basic abc";
    serve("169.254.170.2:80", {{"GET /v2/x?id=1", {200, kKeys}}});
    EXPECT_EQ(key(), "A");
    EXPECT_EQ(requests_.at(0).headers.get("Authorization"), "Basic abc");
}

TEST_F(Container, only_hosts_of_this_machine_are_asked_without_tls) {
    for (const char* url : {"http://evil.example/x", "http://169.254.169.254/x", "http://10.0.0.1/x",
                            "http://localhost.evil.example/", "ftp://127.0.0.1/"}) {
        variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
        EXPECT_TRUE(fails_with("AWS_CONTAINER_CREDENTIALS_FULL_URI names the host")) << url;
    }
    for (const auto& [url, authority] :
         std::map<std::string, std::string>{{"http://127.0.0.5:81/k", "127.0.0.5:81"},
                                            {"http://localhost:81/k", "localhost:81"},
                                            {"https://any.example/k", "any.example:443"}}) {
        variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
        serve(authority, {{"GET /k", {200, kKeys}}});
        EXPECT_EQ(key(), "A") << url;
    }
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "nonsense";
    EXPECT_TRUE(fails_with("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL"));
}

TEST_F(Container, failing_agent_is_asked_again_and_a_refusing_one_is_not) {
    serve(agent_, {{"GET /v1/credentials", {500, "<html>no</html>"}}});
    EXPECT_TRUE(fails_with("answered HTTP 500"));
    EXPECT_EQ(requests_.size(), 3U);
    serve(agent_,
          {{"GET /v1/credentials", {400, R"({"code":"X","message":"no association for\nthis pod"})"}}});
    EXPECT_TRUE(fails_with("answered HTTP 400: no association for this pod"));
    EXPECT_EQ(requests_.size(), 4U);
    hang(agent_);
    EXPECT_TRUE(fails_with("did not answer"));
    serve(agent_, {{"GET /v1/credentials", {200, "<html>"}}});
    EXPECT_TRUE(fails_with("did not answer a JSON object"));
    serve(agent_, {{"GET /v1/credentials", {200, R"({"AccessKeyId":"A"})"}}});
    EXPECT_TRUE(fails_with("answered without SecretAccessKey"));
}

class Instance : public SourceFixture {
protected:
    using Answers = std::map<std::string, std::pair<int, std::string>>;
    Answers usual(const std::string& keys = kKeys) const {
        return {{"PUT /latest/api/token", {200, "session"}},
                {"GET " + folder_path_, {200, "my-role\n"}},
                {"GET " + folder_path_ + "my-role", {200, keys}}};
    }
    Answers with(const std::string& request, int status, const std::string& body) const {
        Answers made = usual();
        made[request] = {status, body};
        return made;
    }
    const std::string folder_path_ = "/latest/meta-data/iam/security-credentials/";
    const std::string address_ = "169.254.169.254:80";
};

TEST_F(Instance, keys_are_read_with_a_session) {
    serve(address_, usual());
    const auto found = fetch();
    ASSERT_TRUE(found.has_value()) << found.error().chain();
    EXPECT_EQ(found->source, "the instance metadata service, role my-role");
    ASSERT_EQ(requests_.size(), 3U);
    EXPECT_EQ(requests_[0].headers.get("X-aws-ec2-metadata-token-ttl-seconds"), "21600");
    EXPECT_EQ(requests_[2].headers.get("X-aws-ec2-metadata-token"), "session");
}

TEST_F(Instance, address_comes_from_the_settings) {
    serve("fd00:ec2::254:80", usual());
    serve("[fd00:ec2::254]:80", usual());
    variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"] = "ipv6";
    EXPECT_EQ(key(), "A");
    serve("127.0.0.1:1338", usual());
    variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1338/";
    EXPECT_EQ(key(), "A");
    variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "";
    variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"] = "v5";
    EXPECT_TRUE(fails_with("is v5, neither IPv4 nor IPv6"));
}

TEST_F(Instance, silence_after_the_connection_speaks_of_the_hop_limit) {
    hang(address_);
    EXPECT_TRUE(fails_with("a hop limit of 1 hides it"));
    EXPECT_NE(fetch().error().hint.find("--http-put-response-hop-limit 2"), std::string::npos);
    network_.listen(address_, {});
    EXPECT_TRUE(fails_with("cannot be reached"));
    EXPECT_NE(fetch().error().detail.find("tried: environment"), std::string::npos);
}

TEST_F(Instance, attempts_and_time_are_as_the_variables_say) {
    variables_["AWS_METADATA_SERVICE_NUM_ATTEMPTS"] = "3";
    variables_["AWS_METADATA_SERVICE_TIMEOUT"] = "5";
    hang(address_);
    const auto before = clock_.monotonic();
    EXPECT_FALSE(fetch().has_value());
    EXPECT_EQ(requests_.size(), 3U);
    EXPECT_GE(clock_.monotonic() - before, std::chrono::seconds(15));
    for (const char* bad : {"0", "x", "1s", "1000"}) {
        variables_["AWS_METADATA_SERVICE_NUM_ATTEMPTS"] = bad;
        EXPECT_TRUE(fails_with("not a number from 1 to 20")) << bad;
    }
}

TEST_F(Instance, what_it_refuses_is_said) {
    serve(address_, with("PUT /latest/api/token", 403, ""));
    EXPECT_TRUE(fails_with("is switched off for this instance"));
    serve(address_, with("PUT /latest/api/token", 200, "<html>"));
    EXPECT_TRUE(fails_with("gave no session"));
    serve(address_, with("GET " + folder_path_, 404, ""));
    EXPECT_TRUE(fails_with("this instance has no role"));
    serve(address_,
          usual(R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"EC2 cannot assume the role"})"));
    EXPECT_TRUE(fails_with("EC2 cannot assume the role (AssumeRoleUnauthorizedAccess)"));
}

TEST_F(Instance, keys_that_it_could_not_renew_are_used_on) {
    serve(address_,
          usual(R"({"AccessKeyId":"A","SecretAccessKey":"B","Expiration":"2026-11-30T11:00:00Z"})"));
    EXPECT_EQ(*fetch().value().expires, clock_.now() + std::chrono::minutes(15));
}

// Programs run in real time.
class Process : public ::testing::Test {
protected:
    base::Result<Credentials> run(const std::string& script, ProcessLimits limits = ProcessLimits()) {
        return run_command("/bin/sh -c '" + script + "'", limits);
    }
    base::Result<Credentials> run_command(const std::string& command,
                                          ProcessLimits limits = ProcessLimits()) {
        rt::TaskGroup group(io_.get_executor(), "test");
        const auto out = std::make_shared<std::optional<base::Result<Credentials>>>();
        group.spawn("task", rt::testing::keep<Credentials>(
                                from_process(Context(), *clock_, command, "p", limits), out));
        io_.restart();
        while (group.size() > 0) io_.run_one();
        return std::move(**out);
    }
    std::string failure(const std::string& script, ProcessLimits limits = ProcessLimits()) {
        const auto got = run(script, limits);
        return got.has_value() ? "" : got.error().message;
    }
    static bool holds(const std::string& text, const std::string& words) {
        const bool found = text.find(words) != std::string::npos;
        if (!found) ADD_FAILURE() << text << " has no " << words;
        return found;
    }

    boost::asio::io_context io_;
    std::unique_ptr<rt::Clock> clock_ = rt::make_system_clock(io_.get_executor());
};

TEST_F(Process, answer_is_read_and_noise_on_stderr_is_not) {
    const auto got =
        run(R"(echo noise >&2; echo {\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",)"
            R"(\"SessionToken\":\"T\",\"Expiration\":\"2026-11-30T18:00:00Z\"})");
    ASSERT_TRUE(got.has_value()) << got.error().chain();
    EXPECT_EQ(got->session_token, "T");
    EXPECT_EQ(got->source, "credential_process of profile p");
    EXPECT_TRUE(got->expires.has_value());
}

TEST_F(Process, faults_are_told_with_its_own_words_cleaned) {
    EXPECT_TRUE(
        holds(failure("printf \"\\033[31mno\\nway\" >&2; exit 3"), "ended with status 3: [31mno way"));
    EXPECT_TRUE(holds(failure("kill -9 $$"), "was ended by signal 9"));
    EXPECT_TRUE(holds(failure("echo hello"), "did not answer a JSON object"));
    EXPECT_TRUE(holds(failure("echo {}"), "must answer \"Version\": 1"));
    EXPECT_TRUE(holds(failure("echo {\\\"Version\\\":1}"), "answered without AccessKeyId"));
    EXPECT_TRUE(holds(run_command("/nowhere/program --x").error().message, "/nowhere/program cannot be run"));
    EXPECT_TRUE(holds(run_command("'open").error().message, "a quotation does not end"));
    EXPECT_TRUE(holds(run_command("  ").error().message, "is empty"));
}

TEST_F(Process, endless_output_and_endless_time_end) {
    ProcessLimits limits;
    limits.output_bytes = 1000;
    EXPECT_TRUE(holds(failure("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2", limits),
                      "wrote more than 1000 bytes"));
    EXPECT_TRUE(holds(failure("exec cat /dev/zero", limits), "wrote more than 1000 bytes"));
    limits.time = std::chrono::milliseconds(300);
    EXPECT_TRUE(
        holds(failure("echo waiting >&2; sleep 1000 & echo $! ; wait", limits), "did not end within"));
}

TEST_F(Process, children_left_behind_do_not_hold_it_up) {
    const auto got =
        run(R"(sleep 1000 & echo {\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\"})");
    ASSERT_TRUE(got.has_value()) << got.error().chain();
}

TEST_F(Process, it_has_no_input_and_no_open_files_of_ours) {
    const int ours = ::dup2(1, 77);
    ASSERT_EQ(ours, 77);
    const auto got =
        run(R"(cat; test -e /proc/$$/fd/77 && k=open || k=shut; echo {\"Version\":1,\"AccessKeyId\":\"$k\",)"
            R"(\"SecretAccessKey\":\"B\"})");
    ::close(ours);
    ASSERT_TRUE(got.has_value()) << got.error().chain();
    EXPECT_EQ(got->access_key, "shut");
}

TEST_F(Process, cancellation_ends_the_program) {
    rt::TaskGroup group(io_.get_executor(), "test");
    const auto out = std::make_shared<std::optional<base::Result<Credentials>>>();
    const ProcessLimits limits;
    group.spawn("task", rt::testing::keep<Credentials>(
                            from_process(Context(), *clock_, "sleep 1000", "p", limits), out));
    for (int i = 0; i < 5; ++i) io_.run_one();
    group.cancel();
    while (group.size() > 0) io_.run_one();
    ASSERT_TRUE(out->has_value());
    EXPECT_EQ((*out)->error().kind, base::ErrorKind::cancelled);
}

}  // namespace
}  // namespace instantstart::aws
