// Queue: what controllers still have to look at. An item waits once, however often it is named.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "rt/event.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin::kube::controllers {

struct Key {
    Key() = default;
    Key(std::string ns, std::string name) : ns(std::move(ns)), name(std::move(name)) {}
    std::string ns, name;
    auto operator<=>(const Key&) const = default;
};

class Controller {
public:
    Controller() = default;
    virtual ~Controller() = default;
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;
    // Names the work that follows from a change. Writes nothing.
    virtual void changed(const Change& change) = 0;
    // Brings one object to where it should be.
    virtual void sync(const Key& key) = 0;
};

class Queue {
public:
    Queue(boost::asio::any_io_executor executor, rt::Clock& clock)
        : clock_(clock), wake_(std::move(executor)) {}

    void add(Controller* controller, Key key);
    // The earlier of two times stands.
    void add_after(Controller* controller, Key key, base::Duration delay);
    // Does up to `limit` items that are due; false when none was left.
    bool work(std::size_t limit);
    // Until something is due.
    rt::Task<void> wait();
    void rescale(double factor);
    void clear();

private:
    // By controller in the order of registration, so that runs repeat exactly.
    using Item = std::pair<std::size_t, Key>;
    std::size_t number_of(Controller* controller);
    void move_due();
    rt::Task<void> wait_ready();

    rt::Clock& clock_;
    std::vector<Controller*> controllers_;
    std::set<Item> ready_;
    std::map<Item, base::Duration> due_;
    std::set<std::pair<base::Duration, Item>> timers_;
    bool new_timer_ = false;
    rt::Event wake_;
};

}  // namespace instantstart::twin::kube::controllers
