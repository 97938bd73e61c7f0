// Twin: the simulated AWS account with its EKS clusters, as two HTTP handlers. Sees nothing of the product.
#pragma once

#include <memory>
#include <string>

#include "http/certificate.h"
#include "http/server.h"
#include "rt/clock.h"

namespace instantstart::twin {

struct TwinOptions {
    TwinOptions() = default;
    std::string region = "us-west-2";
    double speed = 60;  // AWS durations are divided by it
    std::uint64_t seed = 1;
    std::string data_dir;      // state and CA; "" keeps nothing
    bool fresh = false;        // forget what data_dir holds (but the CA)
    bool zero_quotas = false;  // accelerated types start at 0, as a new account's do
    std::string aws_url = "http://127.0.0.1:3097";
    std::string kube_url =
        "https://127.0.0.1:3098";  // named in EKS DescribeCluster, as kube_url + "/clusters/NAME"
};

class Twin {
public:
    virtual ~Twin() = default;
    virtual http::Handler aws_handler() = 0;             // every AWS service and /_twin/…
    virtual http::Handler kube_handler() = 0;            // /clusters/NAME/…
    virtual http::KeyPair kube_certificate() const = 0;  // for the HTTPS port
    virtual std::string ca_pem() const = 0;
    // Once the ports are known.
    virtual void set_urls(std::string aws_url, std::string kube_url) = 0;
    // Ends watches and timers and saves.
    virtual boost::asio::awaitable<void> stop() = 0;
};

base::Result<std::unique_ptr<Twin>> make_twin(boost::asio::any_io_executor executor, rt::Clock& clock,
                                              TwinOptions options);

}  // namespace instantstart::twin
