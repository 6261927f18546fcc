// Fills a server with Pods and then changes them: the load side of the benchmark.
//
//   bench_writer load  --kubeconfig FILE --pods 20000
//   bench_writer touch --kubeconfig FILE --pods 20000 --count 2000 --rate 100 --first-seq 1
//   bench_writer burst --kubeconfig FILE --pods 20000 --count 5000 --first-seq 1
//
// touch and burst label Pods in random order, none twice before all were labelled once, and print
// {"ev":"written","seq":N,"t_ns":T} when a response has arrived. load can be repeated: it writes
// only what is missing.
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "base/task_group.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/list_page.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_pod.hpp"
#include "tests/bench/pod_manifest.hpp"
#include "tests/bench/protocol.hpp"
#include "tests/bench/workers.hpp"

namespace amdahl::bench {
namespace {
constexpr std::int64_t kInFlight = 16;
constexpr std::int64_t kProgressEvery = 2'000;
constexpr std::uint32_t kPageSize = 2'000;

// All that is asked of a Pod when the question is only whether it is there.
struct Named {
  kube::CacheMeta metadata;
};
template <class V>
constexpr void fields(V& v, Named& object) {
  v.required("metadata", object.metadata, {.wire = 1});
}

using Keys = std::set<kube::ObjectKey>;

Task<Result<Keys>> pod_keys(kube::Client& client, std::string field_selector) {
  Keys found;
  kube::ListOptions options{.fields = std::move(field_selector), .limit = kPageSize};
  do {
    CO_TRY(auto request,
           kube::list_request(kube::kPods, options,
                              {.encoding = kube::Encoding::kProtobuf, .metadata_only = true}));
    CO_TRY(const kube::Response response, co_await client.send(std::move(request)));
    const auto keep = [&found](kube::RawObject object) -> Result<void> {
      TRY(const Named pod, decode_wire<Named>(object.bytes));
      found.insert(pod.metadata.key());
      return {};
    };
    CO_TRY(kube::ListPage page, kube::read_list_page(response, keep));
    options.continue_token = std::move(page.next_page);
  } while (!options.continue_token.empty());
  co_return found;
}

// Thread: one. Lifetime: outlives its workers. Failure: the first error stops all of them.
class Writer {
 public:
  Writer(kube::Client& client, TaskGroup& group, Arguments arguments)
      : client_(client), workers_(client.clock(), group), arguments_(std::move(arguments)) {}

  Task<Result<void>> load();
  Task<Result<void>> label(bool paced);

 private:
  Task<Result<void>> ensure_pod(std::int64_t number);
  Task<Result<void>> label_one(std::int64_t number);

  kube::Client& client_;
  Workers workers_;
  Arguments arguments_;
  Keys present_;                      // load
  Keys finished_;                     // load: status was written, too
  std::vector<std::uint32_t> order_;  // label
  std::optional<Monotonic> started_;  // label: when it is paced
};

Task<Result<void>> Writer::load() {
  CO_TRY(co_await make_namespaces(client_));
  CO_TRY(present_, co_await pod_keys(client_, ""));
  CO_TRY(finished_, co_await pod_keys(client_, "status.phase=Running"));
  co_return co_await workers_.run(arguments_.pods, kInFlight,
                                  [this](std::int64_t number) { return ensure_pod(number); });
}

Task<Result<void>> Writer::ensure_pod(std::int64_t number) {
  const auto index = static_cast<std::uint32_t>(number);
  const kube::ObjectKey key = pod_key(index);
  if (!present_.contains(key)) {
    CO_TRY(auto request, kube::create_request(kube::kPods, key.ns, key.name, pod_manifest(index)));
    CO_TRY(co_await client_.send(std::move(request)));
  }
  if (!finished_.contains(key)) {
    CO_TRY(auto request,
           kube::patch_request(kube::kPods, key, pod_status(index), {.subresource = "status"}));
    CO_TRY(co_await client_.send(std::move(request)));
  }
  if ((number + 1) % kProgressEvery == 0)
    emit(client_.clock().monotonic(), "loaded", fmt::format(R"("n":{})", number + 1));
  co_return Result<void>{};
}

Task<Result<void>> Writer::label(bool paced) {
  if (arguments_.count < 1) co_return fail(Errc::kInvalid, "--count N is required");
  order_.resize(static_cast<std::size_t>(arguments_.pods));
  std::iota(order_.begin(), order_.end(), 0U);
  Rng rng(static_cast<std::uint64_t>(arguments_.first_seq));
  for (std::size_t left = order_.size(); left > 1; --left)
    std::swap(order_[left - 1], order_[rng.below(left)]);
  if (paced) started_ = client_.clock().monotonic();
  co_return co_await workers_.run(arguments_.count, kInFlight,
                                  [this](std::int64_t number) { return label_one(number); });
}

Task<Result<void>> Writer::label_one(std::int64_t number) {
  Clock& clock = client_.clock();
  const std::int64_t seq = arguments_.first_seq + number;
  const auto at = static_cast<std::size_t>(number) % order_.size();
  CO_TRY(auto request,
         kube::patch_request(kube::kPods, pod_key(order_[at]), pod_label_patch(seq), {}));
  if (started_) {
    // A schedule, not a pause between writes: a slow answer does not slow the others down.
    const auto due = std::chrono::nanoseconds(std::chrono::seconds(number)) / arguments_.rate;
    if (!co_await clock.sleep_until(*started_ + due))
      co_return fail(Errc::kCancelled, "writes were stopped");
  }
  CO_TRY(co_await client_.send(std::move(request)));
  emit(clock.monotonic(), "written", fmt::format(R"("seq":{})", seq));
  co_return Result<void>{};
}

Task<Result<void>> run(kube::Session& session, Arguments arguments) {
  const std::string verb = arguments.verb;
  TaskGroup tasks(co_await boost::asio::this_coro::executor);
  Writer writer(session.client(), tasks, std::move(arguments));
  if (verb == "load") co_return co_await writer.load();
  if (verb == "touch" || verb == "burst") co_return co_await writer.label(verb == "touch");
  co_return fail(Errc::kInvalid, "say load, touch or burst, not '{}'", verb);
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
  fmt::print(stderr, "bench_writer: {}\n", done.error().context);
  return EXIT_FAILURE;
}
