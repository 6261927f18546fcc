#include "operator/kube/connection_pool.hpp"

#include "base/check.hpp"

namespace amdahl::kube {

ConnectionPool::ConnectionPool(const boost::asio::any_io_executor& executor, const Clock& clock,
                               PoolLimits limits)
    : clock_(clock),
      limits_(limits),
      turns_{Semaphore(executor, limits.in_flight_max),
             Semaphore(executor, limits.lease_in_flight_max),
             Semaphore(executor, limits.streams_max)} {
  static_assert(static_cast<int>(Lane::kDefault) == 0 && static_cast<int>(Lane::kStream) == 2);
}

Task<Result<Semaphore::Permit>> ConnectionPool::admit(Lane lane, Clock& clock) {
  Semaphore& turns = turns_[static_cast<std::size_t>(lane)];
  if (auto permit = turns.try_acquire()) co_return std::move(*permit);
  if (lane == Lane::kStream)
    co_return fail(Errc::kTooLarge, "{} streams are open already", limits_.streams_max);
  co_return co_await turns.acquire(clock, Monotonic::max());  // the caller has the deadline
}

std::shared_ptr<Connection> ConnectionPool::take(Lane lane) {
  close_old();
  auto& idle = idle_[static_cast<std::size_t>(lane)];
  while (!idle.empty()) {
    auto connection = std::move(idle.back().connection);
    idle.pop_back();
    if (connection->usable()) return connection;
  }
  return nullptr;
}

void ConnectionPool::give_back(Lane lane, std::shared_ptr<Connection> connection) {
  AMDAHL_CHECK(lane != Lane::kStream && connection != nullptr);
  close_old();
  idle_[static_cast<std::size_t>(lane)].push_back({std::move(connection), clock_.monotonic()});
}

void ConnectionPool::watch(const std::shared_ptr<Connection>& connection) {
  std::erase_if(known_, [](const auto& known) { return known.expired(); });
  known_.push_back(connection);
}

// Runs whenever the pool is used, which a lease renewal does every other second.
void ConnectionPool::close_old() {
  for (auto& idle : idle_)
    std::erase_if(
        idle, [&](const Idle& one) { return clock_.monotonic() - one.since >= limits_.idle_max; });
}

void ConnectionPool::close_idle() {
  for (auto& idle : idle_) idle.clear();
}

void ConnectionPool::abort_all(const std::string& reason) {
  close_idle();
  for (const auto& known : known_)
    if (const auto connection = known.lock()) connection->abort(reason);
}

std::size_t ConnectionPool::idle() const {
  std::size_t count = 0;
  for (const auto& idle : idle_) count += idle.size();
  return count;
}

}  // namespace amdahl::kube
