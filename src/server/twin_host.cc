#include "server/twin_host.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "http/server.h"
#include "rt/event.h"
#include "rt/task_group.h"
#include "twin/twin.h"

namespace instantstart::server {

namespace {

constexpr std::size_t kMaxBody = 256U << 20U;
constexpr auto kGrace = std::chrono::seconds(1);

struct Addresses {
    std::string aws_url, kube_url;
};
using Started = std::promise<base::Result<Addresses>>;

twin::TwinOptions twin_options(const TwinFlags& flags, const std::string& region,
                               const std::string& data_dir) {
    twin::TwinOptions options;
    options.region = region;
    options.speed = flags.speed;
    options.seed = flags.seed;
    options.data_dir = data_dir;
    options.fresh = flags.fresh;
    options.zero_quotas = flags.zero_quotas;
    return options;
}

http::ServerOptions server_options(const ListenAddress& listen) {
    http::ServerOptions options;
    options.address = listen.address;
    options.port = listen.port;
    options.max_body = kMaxBody;
    return options;
}

// Everything of the twin's thread.
struct Loop {
    explicit Loop(TwinFlags flags)
        : flags(std::move(flags)), clock(rt::make_system_clock(io.get_executor())), stop(io.get_executor()) {}
    TwinFlags flags;
    boost::asio::io_context io{1};
    std::unique_ptr<rt::Clock> clock;
    rt::Event stop;
    bool stopping = false;
    std::unique_ptr<twin::Twin> twin;
    std::unique_ptr<http::Server> aws, kube;

    base::Result<Addresses> open(const std::string& region, const std::string& data_dir) {
        TRY(twin, twin::make_twin(io.get_executor(), *clock, twin_options(flags, region, data_dir)));
        aws = http::make_server(io.get_executor(), *clock, server_options(flags.aws), twin->aws_handler());
        http::ServerOptions secure = server_options(flags.kube);
        const http::KeyPair pair = twin->kube_certificate();
        secure.cert_pem = pair.cert_pem;
        secure.key_pem = pair.key_pem;
        kube = http::make_server(io.get_executor(), *clock, std::move(secure), twin->kube_handler());
        TRY(const std::uint16_t aws_port, aws->start());
        TRY(const std::uint16_t kube_port, kube->start());
        Addresses addresses;
        addresses.aws_url = url_of("http", flags.aws.address, aws_port);
        addresses.kube_url = url_of("https", flags.kube.address, kube_port);
        twin->set_urls(addresses.aws_url, addresses.kube_url);
        return addresses;
    }

    rt::Task<void> run_until_stopped() {
        while (!stopping) {
            auto waited = co_await stop.wait();
            if (!waited) break;
        }
        co_await kube->stop(kGrace);
        co_await aws->stop(kGrace);
        co_await twin->stop();
        co_return base::ok();
    }
};

void run_loop(std::shared_ptr<Loop> loop, std::shared_ptr<Started> started, std::string region,
              std::string data_dir) {
    auto opened = loop->open(region, data_dir);
    if (!opened) {
        started->set_value(std::move(opened).error());
        return;
    }
    bool done = false;
    {
        rt::TaskGroup group(loop->io.get_executor(), "twin");
        group.spawn("until_stopped", loop->run_until_stopped());
        started->set_value(std::move(opened).value());
        while (group.size() > 0) loop->io.run_one();
        done = true;
    }
    static_cast<void>(done);
    loop->aws.reset();
    loop->kube.reset();
    loop->twin.reset();
}

class TwinHostImpl final : public TwinHost {
public:
    TwinHostImpl(std::shared_ptr<Loop> loop, std::thread thread, Addresses addresses)
        : loop_(std::move(loop)), thread_(std::move(thread)), addresses_(std::move(addresses)) {}
    ~TwinHostImpl() override { stop(); }
    TwinHostImpl(const TwinHostImpl&) = delete;
    TwinHostImpl& operator=(const TwinHostImpl&) = delete;

    const std::string& aws_url() const override { return addresses_.aws_url; }
    const std::string& kube_url() const override { return addresses_.kube_url; }
    void stop() override {
        if (!thread_.joinable()) return;
        boost::asio::post(loop_->io, [loop = loop_] {
            loop->stopping = true;
            loop->stop.notify_all();
        });
        thread_.join();
    }

private:
    std::shared_ptr<Loop> loop_;
    std::thread thread_;
    Addresses addresses_;
};

}  // namespace

std::string url_of(const std::string& scheme, const std::string& address, std::uint16_t port) {
    const bool ipv6 = address.find(':') != std::string::npos;
    return scheme + "://" + (ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

base::Result<std::unique_ptr<TwinHost>> start_twin(TwinFlags flags, std::string region,
                                                   std::string data_dir) {
    auto loop = std::make_shared<Loop>(std::move(flags));
    auto started = std::make_shared<Started>();
    auto future = started->get_future();
    std::thread thread(run_loop, loop, started, std::move(region), std::move(data_dir));
    auto addresses = future.get();
    if (!addresses) {
        thread.join();
        return std::move(addresses).error().wrapped("Starting the twin");
    }
    std::unique_ptr<TwinHost> host =
        std::make_unique<TwinHostImpl>(std::move(loop), std::move(thread), std::move(addresses).value());
    return host;
}

}  // namespace instantstart::server
