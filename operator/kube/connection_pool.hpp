// Idle connections and the right to use one, by lane: a flood on one cannot starve another (E7).
//
// Streams never share a connection and never leave one behind. One that stays idle is closed in
// time even if no request follows: the first that becomes idle sets a timer, the last that is
// closed leaves none.
//
// Thread: one. Lifetime: outlives the permits and connections it gave out; the clock outlives it.
// Failure: Errc::kTooLarge when a bound is reached, and Errc::kCancelled when a waiting task was
// stopped.
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
#include "base/task_group.hpp"
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
  ConnectionPool(const boost::asio::any_io_executor& executor, Clock& clock, PoolLimits limits);
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

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
  // Shared with the task that closes what is too old, which may end after the pool.
  struct Shelf {
    Clock& clock;
    std::chrono::nanoseconds idle_max;
    std::array<std::vector<Idle>, 3> lanes = {};  // the one used last is at the end
    std::shared_ptr<RunningTask> sweeper = {};

    void close_old();
    Monotonic next_end() const;  // Monotonic::max() when nothing is idle
  };
  static Task<void> sweep(std::shared_ptr<Shelf> shelf);

  boost::asio::any_io_executor executor_;
  PoolLimits limits_;
  std::array<Semaphore, 3> turns_;  // by Lane
  std::shared_ptr<Shelf> shelf_;
  std::vector<std::weak_ptr<Connection>> known_;
};

}  // namespace amdahl::kube
