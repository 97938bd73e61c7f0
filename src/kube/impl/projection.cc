#include "kube/impl/projection.h"

#include <boost/json/basic_parser_impl.hpp>
#include <vector>

namespace instantstart::kube::impl {

namespace {

namespace json = boost::json;
using Code = json::error_code;

constexpr std::size_t kMaxKey = 512;
constexpr std::size_t kMaxDepth = 128;

bool is_blank(std::string_view bytes) {
    return bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Cuts at a whole character.
void cut(std::string& text, std::size_t most) {
    if (text.size() <= most) return;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    text.resize(most);
}

// Where the parser stands in the tree of wanted members. Below what is not wanted only the depth is counted.
class Handler {
public:
    constexpr static std::size_t max_object_size = std::size_t(-1);
    constexpr static std::size_t max_array_size = std::size_t(-1);
    constexpr static std::size_t max_key_size = std::size_t(-1);
    constexpr static std::size_t max_string_size = std::size_t(-1);

    Handler(const Wanted& root, ProjectionSink& sink) : root_(root), sink_(sink) {}

    void reset() {
        path_.clear();
        skipped_ = 0;
        member_ = nullptr;
        key_.clear();
        text_.clear();
    }

    bool on_document_begin(Code&) { return true; }
    bool on_document_end(Code&) { return true; }

    bool on_object_begin(Code&) {
        if (path_.empty() && skipped_ == 0) {
            path_.push_back({&root_, false});
            return true;
        }
        const Wanted* at = entered();
        if (at == nullptr) return true;
        path_.push_back({at, false});
        if (at->tag != 0) sink_.open(at->tag);
        return true;
    }
    bool on_object_end(std::size_t, Code&) {
        if (skipped_ > 0) {
            --skipped_;
            return true;
        }
        const Wanted* at = path_.back().at;
        path_.pop_back();
        if (at->tag != 0) sink_.close(at->tag);
        return true;
    }
    bool on_array_begin(Code& code) {
        if (path_.empty() && skipped_ == 0) {
            code = json::error::not_object;
            return false;
        }
        if (const Wanted* at = entered()) path_.push_back({at, true});
        return true;
    }
    bool on_array_end(std::size_t, Code&) {
        if (skipped_ > 0) {
            --skipped_;
        } else {
            path_.pop_back();
        }
        return true;
    }

    bool on_key_part(json::string_view part, std::size_t, Code&) {
        if (skipped_ == 0 && key_part_.size() <= kMaxKey) key_part_.append(part.data(), part.size());
        return true;
    }
    bool on_key(json::string_view last, std::size_t, Code&) {
        if (skipped_ > 0) return true;
        std::string_view key(last.data(), last.size());
        if (!key_part_.empty()) {
            key_part_.append(key);
            key = key_part_;
        }
        member_ = key.size() > kMaxKey ? nullptr : below(*path_.back().at, key);
        if (member_ != nullptr) key_ = key;
        key_part_.clear();
        return true;
    }

    bool on_string_part(json::string_view part, std::size_t, Code&) {
        if (scalar() != nullptr && text_.size() <= Table::kMaxText) text_.append(part.data(), part.size());
        return true;
    }
    bool on_string(json::string_view last, std::size_t, Code&) {
        const Wanted* at = scalar();
        if (at == nullptr || at->tag == 0) {
            text_.clear();
            return true;
        }
        if (text_.empty() && last.size() <= Table::kMaxText) {
            sink_.text(at->tag, key_, {last.data(), last.size()});
            return true;
        }
        if (text_.size() <= Table::kMaxText) text_.append(last.data(), last.size());
        cut(text_, Table::kMaxText);
        sink_.text(at->tag, key_, text_);
        text_.clear();
        return true;
    }

    bool on_number_part(json::string_view, Code&) { return true; }
    bool on_int64(std::int64_t value, json::string_view, Code&) {
        const Wanted* at = scalar();
        if (at != nullptr && at->tag != 0) sink_.number(at->tag, key_, value);
        return true;
    }
    bool on_uint64(std::uint64_t, json::string_view, Code&) { return true; }
    bool on_double(double, json::string_view, Code&) { return true; }
    bool on_bool(bool value, Code&) {
        const Wanted* at = scalar();
        if (at != nullptr && at->tag != 0) sink_.flag(at->tag, key_, value);
        return true;
    }
    bool on_null(Code&) { return true; }
    bool on_comment_part(json::string_view, Code&) { return true; }
    bool on_comment(json::string_view, Code&) { return true; }

private:
    struct Step {
        const Wanted* at;
        bool is_array;
    };

    static const Wanted* below(const Wanted& parent, std::string_view key) {
        const Wanted* any = nullptr;
        for (const auto& each : parent.below) {
            if (each.key == key) return &each;
            if (each.key == "*") any = &each;
        }
        return any;
    }
    // The member that the present value is of; null where it is not wanted.
    const Wanted* scalar() const {
        if (skipped_ > 0 || path_.empty()) return nullptr;
        return path_.back().is_array ? path_.back().at : member_;
    }
    // The same for a value that has an inside; where it is not wanted, the inside is skipped.
    const Wanted* entered() {
        const Wanted* at = scalar();
        if (at == nullptr || (at->below.empty() && !at->tag)) at = nullptr;
        if (at == nullptr) ++skipped_;
        return at;
    }

    const Wanted& root_;
    ProjectionSink& sink_;
    std::vector<Step> path_;
    std::size_t skipped_ = 0;
    const Wanted* member_ = nullptr;
    std::string key_, key_part_, text_;
};

json::parse_options options() {
    json::parse_options strict;
    strict.max_depth = kMaxDepth;
    return strict;
}

}  // namespace

struct Projection::Parser {
    Parser(const Wanted& root, ProjectionSink& sink) : parser(options(), root, sink) {}
    json::basic_parser<Handler> parser;
};

Projection::Projection(const Wanted& root, ProjectionSink& sink)
    : parser_(std::make_unique<Parser>(root, sink)) {}
Projection::~Projection() = default;

base::Result<std::size_t> Projection::write(std::string_view bytes) {
    if (taken_ == 0 && is_blank(bytes)) return bytes.size();
    Code code;
    const auto count = parser_->parser.write_some(true, bytes.data(), bytes.size(), code);
    if (code) return base::invalid_error("invalid_json", "not JSON of an object: " + code.message());
    taken_ += count;
    return count;
}

bool Projection::is_done() const {
    return parser_->parser.done();
}

void Projection::reset() {
    parser_->parser.reset();
    parser_->parser.handler().reset();
    taken_ = 0;
}

}  // namespace instantstart::kube::impl
