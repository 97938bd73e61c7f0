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
    if (value.is_string()) return plain_line(value.get_string());
    if (value.is_null()) return "-";
    std::string text = base::to_text(value);
    if (value.is_double() && text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
}

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

// Bytes that begin a character, so that columns stand straight with accents too.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string text) {
    if (width(text) <= kWidest) return text;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!begins_character(text[at]) || ++characters < kWidest) continue;
        text.resize(at);
        break;
    }
    return text + "…";
}

// A row's simple members, and those of its objects under "outer.inner".
std::vector<std::pair<std::string, const JsonValue*>> cells_of(const JsonObject& row) {
    std::vector<std::pair<std::string, const JsonValue*>> cells;
    for (const auto& entry : row) {
        if (const auto* object = entry.value().if_object()) {
            if (entry.key() == "labels" || entry.key() == "tags") continue;
            for (const auto& inner : *object) {
                if (inner.value().is_structured()) continue;
                cells.emplace_back(std::string(entry.key()) + "." + std::string(inner.key()), &inner.value());
            }
        } else if (!entry.value().is_array()) {
            cells.emplace_back(entry.key(), &entry.value());
        }
    }
    return cells;
}

std::vector<std::string> columns_of(const JsonArray& rows) {
    std::vector<std::string> plain;
    std::vector<std::string> nested;
    for (const auto& row : rows) {
        for (const auto& [name, value] : cells_of(row.get_object())) {
            auto& into = name.find('.') == std::string::npos ? plain : nested;
            if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
        }
    }
    // A few of the nested ones stay visible however many plain ones there are.
    constexpr std::size_t kNested = 2;
    const std::size_t kept = std::min(plain.size(), kMaxColumns - std::min(nested.size(), kNested));
    plain.resize(kept);
    for (const auto& name : nested) {
        if (plain.size() < kMaxColumns) plain.push_back(name);
    }
    return plain;
}

std::string aligned(const std::vector<std::vector<std::string>>& lines) {
    std::vector<std::size_t> widest(lines.front().size(), 0);
    for (const auto& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) widest[i] = std::max(widest[i], width(cells[i]));
    }
    std::string out;
    for (const auto& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            out += cells[i];
            if (i + 1 < cells.size()) out += std::string(widest[i] - width(cells[i]) + 2, ' ');
        }
        out += "\n";
    }
    return out;
}

std::string table(const JsonArray& rows) {
    const std::vector<std::string> columns = columns_of(rows);
    if (columns.empty()) return "";
    std::vector<std::vector<std::string>> lines = {columns};
    for (const auto& row : rows) {
        std::vector<std::string> cells(columns.size(), "-");
        for (const auto& [name, value] : cells_of(row.get_object())) {
            const auto found = std::find(columns.begin(), columns.end(), name);
            if (found == columns.end()) continue;
            const auto at = static_cast<std::size_t>(found - columns.begin());
            const std::string text = scalar(*value);
            cells[at] = at + 1 == columns.size() ? text : shortened(text);
        }
        lines.push_back(std::move(cells));
    }
    return aligned(lines);
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

std::string plain_line(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        constexpr unsigned char kDelete = 0x7f;
        out += byte < 0x20U || byte == kDelete ? ' ' : c;
    }
    // C1 controls are two bytes in UTF-8: C2 80 to C2 9F.
    for (std::size_t at = out.find('\xC2'); at != std::string::npos; at = out.find('\xC2', at + 1)) {
        const bool control =
            at + 1 < out.size() && (static_cast<unsigned char>(out[at + 1]) & 0xE0U) == 0x80U;
        if (control) out.replace(at, 2, "  ");
    }
    return out;
}

std::string render(const JsonObject& answer) {
    std::string out;
    std::string facts;  // the count, the cursor: below what was asked for
    for (const auto& entry : answer) {
        const auto key = entry.key();
        if (key == "resolved" || key == "status_tool" || key == "poll_after_seconds") continue;
        if (entry.value().is_array() && entry.value().get_array().empty()) {
            out += "No " + std::string(key) + ".\n";
        } else if (is_table(entry.value()) || entry.value().is_object()) {
            lines_of(entry.value(), 0, out);
        } else {
            facts += std::string(key) + ": " + scalar(entry.value()) + "\n";
        }
    }
    return out + facts;
}

}  // namespace instantstart::server
