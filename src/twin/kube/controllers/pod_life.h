// PodLife: the kubelet's part. A bound pod pulls its image, starts, runs, ends; a deleted one gets its grace.
#pragma once

#include "twin/kube/controllers/env.h"
#include "twin/kube/controllers/logs.h"

namespace instantstart::twin::kube::controllers {

class PodLife final : public Controller {
public:
    PodLife(Env& env, Logs& logs) : env_(env), logs_(logs) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    // Ends a container with this exit code.
    base::Result<void> exit(const Key& key, std::string_view container, int code);
    void clear() { lives_.clear(); }
    // What is still to wait becomes so many times as long.
    void rescale(double factor);

private:
    // What is due for a pod. Void after a restart of the twin: then it takes its time again.
    struct Life {
        base::Duration due{0};
        enum class Step : std::uint8_t { none, start, finish, restart, remove } step = Step::none;
    };
    bool due(const JsonObject& pod, Life::Step step, double seconds);
    void create_containers(const JsonObject& pod);
    void start(const JsonObject& pod);
    void end_containers(const JsonObject& pod, std::string_view container, int code);
    void finish_pod(JsonObject pod);
    void terminate(const JsonObject& pod);
    bool volumes_ready(const JsonObject& pod) const;
    std::string address_for(const JsonObject& pod, const JsonObject& node);

    Env& env_;
    Logs& logs_;
    std::map<std::string, Life, std::less<>> lives_;  // by uid
    std::uint32_t addresses_ = 0;
};

}  // namespace instantstart::twin::kube::controllers
