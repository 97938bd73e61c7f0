#include "kube/impl/watch.h"

#include "kube/impl/status.h"

namespace instantstart::kube::impl {

namespace {

constexpr std::size_t kMaxLine = 16U << 20U;

class LineWatch final : public Watch {
public:
    explicit LineWatch(std::unique_ptr<http::BodyStream> stream) : stream_(std::move(stream)) {}

    Task<std::optional<WatchEvent>> next() override {
        while (true) {
            // What was searched already holds no line break.
            const auto end = buffer_.find('\n', searched_);
            if (end != std::string::npos) {
                const std::string line = buffer_.substr(begin_, end - begin_);
                begin_ = end + 1;
                searched_ = begin_;
                if (line.empty()) continue;
                co_return event_of(line);
            }
            buffer_.erase(0, begin_);
            begin_ = 0;
            searched_ = buffer_.size();
            if (buffer_.size() > kMaxLine) co_return broken("an event is too large");
            if (!stream_) co_return std::optional<WatchEvent>();
            CO_TRY(auto piece, co_await stream_->read());
            if (piece) {
                buffer_ += *piece;
            } else {
                stream_.reset();
            }
        }
    }

private:
    static base::Error broken(const std::string& why) {
        return {base::ErrorKind::unavailable, "WatchBroken", "the watch cannot go on: " + why};
    }

    static base::Result<std::optional<WatchEvent>> event_of(const std::string& line) {
        auto parsed = base::parse_json(line, 128);
        if (!parsed.has_value() || !parsed->is_object()) return broken("an event is not JSON");
        WatchEvent event;
        event.type = base::get_string(*parsed, "type");
        auto* object = parsed->get_object().if_contains("object");
        if (object == nullptr || !object->is_object()) return broken("an event without an object");
        if (event.type == "ERROR") return error_of_status(object->get_object());
        event.object = std::move(object->get_object());
        return std::optional<WatchEvent>(std::move(event));
    }

    std::unique_ptr<http::BodyStream> stream_;
    std::string buffer_;
    std::size_t begin_ = 0, searched_ = 0;
};

}  // namespace

std::unique_ptr<Watch> make_watch(std::unique_ptr<http::BodyStream> stream) {
    return std::make_unique<LineWatch>(std::move(stream));
}

}  // namespace instantstart::kube::impl
