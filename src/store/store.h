// Store: durable state as small JSON documents in ordered tables, changed by atomic batches. The seam of the
// commit: everything durable goes through commit(), so that a simulation can crash before and after each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "rt/clock.h"
#include "rt/context.h"
#include "rt/task.h"

namespace instantstart::store {

using base::JsonValue;
using rt::Context;
using rt::Task;

struct Entry {
    Entry() = default;
    std::string key;
    JsonValue value;
    std::int64_t revision = 0;  // grows with every write of the store
};

// One atomic change. Requirements are checked first; where one does not hold nothing is written and commit
// answers Error{conflict, "store_conflict"}.
struct Batch {
    Batch() = default;
    struct Put {
        std::string table, key;
        JsonValue value;
    };
    struct Name {
        std::string table, key;
    };
    struct Revision {
        std::string table, key;
        std::int64_t revision = 0;
    };
    std::vector<Put> puts;
    std::vector<Name> removes;
    std::vector<Name> require_absent;
    std::vector<Revision> require_revision;

    void put(std::string table, std::string key, JsonValue value) {
        puts.push_back({std::move(table), std::move(key), std::move(value)});
    }
    void remove(std::string table, std::string key) { removes.push_back({std::move(table), std::move(key)}); }
};

struct Scan {
    Scan() = default;
    std::string table;
    std::string prefix;  // keys that start with it
    std::string after;   // keys beyond it in the direction of the scan; "" from the start
    std::size_t limit = 1000;
    bool descending = false;
};

class Store {
public:
    virtual ~Store() = default;
    // Durable (fsynced) when it returns well. Safe to call from several coroutines; batches apply in call
    // order.
    virtual Task<void> commit(Context context, Batch batch) = 0;
    virtual Task<std::optional<Entry>> get(Context context, std::string table, std::string key) = 0;
    virtual Task<std::vector<Entry>> scan(Context context, Scan scan) = 0;
    // Waits for running work and closes. Nothing may be called afterwards.
    virtual boost::asio::awaitable<void> stop() = 0;
};

// SQLite (WAL, synchronous=FULL) in `path`, its work on one thread of its own; concurrent commits share one
// fsync.
base::Result<std::unique_ptr<Store>> open_sqlite(boost::asio::any_io_executor executor,
                                                 const std::string& path);

// In memory, for simulation: the data outlives the Store objects opened on it, as a disk does.
class MemoryDisk;
std::shared_ptr<MemoryDisk> make_memory_disk();
enum class CommitFault : std::uint8_t {
    none,
    crash_before,
    crash_after
};  // a crash makes the commit never return
std::unique_ptr<Store> open_memory(boost::asio::any_io_executor executor, std::shared_ptr<MemoryDisk> disk,
                                   std::function<CommitFault(const Batch&)> hook);

}  // namespace instantstart::store
