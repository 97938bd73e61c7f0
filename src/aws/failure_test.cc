#include "aws/failure.h"

#include <gtest/gtest.h>

#include "aws/error_codes.h"
#include "aws/retry.h"
#include "rt/virtual_clock.h"

namespace instantstart::aws {
namespace {

using base::ErrorKind;
using std::chrono::milliseconds;

TEST(ErrorCodes, a_row_of_the_service_wins) {
    EXPECT_EQ(proof_of("ec2", "RequestTimeout"), Proof::transient);
    EXPECT_EQ(proof_of("s3", "RequestTimeout"), Proof::refused);
    EXPECT_EQ(proof_of("ec2", "RequestLimitExceeded"), Proof::throttled);
    EXPECT_EQ(proof_of("eks", "ServerException"), Proof::transient);
    EXPECT_EQ(proof_of("ec2", "ServerException"), Proof::none);
    EXPECT_EQ(proof_of("pricing", "InternalErrorException"), Proof::transient);
}

TEST(ErrorCodes, quotas_are_not_throttling) {
    for (const char* service : {"logs", "kms", "ecr", "iam"}) {
        EXPECT_EQ(kind_of(service, "LimitExceededException", 400, Repeat::safe), ErrorKind::conflict);
    }
    EXPECT_EQ(kind_of("ec2", "VpcLimitExceeded", 400, Repeat::safe), ErrorKind::conflict);
}

TEST(ErrorCodes, want_of_capacity_is_no_server_fault) {
    for (const auto repeat : {Repeat::safe, Repeat::unsafe}) {
        EXPECT_EQ(kind_of("ec2", "InsufficientInstanceCapacity", 500, repeat), ErrorKind::conflict);
    }
}

TEST(RetryAfter, is_read_in_all_its_forms) {
    const auto now = *base::parse_time("2026-11-30T12:00:00Z");
    const auto read = [now](const char* name, const char* value) {
        http::Headers headers;
        headers.set(name, value);
        return retry_after_of(headers, now);
    };
    EXPECT_EQ(read("Retry-After", "7"), milliseconds(7000));
    EXPECT_EQ(read("Retry-After", " 0 "), milliseconds(0));
    EXPECT_EQ(read("Retry-After", "Mon, 30 Nov 2026 12:00:30 GMT"), milliseconds(30'000));
    EXPECT_EQ(read("Retry-After", "Mon, 30 Nov 2026 11:00:00 GMT"), milliseconds(0));
    EXPECT_EQ(read("Retry-After", "99999999"), milliseconds(3'600'000));
    EXPECT_EQ(read("x-amz-retry-after", "1500"), milliseconds(1500));
    for (const char* bad : {"", "soon", "-3", "3 s", "1.5", "99999999999999999999999"}) {
        EXPECT_EQ(read("Retry-After", bad), std::nullopt) << bad;
    }
}

TEST(RetryAfter, a_date_is_measured_by_the_clock_that_wrote_it) {
    http::Headers headers;
    headers.set("Retry-After", "Mon, 30 Nov 2026 14:00:10 GMT");
    headers.set("Date", "Mon, 30 Nov 2026 14:00:00 GMT");
    EXPECT_EQ(retry_after_of(headers, *base::parse_time("2026-11-30T12:00:00Z")), milliseconds(10'000));
}

TEST(RetryQuota, lasts_for_a_hundred_retries_and_comes_back_with_success) {
    RetryQuota quota;
    Failure failure;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(quota.take(failure), 5);
    EXPECT_EQ(quota.take(failure), 0);
    quota.give_back(5);
    failure.timed_out = true;
    EXPECT_EQ(quota.take(failure), 0);
    quota.give_back(5);
    EXPECT_EQ(quota.take(failure), 10);
    quota.give_back(0);
    EXPECT_EQ(quota.left(), 1);
}

Environment variables(std::map<std::string, std::string> values) {
    return [values](const std::string& name) {
        const auto found = values.find(name);
        return found == values.end() ? std::string() : found->second;
    };
}

TEST(RetrySettings, come_from_hand_environment_and_profile_in_this_order) {
    const auto profiles =
        Profiles::from_text("[default]\nretry_mode = adaptive\nmax_attempts = 7\n", "").value();
    const auto nothing = variables({});
    EXPECT_EQ(retry_settings_from("", 0, nothing, Profiles()).value().attempts, 5);
    EXPECT_EQ(retry_settings_from("", 0, nothing, profiles).value().mode, RetryMode::adaptive);
    EXPECT_EQ(retry_settings_from("", 0, nothing, profiles).value().attempts, 7);
    const auto both = variables({{"AWS_RETRY_MODE", "legacy"}, {"AWS_MAX_ATTEMPTS", "2"}});
    EXPECT_EQ(retry_settings_from("", 0, both, profiles).value().mode, RetryMode::standard);
    EXPECT_EQ(retry_settings_from("", 0, both, profiles).value().attempts, 2);
    EXPECT_EQ(retry_settings_from("adaptive", 9, both, profiles).value().mode, RetryMode::adaptive);
    EXPECT_EQ(retry_settings_from("adaptive", 9, both, profiles).value().attempts, 9);
}

TEST(RetrySettings, bad_values_are_named_with_their_place) {
    const auto refuse = [](std::map<std::string, std::string> values, const char* config) {
        return retry_settings_from("", 0, variables(std::move(values)),
                                   Profiles::from_text(config, "").value())
            .error();
    };
    const auto mode = refuse({{"AWS_RETRY_MODE", "Adaptive"}}, "");
    EXPECT_EQ(mode.code, "invalid_retry_mode");
    EXPECT_NE(mode.message.find("AWS_RETRY_MODE is \"Adaptive\""), std::string::npos) << mode.message;
    EXPECT_FALSE(mode.hint.empty());
    const auto profile = refuse({}, "[default]\nretry_mode = none\n");
    EXPECT_NE(profile.message.find("retry_mode of profile default"), std::string::npos) << profile.message;
    for (const char* bad : {"0", "-1", "many", "3x", "99999999999999"}) {
        EXPECT_EQ(refuse({{"AWS_MAX_ATTEMPTS", bad}}, "").code, "invalid_max_attempts") << bad;
    }
}

}  // namespace
}  // namespace instantstart::aws
