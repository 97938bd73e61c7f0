// Simulation: product and twin in one process, on one loop, a virtual clock and a seed. The product is killed
// at chosen points and started again on the same disk; the same seed and points replay a run exactly.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aws/client.h"
#include "base/json.h"
#include "flows/clusters.h"
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

// What the product signs with; the twin's default key unless told otherwise.
struct AccessKeys {
    AccessKeys() = default;
    std::string access_key = "AKIATWIN000000000000", secret_key = "twin", session_token;
    // Where the product finds its keys instead of being handed them, as a process does in its environment.
    std::function<std::string(const std::string&)> environment;
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
    // Starts the product again on the same disk, as somebody else.
    void become(AccessKeys keys);
    // Lets time go by.
    void pass(base::Duration duration);
    // A call of the account's administrator, beside the product. A refusal fails the test.
    base::JsonObject admin(const std::string& service, const std::string& operation,
                           base::JsonObject parameters);
    // The objects of a cluster (none where it does not serve the kind), and what its administrator does to
    // one of them beside the product: removes it, or changes it by a JSON patch.
    base::JsonArray objects(const std::string& eks_cluster, const std::string& plural_and_group);
    void remove_object(const std::string& eks_cluster, const std::string& plural_and_group,
                       const std::string& ns, const std::string& name);
    void change_object(const std::string& eks_cluster, const std::string& plural_and_group,
                       const std::string& ns, const std::string& name, base::JsonArray patch);
    // Takes the clusters' API servers away as if they were killed, so that watches and calls under way break;
    // or brings them back. What they hold stays.
    void set_kubernetes(bool is_up);
    // They are killed in the next write that reaches them: it is done, and its answer is lost.
    void kill_kubernetes_in_a_write() { dies_in_a_write_ = true; }
    bool has_kubernetes() const { return has_kubernetes_; }
    // The twin's control and journal.
    base::JsonObject twin(const std::string& method, const std::string& path, const base::JsonObject& body);
    std::vector<base::JsonObject> mutations();

    std::size_t commits() const { return commits_; }
    std::size_t calls() const { return calls_; }
    std::size_t deaths() const { return deaths_; }
    base::Duration elapsed() const { return clock_.monotonic(); }

private:
    flows::Clusters& admin_clusters();
    void start_product();
    void stop_product();
    void revive();
    bool strikes(KillKind kind, std::size_t index);
    std::optional<Answer> try_ask(http::Handler handler, http::Request request);

    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    http::MemoryNetwork network_;
    NetworkChances chances_;
    std::vector<KillPoint> kills_;
    AccessKeys keys_;
    std::unique_ptr<twin::Twin> twin_;
    std::unique_ptr<http::Transport> admin_transport_;
    std::unique_ptr<aws::Client> admin_;
    std::unique_ptr<store::Store> admin_store_;
    std::unique_ptr<flows::Clusters> admin_clusters_;
    std::shared_ptr<store::MemoryDisk> disk_;
    std::unique_ptr<KillableTransport> transport_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<server::Product> product_;
    bool dead_ = false;
    bool has_kubernetes_ = true, dies_in_a_write_ = false;
    base::Duration downtime_{};
    std::size_t commits_ = 0, calls_ = 0, deaths_ = 0;
};

}  // namespace instantstart::sim
