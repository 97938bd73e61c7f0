#include "base/instant.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace instantstart::base {
namespace {

std::string again(std::string_view text) {
    const auto parsed = parse_instant(text);
    return parsed ? format_instant(*parsed) : "none";
}

TEST(Instant, holds_the_whole_calendar) {
    for (const char* text :
         {"0000-01-01T00:00:00Z", "0001-02-28T23:59:59Z", "1677-01-01T00:00:00Z",
          "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "2000-02-29T12:00:00.120Z",
          "2262-04-12T00:00:00Z", "9999-12-31T23:59:59.999Z"}) {
        EXPECT_EQ(again(text), text);
    }
}

TEST(Instant, reads_every_form_that_services_write) {
    EXPECT_EQ(again("2026-11-30T13:45:39.120000Z"), "2026-11-30T13:45:39.120Z");
    EXPECT_EQ(again("2026-11-30T13:45:39.1234567891Z"), "2026-11-30T13:45:39.123456Z");
    EXPECT_EQ(again("2026-11-30T13:45:39"), "2026-11-30T13:45:39Z");
    EXPECT_EQ(again("2026-11-30 13:45:39+01:30"), "2026-11-30T12:15:39Z");
    EXPECT_EQ(again("2026-11-30T13:45:39-0130"), "2026-11-30T15:15:39Z");
    EXPECT_EQ(again("Mon, 30 Nov 2026 13:45:39 GMT"), "2026-11-30T13:45:39Z");
    EXPECT_EQ(again("20261130T134539Z"), "2026-11-30T13:45:39Z");
}

TEST(Instant, refuses_what_is_no_time) {
    for (const char* text :
         {"", "now", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-30T24:00:00Z",
          "2026-11-30T13:45:39.Z", "2026-11-30T13:45:39+1", "2026-11-30T13x45x39Z",
          "9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00", "Mon, 30 Abc 2026 13:45:39 GMT"}) {
        EXPECT_EQ(again(text), "none") << text;
    }
}

TEST(Instant, rounds_seconds_since_1970_to_microseconds) {
    EXPECT_EQ(format_instant(*instant_of_epoch(1398796238.123)), "2014-04-29T18:30:38.123Z");
    EXPECT_EQ(format_instant(*instant_of_epoch(-0.000001)), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(format_instant(*instant_of_epoch(0.9999999)), "1970-01-01T00:00:01Z");
    EXPECT_EQ(format_instant(*instant_of_epoch(253402300799)), "9999-12-31T23:59:59Z");
    for (const double seconds : {253402300800.0, -1e18, 1e300}) EXPECT_FALSE(instant_of_epoch(seconds));
}

TEST(Instant, writes_the_form_of_http) {
    EXPECT_EQ(format_instant_http(*parse_instant("1901-01-05T02:03:04.9Z")), "Sat, 05 Jan 1901 02:03:04 GMT");
    EXPECT_EQ(format_instant_http(*parse_instant("9999-12-31T23:59:59Z")), "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(Instant, a_time_point_ends_sooner_and_says_so) {
    EXPECT_FALSE(parse_time("9999-12-31T23:59:59Z"));
    EXPECT_FALSE(parse_time("1600-01-01T00:00:00Z"));
    EXPECT_EQ(format_time(*parse_time("2262-04-11T23:47:15Z")), "2262-04-11T23:47:15Z");
    EXPECT_EQ(from_epoch(1e300), TimePoint::max());
    EXPECT_EQ(from_epoch(-1e300), TimePoint::min());
}

}  // namespace
}  // namespace instantstart::base
