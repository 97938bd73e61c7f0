// Task<T>: every coroutine of the project returns one.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/result.h"

namespace instantstart::rt {

namespace asio = boost::asio;

template <class T>
using Task = asio::awaitable<base::Result<T>>;

}  // namespace instantstart::rt
