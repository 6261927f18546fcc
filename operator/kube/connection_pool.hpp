// Idle connections and the right to use one, by lane: a flood on one cannot starve another (E7).
//
// Streams never share a connection and never leave one behind. Thread: one. Lifetime: outlives the
// permits and connections it gave out. Failure: Errc::kTooLarge when a bound is reached, and
// Errc::kCancelled when a waiting task was stopped.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/connection.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kInFlightMax = 64;      // of the default lane (E7)
inline constexpr std::size_t kLeaseInFlightMax = 2;  // a renewal, and one that is being given up
inline constexpr std::size_t kStreamsMax = 256;
inline constexpr std::chrono::seconds kIdleMax{90};

struct PoolLimits {
  std::size_t in_flight_max = kInFlightMax;
  std::size_t lease_in_flight_max = kLeaseInFlightMax;
  std::size_t streams_max = kStreamsMax;
  std::chrono::nanoseconds idle_max = kIdleMax;
};

class ConnectionPool {
 public:
  ConnectionPool(const boost::asio::any_io_executor& executor, const Clock& clock,
                 PoolLimits limits);

  // Waits for a turn; streams do not wait, since none ends soon.
  Task<Result<Semaphore::Permit>> admit(Lane lane, Clock& clock);

  // The connection of this lane used last, if one is idle and still alive; else null.
  std::shared_ptr<Connection> take(Lane lane);
  void give_back(Lane lane, std::shared_ptr<Connection> connection);
  // Makes a connection known to abort_all().
  void watch(const std::shared_ptr<Connection>& connection);

  void close_idle();
  void abort_all(const std::string& reason);  // those in use, too
  std::size_t idle() const;

 private:
  struct Idle {
    std::shared_ptr<Connection> connection;
    Monotonic since{};
  };
  void close_old();

  const Clock& clock_;
  PoolLimits limits_;
  std::array<Semaphore, 3> turns_;         // by Lane
  std::array<std::vector<Idle>, 3> idle_;  // by Lane; the one used last is at the end
  std::vector<std::weak_ptr<Connection>> known_;
};

}  // namespace amdahl::kube
