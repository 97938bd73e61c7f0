// Stream: /api/v1/stream, one WebSocket per client. Changes are published here and reach those who
// subscribed.
//
// A client sends {"subscribe": "operations", "after": N?} or "clusters"; it gets {"topic", "sequence",
// "event", "data"}. The last events are kept, so that a client that was away goes on from its last sequence;
// what is no longer kept, and what a slow reader misses, is told as event "gap". A reader's queue is bounded,
// and a newer state of an object replaces an unsent one.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "http/message.h"
#include "rt/clock.h"
#include "rt/task_group.h"

namespace instantstart::api {

class Stream {
public:
    Stream(boost::asio::any_io_executor executor, rt::Clock& clock);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // `key` names the object: of several unsent events with one key a reader gets the newest.
    void publish(std::string topic, std::string event, std::string key, base::JsonObject data);
    // An operation changed: topic operations, and for operations on a cluster topic clusters.
    void publish_operation(const base::JsonObject& operation);
    // Serves one connection until it closes.
    boost::asio::awaitable<void> serve(std::unique_ptr<http::WebSocket> socket);
    std::size_t readers() const;
    // Closes all connections.
    boost::asio::awaitable<void> stop();

private:
    struct Event;
    struct Reader;
    rt::Task<void> write(std::shared_ptr<Reader> reader);
    void on_message(Reader& reader, const std::string& text);
    void subscribe(Reader& reader, const std::string& topic, std::int64_t after);

    boost::asio::any_io_executor executor_;
    rt::Clock& clock_;
    std::uint64_t sequence_ = 0;
    std::deque<std::shared_ptr<const Event>> kept_;
    std::vector<std::shared_ptr<Reader>> readers_;
    bool stopping_ = false;
    rt::TaskGroup writers_;
};

}  // namespace instantstart::api
