// Env: what every controller gets.
#pragma once

#include <deque>
#include <string>

#include "twin/kube/controllers/index.h"
#include "twin/kube/controllers/object.h"

namespace instantstart::twin::kube::controllers {

// Writes Event objects as the components of a cluster do: equal ones are counted up; the oldest go when there
// are too many.
class Events {
public:
    Events(ObjectStore& objects, rt::Clock& clock) : objects_(objects), clock_(clock) {}
    void write(const JsonObject& about, std::string_view type, std::string_view reason,
               const std::string& message, std::string_view component);

private:
    ObjectStore& objects_;
    rt::Clock& clock_;
    std::deque<Key> written_;
};

// What is left to wait, at another speed.
inline base::Duration scale_left(base::Duration left, double factor) {
    return base::Duration(static_cast<base::Duration::rep>(static_cast<double>(left.count()) * factor));
}

struct Env {
    Env(ObjectStore& store, rt::Clock& time, boost::asio::any_io_executor executor, double at_speed)
        : objects(store),
          clock(time),
          queue(std::move(executor), time),
          events(store, time),
          speed(at_speed) {}
    ObjectStore& objects;
    rt::Clock& clock;
    Queue queue;
    Index index;
    Events events;
    double speed;

    // A real cluster's seconds at the twin's speed.
    base::Duration scaled(double seconds) const {
        return base::Duration(static_cast<base::Duration::rep>(seconds * 1e9 / speed));
    }
    ObjectPtr get(const Kind& kind, const Key& key) const { return objects.get(kind, key.ns, key.name); }
    // Writes `object`; a conflict or a vanished object is no matter, since its change comes back as work.
    void write(const Kind& kind, JsonObject object);
    bool create(const Kind& kind, JsonObject object);
    // The same for what admission may refuse (quotas, limits): the error says why.
    base::Result<ObjectPtr> admit_and_create(const Kind& kind, JsonObject object);
    // Deletes as a controller does: a pod that runs gets its grace, all else goes at once or waits for its
    // finalizers.
    void remove(const Kind& kind, const Key& key);
    // "name-" and five random characters.
    std::string name_after(const std::string& prefix) const { return prefix + clock.random_id(5); }
};

}  // namespace instantstart::twin::kube::controllers
