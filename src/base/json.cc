#include "base/json.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.h"

namespace instantstart::base {

namespace {

const JsonValue* step_into(const JsonValue& value, std::string_view key) {
    if (const auto* object = value.if_object()) return object->if_contains(key);
    const auto* array = value.if_array();
    if (array == nullptr) return nullptr;
    std::size_t index = 0;
    auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (code != std::errc() || end != key.data() + key.size() || index >= array->size()) return nullptr;
    return &(*array)[index];
}

bool is_plain(char c) {
    return static_cast<unsigned char>(c) >= 0x20U && c != '"' && c != '\\';
}

// Whether nothing needs an escape: eight bytes at a time, since this is where writing JSON spends its time.
bool is_plain(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101U, kHighs = 0x8080808080808080U;
    // A byte of `word` below `limit`, which is 0x80 at most.
    const auto has_below = [](std::uint64_t word, std::uint64_t limit) {
        return ((word - kOnes * limit) & ~word & kHighs) != 0;
    };
    while (text.size() >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), sizeof word);
        if (has_below(word, 0x20U) || has_below(word ^ (kOnes * '"'), 1) ||
            has_below(word ^ (kOnes * '\\'), 1))
            return false;
        text.remove_prefix(sizeof word);
    }
    return std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
}

void append_quoted(std::string_view text, std::string& out) {
    if (is_plain(text)) {
        out += '"';
        out += text;
        out += '"';
    } else {
        out += boost::json::serialize(boost::json::string_view(text));
    }
}

// 192.0 and 0.42, as people write them, where Boost.JSON has 1.92E2 and 4.2E-1. The ".0" keeps it a double
// for whoever reads it again.
void append_double(double number, std::string& out) {
    constexpr double kSmallest = 1e-5;
    constexpr double kLargest = 1e15;
    const double size = std::abs(number);
    const bool fixed = number == 0 || (size >= kSmallest && size < kLargest);
    std::array<char, 64> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number,
                                       fixed ? std::chars_format::fixed : std::chars_format::scientific);
    const std::string_view made(text.data(), static_cast<std::size_t>(written.ptr - text.data()));
    out += made;
    if (fixed && made.find('.') == std::string_view::npos) out += ".0";
}

void append_integer(std::int64_t number, std::string& out) {
    std::array<char, 24> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
    out.append(text.data(), written.ptr);
}

void append_leaf(const JsonValue& value, std::string& out) {
    if (const auto* text = value.if_string())
        append_quoted(*text, out);
    else if (const auto* number = value.if_double(); number != nullptr && std::isfinite(*number))
        append_double(*number, out);
    else if (const auto* whole = value.if_int64())
        append_integer(*whole, out);
    else if (const auto* flag = value.if_bool())
        out += *flag ? "true" : "false";
    else
        out += boost::json::serialize(value);
}

void append_compact(const JsonValue& value, std::string& out);

void append_compact(const JsonObject& object, std::string& out) {
    out += '{';
    const char* separator = "";
    for (const auto& member : object) {
        out += separator;
        append_quoted(member.key(), out);
        out += ':';
        append_compact(member.value(), out);
        separator = ",";
    }
    out += '}';
}

void append_compact(const JsonValue& value, std::string& out) {
    if (const auto* object = value.if_object()) {
        append_compact(*object, out);
    } else if (const auto* array = value.if_array()) {
        out += '[';
        const char* separator = "";
        for (const auto& item : *array) {
            out += separator;
            append_compact(item, out);
            separator = ",";
        }
        out += ']';
    } else {
        append_leaf(value, out);
    }
}

void append_canonical(const JsonValue& value, std::string& out) {
    if (const auto* object = value.if_object()) {
        std::vector<std::string_view> keys;
        keys.reserve(object->size());
        for (const auto& member : *object) keys.push_back(member.key());
        std::sort(keys.begin(), keys.end());
        out += '{';
        const char* separator = "";
        for (auto key : keys) {
            out += separator;
            append_quoted(key, out);
            out += ':';
            append_canonical(object->at(key), out);
            separator = ",";
        }
        out += '}';
    } else if (const auto* array = value.if_array()) {
        out += '[';
        const char* separator = "";
        for (const auto& item : *array) {
            out += separator;
            append_canonical(item, out);
            separator = ",";
        }
        out += ']';
    } else {
        append_leaf(value, out);
    }
}

void append_pretty(const JsonValue& value, std::size_t indent, std::string& out) {
    const std::string inner(indent + 2, ' ');
    if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
        out += "{\n";
        const char* separator = "";
        for (const auto& member : *object) {
            out += separator + inner;
            append_quoted(member.key(), out);
            out += ": ";
            append_pretty(member.value(), indent + 2, out);
            separator = ",\n";
        }
        out += "\n" + std::string(indent, ' ') + "}";
    } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
        out += "[\n";
        const char* separator = "";
        for (const auto& item : *array) {
            out += separator + inner;
            append_pretty(item, indent + 2, out);
            separator = ",\n";
        }
        out += "\n" + std::string(indent, ' ') + "]";
    } else {
        append_compact(value, out);
    }
}

bool is_empty(const JsonValue& value) {
    if (value.is_null()) return true;
    if (const auto* array = value.if_array()) return array->empty();
    if (const auto* object = value.if_object()) return object->empty();
    return false;
}

void drop_empty_in(JsonValue& value) {
    if (auto* object = value.if_object()) {
        drop_empty(*object);
    } else if (auto* array = value.if_array()) {
        for (auto& item : *array) drop_empty_in(item);
    }
}

}  // namespace

std::string to_text(const JsonValue& value) {
    std::string out;
    append_compact(value, out);
    return out;
}

std::string to_text(const JsonObject& value) {
    std::string out;
    append_compact(value, out);
    return out;
}

std::string canonical_text(const JsonValue& value) {
    std::string out;
    append_canonical(value, out);
    return out;
}

std::string pretty_text(const JsonValue& value) {
    std::string out;
    append_pretty(value, 0, out);
    return out;
}

const JsonValue* find_path(const JsonValue& root, std::string_view dotted) {
    const JsonValue* at = &root;
    while (at != nullptr && !dotted.empty()) {
        const auto dot = dotted.find('.');
        at = step_into(*at, dotted.substr(0, dot));
        dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
    }
    return at;
}

const JsonValue* find_path(const JsonObject& root, std::string_view dotted) {
    const auto dot = dotted.find('.');
    const JsonValue* first = root.if_contains(dotted.substr(0, dot));
    if (first == nullptr || dot == std::string_view::npos) return first;
    return find_path(*first, dotted.substr(dot + 1));
}

namespace {

std::string as_string(const JsonValue* at, std::string_view fallback) {
    if (at == nullptr || !at->is_string()) return std::string(fallback);
    return {at->get_string().data(), at->get_string().size()};
}

std::int64_t as_int(const JsonValue* at, std::int64_t fallback) {
    if (at == nullptr) return fallback;
    if (at->is_int64()) return at->get_int64();
    if (at->is_uint64()) return static_cast<std::int64_t>(at->get_uint64());
    if (at->is_double()) return static_cast<std::int64_t>(at->get_double());
    return fallback;
}

bool as_bool(const JsonValue* at, bool fallback) {
    return at != nullptr && at->is_bool() ? at->get_bool() : fallback;
}

const JsonArray& as_array(const JsonValue* at) {
    static const JsonArray kEmpty;
    return at != nullptr && at->is_array() ? at->get_array() : kEmpty;
}

const JsonObject& as_object(const JsonValue* at) {
    static const JsonObject kEmpty;
    return at != nullptr && at->is_object() ? at->get_object() : kEmpty;
}

}  // namespace

std::string get_string(const JsonObject& object, std::string_view path, std::string_view fallback) {
    return as_string(find_path(object, path), fallback);
}
std::string get_string(const JsonValue& value, std::string_view path, std::string_view fallback) {
    return as_string(find_path(value, path), fallback);
}
std::int64_t get_int(const JsonObject& object, std::string_view path, std::int64_t fallback) {
    return as_int(find_path(object, path), fallback);
}
std::int64_t get_int(const JsonValue& value, std::string_view path, std::int64_t fallback) {
    return as_int(find_path(value, path), fallback);
}
bool get_bool(const JsonObject& object, std::string_view path, bool fallback) {
    return as_bool(find_path(object, path), fallback);
}
bool get_bool(const JsonValue& value, std::string_view path, bool fallback) {
    return as_bool(find_path(value, path), fallback);
}
const JsonArray& get_array(const JsonObject& object, std::string_view path) {
    return as_array(find_path(object, path));
}
const JsonArray& get_array(const JsonValue& value, std::string_view path) {
    return as_array(find_path(value, path));
}
const JsonObject& get_object(const JsonObject& object, std::string_view path) {
    return as_object(find_path(object, path));
}
const JsonObject& get_object(const JsonValue& value, std::string_view path) {
    return as_object(find_path(value, path));
}

void drop_empty(JsonObject& object) {
    for (auto& member : object) drop_empty_in(member.value());
    for (auto it = object.begin(); it != object.end();)
        it = is_empty(it->value()) ? object.erase(it) : it + 1;
}

void merge_patch(JsonValue& target, const JsonValue& patch) {
    const auto* changes = patch.if_object();
    if (changes == nullptr) {
        target = patch;
        return;
    }
    if (!target.is_object()) target = JsonObject();
    auto& object = target.get_object();
    for (const auto& change : *changes) {
        if (change.value().is_null()) {
            object.erase(change.key());
        } else {
            merge_patch(object[change.key()], change.value());
        }
    }
}

}  // namespace instantstart::base
