#include "aws/send_rate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace instantstart::aws {
namespace {

rt::Duration at(double seconds) {
    return rt::Duration(std::llround(seconds * 1e9));
}

struct Answered {
    double at;
    bool throttled;
    double limit;  // requests a second; 0 = none
};

// What botocore's adaptive mode makes of the same answers (retries/adaptive.py, driven by hand).
constexpr std::array kReference = {
    Answered{100.10, false, 0},           Answered{100.35, false, 0},
    Answered{100.40, false, 0},           Answered{100.80, false, 0},
    Answered{100.90, false, 0},           Answered{101.15, false, 0},
    Answered{101.20, false, 0},           Answered{101.60, false, 0},
    Answered{101.70, false, 0},           Answered{101.95, false, 0},
    Answered{102.00, true, 3.933440000},  Answered{102.40, true, 2.753408000},
    Answered{102.50, false, 2.983430853}, Answered{102.75, false, 3.423646450},
    Answered{102.80, false, 3.490973877}, Answered{103.20, false, 3.831404994},
    Answered{103.30, false, 3.872460467}, Answered{103.55, false, 3.924257612},
    Answered{103.60, false, 3.928301350}, Answered{104.00, false, 3.935262944},
    Answered{104.10, true, 2.754684061},  Answered{104.35, false, 3.270625992},
    Answered{104.40, false, 3.351294699}, Answered{104.80, false, 3.776808202},
    Answered{104.90, false, 3.833120980}, Answered{105.15, false, 3.912538128},
    Answered{105.20, false, 3.920301878}, Answered{105.60, false, 3.935375727},
    Answered{105.70, false, 3.937078592}, Answered{105.95, false, 3.963970956},
    Answered{106.00, false, 3.975629750}, Answered{106.40, false, 4.194663946},
    Answered{106.50, false, 4.295356897}, Answered{106.75, true, 3.006749828},
    Answered{106.80, false, 3.133244576}, Answered{107.20, false, 3.862190384},
    Answered{107.30, false, 3.976812343}, Answered{107.55, false, 4.171291878},
    Answered{107.60, false, 4.196803438}, Answered{108.00, false, 4.290683737}};

TEST(SendRate, falls_and_grows_back_as_the_sdks_have_it) {
    SendRate rate;
    for (const Answered& step : kReference) {
        rate.answered(step.throttled, at(step.at));
        if (step.limit == 0) {
            EXPECT_FALSE(rate.limit()) << step.at;
        } else {
            ASSERT_TRUE(rate.limit()) << step.at;
            EXPECT_NEAR(*rate.limit(), step.limit, 1e-6) << step.at;
        }
    }
}

TEST(SendRate, holds_nothing_back_before_the_first_throttle) {
    SendRate rate;
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(rate.reserve(at(5)), rt::Duration::zero());
}

TEST(SendRate, requests_wait_one_behind_the_other) {
    SendRate rate;
    rate.answered(true, at(10));  // nothing measured yet: the least rate, one request in two seconds
    ASSERT_EQ(rate.limit(), 0.5);
    EXPECT_EQ(rate.reserve(at(10)), at(2));
    EXPECT_EQ(rate.reserve(at(10)), at(4));
    rate.cancel();
    EXPECT_EQ(rate.reserve(at(10)), at(4));
    EXPECT_EQ(rate.reserve(at(16)), rt::Duration::zero());
}

TEST(SendRate, an_idle_service_keeps_no_more_than_a_second_of_requests) {
    SendRate rate;
    rate.answered(true, at(10));
    EXPECT_EQ(rate.reserve(at(1000)), rt::Duration::zero());
    EXPECT_EQ(rate.reserve(at(1000)), at(2));
}

}  // namespace
}  // namespace instantstart::aws
