// Pool: idle connections by where they lead and how they are secured; and the TLS contexts for that.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/impl/stream.h"
#include "http/transport.h"
#include "rt/clock.h"

namespace instantstart::http::impl {

class Pool {
public:
    explicit Pool(rt::Clock& clock) : clock_(clock) {}

    static std::string key_of(const Request& request, const SendOptions& options);
    // A connection that is still silent, or null.
    std::shared_ptr<Stream> take(const std::string& key);
    void put(const std::string& key, std::shared_ptr<Stream> stream);
    // Closes the idle connections of this key: one like them has died without a word.
    void drop(const std::string& key) { idle_.erase(key); }
    base::Result<std::shared_ptr<TlsContext>> tls(const SendOptions& options);

private:
    struct Idle {
        std::shared_ptr<Stream> stream;
        base::Duration since{0};
    };
    void drop_old();

    rt::Clock& clock_;
    std::map<std::string, std::vector<Idle>> idle_;
    std::map<std::string, std::shared_ptr<TlsContext>> contexts_;
};

}  // namespace instantstart::http::impl
