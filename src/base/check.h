// CHECK(x): an invariant that stays on in release builds. A failure prints where and aborts.
#pragma once

namespace instantstart::base {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}

#define CHECK(expression)                \
    ((expression) ? static_cast<void>(0) \
                  : ::instantstart::base::check_failed(#expression, __FILE__, __LINE__))
