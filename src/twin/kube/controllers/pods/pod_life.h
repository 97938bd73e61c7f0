// PodLife: the kubelet's part. A bound pod gets its volumes and images, runs its containers, ends; a deleted
// one gets its grace.
#pragma once

#include "twin/kube/controllers/pods/container_play.h"

namespace instantstart::twin::kube::controllers {

class PodLife final : public Controller {
public:
    PodLife(Env& env, Logs& logs) : env_(env), logs_(logs) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;  // ns "": a node that was started anew
    // Ends a container with this exit code, or all that run for "".
    base::Result<void> exit(const Key& key, std::string_view container, int code);
    Images& images() { return images_; }
    const Images& images() const { return images_; }
    void clear();
    // What is still to wait becomes so many times as long.
    void rescale(double factor);

private:
    struct Life {
        Life() = default;
        std::map<std::string, ContainerLife, std::less<>> containers;
        base::Duration remove_at{0};  // 0: nobody has asked it to end
        base::Duration deadline{0};   // of activeDeadlineSeconds
        std::string told;             // why it waits for its volumes
    };
    void wake_for_files(const Change& change);
    void node_changed(const Change& change);
    void reboot(const std::string& node);
    void admit(const JsonObject& pod);
    bool is_late(const JsonObject& pod, Life& life, PodLook& look);
    bool waits_for_node(const JsonObject& pod, Life& life, PodLook& look) const;
    void play(const JsonObject& pod, Life& life);
    void give_address(JsonObject& pod);
    bool play_init(PodLook& look, Life& life, JsonObject& status);
    void play_main(PodLook& look, Life& life, JsonObject& status);
    void conclude(PodLook& look, JsonObject next, bool initialized);
    // Ends all that runs with this code.
    void end_all(JsonObject pod, int code, std::string_view reason, std::string_view message);
    void terminate(const JsonObject& pod, Life& life);
    std::string address_for(const JsonObject& pod, const JsonObject& node);

    Env& env_;
    Logs& logs_;
    Images images_;
    std::map<std::string, Life, std::less<>> lives_;  // by uid
    std::set<Key> waits_for_files_;                   // pods whose volumes or environment is not there yet
    std::uint32_t addresses_ = 0;
};

// Why the volumes of the pod cannot be mounted: reason and message of the event; empty where they can.
struct MountProblem {
    MountProblem() = default;
    std::string reason, message;
};
MountProblem mount_problem(const Env& env, const JsonObject& pod);

// Phase and conditions of a pod as its containers stand.
struct PodState {
    PodState() = default;
    bool initialized = true, sandbox = true;
};
void write_pod_state(JsonObject& pod, const PodState& state, base::TimePoint now);
ContainerPlay::Role role_of(const JsonValue& init_container);

}  // namespace instantstart::twin::kube::controllers
