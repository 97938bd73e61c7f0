// A compiled `pattern` trait. AWS writes them in Java's dialect and means the whole value.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace instantstart::aws::model {

class Pattern {
public:
    // Null where the text cannot be compiled here: such a pattern is not checked.
    static std::unique_ptr<const Pattern> compile(std::string_view text);
    ~Pattern();
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    // True too where the match is too complex to be decided: the service decides then.
    bool matches(std::string_view utf8) const;

private:
    Pattern();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// UTF-8 to code points; bytes that are not UTF-8 become themselves.
std::wstring code_points(std::string_view utf8);

}  // namespace instantstart::aws::model
