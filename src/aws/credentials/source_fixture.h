// For tests of credential sources: a home folder, variables, local services on the in-memory network, and
// what STS and SSO answer.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "aws/credentials.h"
#include "http/memory_network.h"
#include "rt/testing.h"

namespace instantstart::aws {

class SourceFixture : public ::testing::Test {
protected:
    SourceFixture() : clock_(io_, 3, *base::parse_time("2026-11-30T12:00:00Z")), network_(clock_) {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  (std::string("sources_") + test->test_suite_name() + "_" + test->name());
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_ / ".aws/sso/cache");
        transport_ = network_.make_transport();
        variables_["HOME"] = folder_;
    }
    ~SourceFixture() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name, std::ios::trunc) << text;
        return folder_ / name;
    }
    void config(const std::string& text) { file(".aws/config", text); }
    void credentials(const std::string& text) { file(".aws/credentials", text); }

    // Answers each "METHOD target" with its response, 404 for others, and notes the requests.
    void serve(const std::string& authority, std::map<std::string, std::pair<int, std::string>> answers) {
        network_.listen(authority, [this, answers](http::Context, http::Request request) {
            return answer(answers, std::move(request));
        });
    }
    boost::asio::awaitable<http::Response> answer(std::map<std::string, std::pair<int, std::string>> answers,
                                                  http::Request request) {
        requests_.push_back(request);
        const auto found = answers.find(request.method + " " + request.target);
        if (found == answers.end()) co_return http::Response(404, "text/plain", "no");
        co_return http::Response(found->second.first, "text/plain", found->second.second);
    }
    // Takes requests and never answers.
    void hang(const std::string& authority) {
        network_.listen(authority,
                        [this](http::Context, http::Request request) { return wait(std::move(request)); });
    }
    boost::asio::awaitable<http::Response> wait(http::Request request) {
        requests_.push_back(std::move(request));
        [[maybe_unused]] const auto slept = co_await clock_.sleep(std::chrono::hours(1));
        co_return http::Response(503);
    }

    SourceNeeds needs() {
        SourceNeeds out;
        out.environment = [this](const std::string& name) {
            const auto found = variables_.find(name);
            return found == variables_.end() ? std::string() : found->second;
        };
        out.transport = transport_.get();
        out.clock = &clock_;
        out.call = [this](Context, SourceCall call) { return take(std::move(call)); };
        return out;
    }
    // Notes "service Operation as KEY {parameters} region", and answers what stands in answers_ for the
    // operation.
    Task<base::JsonObject> take(SourceCall call) {
        calls_.push_back(call.service + " " + call.operation + " as " + call.credentials.access_key + " " +
                         base::canonical_text(call.parameters) +
                         (call.region.empty() ? "" : " " + call.region));
        const auto found = answers_.find(call.operation);
        if (found != answers_.end()) co_return found->second;
        base::JsonObject out;
        out["Credentials"] = base::JsonObject{{"AccessKeyId", "ASIA" + std::to_string(calls_.size())},
                                              {"SecretAccessKey", "s"},
                                              {"SessionToken", "t"},
                                              {"Expiration", "2026-11-30T13:00:00Z"}};
        co_return out;
    }
    base::Result<Credentials> fetch() {
        if (!chain_) chain_ = make_credential_chain(needs());
        return rt::testing::run(io_, clock_, chain_->fetch(Context()));
    }
    // The key, or the error's message.
    std::string key() {
        auto got = fetch();
        return got.has_value() ? got->access_key : got.error().message;
    }
    bool fails_with(const std::string& words) {
        const auto got = fetch();
        if (!got.has_value() && got.error().message.find(words) != std::string::npos) return true;
        ADD_FAILURE() << (got.has_value() ? got->access_key : got.error().chain());
        return false;
    }

    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    http::MemoryNetwork network_;
    std::unique_ptr<http::Transport> transport_;
    std::unique_ptr<CredentialSource> chain_;
    std::map<std::string, std::string> variables_;
    std::filesystem::path folder_;
    std::vector<http::Request> requests_;
    std::vector<std::string> calls_;
    std::map<std::string, base::Result<base::JsonObject>> answers_;
};

}  // namespace instantstart::aws
