// A Pod controller that only measures itself, on our own runtime. See peers/README.md for what it
// prints; --json asks for JSON where protobuf is the default.
#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/rng.hpp"
#include "base/task_group.hpp"
#include "operator/controller/controller.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types_pod.hpp"
#include "operator/kube/watcher.hpp"
#include "tests/bench/protocol.hpp"
#include "tests/bench/synced_sink.hpp"

namespace amdahl::bench {
namespace {
namespace asio = boost::asio;
using controller::Change;
using controller::Reconcile;
using kube::ObjectKey;
using kube::Pod;

constexpr std::string_view kSeqLabel = "bench.amdahl.dev/seq";
constexpr std::uint64_t kEventsPerLine = 1'000;
constexpr std::uint64_t kSeed = 1;  // chance has no part in what is measured
constexpr std::chrono::hours kRunMax{24};
constexpr std::chrono::seconds kStopMax{5};

void complain(std::string_view text) {
  fmt::print(stderr, "bench_amdahl: {}\n", text);
}

// Thread: one. Lifetime: outlives the controller and the tasks it is given to.
class BenchReconciler final : public controller::Reconciler {
 public:
  BenchReconciler(Clock& clock, bool quiet) : clock_(clock), quiet_(quiet) {
    store_.subscribe([this](const Change& change) { observe(change); });
  }

  Task<Result<controller::Outcome>> reconcile(ObjectKey key, Reconcile context) override;
  Task<void> watch(kube::Client& server, kube::Encoding encoding);
  Task<void> answer_signals();
  controller::Store<Pod>& store() { return store_; }

 private:
  void observe(const Change& change);
  void note_reconciled(const Pod* pod);

  Clock& clock_;
  bool quiet_;
  controller::Store<Pod> store_;
  std::uint64_t events_ = 0;
  // Which objects were reconciled, until all of the first list were.
  std::optional<boost::unordered_flat_set<const Pod*>> reconciled_{std::in_place};
};

void emit_seq(Monotonic at, std::string_view event, const Pod* pod) {
  const auto seq = pod == nullptr ? std::nullopt : pod->metadata.labels.find(kSeqLabel);
  if (seq) emit(at, event, fmt::format(R"("seq":{})", *seq));
}

void BenchReconciler::observe(const Change& change) {
  const Monotonic at = clock_.monotonic();
  if (!quiet_) {
    emit_seq(at, "handler", store_.find(change.key).get());
  } else if (!change.is_initial && ++events_ % kEventsPerLine == 0) {
    emit(at, "events", fmt::format(R"("n":{})", events_));
  }
}

Task<Result<controller::Outcome>> BenchReconciler::reconcile(ObjectKey key, Reconcile /*context*/) {
  const auto pod = store_.find(key);
  if (!quiet_) emit_seq(clock_.monotonic(), "reconcile", pod.get());
  if (reconciled_ && pod) note_reconciled(pod.get());
  co_return controller::Outcome{};
}

void BenchReconciler::note_reconciled(const Pod* pod) {
  reconciled_->insert(pod);
  if (reconciled_->size() < store_.size()) return;
  emit(clock_.monotonic(), "all_reconciled", fmt::format(R"("keys":{})", reconciled_->size()));
  reconciled_.reset();
}

Task<void> BenchReconciler::watch(kube::Client& server, kube::Encoding encoding) {
  SyncedSink cache(store_, [this] {
    emit(clock_.monotonic(), "synced", fmt::format(R"("objects":{})", store_.size()));
  });
  kube::WatcherOptions options{.resource = kube::kPods};
  options.shape.encoding = encoding;
  options.on_problem = [](const Error& error) { complain(error.context); };
  kube::Watcher watcher(server, Rng(kSeed), std::move(options), cache);
  co_await watcher.run();
}

Task<void> BenchReconciler::answer_signals() {
  asio::signal_set asked(co_await asio::this_coro::executor, SIGUSR1);
  while (true) {
    const auto [error, number] = co_await asked.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error) co_return;
    emit(clock_.monotonic(), "rusage", usage_fields(events_));
  }
}

Task<void> lead(controller::Controller& pods) {
  const auto ended = co_await pods.run({});
  if (!ended && ended.error().code != Errc::kCancelled) complain(ended.error().context);
}

Task<void> run(kube::Session& session, Clock& clock, Arguments arguments) {
  const auto executor = co_await asio::this_coro::executor;
  BenchReconciler bench(clock, arguments.quiet);
  MetricsRegistry metrics;
  controller::Controller pods(
      {.executor = executor, .client = session.client(), .metrics = metrics, .log = {}}, Rng(kSeed),
      {.name = "bench", .workers = 1}, bench);
  pods.reconciles(bench.store());
  TaskGroup tasks(executor);
  tasks.spawn("usage", bench.answer_signals());
  tasks.spawn("controller", lead(pods));
  tasks.spawn("watch", bench.watch(session.client(), arguments.json ? kube::Encoding::kJson
                                                                    : kube::Encoding::kProtobuf));
  asio::signal_set ended(executor, SIGTERM, SIGINT);
  (void)co_await ended.async_wait(asio::as_tuple(asio::use_awaitable));
  tasks.stop();
  if (!co_await tasks.join(clock, clock.monotonic() + kStopMax)) complain("tasks did not end");
  (void)co_await session.close(clock.monotonic() + kStopMax);
}

Result<void> main_result(std::span<char* const> words) {
  RealClock clock;
  emit(clock.monotonic(), "start");
  TRY(Arguments arguments, parse_arguments(words));
  asio::io_context io(1);
  TRY(const auto session, connect(io, clock, arguments.kubeconfig));
  run_until_complete(io, run(*session, clock, std::move(arguments)), {.wall = kRunMax});
  return {};
}
}  // namespace
}  // namespace amdahl::bench

int main(int argc, char** argv) {
  const auto done = amdahl::bench::main_result({argv, static_cast<std::size_t>(argc)});
  if (done) return EXIT_SUCCESS;
  amdahl::bench::complain(done.error().context);
  return EXIT_FAILURE;
}
