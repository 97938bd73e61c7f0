// Simulation: product and twin in one process, on one loop, a virtual clock and a seed. The product is killed
// at chosen points and started again on the same disk; the same seed and points replay a run exactly.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "http/memory_network.h"
#include "killable_transport.h"
#include "rt/task_group.h"
#include "rt/virtual_clock.h"
#include "server/product.h"
#include "store/store.h"
#include "twin/twin.h"

namespace instantstart::sim {

enum class KillKind : std::uint8_t { before_commit, after_commit, before_call, after_call };

// The process dies at the `index`-th commit or mutating call of the whole run, counted over all its lives.
struct KillPoint {
    KillKind kind = KillKind::before_commit;
    std::size_t index = 0;
};
std::string to_string(const KillPoint& point);

struct Answer {
    Answer() = default;
    int status = 0;
    base::JsonObject body;
};

class Simulation {
public:
    Simulation(std::uint64_t seed, NetworkChances chances, std::vector<KillPoint> kills);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    // A request of a client that does not give up: where the process dies under it, it is started again and
    // asked again; where the answer is to come back later, it does.
    Answer ask(const std::string& method, const std::string& path, const base::JsonObject& body,
               const std::string& key = "");
    // How long the machine stands still after each death.
    void set_downtime(base::Duration downtime) { downtime_ = downtime; }
    // The operation once it is terminal (or as it stands after `limit` of virtual time).
    base::JsonObject wait(const std::string& operation_id, base::Duration limit = std::chrono::hours(12));
    // The twin's control and journal.
    base::JsonObject twin(const std::string& method, const std::string& path, const base::JsonObject& body);
    std::vector<base::JsonObject> mutations();

    std::size_t commits() const { return commits_; }
    std::size_t calls() const { return calls_; }
    std::size_t deaths() const { return deaths_; }
    base::Duration elapsed() const { return clock_.monotonic(); }

private:
    void start_product();
    void stop_product();
    void revive();
    void pass(base::Duration duration);
    bool strikes(KillKind kind, std::size_t index);
    std::optional<Answer> try_ask(http::Handler handler, http::Request request);

    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    http::MemoryNetwork network_;
    NetworkChances chances_;
    std::vector<KillPoint> kills_;
    std::unique_ptr<twin::Twin> twin_;
    std::shared_ptr<store::MemoryDisk> disk_;
    std::unique_ptr<KillableTransport> transport_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<server::Product> product_;
    bool dead_ = false;
    base::Duration downtime_{};
    std::size_t commits_ = 0, calls_ = 0, deaths_ = 0;
};

}  // namespace instantstart::sim
