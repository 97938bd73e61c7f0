#include "aws/ini.h"

#include <set>

#include "base/text.h"

namespace instantstart::aws {

namespace {

using base::trim;

base::Error fault(std::size_t line, const std::string& what) {
    return base::invalid_error("config_file_invalid", "line " + std::to_string(line) + ": " + what);
}

// One key with the lines of its value.
struct Entry {
    Entry() = default;
    std::string text;
    std::size_t line = 0;
};
using Entries = std::map<std::string, Entry>;

// Reads line by line: the section and key that a line may belong to are the state.
class Reader {
public:
    base::Result<void> take(std::string_view raw) {
        ++line_;
        const std::string_view text = trim(raw);
        if (text.empty()) {
            if (open_ != nullptr) open_->text += '\n';
            return base::ok();
        }
        if (text[0] == '#' || text[0] == ';') return base::ok();
        const std::size_t indent = raw.find_first_not_of(" \t\v\f\r");
        if (open_ != nullptr && indent > indent_) {
            open_->text += '\n';
            open_->text += text;
            return base::ok();
        }
        indent_ = indent;
        const std::size_t close = text.rfind(']');
        if (text[0] == '[' && close != std::string_view::npos && close > 1)
            return begin_section(text.substr(1, close - 1));
        return take_key(text);
    }

    // The keys of [DEFAULT] stand in every section that does not have its own.
    std::map<std::string, Entries> finish() {
        for (auto& [name, entries] : sections_) entries.insert(defaults_.begin(), defaults_.end());
        return std::move(sections_);
    }

private:
    base::Result<void> begin_section(std::string_view header) {
        const std::string name(trim(header));
        if (name.empty()) return fault(line_, "a section without a name");
        open_ = nullptr;
        if (name == "DEFAULT") {
            section_ = &defaults_;
            return base::ok();
        }
        const auto [found, is_new] = sections_.try_emplace(name);
        if (!is_new) return fault(line_, "the section [" + name + "] stands here a second time");
        section_ = &found->second;
        return base::ok();
    }

    base::Result<void> take_key(std::string_view text) {
        if (section_ == nullptr) return fault(line_, "a line before the first [section]");
        const std::size_t mark = text.find_first_of("=:");
        if (mark == std::string_view::npos) return fault(line_, "neither a [section] nor \"key = value\"");
        const std::string key = base::to_lower(trim(text.substr(0, mark)));
        if (key.empty()) return fault(line_, "a value without a key");
        const auto [found, is_new] = section_->try_emplace(key);
        if (!is_new) return fault(line_, "the key " + key + " stands in this section a second time");
        found->second.text = std::string(trim(text.substr(mark + 1)));
        found->second.line = line_;
        open_ = &found->second;
        return base::ok();
    }

    std::map<std::string, Entries> sections_;
    Entries defaults_;
    Entries* section_ = nullptr;
    Entry* open_ = nullptr;  // the key whose value may go on
    std::size_t indent_ = 0, line_ = 0;
};

std::string_view without_end(std::string_view text) {
    const std::size_t last = text.find_last_not_of(" \t\v\f\r\n");
    return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

base::Result<std::map<std::string, std::string>> parse_nested(const Entry& entry) {
    std::map<std::string, std::string> out;
    std::size_t line = entry.line;
    for (const std::string& raw : base::split(without_end(entry.text), '\n')) {
        const std::string_view text = trim(raw);
        const std::size_t equals = text.find('=');
        if (!text.empty() && equals == std::string_view::npos)
            return fault(line, "the indented line \"" + std::string(text) + "\" is not \"key = value\"");
        if (!text.empty()) out[std::string(trim(text.substr(0, equals)))] = trim(text.substr(equals + 1));
        ++line;
    }
    return out;
}

}  // namespace

base::Result<IniFile> parse_ini(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // what some editors put in front
    if (!base::is_valid_utf8(text)) return fault(1, "the file is not UTF-8 text");
    std::string lines;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
        if (!pair) lines += text[at] == '\r' ? '\n' : text[at];
    }
    Reader reader;
    for (const std::string& line : base::split(lines, '\n')) CHECK_OK(reader.take(line));
    IniFile out;
    for (const auto& [name, entries] : reader.finish()) {
        IniSection& section = out[name];
        for (const auto& [key, entry] : entries) {
            const std::string_view value = without_end(entry.text);
            if (!value.starts_with('\n')) {
                section.values[key] = std::string(value);
                continue;
            }
            TRY(section.nested[key], parse_nested(entry));
        }
    }
    return out;
}

base::Result<std::vector<std::string>> split_words(std::string_view text) {
    std::vector<std::string> words;
    bool within = false;
    char quote = '\0';
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool space = quote == '\0' && (c == ' ' || c == '\t' || c == '\n' || c == '\r');
        if (space) {
            within = false;
            continue;
        }
        if (!within) words.emplace_back();
        within = true;
        if (quote != '\0' && c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == '\\' && quote != '\'') {
            const bool last = at + 1 == text.size();
            if (last) return base::invalid_error("bad_quotes", "it ends with a backslash");
            // Within double quotes a backslash quotes only itself and the quotation mark.
            const bool plain = quote == '"' && text[at + 1] != '"' && text[at + 1] != '\\';
            words.back() += plain ? c : text[++at];
        } else {
            words.back() += c;
        }
    }
    if (quote != '\0') return base::invalid_error("bad_quotes", "a quotation does not end");
    return words;
}

}  // namespace instantstart::aws
