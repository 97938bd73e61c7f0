#include "http/impl/pool.h"

#include "base/digest.h"

namespace instantstart::http::impl {

namespace {

constexpr std::size_t kIdlePerKey = 32;
// Shorter than the idle timeouts of the usual servers (60 s and more), so that they rarely close first.
constexpr auto kIdleTime = std::chrono::seconds(45);

std::string tls_key(const SendOptions& options) {
    if (options.ca_pem.empty() && options.client_cert_pem.empty()) return options.ca_file;
    return base::sha256(options.ca_file + '\0' + options.ca_pem + '\0' + options.client_cert_pem + '\0' +
                        options.client_key_pem);
}

}  // namespace

std::string Pool::key_of(const Request& request, const SendOptions& options) {
    const auto place = request.scheme + "://" + request.host + ":" + std::to_string(request.port);
    return request.scheme == "https" ? place + "|" + tls_key(options) : place;
}

std::shared_ptr<Stream> Pool::take(const std::string& key) {
    drop_old();
    const auto found = idle_.find(key);
    if (found == idle_.end()) return nullptr;
    auto& waiting = found->second;
    while (!waiting.empty()) {
        auto stream = std::move(waiting.back().stream);
        waiting.pop_back();
        if (stream->is_silent()) return stream;
        stream->close();
    }
    return nullptr;
}

void Pool::put(const std::string& key, std::shared_ptr<Stream> stream) {
    drop_old();
    auto& waiting = idle_[key];
    if (waiting.size() < kIdlePerKey) waiting.push_back({std::move(stream), clock_.monotonic()});
}

void Pool::drop_old() {
    const auto oldest = clock_.monotonic() - kIdleTime;
    for (auto it = idle_.begin(); it != idle_.end();) {
        std::erase_if(it->second, [oldest](const Idle& idle) { return idle.since < oldest; });
        it = it->second.empty() ? idle_.erase(it) : std::next(it);
    }
}

base::Result<std::shared_ptr<TlsContext>> Pool::tls(const SendOptions& options) {
    const auto key = tls_key(options);
    if (const auto found = contexts_.find(key); found != contexts_.end()) return found->second;
    TRY(auto made,
        make_client_tls(options.ca_pem, options.ca_file, options.client_cert_pem, options.client_key_pem));
    if (contexts_.size() >= 256) contexts_.clear();  // authorities of clusters long gone
    contexts_[key] = made;
    return made;
}

}  // namespace instantstart::http::impl
