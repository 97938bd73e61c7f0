// Result<T>: a value or an Error. Named after std::expected, [[nodiscard]], default-constructible (as an
// error), since Asio's co_spawn needs that of what a coroutine returns.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace instantstart::base {

template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result() : state_(std::in_place_index<1>) {}
    // NOLINTBEGIN(google-explicit-constructor): returning a value or an error is the whole point
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
    // NOLINTEND(google-explicit-constructor)

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & { return checked(); }
    const T& value() const& { return const_cast<Result*>(this)->checked(); }
    T&& value() && { return std::move(checked()); }
    T& operator*() & { return checked(); }
    const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
    T&& operator*() && { return std::move(checked()); }
    T* operator->() { return &checked(); }
    const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

    Error& error() & { return failure(); }
    const Error& error() const& { return const_cast<Result*>(this)->failure(); }
    Error&& error() && { return std::move(failure()); }

    T value_or(T fallback) const& { return has_value() ? **this : std::move(fallback); }
    T value_or(T fallback) && { return has_value() ? std::move(**this) : std::move(fallback); }

    template <class F>
    auto transform(F&& f) && -> Result<std::invoke_result_t<F, T&&>> {
        if (!has_value()) return std::move(failure());
        return std::forward<F>(f)(std::move(checked()));
    }
    template <class F>
    auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
        if (!has_value()) return std::move(failure());
        return std::forward<F>(f)(std::move(checked()));
    }

private:
    T& checked() {
        CHECK(state_.index() == 0);
        return *std::get_if<0>(&state_);
    }
    Error& failure() {
        CHECK(state_.index() == 1);
        return *std::get_if<1>(&state_);
    }
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() : error_(Error()) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Error error) : error_(std::move(error)) {}
    static Result ok() {
        Result made;
        made.error_.reset();
        return made;
    }

    bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }
    Error& error() & { return failure(); }
    const Error& error() const& { return const_cast<Result*>(this)->failure(); }
    Error&& error() && { return std::move(failure()); }

private:
    Error& failure() {
        CHECK(error_.has_value());
        return *error_;
    }
    std::optional<Error> error_;
};

// The success value of Result<void>: `return ok();`.
inline Result<void> ok() {
    return Result<void>::ok();
}

}  // namespace instantstart::base

// TRY(auto x, f());           return the error of a Result, else bind its value. In plain functions.
// CO_TRY(auto x, co_await f()) the same in coroutines. CHECK_OK / CO_CHECK_OK for Result<void> (or to drop
// the value). Only these macros and CHECK exist.
#define INSTANTSTART_CAT2(a, b) a##b
#define INSTANTSTART_CAT(a, b) INSTANTSTART_CAT2(a, b)
#define INSTANTSTART_TRY(ret, tmp, declaration, ...)  \
    auto tmp = (__VA_ARGS__);                         \
    if (!tmp.has_value()) ret std::move(tmp).error(); \
    declaration = std::move(tmp).value()
#define INSTANTSTART_OK(ret, tmp, ...) \
    if (auto tmp = (__VA_ARGS__); !tmp.has_value()) ret std::move(tmp).error()
#define TRY(declaration, ...) \
    INSTANTSTART_TRY(return, INSTANTSTART_CAT(try_result_, __LINE__), declaration, __VA_ARGS__)
#define CO_TRY(declaration, ...) \
    INSTANTSTART_TRY(co_return, INSTANTSTART_CAT(try_result_, __LINE__), declaration, __VA_ARGS__)
#define CHECK_OK(...) INSTANTSTART_OK(return, INSTANTSTART_CAT(try_result_, __LINE__), __VA_ARGS__)
#define CO_CHECK_OK(...) INSTANTSTART_OK(co_return, INSTANTSTART_CAT(try_result_, __LINE__), __VA_ARGS__)
