// Boost.JSON's grammar with the standard library's numbers: Boost 1.81 reads many doubles one unit in the
// last place off, which is enough to make a time in the far future, or a metric's value, another one.
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/result.h"

namespace instantstart::base {

namespace {

using boost::json::error_code;
using boost::json::string_view;

// Called by the parser, which wants these names and signatures. The text is given as a whole, so numbers come
// in one part.
struct ValueMaker {
    static constexpr std::size_t max_object_size = boost::json::object::max_size();
    static constexpr std::size_t max_array_size = boost::json::array::max_size();
    static constexpr std::size_t max_key_size = boost::json::string::max_size();
    static constexpr std::size_t max_string_size = boost::json::string::max_size();

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return true; }
    bool on_object_end(std::size_t count, error_code&) {
        stack.push_object(count);
        return true;
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t count, error_code&) {
        stack.push_array(count);
        return true;
    }
    bool on_key_part(string_view part, std::size_t, error_code&) {
        stack.push_chars(part);
        return true;
    }
    bool on_key(string_view part, std::size_t, error_code&) {
        stack.push_key(part);
        return true;
    }
    bool on_string_part(string_view part, std::size_t, error_code&) {
        stack.push_chars(part);
        return true;
    }
    bool on_string(string_view part, std::size_t, error_code&) {
        stack.push_string(part);
        return true;
    }
    bool on_number_part(string_view, error_code&) { return true; }
    bool on_int64(std::int64_t number, string_view, error_code&) {
        stack.push_int64(number);
        return true;
    }
    bool on_uint64(std::uint64_t number, string_view, error_code&) {
        stack.push_uint64(number);
        return true;
    }
    bool on_double(double rough, string_view text, error_code& code) {
        double exact = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), exact);
        // Out of range either way: too small is nothing, too large is no number of ours.
        if (read.ec != std::errc()) exact = std::abs(rough) < 1 ? 0 : HUGE_VAL;
        if (!std::isfinite(exact)) {
            code = boost::json::error::exponent_overflow;
            return false;
        }
        stack.push_double(exact);
        return true;
    }
    bool on_bool(bool truth, error_code&) {
        stack.push_bool(truth);
        return true;
    }
    bool on_null(error_code&) {
        stack.push_null();
        return true;
    }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }

    // Room for the open values of usual texts without an allocation.
    std::array<unsigned char, 4096> room;
    boost::json::value_stack stack{{}, room.data(), room.size()};
};

Error not_json(const std::string& why) {
    return invalid_error("invalid_json", "the text is not valid JSON: " + why);
}

}  // namespace

Result<JsonValue> parse_json(std::string_view text, std::size_t max_depth) {
    boost::json::parse_options options;
    options.max_depth = max_depth;
    boost::json::basic_parser<ValueMaker> parser(options);
    parser.handler().stack.reset();
    error_code code;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), code);
    if (code) return not_json(code.message());
    if (used != text.size()) return not_json(error_code(boost::json::error::extra_data).message());
    return parser.handler().stack.release();
}

}  // namespace instantstart::base
