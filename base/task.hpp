// Task<T>: the coroutine type of everything asynchronous here.
//
// Parameters go by value; references only to objects that outlive the task. No lock and no catch
// around a co_await. Every await on the network has a deadline.
#pragma once

#include <boost/asio/awaitable.hpp>

namespace amdahl {

template <class T>
using Task = boost::asio::awaitable<T>;

}  // namespace amdahl
