// Calls of the AWS client one after another over real sockets, to a server with fixed answers: calls a second
// and this process's CPU time a call. bench/aws_calls_boto3.py does the same with boto3.
//
//   bench_aws_calls ENDPOINT SERVICE OPERATION PARAMETERS CALLS    prints one JSON line
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "aws/client.h"
#include "base/heap.h"
#include "rt/task_group.h"

namespace {

using namespace instantstart;  // NOLINT: a program of one file
using Steady = std::chrono::steady_clock;

struct Plan {
    std::string endpoint, service, operation;
    base::JsonObject parameters;
    int calls = 0;
};

struct Figures {
    double wall_seconds = 0, cpu_seconds = 0;
    std::size_t items = 0;  // of the last answer: proof that it was read
    std::string error;
};

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

rt::Task<void> call_many(aws::Client& client, const Plan& plan, int calls, Figures& figures) {
    for (int i = 0; i < calls; ++i) {
        CO_TRY(const base::JsonObject answer,
               co_await client.call(rt::Context(), plan.service, plan.operation, plan.parameters));
        for (const auto& member : answer) {
            if (member.value().is_array()) figures.items = member.value().get_array().size();
        }
    }
    co_return base::ok();
}

rt::Task<void> measure(aws::Client& client, const Plan& plan, Figures& figures) {
    constexpr int kWarm = 50;
    CO_CHECK_OK(co_await call_many(client, plan, kWarm, figures));
    const auto start = Steady::now();
    const double cpu = cpu_seconds();
    CO_CHECK_OK(co_await call_many(client, plan, plan.calls, figures));
    figures.cpu_seconds = cpu_seconds() - cpu;
    figures.wall_seconds = std::chrono::duration<double>(Steady::now() - start).count();
    co_return base::ok();
}

rt::Task<void> guarded(aws::Client& client, const Plan& plan, Figures& figures) {
    auto measured = co_await measure(client, plan, figures);
    if (!measured) figures.error = measured.error().chain();
    co_return base::ok();
}

Figures run(const Plan& plan) {
    Figures figures;
    boost::asio::io_context io;
    const auto clock = rt::make_system_clock(io.get_executor());
    const auto transport = http::make_socket_transport(io.get_executor(), *clock);
    aws::ClientSettings settings;
    settings.region = "us-west-2";
    settings.environment = [](const std::string&) { return std::string(); };
    settings.access_key = "AKIABENCH00000000000";
    settings.secret_key = "bench";
    settings.endpoint_url = plan.endpoint;
    auto client = aws::make_client(std::move(settings), *transport, *clock);
    if (!client) {
        figures.error = client.error().chain();
        return figures;
    }
    rt::TaskGroup group(io.get_executor(), "bench");
    group.spawn("calls", guarded(**client, plan, figures));
    io.run();
    return figures;
}

}  // namespace

int main(int argc, char** argv) {
    base::keep_freed_memory();  // as the product does
    if (argc != 6) {
        std::fprintf(stderr, "bench_aws_calls ENDPOINT SERVICE OPERATION PARAMETERS CALLS\n");
        return 2;
    }
    Plan plan;
    plan.endpoint = argv[1];
    plan.service = argv[2];
    plan.operation = argv[3];
    auto parameters = base::parse_json(argv[4]);
    plan.calls = std::atoi(argv[5]);
    if (!parameters || !parameters->is_object() || plan.calls < 1) {
        std::fprintf(stderr, "PARAMETERS is a JSON object, CALLS a number\n");
        return 2;
    }
    plan.parameters = parameters->get_object();
    const Figures figures = run(plan);
    if (!figures.error.empty()) {
        std::fprintf(stderr, "%s\n", figures.error.c_str());
        return 1;
    }
    std::printf("{\"calls_per_second\":%.1f,\"cpu_us_per_call\":%.2f,\"items\":%zu}\n",
                plan.calls / figures.wall_seconds, figures.cpu_seconds * 1e6 / plan.calls, figures.items);
    return 0;
}
