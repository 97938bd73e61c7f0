// Our cache of a cluster's nodes and pods against any API server: CPU and memory to list them and to follow
// their changes. The peer is bench/clientgo; both print the same two lines (bench/run.py compares them).
//
//   bench_kube_cache URL EVENTS [CA_FILE]      a bearer token, where the server wants one, in KUBE_TOKEN
#include <malloc.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "kube/cluster_cache.h"

namespace {

using namespace instantstart;
using namespace std::chrono_literals;

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_mb() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        double kib = 0;
        if (word == "VmRSS:" && status >> kib) return kib / 1024;
    }
    return 0;
}

void tell(const base::JsonObject& fields) {
    std::cout << base::to_text(fields) << std::endl;
}

rt::Task<void> measure(kube::Caches& caches, std::shared_ptr<kube::Client> client, rt::Clock& clock,
                       std::uint64_t events) {
    const auto began = clock.monotonic();
    const auto memory = resident_mb();
    const auto cache = caches.of("bench", std::move(client));
    const std::vector<kube::Cached> kinds = {kube::Cached::nodes, kube::Cached::pods};
    kube::Freshness freshness;
    do {
        CO_TRY(freshness, co_await cache->need(kinds, 10min));
        if (!freshness.problem) continue;
        std::cerr << freshness.problem->chain() << "\n";
        CO_CHECK_OK(co_await clock.sleep(100ms));
    } while (!freshness.complete);
    const auto seconds = std::chrono::duration<double>(clock.monotonic() - began).count();
    const auto used = cpu_seconds();
    malloc_trim(0);
    tell({{"phase", "synced"},
          {"seconds", seconds},
          {"cpu_seconds", used},
          {"memory_mb", resident_mb() - memory},
          {"nodes", cache->nodes().size()},
          {"pods", cache->pods().size()}});
    const auto& pods = cache->informer(kube::Cached::pods);
    const auto before = cpu_seconds();
    while (pods.events() < events) CO_CHECK_OK(co_await clock.sleep(10ms));
    tell({{"phase", "followed"},
          {"events", pods.events()},
          {"cpu_seconds", cpu_seconds() - before},
          {"memory_mb", resident_mb() - memory}});
    co_return base::ok();
}

rt::Task<void> measure_and_stop(kube::Caches& caches, std::shared_ptr<kube::Client> client, rt::Clock& clock,
                                std::uint64_t events) {
    auto went = co_await measure(caches, std::move(client), clock, events);
    co_await caches.stop();
    co_return went;
}

std::string file_text(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

rt::Task<std::string> fixed_token(std::string token) {
    co_return token;
}

kube::Endpoint endpoint_of(int count, char** arguments) {
    kube::Endpoint endpoint;
    endpoint.url = arguments[1];
    if (count > 3) endpoint.ca_pem = file_text(arguments[3]);
    if (const char* token = std::getenv("KUBE_TOKEN")) {
        endpoint.token = [text = std::string(token)](rt::Context, bool) { return fixed_token(text); };
    }
    return endpoint;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3 && count != 4) {
        std::cerr << "usage: bench_kube_cache URL EVENTS [CA_FILE]\n";
        return 2;
    }
    boost::asio::io_context io(1);
    const auto clock = rt::make_system_clock(io.get_executor());
    const auto transport = http::make_socket_transport(io.get_executor(), *clock);
    auto endpoint = endpoint_of(count, arguments);
    const std::shared_ptr<kube::Client> client = kube::make_client(std::move(endpoint), *transport, *clock);
    kube::Caches caches(io.get_executor(), *clock);
    rt::TaskGroup group(io.get_executor(), "bench");
    group.spawn("measure",
                measure_and_stop(caches, client, *clock, std::strtoull(arguments[2], nullptr, 10)));
    while (group.size() > 0) io.run_one();
    return 0;
}
