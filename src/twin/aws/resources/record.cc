#include "twin/aws/resources/record.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "twin/aws/resources/page_token.h"

namespace instantstart::twin {

namespace {

std::string_view key_of(const JsonValue& tag) {
    const JsonObject* object = tag.if_object();
    const JsonValue* key = object == nullptr ? nullptr : object->if_contains("Key");
    return key != nullptr && key->is_string() ? std::string_view(key->get_string()) : std::string_view();
}

}  // namespace

Record& Table::add(std::string id, JsonObject data, TimePoint now) {
    Record& record = records_[id];
    record = Record();
    record.id = std::move(id);
    record.data = std::move(data);
    record.created = now;
    return record;
}

Record* Table::find(std::string_view id) {
    auto found = records_.find(id);
    return found == records_.end() ? nullptr : &found->second;
}

const Record* Table::find(std::string_view id) const {
    auto found = records_.find(id);
    return found == records_.end() ? nullptr : &found->second;
}

bool Table::erase(std::string_view id) {
    auto found = records_.find(id);
    if (found == records_.end()) return false;
    records_.erase(found);
    return true;
}

JsonValue Table::save() const {
    JsonArray list;
    for (const auto& [id, record] : records_) {
        JsonObject entry;
        entry["id"] = id;
        entry["data"] = record.data;
        if (!record.hidden.empty()) entry["hidden"] = record.hidden;
        entry["created"] =
            std::chrono::duration_cast<std::chrono::nanoseconds>(record.created.time_since_epoch()).count();
        list.push_back(std::move(entry));
    }
    return list;
}

void Table::load(const JsonValue& state) {
    records_.clear();
    const JsonArray* list = state.if_array();
    if (list == nullptr) return;
    for (const JsonValue& entry : *list) {
        const auto since_epoch = std::chrono::nanoseconds(base::get_int(entry, "created"));
        const TimePoint created(std::chrono::duration_cast<TimePoint::duration>(since_epoch));
        Record& record = add(base::get_string(entry, "id"), base::get_object(entry, "data"), created);
        record.hidden = base::get_object(entry, "hidden");
    }
}

ServiceError failure(std::string code, std::string message, int status) {
    return ServiceError(status, std::move(code), std::move(message));
}

std::vector<std::string> strings(const JsonObject& object, std::string_view path) {
    std::vector<std::string> list;
    for (const JsonValue& value : base::get_array(object, path)) {
        if (value.is_string()) list.emplace_back(value.get_string());
    }
    return list;
}

bool contains(const std::vector<std::string>& list, std::string_view value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

JsonArray to_array(const std::vector<std::string>& list) {
    JsonArray array;
    for (const std::string& text : list) array.emplace_back(text);
    return array;
}

std::string page_token(std::size_t position) {
    return base::base64_encode("page:" + std::to_string(position));
}

std::optional<std::size_t> page_position(std::string_view token) {
    if (token.empty()) return 0;
    constexpr std::string_view kMark = "page:";
    std::string text;
    if (!base::base64_decode(token, text) || !text.starts_with(kMark)) return std::nullopt;
    std::size_t position = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + kMark.size(), end, position);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return position;
}

Page paginate(const JsonArray& all, std::int64_t limit, std::string_view token) {
    Page page;
    std::size_t position = std::min(page_position(token).value_or(0), all.size());
    const std::size_t count = limit > 0 ? static_cast<std::size_t>(limit) : all.size();
    for (; position < all.size() && page.items.size() < count; ++position)
        page.items.push_back(all[position]);
    if (position < all.size()) page.next_token = page_token(position);
    return page;
}

void put_tag(JsonArray& tags, std::string_view key, std::string_view value) {
    for (JsonValue& tag : tags) {
        if (key_of(tag) == key) {
            tag.as_object()["Value"] = value;
            return;
        }
    }
    JsonObject tag;
    tag["Key"] = key;
    tag["Value"] = value;
    tags.push_back(std::move(tag));
}

void remove_tag(JsonArray& tags, std::string_view key) {
    for (auto it = tags.begin(); it != tags.end(); ++it) {
        if (key_of(*it) == key) {
            tags.erase(it);
            return;
        }
    }
}

std::uint64_t stable_hash(std::string_view text) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (char character : text) {
        hash ^= static_cast<unsigned char>(character);
        hash *= 1099511628211ULL;
    }
    hash ^= hash >> 33;  // FNV's low bits follow the last characters too closely for a modulus
    hash *= 0xff51afd7ed558ccdULL;
    return hash ^ (hash >> 33);
}

}  // namespace instantstart::twin
