// Operations journalled a second by the engine on SQLite, against bare commits of the same bytes by sqlite3
// itself, on the same file system with the same settings (WAL, synchronous=FULL). Prints one JSON line.
#include <sqlite3.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "ops/engine.h"
#include "rt/clock.h"
#include "rt/task_group.h"
#include "store/store.h"

namespace {

using namespace instantstart;  // NOLINT: a program of one file
using Steady = std::chrono::steady_clock;

constexpr int kOperations = 2000;
constexpr int kClients = 32;

double seconds_since(Steady::time_point start) {
    return std::chrono::duration<double>(Steady::now() - start).count();
}

double bare_commits(const std::string& path, int count) {
    sqlite3* database = nullptr;
    if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) return 0;
    sqlite3_exec(
        database,
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(k TEXT PRIMARY KEY, v TEXT)",
        nullptr, nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO t VALUES(?, ?)", -1, &insert, nullptr);
    const std::string value(1500, 'x');  // about one operation's row
    const auto start = Steady::now();
    for (int i = 0; i < count; ++i) {
        const std::string key = std::to_string(i);
        sqlite3_bind_text(insert, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    const double taken = seconds_since(start);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return count / taken;
}

rt::Task<ops::Observation> look(ops::StepCall call) {
    if (call.acted) co_return ops::done({});
    co_return ops::absent();
}

rt::Task<base::JsonObject> act(ops::StepCall) {
    co_return base::JsonObject();
}

ops::Flow toy_flow() {
    ops::Flow flow;
    flow.name = "toy";
    flow.steps = [](const base::JsonObject&) {
        ops::Step step;
        step.id = "only";
        step.title = "The only step";
        step.observe = look;
        step.act = act;
        return std::vector<ops::Step>{step};
    };
    return flow;
}

rt::Task<void> client(ops::Engine& engine, int first, int step) {
    for (int i = first; i < kOperations; i += step) {
        ops::Submission submission;
        submission.operation = "toy.run";
        submission.resource = "toy/" + std::to_string(i);
        submission.flow = "toy";
        submission.principal = "bench";
        submission.face = "rest";
        CO_TRY(auto submitted, co_await engine.submit(rt::Context(), std::move(submission)));
        CO_CHECK_OK(co_await engine.wait(rt::Context(), base::get_string(submitted.operation, "id"),
                                         std::chrono::seconds(30)));
    }
    co_return base::ok();
}

rt::Task<void> run(ops::Engine& engine, boost::asio::any_io_executor executor, double& rate,
                   store::Store& store) {
    CO_CHECK_OK(co_await engine.start(rt::Context()));
    const auto start = Steady::now();
    rt::TaskGroup clients(executor, "clients");
    for (int i = 0; i < kClients; ++i) clients.spawn("client", client(engine, i, kClients));
    co_await clients.join();
    rate = kOperations / seconds_since(start);
    co_await engine.stop();
    co_await store.stop();
    co_return base::ok();
}

double engine_operations(const std::string& path) {
    boost::asio::io_context io;
    auto clock = rt::make_system_clock(io.get_executor());
    auto store = store::open_sqlite(io.get_executor(), path);
    if (!store.has_value()) return 0;
    auto engine = ops::make_engine(io.get_executor(), *clock, **store, {});
    engine->add_flow(toy_flow());
    double rate = 0;
    rt::TaskGroup group(io.get_executor(), "bench");
    group.spawn("run", run(*engine, io.get_executor(), rate, **store));
    io.run();
    return rate;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string folder = argc > 1 ? argv[1] : "build/bench";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const double bare = bare_commits(folder + "/bare.sqlite", kOperations * 4);
    const double operations = engine_operations(folder + "/engine.sqlite");
    std::printf("{\"bare_commits_per_second\":%.0f,\"operations_per_second\":%.0f}\n", bare, operations);
    return 0;
}
