#include "server/doctor_surroundings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "http/memory_network.h"
#include "rt/testing.h"

namespace instantstart::server {
namespace {

using base::JsonObject;

// A file that ends with the test.
class Bundle {
public:
    explicit Bundle(const std::string& text) : path(::testing::TempDir() + "doctor_bundle.pem") {
        std::ofstream(path) << text;
    }
    ~Bundle() { std::filesystem::remove(path); }
    Bundle(const Bundle&) = delete;
    Bundle& operator=(const Bundle&) = delete;
    const std::string path;
};

// A client that explains itself as it is told, and can do nothing else.
class Explaining final : public aws::Client {
public:
    rt::Task<JsonObject> call(rt::Context, std::string, std::string, JsonObject, aws::CallOptions) override {
        co_return base::internal_error("not asked for");
    }
    rt::Task<std::string> eks_token(rt::Context, std::string) override {
        co_return base::internal_error("not asked for");
    }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }
    rt::Task<JsonObject> explain(rt::Context) override { co_return told; }

    JsonObject told = {{"credentials", JsonObject{{"source", "keys of profile dev"},
                                                  {"access_key", "AKIA"},
                                                  {"tried", base::JsonArray{"environment"}}}},
                       {"endpoints", JsonObject{{"sts", "http://sts.example:81"}}},
                       {"ca_bundle", ""}};
};

boost::asio::awaitable<http::Response> dated(std::string date) {
    http::Response out(403);
    if (!date.empty()) out.headers.set("Date", date);
    co_return out;
}

// Begins without the variables that doctor looks at, whatever the shell has.
class DoctorSurroundings : public ::testing::Test {
protected:
    DoctorSurroundings() {
        for (const char* name :
             {"AWS_CA_BUNDLE", "SSL_CERT_FILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
              "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_USE_FIPS_ENDPOINT",
              "AWS_USE_DUALSTACK_ENDPOINT"})
            ::unsetenv(name);
    }
    void answer_with_date(const std::string& date) {
        network_.listen("sts.example:81", [date](http::Context, http::Request) { return dated(date); });
    }
    // Whether the account can be asked; the findings are by name.
    bool look(http::TransportSettings settings = http::TransportSettings()) {
        const auto transport = network_.make_transport();
        std::vector<Finding> list;
        const auto usable =
            rt::testing::run(io_, clock_, check_surroundings(client_, *transport, clock_, settings, list));
        findings_.clear();
        for (const Finding& one : list) findings_[one.what] = one;
        return usable.value();
    }
    static bool holds(const std::string& text, const std::string& words) {
        return text.find(words) != std::string::npos;
    }

    boost::asio::io_context io_;
    rt::VirtualClock clock_{io_, 1, *base::parse_time("2026-11-30T12:00:00Z")};
    http::MemoryNetwork network_{clock_};
    Explaining client_;
    std::map<std::string, Finding> findings_;
};

TEST_F(DoctorSurroundings, says_what_is_in_use) {
    const Bundle bundle("-----BEGIN CERTIFICATE-----\n");
    client_.told["ca_bundle"] = bundle.path;
    answer_with_date("Mon, 30 Nov 2026 12:00:30 GMT");
    http::TransportSettings settings;
    settings.proxies = http::ProxyRules::from([](const std::string& name) {
        return name == "HTTPS_PROXY" ? std::string("http://me:secret@proxy:3128") : std::string();
    });
    EXPECT_TRUE(look(settings));
    EXPECT_EQ(findings_["source of credentials"].seen, "keys of profile dev, key AKIA. Tried: environment");
    EXPECT_EQ(findings_["endpoints"].seen, "sts http://sts.example:81");
    EXPECT_TRUE(holds(findings_["proxy"].seen, "http://proxy:3128 with a user"));
    EXPECT_FALSE(holds(findings_["proxy"].seen, "secret"));
    EXPECT_TRUE(holds(findings_["certificate authorities"].seen, "bundle.pem"));
    EXPECT_EQ(findings_["certificate authorities"].state, FindingState::good);
    EXPECT_TRUE(holds(findings_["clock"].seen, "behind AWS")) << findings_["clock"].seen;
    EXPECT_EQ(findings_["clock"].state, FindingState::good);
}

TEST_F(DoctorSurroundings, bundles_that_cannot_serve_are_faults_that_name_the_variable) {
    answer_with_date("Mon, 30 Nov 2026 12:00:30 GMT");
    const Bundle bundle("no certificate\n");
    client_.told["ca_bundle"] = bundle.path;
    look();
    EXPECT_EQ(findings_["certificate authorities"].state, FindingState::failed);
    EXPECT_TRUE(holds(findings_["certificate authorities"].remedy, "ca_bundle of the profile"));
    ::setenv("AWS_CA_BUNDLE", bundle.path.c_str(), 1);
    ::setenv("SSL_CERT_FILE", "/nowhere/bundle.pem", 1);
    look();
    EXPECT_TRUE(holds(findings_["certificate authorities"].remedy, "AWS_CA_BUNDLE and SSL_CERT_FILE"));
    EXPECT_TRUE(holds(findings_["certificate authorities"].seen, "/nowhere/bundle.pem cannot be read"));
    ::unsetenv("AWS_CA_BUNDLE");
    ::unsetenv("SSL_CERT_FILE");
}

TEST_F(DoctorSurroundings, key_with_white_space_names_its_variable) {
    answer_with_date("Mon, 30 Nov 2026 12:00:30 GMT");
    client_.told["credentials"] = JsonObject{{"source", "the environment (AWS_ACCESS_KEY_ID)"}};
    ::setenv("AWS_SECRET_ACCESS_KEY", "secret\n", 1);
    EXPECT_FALSE(look());
    const Finding& source = findings_["source of credentials"];
    EXPECT_EQ(source.state, FindingState::failed);
    EXPECT_TRUE(holds(source.remedy, "AWS_SECRET_ACCESS_KEY"));
    EXPECT_FALSE(holds(source.seen, "secret"));
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
    EXPECT_TRUE(look());
}

TEST_F(DoctorSurroundings, endpoint_that_cannot_be_used_names_its_variable) {
    client_.told["endpoints"] = JsonObject{{"sts", "none: not of the form"}};
    ::setenv("AWS_ENDPOINT_URL_STS", "nonsense", 1);
    look();
    EXPECT_TRUE(holds(findings_["endpoints"].remedy, "AWS_ENDPOINT_URL_STS"));
    ::unsetenv("AWS_ENDPOINT_URL_STS");
    ::setenv("AWS_USE_FIPS_ENDPOINT", "true", 1);
    look();
    EXPECT_TRUE(holds(findings_["endpoints"].remedy, "AWS_USE_FIPS_ENDPOINT"));
    ::unsetenv("AWS_USE_FIPS_ENDPOINT");
}

TEST_F(DoctorSurroundings, clock_that_is_off_by_more_than_four_minutes_is_a_warning) {
    answer_with_date("Mon, 30 Nov 2026 11:55:00 GMT");
    look();
    EXPECT_EQ(findings_["clock"].state, FindingState::warn);
    EXPECT_TRUE(holds(findings_["clock"].seen, "300 s ahead of AWS")) << findings_["clock"].seen;
    answer_with_date("");
    look();
    EXPECT_TRUE(holds(findings_["clock"].seen, "without a date"));
}

TEST_F(DoctorSurroundings, what_cannot_be_reached_and_what_is_missing_fail_with_a_remedy) {
    client_.told["credentials"] = JsonObject{{"error", "no AWS credentials: none"},
                                             {"hint", "Set AWS_PROFILE."},
                                             {"tried", base::JsonArray{"a", "b"}}};
    EXPECT_FALSE(look());
    EXPECT_EQ(findings_["way to AWS"].state, FindingState::failed);
    EXPECT_TRUE(holds(findings_["way to AWS"].remedy, "AWS_ENDPOINT_URL"));
    const Finding& source = findings_["source of credentials"];
    EXPECT_EQ(source.state, FindingState::failed);
    EXPECT_EQ(source.seen, "no AWS credentials: none. Tried: a; b");
    EXPECT_EQ(source.remedy, "Set AWS_PROFILE.");
    client_.told["endpoints"] = JsonObject{{"sts", "none: no FIPS here"}};
    look();
    EXPECT_EQ(findings_["endpoints"].state, FindingState::failed);
    EXPECT_EQ(findings_["clock"].state, FindingState::warn);
}

}  // namespace
}  // namespace instantstart::server
