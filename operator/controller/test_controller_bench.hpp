// For the tests of the controller: a reconciler that does as it is told, and a controller around
// it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/task_group.hpp"
#include "operator/controller/controller.hpp"
#include "tests/kit/fake_source.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::controller {

// Does what the test says for each key, and notes when.
class Scripted final : public Reconciler {
 public:
  struct Act {
    std::optional<Errc> error{};
    std::optional<std::chrono::nanoseconds> requeue_after{};
    std::chrono::nanoseconds takes{0};
    bool throws = false;
  };
  struct Call {
    std::string name{};
    Monotonic at{};
    bool caches_unproven = false;
  };
  explicit Scripted(Clock& clock) : clock_(clock) {}

  Task<Result<Outcome>> reconcile(ObjectKey object, Reconcile context) override {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    const Act act = acts[object.name];
    calls.push_back({object.name, clock_.monotonic(), context.caches_unproven});
    overlap = overlap || !running.insert(kube::to_string(object)).second;
    active_most = std::max(active_most, running.size());
    bool slept = true;
    if (act.takes > std::chrono::nanoseconds::zero()) slept = co_await clock_.sleep_for(act.takes);
    running.erase(kube::to_string(object));
    if (!slept) {
      ++cancelled;
      co_return fail(Errc::kCancelled, "cut off");
    }
    if (act.throws) throw std::runtime_error("a shape that was not foreseen");
    if (act.error) co_return fail(*act.error, "as the test wants it");
    co_return Outcome{.requeue_after = act.requeue_after};
  }
  void on_exception(const ObjectKey& object, const Error& error) override {
    exceptions.push_back(object.name + ": " + error.context);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Call& call : calls) all.push_back(call.name);
    return all;
  }

  std::map<std::string, Act> acts;
  std::vector<Call> calls;
  std::vector<std::string> exceptions;
  std::set<std::string> running;
  std::size_t active_most = 0;
  bool overlap = false;
  int cancelled = 0;

 private:
  Clock& clock_;
};

struct ControllerBench {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  testkit::MemoryTransport wire{server, clock};
  kube::Client client{wire, clock, Rng(1)};
  MetricsRegistry registry;
  Scripted reconciler{clock};
  testkit::FakeSource jobs{"TrainingJob"};
  testkit::FakeSource pods{"Pod"};
  Controller controller{
      {io.get_executor(), client, registry, Log()}, Rng(7), {.name = "trainingjob"}, reconciler};
  std::optional<Result<void>> ended;

  ControllerBench() {
    controller.reconciles(jobs);
    controller.owns(pods);
  }
  static Task<void> drive(ControllerBench& bench) {
    bench.ended.emplace(co_await bench.controller.run(Epoch{1}));
  }

  // Runs the controller, and the test's own steps beside it; then stops.
  template <class Steps>
  void run(Steps steps) {
    run_simulated(io, clock, run_with(*this, steps(*this)));
  }
  static Task<void> run_with(ControllerBench& bench, Task<void> steps) {
    TaskGroup group(bench.io.get_executor());
    group.spawn("controller", drive(bench));
    co_await std::move(steps);
    bench.controller.stop();
    CHECK(co_await group.join(bench.clock, bench.clock.monotonic() + std::chrono::minutes{10}));
  }
  void sync() {
    jobs.publish();
    pods.publish();
  }
};

}  // namespace amdahl::controller
