#include "local/scheduler/scheduler.hpp"

#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/task_group.hpp"
#include "local/scheduler/place_pods.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::local {
namespace {

using controller::Change;
using controller::Controller;
using kube::ObjectKey;

const ObjectKey kCluster{.ns = "", .name = "cluster"};
constexpr std::chrono::minutes kPassMax{5};

// The one object that is reconciled: always there, so that it is looked at once in a while.
class WholeCluster final : public controller::Source {
 public:
  std::string_view kind() const override { return "Cluster"; }
  bool synced() const override { return true; }
  std::string version() const override { return {}; }
  bool contains(const ObjectKey& key) const override { return key == kCluster; }
  void subscribe(controller::ChangeHandler /*handler*/) override {}
};

}  // namespace

class Scheduler::Parts {
 public:
  Parts(controller::Runtime runtime, Rng rng, SchedulerOptions options)
      : runtime_(std::move(runtime)),
        rng_(rng),
        place_pods_(runtime_.executor, runtime_.client, stores_,
                    {.gather = options.gather, .field_manager = options.field_manager},
                    runtime_.log),
        controller_(runtime_, rng_.split(),
                    {.name = "scheduler",
                     .workers = 1,
                     .reconcile_deadline = kPassMax,
                     .full_pass = options.full_pass,
                     .field_manager = options.field_manager},
                    place_pods_),
        nodes_(watcher(stores_.nodes)),
        pods_(watcher(stores_.pods)),
        groups_(watcher(stores_.groups)),
        queues_(watcher(stores_.queues)),
        priorities_(watcher(stores_.priorities)) {
    controller_.reconciles(cluster_);
    watch(stores_.nodes);
    watch(stores_.pods);
    watch(stores_.groups);
    watch(stores_.queues);
    watch(stores_.priorities);
    // A cluster in which nothing exists yet has queues to describe as well.
    controller_.queue().add(kCluster, controller::Priority::kLow);
  }

  Task<Result<void>> run() {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    TaskGroup watches(runtime_.executor);
    for (kube::Watcher* one : {&nodes_, &pods_, &groups_, &queues_, &priorities_})
      watches.spawn("watch", one->run());
    auto ended = co_await controller_.run(controller::Epoch{});
    co_await boost::asio::this_coro::reset_cancellation_state();
    watches.stop();
    (void)co_await watches.join(runtime_.client.clock(), Monotonic::max());
    co_return ended;
  }

  Controller& controller() { return controller_; }
  const scheduling::PlacePods& place_pods() const { return place_pods_; }

 private:
  void watch(controller::Source& source) {
    controller_.watches(source, [](const Change& /*change*/) { return std::vector{kCluster}; });
  }
  template <class T>
  kube::Watcher watcher(controller::Store<T>& store) {
    return {runtime_.client,
            rng_.split(),
            {.resource = T::resource(),
             .shape = {},
             .on_problem =
                 [log = runtime_.log](const Error& error) {
                   log.warning("the scheduler's watch broke", {{"error", error}});
                 }},
            store};
  }

  controller::Runtime runtime_;
  Rng rng_;
  scheduling::Stores stores_;
  WholeCluster cluster_;
  scheduling::PlacePods place_pods_;
  Controller controller_;
  kube::Watcher nodes_;
  kube::Watcher pods_;
  kube::Watcher groups_;
  kube::Watcher queues_;
  kube::Watcher priorities_;
};

Scheduler::Scheduler(controller::Runtime runtime, Rng rng, SchedulerOptions options)
    : parts_(std::make_unique<Parts>(std::move(runtime), rng, std::move(options))) {}

Scheduler::~Scheduler() = default;

Task<Result<void>> Scheduler::run() {
  return parts_->run();
}

void Scheduler::stop() {
  parts_->controller().stop();
}

bool Scheduler::synced() const {
  return parts_->controller().synced();
}

std::uint64_t Scheduler::passes() const {
  return parts_->place_pods().passes();
}

std::uint64_t Scheduler::writes() const {
  return parts_->place_pods().writes();
}

}  // namespace amdahl::local
