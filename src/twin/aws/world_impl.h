// WorldImpl: the account's frame. Made by make_twin, handed its services, run by start() and ended by stop().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rt/blocking.h"
#include "rt/event.h"
#include "rt/task_group.h"
#include "twin/aws/faults.h"
#include "twin/aws/journal.h"
#include "twin/aws/quotas.h"
#include "twin/aws/world.h"

namespace instantstart::twin {

// What a workload would have printed, and how it ended (control).
struct PodOutput {
    PodOutput() = default;
    std::string cluster, ns, pod, container;
    std::vector<std::string> lines;
    std::optional<int> exit_code;
};

struct WorldOptions {
    WorldOptions() = default;
    std::string region = "us-west-2";
    double speed = 60;
    bool zero_quotas = false;
    std::string ca_pem;
    // Asked for what the state holds beyond the services (the Kubernetes clusters), and to write the whole of
    // it.
    std::function<base::JsonValue()> save_more;
    // The text of save_more() as it is now, which may be made on another thread; empty: nothing more.
    std::function<std::function<std::string()>()> more_saver;
    std::function<void(const base::JsonValue&)> load_more;
    std::function<base::Result<void>(const std::string& text)> write;  // empty: nothing is kept
    // Grows when that more has changed, since its own controllers change it without a call.
    std::function<std::int64_t()> more_revision;
    std::function<void(double speed)> on_speed;
    std::function<base::Result<void>(const PodOutput&)> append_log;
    std::function<base::Result<void>(const std::string& cluster)> compact;
    std::function<base::Result<base::JsonObject>(const std::string& cluster)> figures;
    std::function<base::Result<void>(const std::string& cluster, double changes_per_second,
                                     base::Duration length)>
        churn;
    std::function<base::Result<void>(const std::string& cluster, const std::string& prefix,
                                     const std::string& failure)>
        fail_images;
};

class WorldImpl final : public World {
public:
    WorldImpl(boost::asio::any_io_executor executor, rt::Clock& clock, WorldOptions options);
    ~WorldImpl() override;

    // Before start(). The order is the order of loading; "iam" must be among them.
    void add(std::unique_ptr<Service> service);
    void start();
    boost::asio::awaitable<void> stop();  // ends timers, and saves

    // World
    rt::Clock& clock() override { return clock_; }
    TimePoint now() const override { return clock_.now(); }
    std::string account() const override { return "111122223333"; }
    std::string region() const override { return options_.region; }
    IamView& iam() override;
    Service* service(std::string_view name) override;
    void after(base::Duration aws_duration, std::string_view service, std::string kind,
               JsonObject payload) override;
    base::Duration about(base::Duration typical) override;
    std::string hex_id(std::string_view prefix, std::size_t digits) override;
    std::string uuid() override;
    double speed() const override { return speed_; }
    std::optional<double> quota(std::string_view name) const override { return quotas_.value(name); }
    std::optional<std::int64_t> capacity(std::string_view instance_type,
                                         std::string_view zone) const override;
    void take_capacity(std::string_view instance_type, std::string_view zone, std::int64_t count) override;
    void journal(std::string_view service, std::string_view operation, std::string_view principal,
                 JsonObject parameters, int status, std::string_view error_code) override;
    void touched() override;
    std::string aws_url() const override { return aws_url_; }
    std::string kube_url() const override { return kube_url_; }
    std::string ca_pem() const override { return options_.ca_pem; }

    // For the control and the composition root
    void set_urls(std::string aws, std::string kube);
    void set_speed(double speed);
    // Timers due within `aws_duration` fire now, in order, those they set included.
    void advance(base::Duration aws_duration);
    void set_capacity(std::string_view instance_type, std::string_view zone, std::int64_t available);
    Quotas& quotas() { return quotas_; }
    FaultPlan& faults() { return faults_; }
    Journal& calls() { return journal_; }
    const WorldOptions& options() const { return options_; }
    JsonValue snapshot() const;
    void restore(const JsonValue& state);
    void reset();  // a new, empty account

private:
    struct Timer {
        std::string service, kind;
        JsonObject payload;
    };
    // When due on the account's own time, then in the order they were set.
    using TimerKey = std::pair<base::Duration, std::uint64_t>;

    base::Duration virtual_now() const;
    void fire_first();
    rt::Task<void> run_timers();
    rt::Task<void> run_saver();
    void save_now();
    rt::Task<void> save_apart();
    JsonObject own_snapshot() const;  // without what `save_more` gives
    JsonArray save_timers() const;
    void load_timers(const JsonArray& timers);

    rt::Clock& clock_;
    WorldOptions options_;
    std::string aws_url_, kube_url_;
    double speed_;
    base::Duration base_monotonic_, base_virtual_{};
    std::map<TimerKey, Timer> timers_;
    std::uint64_t timer_sequence_ = 0;
    std::vector<std::unique_ptr<Service>> services_;
    Quotas quotas_;
    FaultPlan faults_;
    Journal journal_;
    std::map<std::pair<std::string, std::string>, std::int64_t, std::less<>> capacity_;
    bool dirty_ = false;
    std::int64_t saved_revision_ = 0;
    rt::BlockingPool writer_{1};
    rt::Event timer_changed_, save_wanted_;
    rt::TaskGroup tasks_;  // last
};

}  // namespace instantstart::twin
