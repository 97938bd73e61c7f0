// Informer: the objects of one kind, kept up to date by list and watch. One writer (its task), many readers
// on its loop.
//
// What it shows is what the API server told last, which may be seconds old: decide by it, but write with a
// precondition or look again. Built by whoever needs a cache; start() begins, stop() must end before it dies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/client.h"
#include "rt/event.h"
#include "rt/task_group.h"

namespace instantstart::kube {

struct InformerOptions {
    InformerOptions() = default;
    Resource resource;
    ListOptions list;
    // Keeps of an object only what the reader wants; the default drops metadata.managedFields.
    std::function<JsonObject(JsonObject)> select;
    base::Duration longest_pause =
        std::chrono::seconds(30);  // between attempts while the server cannot be reached
};

class Informer {
public:
    using Object = std::shared_ptr<const JsonObject>;

    Informer(boost::asio::any_io_executor executor, Client& client, rt::Clock& clock,
             InformerOptions options);

    void start();
    boost::asio::awaitable<void> stop();

    // True once the first list has come in; what was read then stays readable while the server is away.
    bool is_ready() const { return ready_; }
    Task<void> wait_ready(base::Duration limit);
    // Told after every change, of the objects or of readiness or of the error.
    rt::Event& changed() { return changed_; }
    // Grows with every change of the objects.
    std::uint64_t revision() const { return revision_; }
    // Why the cache is not being kept up to date at this moment, if so.
    const std::optional<base::Error>& error() const { return error_; }

    std::size_t size() const { return objects_.size(); }
    Object get(const std::string& ns, const std::string& name) const;  // null where absent
    std::vector<Object> items() const;                                 // by namespace and name

private:
    using Key = std::pair<std::string, std::string>;

    Task<void> run();
    Task<void> relist();
    // Follows changes until the watch ends; an error where it must be made anew.
    Task<void> follow();
    void accept(WatchEvent event);
    void put(JsonObject object);
    void note_change();

    Client& client_;
    rt::Clock& clock_;
    InformerOptions options_;
    std::map<Key, Object> objects_;
    std::string resource_version_;  // "" means that a list is needed
    bool ready_ = false;
    std::uint64_t revision_ = 0;
    std::optional<base::Error> error_;
    rt::Event changed_;
    rt::TaskGroup tasks_;
};

}  // namespace instantstart::kube
