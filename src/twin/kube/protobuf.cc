#include "twin/kube/protobuf.h"

#include <bit>
#include <cstring>

#include "base/text.h"
#include "base/time.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using Type = Schema::Type;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr int kDepthMax = 40;

// One field of a message: a number, and either a varint, fixed bits or bytes.
struct Field {
    Field() = default;
    int number = 0;
    int wire = 0;
    std::uint64_t bits = 0;
    std::string_view bytes;
};

class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}
    bool failed() const { return failed_; }

    // False at the end and where the text is broken.
    bool next(Field& field) {
        if (rest_.empty() || failed_) return false;
        const auto tag = varint();
        field.number = static_cast<int>(tag >> 3U);
        field.wire = static_cast<int>(tag & 7U);
        if (field.wire == 0) {
            field.bits = varint();
        } else if (field.wire == 1) {
            field.bits = fixed(8);
        } else if (field.wire == 5) {
            field.bits = fixed(4);
        } else if (field.wire == 2) {
            const auto size = varint();
            failed_ = failed_ || size > rest_.size();
            if (failed_) return false;
            field.bytes = rest_.substr(0, size);
            rest_.remove_prefix(size);
        } else {
            failed_ = true;
        }
        return !failed_;
    }

private:
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) break;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
            if ((byte & 0x80U) == 0) return value;
        }
        failed_ = true;
        return 0;
    }

    std::uint64_t fixed(std::size_t size) {
        std::uint64_t value = 0;
        if (rest_.size() < size) {
            failed_ = true;
            return 0;
        }
        std::memcpy(&value, rest_.data(), size);
        rest_.remove_prefix(size);
        return value;
    }

    std::string_view rest_;
    bool failed_ = false;
};

bool decode_message(std::string_view bytes, const Schema& schema, JsonObject& out, int depth);

// The fields of a small message by number.
bool small_message(std::string_view bytes, std::uint64_t numbers[4], std::string_view texts[4]) {
    Reader reader(bytes);
    Field field;
    while (reader.next(field)) {
        if (field.number < 1 || field.number > 3) continue;
        numbers[field.number] = field.bits;
        texts[field.number] = field.bytes;
    }
    return !reader.failed();
}

bool decode_time(std::string_view bytes, bool micro, JsonValue& out) {
    std::uint64_t numbers[4] = {};
    std::string_view texts[4];
    if (!small_message(bytes, numbers, texts)) return false;
    const auto seconds = static_cast<std::int64_t>(numbers[1]);
    if (seconds <= 0) return true;  // the zero time: absent
    const auto time = base::from_epoch(static_cast<double>(seconds));
    auto text = base::format_time(time);
    if (micro) {
        const auto micros =
            std::to_string(1'000'000 + static_cast<std::int64_t>(numbers[2]) / 1000).substr(1);
        text = text.substr(0, text.size() - 1) + "." + micros + "Z";
    }
    out = text;
    return true;
}

bool decode_value(const Field& field, const Schema& schema, JsonValue& out, int depth) {
    std::uint64_t numbers[4] = {};
    std::string_view texts[4];
    switch (schema.type) {
        case Type::integer: out = static_cast<std::int64_t>(field.bits); return true;
        case Type::boolean: out = field.bits != 0; return true;
        case Type::number: out = std::bit_cast<double>(field.bits); return true;
        case Type::string: out = field.bytes; return base::is_valid_utf8(field.bytes);
        case Type::bytes: out = base::base64_encode(field.bytes); return true;
        case Type::time:
        case Type::micro_time: return decode_time(field.bytes, schema.type == Type::micro_time, out);
        case Type::quantity:
            if (!small_message(field.bytes, numbers, texts)) return false;
            out = texts[1];
            return true;
        case Type::int_or_string:
            if (!small_message(field.bytes, numbers, texts)) return false;
            if (numbers[1] == 0) {
                out = static_cast<std::int64_t>(numbers[2]);
            } else {
                out = texts[3];
            }
            return true;
        case Type::object: return decode_message(field.bytes, schema, out.emplace_object(), depth + 1);
        case Type::any: {
            if (!small_message(field.bytes, numbers, texts) || texts[1].empty()) return true;
            auto parsed = base::parse_json(texts[1], 100);
            if (parsed.has_value()) out = std::move(*parsed);
            return true;
        }
        default: return true;
    }
}

bool decode_entry(std::string_view bytes, const Schema& item, JsonObject& out, int depth) {
    Reader reader(bytes);
    Field field;
    std::string key;
    JsonValue value = item.type == Type::string ? JsonValue("") : JsonValue();
    while (reader.next(field)) {
        if (field.number == 1) key = field.bytes;
        if (field.number == 2 && !decode_value(field, item, value, depth)) return false;
    }
    out[key] = std::move(value);
    return !reader.failed();
}

bool is_zero(const JsonValue& value) {
    if (const auto* text = value.if_string()) return text->empty();
    return value.is_null() || value == JsonValue(0) || value == JsonValue(false);
}

bool decode_field(const Field& field, const std::string& name, const SchemaField& target, JsonObject& out,
                  int depth) {
    const auto& schema = *target.schema;
    if (name.starts_with("~")) return decode_message(field.bytes, schema, out, depth + 1);
    if (schema.type == Type::list) {
        auto& list = out[name];
        if (!list.is_array()) list.emplace_array();
        JsonValue item;
        if (!decode_value(field, *schema.item.schema, item, depth)) return false;
        list.get_array().push_back(std::move(item));
        return true;
    }
    if (schema.type == Type::map) {
        auto& map = out[name];
        if (!map.is_object()) map.emplace_object();
        return decode_entry(field.bytes, *schema.item.schema, map.get_object(), depth);
    }
    JsonValue value;
    if (!decode_value(field, schema, value, depth)) return false;
    // The encoder writes zero values of plain fields; JSON leaves them out.
    if (is_zero(value) && !target.keeps_zero) return true;
    if (value.is_object() && value.get_object().empty() && !target.required && name == "status") return true;
    out[name] = std::move(value);
    return true;
}

bool decode_message(std::string_view bytes, const Schema& schema, JsonObject& out, int depth) {
    if (depth > kDepthMax) return false;
    Reader reader(bytes);
    Field field;
    while (reader.next(field)) {
        const auto found = schema.protobuf.find(field.number);
        if (found == schema.protobuf.end()) continue;
        if (!decode_field(field, found->second.first, found->second.second, out, depth)) return false;
    }
    return !reader.failed();
}

}  // namespace

bool is_protobuf(std::string_view body) {
    return body.starts_with(kMagic);
}

base::Result<JsonObject> decode_protobuf(std::string_view body) {
    const auto broken = bad_request("the protobuf body cannot be read");
    if (!is_protobuf(body)) return broken;
    Reader reader(body.substr(kMagic.size()));
    Field field;
    std::string_view type;
    std::string_view raw;
    while (reader.next(field)) {
        if (field.number == 1) type = field.bytes;
        if (field.number == 2) raw = field.bytes;
    }
    std::uint64_t numbers[4] = {};
    std::string_view texts[4];
    if (reader.failed() || !small_message(type, numbers, texts)) return broken;
    const std::string api_version(texts[1]);
    const std::string kind(texts[2]);
    const auto schema = kind == "DeleteOptions" ? builtin_schema("meta/v1.DeleteOptions")
                                                : builtin_schema_of(api_version, kind);
    if (schema == nullptr) {
        return server_error(415, "UnsupportedMediaType",
                            "no protobuf form of " + api_version + " " + kind + " is known");
    }
    JsonObject out;
    out["apiVersion"] = api_version;
    out["kind"] = kind;
    if (!decode_message(raw, *schema, out, 0)) return broken;
    return out;
}

}  // namespace instantstart::twin::kube
