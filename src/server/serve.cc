// serve and twin: the processes that stay.
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "api/api.h"
#include "api/guard.h"
#include "http/server.h"
#include "http/transport.h"
#include "rt/task_group.h"
#include "server/commands.h"
#include "server/data_folder.h"
#include "server/product.h"
#include "server/stop_signal.h"
#include "server/surroundings.h"
#include "server/twin_host.h"
#include "store/store.h"

namespace instantstart::server {

namespace {

using base::JsonObject;
using base::JsonValue;

constexpr auto kGrace = std::chrono::seconds(3);
constexpr const char* kDefaultRegion = "us-west-2";

int fail(const base::Error& error) {
    std::cerr << "instantstart: " << error.message << "\n";
    if (!error.hint.empty()) std::cerr << error.hint << "\n";
    base::log(base::LogLevel::debug, "start_failed", {{"error", JsonValue(error.chain())}});
    return 1;
}

void print_line(const JsonObject& object) {
    std::cout << base::to_text(object) << std::endl;
}

void configure_logging(const Flags& flags) {
    base::LogLevel level = base::LogLevel::info;
    base::parse_log_level(flags.log_level, level);
    base::configure_log(level, flags.log_format == "json" ? base::LogFormat::json : base::LogFormat::text);
}

base::Result<std::string> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return base::Error(base::ErrorKind::not_found, "file", "Cannot read " + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string twin_region(const Flags& flags) {
    return flags.region.empty() ? kDefaultRegion : flags.region;
}

// What the product is told of the account: the twin's well-known credentials, or whatever the environment
// has.
ProductOptions product_options(const Flags& flags, const TwinHost* twin, const std::string& token) {
    ProductOptions options;
    options.settings.version = INSTANTSTART_VERSION;
    options.settings.read_only = flags.read_only;
    options.settings.artifacts = flags.artifacts;
    options.settings.region = flags.region;
    options.aws.region = flags.region;
    options.aws.environment = environment;
    options.admin_token = token;
    options.token_file = flags.token_file;
    options.secure_cookies = !flags.tls_cert.empty();
    options.allowed_hosts = flags.allowed_hosts;
    options.rate_mutations_a_minute = flags.rate_mutations;
    options.rate_queries_a_second = flags.rate_queries;
    options.settings.backend = twin == nullptr ? "aws" : "twin";
    if (twin == nullptr) return options;
    options.settings.time_scale = flags.twin.speed;
    options.settings.region = twin_region(flags);
    options.aws.region = twin_region(flags);
    options.aws.endpoint_url = twin->aws_url();
    options.aws.access_key = "AKIATWIN000000000000";
    options.aws.secret_key = "twin";
    options.aws.environment = [](const std::string&) { return std::string(); };
    return options;
}

base::Result<http::ServerOptions> server_options(const Flags& flags) {
    http::ServerOptions options;
    options.address = flags.listen.address;
    options.port = flags.listen.port;
    options.on_refused = api::refused_by_server;
    if (flags.tls_cert.empty() != flags.tls_key.empty()) {
        return base::invalid_error("tls", "--tls-cert and --tls-key go together");
    }
    if (!flags.tls_cert.empty()) {
        TRY(options.cert_pem, read_file(flags.tls_cert));
        TRY(options.key_pem, read_file(flags.tls_key));
    } else if (!api::is_loopback_name(flags.listen.address) && !flags.insecure_listen) {
        return base::invalid_error("insecure_listen",
                                   "Plain text beyond loopback would show tokens to the network")
            .with_hint(
                "Give --tls-cert and --tls-key, or --insecure-listen where something in front speaks TLS.");
    }
    return options;
}

// The objects of the process, in dependency order.
struct Serving {
    boost::asio::io_context io{1};
    std::unique_ptr<rt::Clock> clock = rt::make_system_clock(io.get_executor());
    std::unique_ptr<http::Transport> transport =
        http::make_socket_transport(io.get_executor(), *clock, transport_settings());
    std::unique_ptr<store::Store> store;
    std::unique_ptr<Product> product;
    std::unique_ptr<http::Server> server;
    StopSignal signal{io.get_executor()};
    base::Error failure{base::ErrorKind::internal, "", ""};  // code "" while all is well
};

void print_ready(const Flags& flags, const TwinHost* twin, Product& product, std::uint16_t port) {
    const std::string url = url_of(flags.tls_cert.empty() ? "http" : "https", flags.listen.address, port);
    JsonObject ready;
    ready["event"] = "ready";
    ready["console"] = url;
    if (twin != nullptr) {
        ready["twin_aws"] = twin->aws_url();
        ready["twin_kube"] = twin->kube_url();
    }
    ready["login"] = url + "/login?code=" + product.make_login_code();
    print_line(ready);
}

rt::Task<void> serve_until_stopped(const Flags& flags, const TwinHost* twin, Serving& serving) {
    auto product_started = co_await serving.product->start();
    if (!product_started) {
        serving.failure = product_started.error();
    } else if (auto port = serving.server->start(); !port) {
        serving.failure = port.error();
    } else {
        print_ready(flags, twin, *serving.product, *port);
        auto waited = co_await serving.signal.wait();
        static_cast<void>(waited);
        base::log(base::LogLevel::info, "stopping");
        co_await serving.server->stop(kGrace);
    }
    co_await serving.product->stop();
    co_await serving.store->stop();
    co_return base::ok();
}

base::Result<void> open_parts(const Flags& flags, const DataFolder& folder, const TwinHost* twin,
                              Serving& serving) {
    if (!flags.store_url.empty()) {
        return base::Error(base::ErrorKind::unsupported, "store",
                           "This version keeps its state in SQLite only")
            .with_hint("Leave --store out.");
    }
    TRY(const std::string token, find_token(folder.path(), true));
    TRY(http::ServerOptions options, server_options(flags));
    TRY(serving.store, store::open_sqlite(serving.io.get_executor(), folder.path() + "/instantstart.db"));
    serving.product = make_product(serving.io.get_executor(), *serving.clock, *serving.transport,
                                   *serving.store, product_options(flags, twin, token));
    serving.server = http::make_server(serving.io.get_executor(), *serving.clock, std::move(options),
                                       serving.product->handler());
    return base::ok();
}

}  // namespace

int run_serve(const Flags& flags) {
    configure_logging(flags);
    auto folder = DataFolder::open(flags.data_dir);
    if (!folder) return fail(folder.error());
    std::unique_ptr<TwinHost> twin;
    base::Result<DataFolder> twin_folder;
    if (flags.use_twin) {
        twin_folder = DataFolder::open(flags.data_dir + "/twin");
        if (!twin_folder) return fail(twin_folder.error());
        auto started = start_twin(flags.twin, twin_region(flags), flags.data_dir + "/twin");
        if (!started) return fail(started.error());
        twin = std::move(started).value();
    }
    Serving serving;
    auto opened = open_parts(flags, *folder, twin.get(), serving);
    if (!opened) return fail(opened.error());
    rt::TaskGroup group(serving.io.get_executor(), "main");
    group.spawn("serve", serve_until_stopped(flags, twin.get(), serving));
    while (group.size() > 0) serving.io.run_one();
    if (twin) twin->stop();
    if (!serving.failure.code.empty()) return fail(serving.failure);
    return 0;
}

int run_twin(const Flags& flags) {
    configure_logging(flags);
    auto folder = DataFolder::open(flags.data_dir + "/twin");
    if (!folder) return fail(folder.error());
    boost::asio::io_context io(1);
    StopSignal signal(io.get_executor());
    auto started = start_twin(flags.twin, twin_region(flags), folder->path());
    if (!started) return fail(started.error());
    JsonObject ready;
    ready["event"] = "ready";
    ready["twin_aws"] = (*started)->aws_url();
    ready["twin_kube"] = (*started)->kube_url();
    print_line(ready);
    rt::TaskGroup group(io.get_executor(), "main");
    group.spawn("signal", signal.wait());
    while (group.size() > 0) io.run_one();
    (*started)->stop();
    return 0;
}

}  // namespace instantstart::server
