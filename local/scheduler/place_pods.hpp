// One pass of the scheduler: stores -> ClusterView -> schedule() -> bindings and statuses.
//
// The whole cluster is one key, so what arrives while a pass runs becomes one more pass. Thread:
// one. Lifetime: caches and client outlive it. Failure: a binding or status that the server refuses
// because the world has moved on is dropped and looked at again; anything else ends the pass and is
// tried again with backoff.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "local/scheduler/own_writes.hpp"
#include "local/scheduler/types.hpp"
#include "operator/controller/reconciler.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::local::scheduling {

// How many writes wait for the server at once. All of one turn share one write to the disk.
inline constexpr std::size_t kWritesInFlightMax = 64;

struct Stores {
  controller::Store<kube::Node> nodes;
  controller::Store<cached::Pod> pods;
  controller::Store<cached::PodGroup> groups;
  controller::Store<cached::Queue> queues;
  controller::Store<cached::PriorityClass> priorities;
};

class PlacePods final : public controller::Reconciler {
 public:
  struct Options {
    std::chrono::nanoseconds gather{};
    std::string field_manager{};
  };
  PlacePods(boost::asio::any_io_executor executor, kube::Client& client, const Stores& stores,
            Options options, Log log);

  Task<Result<controller::Outcome>> reconcile(kube::ObjectKey key,
                                              controller::Reconcile context) override;

  std::uint64_t passes() const { return passes_; }
  std::uint64_t writes() const { return writes_; }

 private:
  ClusterView observe();
  Task<Result<void>> ask_uncertain();
  Task<Result<controller::Outcome>> apply(Plan plan, controller::Writer& writer, WallTime now);
  Task<Result<void>> bind(const Binding& binding);
  Task<Result<void>> write_condition(const Unplaced& what, WallTime now);
  Task<Result<void>> write_group(const GroupUpdate& update, controller::Writer& writer);
  Task<Result<void>> write_queue(const QueueUpdate& update, controller::Writer& writer);
  // Nothing when the world has moved on, which the next pass sees; otherwise the error.
  Result<void> dropped(Error error);

  boost::asio::any_io_executor executor_;
  kube::Client& client_;
  const Stores& stores_;
  Options options_;
  Log log_;
  OwnWrites own_;
  std::uint64_t passes_ = 0;
  std::uint64_t writes_ = 0;
  bool look_again_ = false;
};

}  // namespace amdahl::local::scheduling
