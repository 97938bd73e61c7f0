#include "aws/model/pattern.h"

#include <boost/regex.hpp>
#include <cctype>
#include <cstdint>
#include <optional>

namespace instantstart::aws::model {

namespace {

// What `\p{X}` admits. Beyond ASCII all letters, marks, numbers, symbols and punctuation are taken together:
// the service has the last word there, and refusing a good value would be worse than sending a bad one.
std::wstring class_members(wchar_t letter) {
    const std::wstring beyond = L"\u00A1-\U0010FFFF";
    switch (letter) {
        case L'L': return L"A-Za-z" + beyond;
        case L'N': return L"0-9" + beyond;
        case L'Z': return std::wstring(L" \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000");
        case L'S': return L"$+<=>^`|~" + beyond;
        case L'P': return L"!-#%-*,\\-./:;?@\\[-\\]_{}" + beyond;
        case L'C': return std::wstring(L"\\x01-\\x1F\\x7F");
        default: return std::wstring(beyond);
    }
}

void append_literal(std::wstring& out, wchar_t character) {
    if (character < 0x80) out += L'\\';
    if (character < 0x80 && character > 0x20 && character != 0x7F) {
        // An escaped letter or digit would be a class or a back reference.
        const bool word = std::isalnum(static_cast<int>(character)) != 0;
        if (word) out.pop_back();
        out += character;
        return;
    }
    if (character < 0x80) {
        const char* digits = "0123456789ABCDEF";
        out += L'x';
        out += static_cast<wchar_t>(digits[character >> 4]);
        out += static_cast<wchar_t>(digits[character & 15]);
        return;
    }
    out += character;
}

// The code point of `\uXXXX`; also five and six digits where AWS's authors meant the supplementary planes. 0
// where no such digits follow.
std::size_t read_unicode_escape(const std::wstring& text, std::size_t at, std::wstring& out) {
    std::size_t count = 4;
    if (text.compare(at, 5, L"10000") == 0) count = 5;
    if (text.compare(at, 6, L"10FFFF") == 0) count = 6;
    if (at + count > text.size()) return 0;
    constexpr std::wstring_view kDigits = L"0123456789abcdef0123456789ABCDEF";
    std::size_t value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        const std::size_t digit = kDigits.find(text[i]);
        if (digit == std::wstring_view::npos) return 0;
        value = value * 16 + digit % 16;
    }
    append_literal(out, static_cast<wchar_t>(value == 0 ? 1 : value));
    return count;
}

// Java's dialect into Boost's: unicode escapes and classes, nested brackets, and a dash after a range, which
// is itself.
class Translator {
public:
    explicit Translator(const std::wstring& text) : text_(text) {}

    // Empty where the text is no pattern.
    std::optional<std::wstring> run() {
        for (at_ = 0; at_ < text_.size(); ++at_) {
            const wchar_t next = at_ + 1 < text_.size() ? text_[at_ + 1] : L'\0';
            if (text_[at_] != L'\\') {
                plain(text_[at_]);
            } else if (next == L'u') {
                const std::size_t digits = read_unicode_escape(text_, at_ + 2, out_);
                if (digits == 0) return std::nullopt;
                at_ += 1 + digits;
                member();
            } else if (next == L'p' && at_ + 4 < text_.size() && text_[at_ + 2] == L'{') {
                const std::wstring members = class_members(text_[at_ + 3]);
                out_ += in_brackets_ ? members : L"[" + members + L"]";
                at_ = text_.find(L'}', at_);
                if (at_ == std::wstring::npos) return std::nullopt;
                in_range_ = Range::ended;
            } else {
                out_ += text_[at_];
                if (next != L'\0') out_ += text_[++at_];
                member();
            }
        }
        return std::move(out_);
    }

private:
    enum class Range : std::uint8_t { none, open, ended };

    // A member of a bracket: the second end of a range, or the possible first one of the next.
    void member() { in_range_ = in_range_ == Range::open ? Range::ended : Range::none; }

    void plain(wchar_t character) {
        if (character == L'[') {
            if (in_brackets_) out_ += L'\\';
            in_brackets_ = true;
            in_range_ = Range::none;
        } else if (character == L']') {
            in_brackets_ = false;
        } else if (in_brackets_ && character == L'-') {
            const bool itself = in_range_ == Range::ended || out_.back() == L'[';
            if (itself) out_ += L'\\';
            in_range_ = itself ? Range::none : Range::open;
        } else {
            member();
        }
        out_ += character;
    }

    const std::wstring& text_;
    std::size_t at_ = 0;
    std::wstring out_;
    bool in_brackets_ = false;
    Range in_range_ = Range::none;
};

}  // namespace

struct Pattern::Impl {
    boost::wregex regex;
};

Pattern::Pattern() : impl_(std::make_unique<Impl>()) {}
Pattern::~Pattern() = default;

std::unique_ptr<const Pattern> Pattern::compile(std::string_view text) {
    std::unique_ptr<Pattern> made(new Pattern());
    try {
        const std::wstring points = code_points(text);
        const auto translated = Translator(points).run();
        if (!translated) return nullptr;
        made->impl_->regex.assign(*translated, boost::regex::perl | boost::regex::no_except);
    } catch (const std::exception&) {
        return nullptr;
    }
    if (made->impl_->regex.status() != 0) return nullptr;
    return made;
}

bool Pattern::matches(std::string_view utf8) const {
    try {
        return boost::regex_match(code_points(utf8), impl_->regex);
    } catch (const std::exception&) {
        return true;
    }
}

std::wstring code_points(std::string_view utf8) {
    std::wstring out;
    out.reserve(utf8.size());
    for (std::size_t i = 0; i < utf8.size();) {
        const auto lead = static_cast<unsigned char>(utf8[i]);
        const std::size_t length = lead < 0x80    ? 1
                                   : lead >= 0xF0 ? 4
                                   : lead >= 0xE0 ? 3
                                   : lead >= 0xC0 ? 2
                                                  : 1;
        std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
        bool whole = i + length <= utf8.size();
        for (std::size_t k = 1; whole && k < length; ++k) {
            const auto trail = static_cast<unsigned char>(utf8[i + k]);
            whole = (trail & 0xC0U) == 0x80U;
            point = (point << 6U) | (trail & 0x3FU);
        }
        out += static_cast<wchar_t>(whole ? point : lead);
        i += whole ? length : 1;
    }
    return out;
}

}  // namespace instantstart::aws::model
