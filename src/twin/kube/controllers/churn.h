// Churn: what a busy fleet looks like to those who watch it. Containers of running pods end and start again,
// and some pods are deleted and made anew by their replica sets, so that pods change at a rate for a while.
//
// Asked for by the twin's control only. Owned by the controllers, whose group runs run().
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "rt/event.h"
#include "twin/kube/controllers/pods/pod_life.h"

namespace instantstart::twin::kube::controllers {

class Churn {
public:
    Churn(Env& env, PodLife& life, boost::asio::any_io_executor executor)
        : env_(env), life_(life), started_(std::move(executor)) {}

    // Another one takes the place of what runs; a rate of 0 ends it.
    void start(double changes_per_second, base::Duration length);
    // Told of every change, whoever makes it: all changes of pods count.
    void changed(const Change& change);
    std::int64_t pod_changes() const { return pod_changes_; }
    bool is_running() const { return rate_ > 0; }
    // Until it is cancelled.
    rt::Task<void> run();

private:
    void catch_up(std::int64_t wanted);
    bool disturb(const Key& key);

    Env& env_;
    PodLife& life_;
    double rate_ = 0;
    base::Duration began_{}, length_{};
    std::int64_t pod_changes_ = 0, before_ = 0;
    std::vector<Key> pods_;  // what is left to choose from
    rt::Event started_;
};

}  // namespace instantstart::twin::kube::controllers
