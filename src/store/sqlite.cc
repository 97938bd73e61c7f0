// The SQLite store: a thread of its own takes all waiting requests at once, runs them in one transaction, and
// posts the answers back to the loop after the fsync.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>

#include "store/sqlite_file.h"
#include "store/store.h"

namespace instantstart::store {

namespace {

namespace asio = boost::asio;

struct Key {
    std::string table, key;
};

// One call on its way through the thread. The loop's side touches `answered` and `timer`, the thread's side
// `outcome` before it posts; the post orders the two.
struct Request {
    Request(const asio::any_io_executor& executor, std::variant<Batch, Key, Scan> what)
        : what(std::move(what)), timer(executor) {}
    std::variant<Batch, Key, Scan> what;
    base::Result<void> outcome = base::ok();
    std::optional<Entry> entry;
    std::vector<Entry> entries;
    bool answered = false;
    asio::steady_timer timer;  // never expires: cancelled when the answer is there
};
using RequestPtr = std::shared_ptr<Request>;

class SqliteStore final : public Store {
public:
    SqliteStore(asio::any_io_executor executor, std::unique_ptr<SqliteFile> file)
        : executor_(std::move(executor)), file_(std::move(file)), thread_(&SqliteStore::run, this) {}

    ~SqliteStore() override { close(); }
    SqliteStore(const SqliteStore&) = delete;
    SqliteStore& operator=(const SqliteStore&) = delete;

    Task<void> commit(Context, Batch batch) override {
        auto request = std::make_shared<Request>(executor_, std::move(batch));
        co_return co_await run_request(request);
    }

    Task<std::optional<Entry>> get(Context, std::string table, std::string key) override {
        auto request = std::make_shared<Request>(executor_, Key{std::move(table), std::move(key)});
        CO_CHECK_OK(co_await run_request(request));
        co_return std::move(request->entry);
    }

    Task<std::vector<Entry>> scan(Context, Scan scan) override {
        auto request = std::make_shared<Request>(executor_, std::move(scan));
        CO_CHECK_OK(co_await run_request(request));
        co_return std::move(request->entries);
    }

    asio::awaitable<void> stop() override {
        // Everything queued before is answered first: requests are served in order.
        if (!closed_) {
            auto last = std::make_shared<Request>(executor_, Key{"", ""});
            auto ignored = co_await run_request(last);
            static_cast<void>(ignored);
        }
        close();
    }

private:
    Task<void> run_request(RequestPtr request) {
        if (closed_)
            co_return base::Error(base::ErrorKind::unavailable, "store_closed", "the store is closed");
        auto before = co_await asio::this_coro::cancellation_state;
        if (before.cancelled() != asio::cancellation_type::none) co_return base::cancelled_error();
        {
            std::lock_guard lock(mutex_);
            queue_.push_back(request);
        }
        wake_.notify_one();
        request->timer.expires_at(asio::steady_timer::time_point::max());
        while (!request->answered) {
            auto [code] = co_await request->timer.async_wait(asio::as_tuple(asio::use_awaitable));
            static_cast<void>(code);
            auto state = co_await asio::this_coro::cancellation_state;
            if (!request->answered && state.cancelled() != asio::cancellation_type::none)
                co_return base::cancelled_error();
        }
        co_return std::move(request->outcome);
    }

    void close() {
        if (closed_) return;
        closed_ = true;
        {
            std::lock_guard lock(mutex_);
            closing_ = true;
        }
        wake_.notify_one();
        thread_.join();
        file_.reset();
    }

    void run() {
        while (true) {
            std::deque<RequestPtr> batch;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
                if (queue_.empty()) return;
                batch.swap(queue_);
            }
            serve(batch);
            for (auto& request : batch) {
                asio::post(executor_, [request = std::move(request)] {
                    request->answered = true;
                    request->timer.cancel();
                });
            }
        }
    }

    void serve(const std::deque<RequestPtr>& batch) {
        bool writing = false;
        auto transaction = base::ok();
        for (const auto& request : batch) {
            if (!writing && transaction && std::holds_alternative<Batch>(request->what)) {
                transaction = file_->begin();
                writing = transaction.has_value();
            }
            if (transaction) request->outcome = serve_one(*request);
        }
        if (writing) transaction = file_->commit();
        if (transaction) return;
        file_->rollback();
        // Reads may have seen what is now undone: they fail with the writes.
        for (const auto& request : batch) request->outcome = transaction.error();
    }

    base::Result<void> serve_one(Request& request) {
        if (const auto* batch = std::get_if<Batch>(&request.what)) return file_->apply(*batch);
        if (const auto* key = std::get_if<Key>(&request.what)) {
            TRY(request.entry, file_->get(key->table, key->key));
            return base::ok();
        }
        TRY(request.entries, file_->scan(std::get<Scan>(request.what)));
        return base::ok();
    }

    asio::any_io_executor executor_;
    std::unique_ptr<SqliteFile> file_;
    bool closed_ = false;  // the loop's side
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<RequestPtr> queue_;  // under mutex_
    bool closing_ = false;          // under mutex_
    std::thread thread_;
};

}  // namespace

base::Result<std::unique_ptr<Store>> open_sqlite(asio::any_io_executor executor, const std::string& path) {
    TRY(auto file, SqliteFile::open(path));
    return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(executor), std::move(file)));
}

}  // namespace instantstart::store
