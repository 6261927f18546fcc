#include "operator/kube/connection_pool.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace amdahl::kube {

ConnectionPool::ConnectionPool(const boost::asio::any_io_executor& executor, Clock& clock,
                               PoolLimits limits)
    : executor_(executor),
      limits_(limits),
      turns_{Semaphore(executor, limits.in_flight_max),
             Semaphore(executor, limits.lease_in_flight_max),
             Semaphore(executor, limits.streams_max)},
      shelf_(std::make_shared<Shelf>(clock, limits.idle_max)) {
  static_assert(static_cast<int>(Lane::kDefault) == 0 && static_cast<int>(Lane::kStream) == 2);
}

ConnectionPool::~ConnectionPool() {
  close_idle();
  if (shelf_->sweeper) shelf_->sweeper->stop();
}

Task<Result<Semaphore::Permit>> ConnectionPool::admit(Lane lane, Clock& clock) {
  Semaphore& turns = turns_[static_cast<std::size_t>(lane)];
  if (auto permit = turns.try_acquire()) co_return std::move(*permit);
  if (lane == Lane::kStream)
    co_return fail(Errc::kTooLarge, "{} streams are open already", limits_.streams_max);
  co_return co_await turns.acquire(clock, Monotonic::max());  // the caller has the deadline
}

std::shared_ptr<Connection> ConnectionPool::take(Lane lane) {
  shelf_->close_old();
  auto& idle = shelf_->lanes[static_cast<std::size_t>(lane)];
  while (!idle.empty()) {
    auto connection = std::move(idle.back().connection);
    idle.pop_back();
    if (connection->usable()) return connection;
  }
  return nullptr;
}

void ConnectionPool::give_back(Lane lane, std::shared_ptr<Connection> connection) {
  AMDAHL_CHECK(lane != Lane::kStream && connection != nullptr);
  const Monotonic now = shelf_->clock.monotonic();
  shelf_->lanes[static_cast<std::size_t>(lane)].push_back({std::move(connection), now});
  // One that sleeps already wakes early enough: whatever it sleeps for was idle before this.
  if (!shelf_->sweeper || shelf_->sweeper->ended())
    shelf_->sweeper = RunningTask::start(executor_, sweep(shelf_), {});
}

Task<void> ConnectionPool::sweep(std::shared_ptr<Shelf> shelf) {
  for (;;) {
    shelf->close_old();
    const Monotonic next = shelf->next_end();
    if (next == Monotonic::max() || !co_await shelf->clock.sleep_until(next)) co_return;
  }
}

void ConnectionPool::watch(const std::shared_ptr<Connection>& connection) {
  std::erase_if(known_, [](const auto& known) { return known.expired(); });
  known_.push_back(connection);
}

void ConnectionPool::Shelf::close_old() {
  const Monotonic now = clock.monotonic();
  for (auto& idle : lanes)
    std::erase_if(idle, [&](const Idle& one) { return now - one.since >= idle_max; });
}

Monotonic ConnectionPool::Shelf::next_end() const {
  Monotonic next = Monotonic::max();
  for (const auto& idle : lanes)
    if (!idle.empty()) next = std::min(next, idle.front().since + idle_max);
  return next;
}

void ConnectionPool::close_idle() {
  for (auto& idle : shelf_->lanes) idle.clear();
}

void ConnectionPool::abort_all(const std::string& reason) {
  close_idle();
  for (const auto& known : known_)
    if (const auto connection = known.lock()) connection->abort(reason);
}

std::size_t ConnectionPool::idle() const {
  std::size_t count = 0;
  for (const auto& idle : shelf_->lanes) count += idle.size();
  return count;
}

}  // namespace amdahl::kube
