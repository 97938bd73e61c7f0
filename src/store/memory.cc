// The in-memory store of tests and simulation: a disk that outlives its stores, and crashes on demand.
#include <map>
#include <utility>

#include "rt/event.h"
#include "store/requirements.h"
#include "store/store.h"

namespace instantstart::store {

class MemoryDisk {
public:
    using Table = std::map<std::string, Entry, std::less<>>;

    const Entry* find(const std::string& table, const std::string& key) const {
        auto rows = tables_.find(table);
        if (rows == tables_.end()) return nullptr;
        auto row = rows->second.find(key);
        return row == rows->second.end() ? nullptr : &row->second;
    }

    base::Result<void> apply(Batch batch) {
        for (const auto& name : batch.require_absent) {
            if (find(name.table, name.key) != nullptr) return exists_error(name.table, name.key);
        }
        for (const auto& wanted : batch.require_revision) {
            const Entry* entry = find(wanted.table, wanted.key);
            if (entry == nullptr || entry->revision != wanted.revision)
                return changed_error(wanted.table, wanted.key);
        }
        ++revision_;
        for (auto& put : batch.puts) {
            Entry& entry = tables_[put.table][put.key];
            entry.key = put.key;
            entry.value = std::move(put.value);
            entry.revision = revision_;
        }
        for (const auto& name : batch.removes) tables_[name.table].erase(name.key);
        return base::ok();
    }

    std::vector<Entry> scan(const Scan& scan) const {
        std::vector<Entry> found;
        auto rows = tables_.find(scan.table);
        if (rows == tables_.end()) return found;
        scan.descending ? scan_down(rows->second, scan, found) : scan_up(rows->second, scan, found);
        return found;
    }

private:
    static void scan_up(const Table& rows, const Scan& scan, std::vector<Entry>& found) {
        auto row = scan.after >= scan.prefix && !scan.after.empty() ? rows.upper_bound(scan.after)
                                                                    : rows.lower_bound(scan.prefix);
        for (; row != rows.end() && found.size() < scan.limit && row->first.starts_with(scan.prefix); ++row) {
            found.push_back(row->second);
        }
    }

    static void scan_down(const Table& rows, const Scan& scan, std::vector<Entry>& found) {
        const std::string beyond = key_after_prefix(scan.prefix);
        auto row = beyond.empty() ? rows.end() : rows.lower_bound(beyond);
        if (!scan.after.empty() && (beyond.empty() || scan.after < beyond))
            row = rows.lower_bound(scan.after);
        while (row != rows.begin() && found.size() < scan.limit) {
            --row;
            if (!row->first.starts_with(scan.prefix)) break;
            found.push_back(row->second);
        }
    }

    std::map<std::string, Table> tables_;
    std::int64_t revision_ = 0;
};

std::shared_ptr<MemoryDisk> make_memory_disk() {
    return std::make_shared<MemoryDisk>();
}

namespace {

class MemoryStore final : public Store {
public:
    MemoryStore(boost::asio::any_io_executor executor, std::shared_ptr<MemoryDisk> disk,
                std::function<CommitFault(const Batch&)> hook)
        : never_(std::move(executor)), disk_(std::move(disk)), hook_(std::move(hook)) {}

    Task<void> commit(Context, Batch batch) override {
        if (crashed_) co_return co_await never_.wait();
        const CommitFault fault = hook_ ? hook_(batch) : CommitFault::none;
        crashed_ = fault != CommitFault::none;
        if (fault == CommitFault::crash_before) co_return co_await never_.wait();
        auto applied = disk_->apply(std::move(batch));
        if (fault == CommitFault::crash_after) co_return co_await never_.wait();
        co_return applied;
    }

    Task<std::optional<Entry>> get(Context, std::string table, std::string key) override {
        if (crashed_) CO_CHECK_OK(co_await never_.wait());
        const Entry* entry = disk_->find(table, key);
        co_return entry == nullptr ? std::optional<Entry>() : std::optional<Entry>(*entry);
    }

    Task<std::vector<Entry>> scan(Context, Scan scan) override {
        if (crashed_) CO_CHECK_OK(co_await never_.wait());
        co_return disk_->scan(scan);
    }

    boost::asio::awaitable<void> stop() override { co_return; }

private:
    // A crashed process does nothing more: every later call waits until its caller is cancelled.
    bool crashed_ = false;
    rt::Event never_;
    std::shared_ptr<MemoryDisk> disk_;
    std::function<CommitFault(const Batch&)> hook_;
};

}  // namespace

std::unique_ptr<Store> open_memory(boost::asio::any_io_executor executor, std::shared_ptr<MemoryDisk> disk,
                                   std::function<CommitFault(const Batch&)> hook) {
    return std::make_unique<MemoryStore>(std::move(executor), std::move(disk), std::move(hook));
}

}  // namespace instantstart::store
