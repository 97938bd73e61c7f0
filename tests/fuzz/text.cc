// Small texts of every kind: JSON, times, URLs, base64, escapes, and whole models.
#include "aws/model/model.h"
#include "base/instant.h"
#include "base/time.h"
#include "http/message.h"
#include "input.h"

namespace {

using namespace instantstart;

void check_time(std::string_view text) {
    const auto instant = base::parse_instant(text);
    if (instant) {
        const auto again = base::parse_instant(base::format_instant(*instant));
        fuzz::require(again && again->seconds == instant->seconds, "a time is the same when read again");
        const auto http = base::parse_instant(base::format_instant_http(*instant));
        fuzz::require(http && http->seconds == instant->seconds, "a time survives the form of HTTP");
    }
    const auto time = base::parse_time(text);
    fuzz::require(!time || instant, "the clock's times are times");
    if (time) base::format_time_millis(*time);
}

void check_url(std::string_view text) {
    const auto url = http::parse_url(text);
    if (!url.has_value()) return;
    const auto again =
        http::parse_url(url.value().scheme + "://" + url.value().authority() + url.value().target);
    fuzz::require(again.has_value() && again.value().authority() == url.value().authority(),
                  "a URL is the same when read again");
    http::Request request;
    request.target = url.value().target;
    request.parameters();
}

void check_json(std::string_view text) {
    const auto value = base::parse_json(text, 40);
    if (value.has_value()) fuzz::require_json(value.value());
    const auto model = aws::model::load(text);
    fuzz::require(model.has_value() || !model.error().message.empty(), "a broken model is explained");
}

void check_codes(std::string_view text) {
    std::string bytes;
    const std::string decoded = base::percent_decode(base::percent_encode(text));
    fuzz::require(decoded == text, "escapes are undone");
    fuzz::require(base::base64_decode(base::base64_encode(text), bytes) && bytes == text, "base64 is undone");
    fuzz::require(base::base64_decode(base::base64url_encode(text), bytes) && bytes == text,
                  "base64url is undone");
    base::base64_decode(text, bytes);
    base::percent_decode(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    switch (input.number(4)) {
        case 0: check_time(input.rest()); break;
        case 1: check_url(input.rest()); break;
        case 2: check_json(input.rest()); break;
        default: check_codes(input.rest());
    }
    return 0;
}
