// TwinHost: the embedded twin on a thread and loop of its own. Product and twin meet on loopback sockets
// only.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "server/options.h"

namespace instantstart::server {

class TwinHost {
public:
    virtual ~TwinHost() = default;  // stops it where stop() was not called
    virtual const std::string& aws_url() const = 0;
    virtual const std::string& kube_url() const = 0;
    // Saves, closes the ports and joins the thread.
    virtual void stop() = 0;
};

// Returns once both ports listen. `data_dir` is the twin's own folder.
base::Result<std::unique_ptr<TwinHost>> start_twin(TwinFlags flags, std::string region, std::string data_dir);

// "http://127.0.0.1:3097", with brackets for IPv6.
std::string url_of(const std::string& scheme, const std::string& address, std::uint16_t port);

}  // namespace instantstart::server
