#include "api/rest/stream.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "rt/event.h"

namespace instantstart::api {

namespace {

constexpr std::size_t kKept = 1000;
constexpr std::size_t kMaxPending = 256;
constexpr std::size_t kMaxReaders = 512;
constexpr std::size_t kMaxMessage = 4096;
constexpr auto kHeartbeat = std::chrono::seconds(20);
constexpr std::uint16_t kGoingAway = 1001;
constexpr std::uint16_t kTryLater = 1013;

std::string frame(const std::string& topic, std::uint64_t sequence, const std::string& event,
                  base::JsonObject data) {
    base::JsonObject made;
    made["topic"] = topic;
    made["sequence"] = sequence;
    made["event"] = event;
    made["data"] = std::move(data);
    return base::to_text(made);
}

}  // namespace

struct Stream::Event {
    std::string topic, event, key;
    std::uint64_t sequence = 0;
    std::string text;
};

// One connection: its subscriptions and what is still to be sent.
struct Stream::Reader {
    Reader(boost::asio::any_io_executor executor, std::unique_ptr<http::WebSocket> socket)
        : socket(std::move(socket)), wake(std::move(executor)) {}
    std::unique_ptr<http::WebSocket> socket;
    std::set<std::string> topics;
    std::deque<std::shared_ptr<const Event>> pending;
    std::deque<std::string> replies;
    std::uint64_t missed = 0;
    bool closed = false;
    bool done = false;  // its writer has ended
    rt::Event wake;

    void push(std::shared_ptr<const Event> event) {
        const auto same = std::find_if(pending.begin(), pending.end(), [&event](const auto& other) {
            return other->topic == event->topic && other->key == event->key;
        });
        if (same != pending.end()) pending.erase(same);
        if (pending.size() >= kMaxPending) {
            pending.pop_front();
            ++missed;
        }
        pending.push_back(std::move(event));
    }
};

Stream::Stream(boost::asio::any_io_executor executor, rt::Clock& clock)
    : executor_(executor), clock_(clock), writers_(std::move(executor), "stream", kMaxReaders) {}

Stream::~Stream() = default;

std::size_t Stream::readers() const {
    return readers_.size();
}

void Stream::publish(std::string topic, std::string event, std::string key, base::JsonObject data) {
    auto made = std::make_shared<Event>();
    made->sequence = ++sequence_;
    made->text = frame(topic, made->sequence, event, std::move(data));
    made->topic = std::move(topic);
    made->event = std::move(event);
    made->key = std::move(key);
    kept_.push_back(made);
    if (kept_.size() > kKept) kept_.pop_front();
    for (const auto& reader : readers_) {
        if (!reader->topics.contains(made->topic)) continue;
        reader->push(made);
        reader->wake.notify_all();
    }
}

void Stream::publish_operation(const base::JsonObject& operation) {
    const std::string id = base::get_string(operation, "id");
    publish("operations", "changed", id, operation);
    const auto parts = base::split(base::get_string(operation, "resource"), '/');
    if (parts.size() < 2 || parts[0] != "cluster") return;
    base::JsonObject data;
    data["cluster"] = parts[1];
    data["operation_id"] = id;
    data["state"] = base::get_string(operation, "state");
    publish("clusters", "changed", parts[1], std::move(data));
}

void Stream::subscribe(Reader& reader, const std::string& topic, std::int64_t after) {
    base::JsonObject data;
    if (topic != "operations" && topic != "clusters") {
        data["code"] = topic == "logs" ? "unsupported" : "unknown_topic";
        data["detail"] =
            topic == "logs" ? "Logs are not streamed by this version" : "Topics are operations and clusters";
        reader.replies.push_back(frame(topic, sequence_, "error", std::move(data)));
        return;
    }
    reader.topics.insert(topic);
    reader.replies.push_back(frame(topic, sequence_, "subscribed", std::move(data)));
    if (after < 0) return;
    const auto from = static_cast<std::uint64_t>(after);
    const std::uint64_t oldest = kept_.empty() ? sequence_ + 1 : kept_.front()->sequence;
    // A sequence beyond ours is from before a restart: all may have changed.
    if (from > sequence_)
        reader.missed += from;
    else if (from + 1 < oldest)
        reader.missed += oldest - from - 1;
    for (const auto& event : kept_) {
        if (event->topic == topic && event->sequence > from) reader.push(event);
    }
}

void Stream::on_message(Reader& reader, const std::string& text) {
    auto parsed = text.size() <= kMaxMessage ? base::parse_json(text) : base::Result<base::JsonValue>();
    const bool fits = parsed && parsed->is_object() && parsed->get_object().contains("subscribe");
    if (fits) {
        subscribe(reader, base::get_string(*parsed, "subscribe"), base::get_int(*parsed, "after", -1));
    } else {
        base::JsonObject data;
        data["code"] = "invalid_message";
        data["detail"] = "Send an object like {\"subscribe\": \"operations\"}";
        reader.replies.push_back(frame("stream", sequence_, "error", std::move(data)));
    }
    if (reader.replies.size() > kMaxPending) reader.closed = true;  // it only talks and never reads
    reader.wake.notify_all();
}

rt::Task<void> Stream::write(std::shared_ptr<Reader> reader) {
    base::Result<void> sent = base::ok();
    while (sent && !reader->closed) {
        std::string text;
        if (!reader->replies.empty()) {
            text = std::move(reader->replies.front());
            reader->replies.pop_front();
        } else if (reader->missed > 0) {
            base::JsonObject data;
            data["missed"] = std::exchange(reader->missed, 0);
            text = frame("stream", sequence_, "gap", std::move(data));
        } else if (!reader->pending.empty()) {
            text = reader->pending.front()->text;
            reader->pending.pop_front();
        } else {
            auto woken = co_await reader->wake.wait_for(clock_, kHeartbeat);
            if (woken) continue;
            if (woken.error().kind != base::ErrorKind::deadline) break;
            text = frame("stream", sequence_, "heartbeat", {});
        }
        http::WebSocket::Message message;
        message.data = std::move(text);
        sent = co_await reader->socket->send(std::move(message));
    }
    reader->done = true;
    reader->wake.notify_all();
    co_return base::ok();
}

boost::asio::awaitable<void> Stream::serve(std::unique_ptr<http::WebSocket> socket) {
    auto reader = std::make_shared<Reader>(executor_, std::move(socket));
    auto writing = write(reader);
    if (stopping_ || readers_.size() >= kMaxReaders || !writers_.spawn("reader", std::move(writing))) {
        auto closed = co_await reader->socket->close(stopping_ ? kGoingAway : kTryLater, "not now");
        static_cast<void>(closed);
        co_return;
    }
    readers_.push_back(reader);
    while (!reader->closed) {
        auto received = co_await reader->socket->receive();
        if (!received) break;
        on_message(*reader, received->data);
    }
    reader->closed = true;
    reader->wake.notify_all();
    std::erase(readers_, reader);
    // The writer holds the socket too; it ends at its next look, or when its send fails.
    while (!reader->done) {
        auto waited = co_await reader->wake.wait();
        if (!waited) break;
    }
}

boost::asio::awaitable<void> Stream::stop() {
    stopping_ = true;
    const auto open = readers_;
    for (const auto& reader : open) {
        auto closed = co_await reader->socket->close(kGoingAway, "stopping");
        static_cast<void>(closed);
        reader->closed = true;
        reader->wake.notify_all();
    }
    writers_.cancel();
    co_await writers_.join();
}

}  // namespace instantstart::api
