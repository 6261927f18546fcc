// For tests of the whole controller: caches, watches, writer, against the server in memory.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/task_group.hpp"
#include "operator/training/program.hpp"
#include "tests/kit/memory_answer.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::training {

// Answers some requests itself, as a server does that refuses or does not know a kind.
class RefusingTransport final : public kube::Transport {
 public:
  explicit RefusingTransport(kube::Transport& next) : next_(next) {}
  // The next `times` requests of that method whose target contains `part`; negative: all. With
  // `words`, only those whose body contains them.
  void refuse(std::string method, std::string part, kube::Response with, int times = -1,
              std::string words = {}) {
    words_ = std::move(words);
    method_ = std::move(method);
    part_ = std::move(part);
    with_ = std::move(with);
    times_ = times;
  }
  void stop() { times_ = 0; }

  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override {
    if (refuses(request)) co_return with_;
    co_return co_await next_.send(std::move(request), deadline);
  }
  Task<Result<kube::StreamResponse>> open(kube::Request request, Monotonic deadline) override {
    if (refuses(request)) co_return kube::StreamResponse{.head = with_};
    co_return co_await next_.open(std::move(request), deadline);
  }
  void set_fence(const kube::WriteFence* fence) override { next_.set_fence(fence); }

 private:
  bool refuses(const kube::Request& request) {
    if (times_ == 0 || (!method_.empty() && request.method != method_)) return false;
    if (request.target.find(part_) == std::string::npos) return false;
    if (request.body.find(words_) == std::string::npos) return false;
    if (times_ > 0) --times_;
    return true;
  }
  kube::Transport& next_;
  std::string method_;
  std::string part_;
  std::string words_;
  kube::Response with_;
  int times_ = 0;
};

inline const kube::ObjectKey kLiveJob{.ns = "research", .name = "train"};

// A store of one checkpoint, which takes its time.
class FakeReader final : public CheckpointReader {
 public:
  explicit FakeReader(Clock& clock) : clock_(clock) {}
  Task<Result<CheckpointFinding>> read(CheckpointAsk ask, Monotonic deadline) override {
    asked.push_back(ask);
    if (!co_await clock_.sleep_until(std::min(deadline, clock_.monotonic() + takes)))
      co_return fail(Errc::kCancelled, "stopped");
    if (clock_.monotonic() >= deadline) co_return fail(Errc::kTimeout, "no answer");
    co_return answer;
  }
  // In the middle of a reconcile: a bug that nobody expected.
  bool reads(std::string_view uri) const override {
    if (!throws_at.empty() && uri == throws_at) throw std::runtime_error("a bug in the reader");
    return true;
  }
  Result<CheckpointFinding> answer = CheckpointFinding{};
  std::string throws_at;
  std::chrono::nanoseconds takes = std::chrono::seconds{1};
  std::vector<CheckpointAsk> asked;

 private:
  Clock& clock_;
};

struct Live {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  testkit::MemoryTransport wire{server, clock};
  RefusingTransport refusing{wire};
  kube::Client client{refusing, clock, Rng(1)};
  MetricsRegistry registry;
  Reports reports;
  controller::Runtime runtime{io.get_executor(), client, registry, Log()};
  controller::Manager manager{runtime, Rng(2), {}};
  FakeReader reader{clock};
  TrainingProgram program{runtime, Rng(3), {.reader = &reader}, manager, reports};

  void submit(int nodes, Json spec = Json::object()) {
    Json whole{{"runtime", "Torchrun"},
               {"nodes", nodes},
               {"template",
                {{"spec",
                  {{"containers",
                    {{{"name", "trainer"}, {"image", "a"}, {"command", {"python", "t.py"}}}}}}}}}};
    whole.merge_patch(spec);
    server.create(
        kTrainingJobs,
        {{"metadata", {{"name", kLiveJob.name}, {"namespace", kLiveJob.ns}}}, {"spec", whole}});
  }
  void edit(const Json& spec) { server.merge(kTrainingJobs, kLiveJob, {{"spec", spec}}); }
  Json status() const {
    const Json job = server.find(kTrainingJobs, kLiveJob);
    return job.is_null() ? Json() : job.value("status", Json::object());
  }
  std::string phase() const { return status().value("phase", ""); }
  kube::ObjectKey pod_key(int attempt, int rank) const {
    return {.ns = kLiveJob.ns, .name = fmt::format("train-{}-{}", attempt, rank)};
  }
  void set_phase(const kube::ObjectKey& pod, std::string_view phase) {
    server.merge(kube::kPods, pod, {{"status", {{"phase", phase}}}}, "status");
  }
  void run_all() {
    for (const Json& pod : server.list(kube::kPods)) {
      const kube::ObjectKey key{.ns = kLiveJob.ns, .name = pod["metadata"]["name"]};
      if (pod["metadata"].contains("deletionTimestamp")) continue;
      server.merge(kube::kPods, key, {{"spec", {{"nodeName", "n"}}}});
      if (!pod.contains("status")) set_phase(key, "Running");
    }
  }
  // Whatever is being deleted ends.
  void kubelets() {
    for (const Json& pod : server.list(kube::kPods))
      if (pod["metadata"].contains("deletionTimestamp"))
        set_phase({.ns = kLiveJob.ns, .name = pod["metadata"]["name"]}, "Failed");
  }
  std::size_t writes() const { return server.writes().size(); }

  static Task<void> manage(Live& live) { (void)co_await live.manager.run(); }
  static Task<void> run_with(Live& live, Task<void> steps) {
    TaskGroup group(live.io.get_executor());
    group.spawn("manager", manage(live));
    co_await std::move(steps);
    live.manager.stop();
    CHECK(co_await group.join(live.clock, live.clock.monotonic() + std::chrono::minutes{5}));
  }
  void run(Task<void> steps) { run_simulated(io, clock, run_with(*this, std::move(steps))); }
};

}  // namespace amdahl::training
