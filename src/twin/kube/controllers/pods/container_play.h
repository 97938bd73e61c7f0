// ContainerPlay: one container of a pod as the kubelet leads it: image, start, probes, end, restart.
#pragma once

#include <optional>

#include "twin/kube/controllers/env.h"
#include "twin/kube/controllers/logs.h"
#include "twin/kube/controllers/pods/commands.h"
#include "twin/kube/controllers/pods/images.h"

namespace instantstart::twin::kube::controllers {

// What is due for a container. Void after a restart of the twin: then it takes its time again.
struct ContainerLife {
    enum class Step : std::uint8_t { none, pull, retry_pull, create, restart };
    ContainerLife() = default;
    Step step = Step::none;
    base::Duration due{0};
    base::Duration started{0};
    bool knows_start = false;
    double back_off = 0;  // seconds to the next restart
    double pull_back_off = 0;
    bool told_unready = false;
};

// What the kubelet works with. Lives for one look at one pod.
struct PodLook {
    PodLook(Env& e, Images& i, Logs& l, const JsonObject& p) : env(e), images(i), logs(l), pod(p) {}
    Env& env;
    Images& images;
    Logs& logs;
    const JsonObject& pod;               // as it was
    std::optional<base::Duration> next;  // when to look again

    Key key() const;
    std::string node() const;
    void look_at(base::Duration due);  // the earliest stands
    void tell(std::string_view type, std::string_view reason, const std::string& message) const;
};

class ContainerPlay {
public:
    enum class Role : std::uint8_t { main, init, sidecar };
    ContainerPlay(PodLook& look, const JsonValue& container, Role role, JsonObject& status,
                  ContainerLife& life)
        : look_(look), container_(container), role_(role), status_(status), life_(life) {}

    // Takes it as far as it is now.
    void advance();
    void end(int code, std::string_view reason = "");
    bool is_running() const { return base::find_path(status_, "state.running") != nullptr; }
    // Has ended and will not be started again.
    bool is_over() const;
    // What follows an init container may begin.
    bool lets_others_begin() const;

private:
    bool due(ContainerLife::Step step, double seconds);
    void begin();
    void pull();
    void fail_pull(const PullFailure& failure);
    std::string config_problem() const;
    void start(bool again);
    void run();
    void check_probes();
    bool past(const JsonValue& probe, bool failing) const;
    void kill_by(std::string_view probe);
    void come_back();
    bool restarts(int code) const;
    void wait(std::string_view reason, std::string_view message);
    std::string image() const { return base::get_string(container_, "image"); }
    std::string name() const { return base::get_string(container_, "name"); }
    base::Duration now() const { return look_.env.clock.monotonic(); }
    base::Duration ready_at(const JsonValue& probe, bool failing) const;

    PodLook& look_;
    const JsonValue& container_;
    Role role_;
    JsonObject& status_;
    ContainerLife& life_;
};

// The status of a container that has not begun.
JsonObject first_status(const JsonValue& container, std::string_view waits_for);

}  // namespace instantstart::twin::kube::controllers
