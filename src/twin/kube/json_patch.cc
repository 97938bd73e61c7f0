#include <charconv>

#include "base/text.h"
#include "twin/kube/patch.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

// The real server says no more than this; why and where are for the log of who debugs the twin.
base::Error failed(std::string_view why, std::string_view path) {
    auto error =
        server_error(422, "Invalid", "the server rejected our request due to an error in our request");
    error.extra["details"] = JsonObject();
    error.detail = std::string(why) + ": " + std::string(path);
    return error;
}

base::Result<std::vector<std::string>> pointer(std::string_view text) {
    std::vector<std::string> out;
    if (text.empty()) return out;
    if (text[0] != '/') return failed("a path must begin with a slash", text);
    for (const auto& part : base::split(text.substr(1), '/')) {
        std::string plain;
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (part[i] == '~' && i + 1 < part.size()) {
                plain += part[++i] == '1' ? '/' : '~';
            } else {
                plain += part[i];
            }
        }
        out.push_back(std::move(plain));
    }
    return out;
}

std::optional<std::size_t> index_of(std::string_view text, std::size_t size) {
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (code != std::errc() || end != text.data() + text.size() || index >= size) return std::nullopt;
    return index;
}

JsonValue* child(JsonValue& value, std::string_view key) {
    if (auto* object = value.if_object()) return object->if_contains(key);
    auto* list = value.if_array();
    if (list == nullptr) return nullptr;
    const auto index = index_of(key, list->size());
    return index ? &(*list)[*index] : nullptr;
}

JsonValue* walk(JsonValue& root, const std::vector<std::string>& path, std::size_t steps) {
    auto* at = &root;
    for (std::size_t i = 0; i < steps && at != nullptr; ++i) at = child(*at, path[i]);
    return at;
}

bool put(JsonValue& root, const std::vector<std::string>& path, JsonValue value) {
    if (path.empty()) {
        root = std::move(value);
        return true;
    }
    auto* parent = walk(root, path, path.size() - 1);
    if (parent == nullptr) return false;
    if (auto* object = parent->if_object()) {
        (*object)[path.back()] = std::move(value);
        return true;
    }
    auto* list = parent->if_array();
    if (list == nullptr) return false;
    if (path.back() == "-") {
        list->push_back(std::move(value));
        return true;
    }
    const auto index = index_of(path.back(), list->size() + 1);
    if (!index) return false;
    list->insert(list->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return true;
}

bool take(JsonValue& root, const std::vector<std::string>& path, JsonValue& out) {
    if (path.empty()) return false;
    auto* parent = walk(root, path, path.size() - 1);
    auto* found = parent == nullptr ? nullptr : child(*parent, path.back());
    if (found == nullptr) return false;
    out = *found;
    if (auto* object = parent->if_object()) {
        object->erase(path.back());
    } else {
        auto& list = parent->get_array();
        list.erase(list.begin() + (found - list.data()));
    }
    return true;
}

base::Result<void> carry_out(JsonValue& root, const JsonValue& operation) {
    const auto op = base::get_string(operation, "op");
    const auto where = base::get_string(operation, "path");
    TRY(const auto path, pointer(where));
    TRY(const auto from, pointer(base::get_string(operation, "from")));
    const auto* value = base::find_path(operation, "value");
    JsonValue moved;
    if (op == "remove") {
        if (!take(root, path, moved)) return failed("Unable to remove nonexistent key", where);
    } else if (op == "add") {
        if (!put(root, path, value == nullptr ? JsonValue() : *value))
            return failed("add operation does not apply: doc is missing path", where);
    } else if (op == "replace") {
        auto* found = walk(root, path, path.size());
        if (found == nullptr) return failed("replace operation does not apply: doc is missing key", where);
        *found = value == nullptr ? JsonValue() : *value;
    } else if (op == "test") {
        const auto* found = walk(root, path, path.size());
        if (found == nullptr || value == nullptr || *found != *value)
            return failed("testing value failed", where);
    } else if (op == "move" || op == "copy") {
        const auto* source = walk(root, from, from.size());
        if (source == nullptr)
            return failed(op + " operation does not apply: doc is missing from path", where);
        moved = *source;
        JsonValue dropped;
        if (op == "move") take(root, from, dropped);
        if (!put(root, path, std::move(moved)))
            return failed(op + " operation does not apply: doc is missing path", where);
    } else {
        return failed("Unexpected kind: " + op, where);
    }
    return base::ok();
}

}  // namespace

base::Result<JsonValue> json_patch(const JsonValue& target, const JsonArray& operations) {
    if (operations.size() > 10'000)
        return bad_request("The allowed maximum operations in a JSON patch is 10000");
    JsonValue out = target;
    for (const auto& operation : operations) CHECK_OK(carry_out(out, operation));
    return out;
}

}  // namespace instantstart::twin::kube
