#include "http/impl/bodies.h"

#include "rt/event.h"

namespace instantstart::http::impl {

namespace {

class TextStream final : public BodyStream {
public:
    explicit TextStream(std::string text) : text_(std::move(text)) {}
    Task<std::optional<std::string>> read() override {
        if (text_.empty()) co_return std::optional<std::string>();
        std::optional<std::string> piece = std::move(text_);
        text_.clear();
        co_return std::move(piece);
    }

private:
    std::string text_;
};

using Piece = base::Result<std::optional<std::string>>;

Task<void> read_into(std::shared_ptr<BodyStream> stream, std::shared_ptr<Piece> out) {
    *out = co_await stream->read();
    co_return base::ok();
}

class LimitedStream final : public BodyStream {
public:
    LimitedStream(std::unique_ptr<BodyStream> inner, rt::Clock& clock, base::Duration limit)
        : inner_(std::move(inner)), clock_(clock), limit_(limit) {}

    Task<std::optional<std::string>> read() override {
        const auto piece = std::make_shared<Piece>();
        auto done = co_await rt::with_limit(clock_, limit_, read_into(inner_, piece));
        if (!done.has_value()) {
            if (done.error().kind != base::ErrorKind::deadline) co_return std::move(done).error();
            co_return unknown_outcome("timeout", "no further piece of the answer came in time");
        }
        co_return std::move(*piece);
    }

private:
    std::shared_ptr<BodyStream> inner_;
    rt::Clock& clock_;
    base::Duration limit_;
};

}  // namespace

std::unique_ptr<BodyStream> stream_of(std::string text) {
    return std::make_unique<TextStream>(std::move(text));
}

Task<std::string> collect(std::unique_ptr<BodyStream> stream, std::size_t most) {
    std::string all;
    while (true) {
        CO_TRY(auto piece, co_await stream->read());
        if (!piece) co_return std::move(all);
        if (all.size() + piece->size() > most) co_return body_too_large(most);
        all += *piece;
    }
}

std::unique_ptr<BodyStream> limited(std::unique_ptr<BodyStream> stream, rt::Clock& clock,
                                    base::Duration limit) {
    return std::make_unique<LimitedStream>(std::move(stream), clock, limit);
}

base::Error body_too_large(std::size_t most) {
    return base::invalid_error("body_too_large",
                               "the answer is larger than " + std::to_string(most) + " bytes");
}

base::Error unknown_outcome(std::string code, std::string message) {
    return {base::ErrorKind::unknown_outcome, std::move(code), std::move(message)};
}

}  // namespace instantstart::http::impl
