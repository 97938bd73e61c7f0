#include "server/render.h"

#include <algorithm>
#include <map>
#include <vector>

namespace instantstart::server {

namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

constexpr std::size_t kWidest = 60;
constexpr std::size_t kMaxColumns = 8;

std::string scalar(const JsonValue& value) {
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_null()) return "-";
    return base::to_text(value);
}

// Bytes that begin a character, so that columns stand straight with accents too.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string table(const JsonArray& rows) {
    std::vector<std::string> columns;
    for (const auto& row : rows) {
        for (const auto& entry : row.get_object()) {
            const bool simple = !entry.value().is_object() && !entry.value().is_array();
            const bool known = std::find(columns.begin(), columns.end(), entry.key()) != columns.end();
            if (simple && !known && columns.size() < kMaxColumns) columns.emplace_back(entry.key());
        }
    }
    std::vector<std::vector<std::string>> lines = {columns};
    for (const auto& row : rows) {
        std::vector<std::string> cells;
        for (const auto& column : columns) {
            const JsonValue* value = row.get_object().if_contains(column);
            cells.push_back(value == nullptr ? "-" : scalar(*value).substr(0, kWidest));
        }
        lines.push_back(std::move(cells));
    }
    std::string out;
    for (const auto& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            std::size_t widest = 0;
            for (const auto& other : lines) widest = std::max(widest, width(other[i]));
            out += cells[i];
            if (i + 1 < cells.size()) out += std::string(widest - width(cells[i]) + 2, ' ');
        }
        out += "\n";
    }
    return out;
}

bool is_table(const JsonValue& value) {
    if (!value.is_array() || value.get_array().empty()) return false;
    const JsonArray& rows = value.get_array();
    return std::all_of(rows.begin(), rows.end(), [](const JsonValue& row) { return row.is_object(); });
}

void lines_of(const JsonValue& value, std::size_t depth, std::string& out) {
    const std::string indent(depth * 2, ' ');
    if (is_table(value)) {
        std::string text = table(value.get_array());
        std::size_t begin = 0;
        while (begin < text.size()) {
            const auto end = text.find('\n', begin);
            out += indent + text.substr(begin, end - begin) + "\n";
            begin = end + 1;
        }
        return;
    }
    if (value.is_array()) {
        for (const auto& item : value.get_array()) out += indent + "- " + scalar(item) + "\n";
        return;
    }
    for (const auto& entry : value.get_object()) {
        if (entry.value().is_object() || entry.value().is_array()) {
            out += indent + std::string(entry.key()) + ":\n";
            lines_of(entry.value(), depth + 1, out);
        } else {
            out += indent + std::string(entry.key()) + ": " + scalar(entry.value()) + "\n";
        }
    }
}

}  // namespace

std::string render(const JsonObject& answer) {
    std::string out;
    for (const auto& entry : answer) {
        const auto key = entry.key();
        if (key == "resolved" || key == "status_tool" || key == "poll_after_seconds") continue;
        if (entry.value().is_array() && entry.value().get_array().empty()) {
            out += "No " + std::string(key) + ".\n";
        } else if (is_table(entry.value())) {
            lines_of(entry.value(), 0, out);
        } else if (entry.value().is_object()) {
            lines_of(entry.value(), 0, out);
        } else {
            out += std::string(key) + ": " + scalar(entry.value()) + "\n";
        }
    }
    return out;
}

}  // namespace instantstart::server
