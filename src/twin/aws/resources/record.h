// Record and Table: how the infrastructure services of the twin keep their resources. A record's `data` is
// the answer that AWS gives for it; `hidden` is what only the twin knows. Everything is JSON, so that a
// snapshot is a copy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "twin/aws/world.h"

namespace instantstart::twin {

struct Record {
    Record() = default;
    std::string id;
    JsonObject data;
    JsonObject hidden;
    TimePoint created;
};

class Table {
public:
    using Map = std::map<std::string, Record, std::less<>>;

    Record& add(std::string id, JsonObject data, TimePoint now);
    Record* find(std::string_view id);
    const Record* find(std::string_view id) const;
    bool erase(std::string_view id);
    void clear() { records_.clear(); }
    std::size_t size() const { return records_.size(); }
    Map::iterator begin() { return records_.begin(); }
    Map::iterator end() { return records_.end(); }
    Map::const_iterator begin() const { return records_.begin(); }
    Map::const_iterator end() const { return records_.end(); }

    JsonValue save() const;
    void load(const JsonValue& state);

private:
    Map records_;
};

// An error answer as AWS gives it.
ServiceError failure(std::string code, std::string message, int status = 400);

// Strings of a list parameter; empty where absent.
std::vector<std::string> strings(const JsonObject& object, std::string_view path);
bool contains(const std::vector<std::string>& list, std::string_view value);
// A list of strings as JSON.
JsonArray to_array(const std::vector<std::string>& list);

// Lists of at most `limit` from the position that `token` names. A bad token starts at the beginning.
struct Page {
    Page() = default;
    JsonArray items;
    std::string next_token;  // "" at the end
};
Page paginate(const JsonArray& all, std::int64_t limit, std::string_view token);

// `{"Key": k, "Value": v}` lists: sets or replaces one tag; removes one.
void put_tag(JsonArray& tags, std::string_view key, std::string_view value);
void remove_tag(JsonArray& tags, std::string_view key);

// A deterministic number for a text (FNV-1a), the same in every process: for spreads that must survive a
// restart.
std::uint64_t stable_hash(std::string_view text);

}  // namespace instantstart::twin
