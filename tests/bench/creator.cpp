// Creates objects as fast as the server takes them, and says how fast that was.
//
//   bench_creator create --kubeconfig FILE --kind configmaps --clients 8 --count 4000 --first-seq 1
//   bench_creator load   --kubeconfig FILE --jobs 10000 --pods 50000 --clients 16
//
// create: each client sends its next request when it has the answer to the last one. Prints
// {"ev":"created","count":N,"seconds":S,"p50_ms":T,"p99_ms":T}; what was sent first, to open the
// connections, does not count. load: TrainingJobs with status, then the Pods that belong to them
// with theirs; the definition of the kind must be there.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.hpp"
#include "base/task_group.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_pod.hpp"
#include "tests/bench/job_manifest.hpp"
#include "tests/bench/pod_manifest.hpp"
#include "tests/bench/protocol.hpp"
#include "tests/bench/workers.hpp"

namespace amdahl::bench {
namespace {
constexpr std::int64_t kWarmUpPerClient = 4;

double seconds_between(Monotonic from, Monotonic to) {
  return std::chrono::duration<double>(to - from).count();
}

// Thread: one. Lifetime: outlives its workers. Failure: the first error stops all of them.
class Creator {
 public:
  Creator(kube::Client& client, TaskGroup& group, Arguments arguments)
      : client_(client), workers_(client.clock(), group), arguments_(std::move(arguments)) {}

  Task<Result<void>> create();
  Task<Result<void>> load();

 private:
  Result<kube::Request> request_for(std::int64_t number) const;
  Task<Result<void>> create_one(std::int64_t number);
  Task<Result<void>> load_job(std::int64_t number);
  Task<Result<void>> load_pod(std::int64_t number);
  void report();

  kube::Client& client_;
  Workers workers_;
  Arguments arguments_;
  Monotonic started_{};
  std::vector<kube::Request> requests_;  // create: made before the clock runs
  std::vector<double> latencies_ms_;     // create
  std::vector<std::string> job_uids_;    // load: by number
};

Result<kube::Request> Creator::request_for(std::int64_t number) const {
  const std::int64_t seq = arguments_.first_seq + number;
  if (arguments_.kind == "configmaps")
    return kube::create_request(kube::kConfigMaps, namespace_name(0), "", config_map_manifest(seq));
  if (arguments_.kind != "pods")
    return fail(Errc::kInvalid, "--kind is configmaps or pods, not '{}'", arguments_.kind);
  const auto index = static_cast<std::uint32_t>(seq);
  return kube::create_request(kube::kPods, pod_key(index).ns, "", pod_manifest(index, ""));
}

Task<Result<void>> Creator::create_one(std::int64_t number) {
  kube::Request& request = requests_[static_cast<std::size_t>(number)];
  const Monotonic sent = client_.clock().monotonic();
  CO_TRY(co_await client_.send(std::move(request)));
  latencies_ms_.push_back(seconds_between(sent, client_.clock().monotonic()) * 1e3);
  co_return Result<void>{};
}

Task<Result<void>> Creator::create() {
  if (arguments_.count < 1) co_return fail(Errc::kInvalid, "--count N is required");
  CO_TRY(co_await make_namespaces(client_));
  const std::int64_t warm_up = kWarmUpPerClient * arguments_.clients;
  for (std::int64_t number = 0; number < warm_up + arguments_.count; ++number) {
    CO_TRY(auto request, request_for(number));
    requests_.push_back(std::move(request));
  }
  latencies_ms_.reserve(requests_.size());
  CO_TRY(co_await workers_.run(warm_up, arguments_.clients,
                               [this](std::int64_t number) { return create_one(number); }));
  latencies_ms_.clear();
  const auto step = [this, warm_up](std::int64_t number) { return create_one(warm_up + number); };
  started_ = client_.clock().monotonic();
  CO_TRY(co_await workers_.run(arguments_.count, arguments_.clients, step));
  report();
  co_return Result<void>{};
}

void Creator::report() {
  const Monotonic now = client_.clock().monotonic();
  std::ranges::sort(latencies_ms_);
  const auto at = [this](double share) {
    return latencies_ms_[static_cast<std::size_t>(share *
                                                  static_cast<double>(latencies_ms_.size() - 1))];
  };
  emit(now, "created",
       fmt::format(R"("count":{},"seconds":{:.6f},"p50_ms":{:.3f},"p99_ms":{:.3f})",
                   latencies_ms_.size(), seconds_between(started_, now), at(0.5), at(0.99)));
}

Task<Result<void>> Creator::load() {
  CO_TRY(co_await make_namespaces(client_));
  started_ = client_.clock().monotonic();
  job_uids_.resize(static_cast<std::size_t>(arguments_.jobs));
  CO_TRY(co_await workers_.run(arguments_.jobs, arguments_.clients,
                               [this](std::int64_t number) { return load_job(number); }));
  CO_TRY(co_await workers_.run(arguments_.pods, arguments_.clients,
                               [this](std::int64_t number) { return load_pod(number); }));
  const Monotonic now = client_.clock().monotonic();
  emit(now, "loaded",
       fmt::format(R"("jobs":{},"pods":{},"writes":{},"seconds":{:.6f})", arguments_.jobs,
                   arguments_.pods, 2 * (arguments_.jobs + arguments_.pods),
                   seconds_between(started_, now)));
  co_return Result<void>{};
}

Task<Result<void>> Creator::load_job(std::int64_t number) {
  const auto index = static_cast<std::uint32_t>(number);
  const kube::ObjectKey key = job_key(index);
  CO_TRY(auto request, kube::create_request(kTrainingJobs, key.ns, key.name, job_manifest(index)));
  CO_TRY(const kube::Response made, co_await client_.send(std::move(request)));
  const auto object = nlohmann::json::parse(made.body, nullptr, false);
  if (!object.is_object()) co_return fail(Errc::kInvalid, "create {}: no JSON object", key.name);
  job_uids_[index] = object.value(nlohmann::json::json_pointer("/metadata/uid"), "");
  CO_TRY(auto patch,
         kube::patch_request(kTrainingJobs, key, job_status(index), {.subresource = "status"}));
  CO_TRY(co_await client_.send(std::move(patch)));
  co_return Result<void>{};
}

Task<Result<void>> Creator::load_pod(std::int64_t number) {
  const auto index = static_cast<std::uint32_t>(number);
  const kube::ObjectKey key = pod_key(index);
  const std::size_t job = index / kRanks;
  const std::string owner = job < job_uids_.size() ? job_uids_[job] : "";
  CO_TRY(auto request,
         kube::create_request(kube::kPods, key.ns, key.name, pod_manifest(index, owner)));
  CO_TRY(co_await client_.send(std::move(request)));
  CO_TRY(auto patch,
         kube::patch_request(kube::kPods, key, pod_status(index), {.subresource = "status"}));
  CO_TRY(co_await client_.send(std::move(patch)));
  co_return Result<void>{};
}

Task<Result<void>> run(kube::Session& session, Arguments arguments) {
  const std::string verb = arguments.verb;
  TaskGroup tasks(co_await boost::asio::this_coro::executor);
  Creator creator(session.client(), tasks, std::move(arguments));
  if (verb == "create") co_return co_await creator.create();
  if (verb == "load") co_return co_await creator.load();
  co_return fail(Errc::kInvalid, "say create or load, not '{}'", verb);
}

Result<void> main_result(std::span<char* const> words) {
  TRY(Arguments arguments, parse_arguments(words));
  boost::asio::io_context io(1);
  RealClock clock;
  TRY(const auto session, connect(io, clock, arguments.kubeconfig));
  return run_until_complete(io, run(*session, std::move(arguments)), {.wall = kRunMax});
}
}  // namespace
}  // namespace amdahl::bench

int main(int argc, char** argv) {
  const auto done = amdahl::bench::main_result({argv, static_cast<std::size_t>(argc)});
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "bench_creator: {}\n", done.error().context);
  return EXIT_FAILURE;
}
