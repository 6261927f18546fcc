// The body of a watch or a log, read as it arrives.
//
// One timer serves many reads: a watch waits for each of its thousands of events, and a timer for
// each would cost more than the event. Thread: one. Lifetime: the transport and the clock outlive
// it. Failure: see transport.hpp; a read that timed out may be followed by another.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "operator/kube/http_exchange.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::kube {

class HttpBodyStream final : public BodyStream {
 public:
  // `permit` is the right to have a stream; `what` begins the text of every error.
  HttpBodyStream(std::unique_ptr<HttpExchange> exchange, Semaphore::Permit permit, Clock& clock,
                 std::string what);
  ~HttpBodyStream() override;

  Task<Result<std::size_t>> read(std::span<char> into, Monotonic deadline) override;

 private:
  // Interrupts a read that waits past its deadline.
  struct Watchdog;
  static Task<void> watch(std::shared_ptr<Watchdog> watchdog, Clock& clock);

  Task<Result<void>> wait(Monotonic deadline);
  void set_watchdog(const boost::asio::any_io_executor& executor, Monotonic deadline);

  std::unique_ptr<HttpExchange> exchange_;
  Semaphore::Permit permit_;
  Clock& clock_;
  std::string what_;
  std::shared_ptr<Watchdog> watchdog_;
};

}  // namespace amdahl::kube
