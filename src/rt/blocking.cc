#include "rt/blocking.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>

#include "rt/event.h"
#include "rt/impl/spawn.h"

namespace instantstart::rt {

struct BlockingPool::State {
    explicit State(std::size_t threads) {
        if (threads > 0) pool.emplace(threads);
    }
    std::optional<asio::thread_pool> pool;
};

BlockingPool::BlockingPool(std::size_t threads) : state_(std::make_unique<State>(threads)) {}

BlockingPool::~BlockingPool() {
    if (state_->pool) state_->pool->join();
}

Task<void> BlockingPool::run_erased(std::function<void()> work) {
    if (co_await is_cancelled()) co_return base::cancelled_error();
    if (!state_->pool) {
        work();
        co_return base::ok();
    }
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto gate = std::make_shared<impl::Gate>(executor);
    // The gate is only touched on the loop: the thread posts its opening there.
    asio::post(*state_->pool, [executor, gate, work = std::move(work)]() mutable {
        work();
        work = nullptr;
        asio::post(executor, [gate] { gate->open(); });
    });
    co_await gate->wait(nullptr);
    co_return base::ok();
}

}  // namespace instantstart::rt
