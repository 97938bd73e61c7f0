// What a fuzz target makes of its bytes: a few numbers, then a text. And what must hold of every result.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/text.h"

namespace instantstart::fuzz {

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

    // Below `end`; 0 where the bytes are used up.
    std::size_t number(std::size_t end) {
        std::size_t value = 0;
        for (int i = 0; i < 2 && !rest_.empty(); ++i) {
            value = value << 8U | static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
        }
        return end == 0 ? 0 : value % end;
    }

    // Up to and without `end`, or all.
    std::string_view until(std::string_view end) {
        const std::size_t at = rest_.find(end);
        const std::string_view part = rest_.substr(0, at);
        rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
        return part;
    }

    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

// Ends the run with the input kept by the fuzzer.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::cerr << "does not hold: " << what << "\n";
    std::abort();
}

// What goes on as JSON must be JSON: valid UTF-8 that reads back as the same value.
inline void require_json(const base::JsonValue& value) {
    const std::string text = base::to_text(value);
    require(base::is_valid_utf8(text), "a value is UTF-8");
    const auto again = base::parse_json(text, 200);
    require(again.has_value(), "a value can be read again");
    require(base::to_text(again.value()) == text, "a value is the same when read again");
}

}  // namespace instantstart::fuzz
