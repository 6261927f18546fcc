// What an operator of training jobs asks of an API server: TrainingJobs and Pods, listed and then
// watched, each in a Store.
//
//   bench_operator --kubeconfig FILE
//
// Prints {"ev":"synced","kind":"Pod","objects":N} when the first list of a kind is in its Store,
// and at SIGUSR1 {"ev":"rusage",...,"events":N} with the changes seen since. Ends at SIGTERM.
#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "base/task_group.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types_pod.hpp"
#include "operator/kube/watcher.hpp"
#include "tests/bench/job_manifest.hpp"
#include "tests/bench/protocol.hpp"
#include "tests/bench/synced_sink.hpp"

namespace amdahl::bench {
namespace {
namespace asio = boost::asio;

constexpr std::uint64_t kSeed = 1;  // chance has no part in what is measured
constexpr std::chrono::hours kOperatorMax{24};
constexpr std::chrono::seconds kStopMax{5};

// What a controller would decide by.
struct JobSpec {
  std::string runtime = {};
  std::int32_t nodes = 0;
  bool suspend = false;
};
template <class V>
constexpr void fields(V& v, JobSpec& spec) {
  v.required("runtime", spec.runtime);
  v.required("nodes", spec.nodes);
  v.optional("suspend", spec.suspend);
}

struct JobStatus {
  std::string phase = {};
  std::int32_t attempt = 0;
  std::vector<kube::Condition> conditions = {};
};
template <class V>
constexpr void fields(V& v, JobStatus& status) {
  v.optional("phase", status.phase);
  v.optional("attempt", status.attempt);
  v.optional("conditions", status.conditions);
}

struct TrainingJob {
  kube::CacheMeta metadata = {};
  JobSpec spec = {};
  JobStatus status = {};
  static const kube::Resource& resource() { return kTrainingJobs; }
};
template <class V>
constexpr void fields(V& v, TrainingJob& job) {
  v.required("metadata", job.metadata);
  v.required("spec", job.spec);
  v.optional("status", job.status);
}

void complain(std::string_view text) {
  fmt::print(stderr, "bench_operator: {}\n", text);
}

template <class T>
Task<void> watch(kube::Client& server, controller::Store<T>& store, std::uint64_t& events) {
  Clock& clock = server.clock();
  store.subscribe([&events](const controller::Change& change) {
    if (!change.is_initial) ++events;
  });
  SyncedSink sink(store, [&store, &clock] {
    emit(clock.monotonic(), "synced",
         fmt::format(R"("kind":"{}","objects":{})", store.kind(), store.size()));
  });
  kube::Watcher watcher(server, Rng(kSeed),
                        {.resource = T::resource(),
                         .shape = controller::Store<T>::shape(),
                         .on_problem = [](const Error& error) { complain(error.context); }},
                        sink);
  co_await watcher.run();
}

Task<void> answer_signals(Clock& clock, const std::uint64_t& events) {
  asio::signal_set asked(co_await asio::this_coro::executor, SIGUSR1);
  while (true) {
    const auto [error, number] = co_await asked.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error) co_return;
    emit(clock.monotonic(), "rusage", usage_fields(events));
  }
}

Task<void> run(kube::Session& session, Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  controller::Store<TrainingJob> jobs;
  controller::Store<kube::Pod> pods;
  std::uint64_t events = 0;
  TaskGroup tasks(executor);
  tasks.spawn("usage", answer_signals(clock, events));
  tasks.spawn("jobs", watch(session.client(), jobs, events));
  tasks.spawn("pods", watch(session.client(), pods, events));
  asio::signal_set ended(executor, SIGTERM, SIGINT);
  (void)co_await ended.async_wait(asio::as_tuple(asio::use_awaitable));
  tasks.stop();
  if (!co_await tasks.join(clock, clock.monotonic() + kStopMax)) complain("tasks did not end");
  (void)co_await session.close(clock.monotonic() + kStopMax);
}

Result<void> main_result(std::span<char* const> words) {
  RealClock clock;
  emit(clock.monotonic(), "start");
  TRY(const Arguments arguments, parse_arguments(words));
  asio::io_context io(1);
  TRY(const auto session, connect(io, clock, arguments.kubeconfig));
  run_until_complete(io, run(*session, clock), {.wall = kOperatorMax});
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
