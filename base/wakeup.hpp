// A task that waits until somebody wakes it: a condition variable of coroutines.
//
// Asio's own answer is a timer that never fires. That one drags the reactor in: a system call for
// each turn of the loop, which virtual time turns a million times a minute.
//
// Thread: the io_context's. Lifetime: the task that waits owns or shares it; the io_context
// outlives it, and a task that still waits when the io_context goes is destroyed with it.
// Failure: none; who was woken looks at its own condition, because being stopped wakes too.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <optional>

#include "base/task.hpp"

namespace amdahl {

class WakeupService;

class Wakeup {
 public:
  explicit Wakeup(const boost::asio::any_io_executor& executor);  // of an io_context
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  Task<void> wait();  // one task at a time
  void wake();        // it goes on in the next turn of the loop; nothing happens when nobody waits

 private:
  friend class WakeupService;
  using Handler = boost::asio::async_result<boost::asio::use_awaitable_t<>, void()>::handler_type;
  using Hook = boost::intrusive::list_member_hook<
      boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  void park(Handler handler);

  WakeupService& service_;
  Hook hook_;
  std::optional<Handler> handler_;
};

}  // namespace amdahl
