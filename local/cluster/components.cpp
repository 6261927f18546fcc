#include "local/cluster/components.hpp"

#include <ranges>
#include <utility>

#include "base/metrics.hpp"
#include "local/apiserver/front/in_process_transport.hpp"

namespace amdahl::local {

namespace {

Task<void> nothing_to_wait_for() {
  co_return;
}

}  // namespace

struct Components::ClientOf {
  ClientOf(DurableServer& server, Clock& clock, Rng rng, std::string user)
      : wire(server, clock, {.name = std::move(user), .groups = {"system:masters"}}),
        client(wire, clock, rng) {}
  InProcessTransport wire;
  kube::Client client;
  MetricsRegistry metrics;
};

Components::Components(const boost::asio::any_io_executor& executor, Clock& clock,
                       DurableServer& server, Rng rng, Log log)
    : executor_(executor), clock_(clock), server_(server), rng_(rng), log_(std::move(log)) {}

Components::~Components() = default;

controller::Runtime Components::runtime(std::string user) {
  const Log log = log_.with({{"component", user}});
  clients_.push_back(std::make_unique<ClientOf>(server_, clock_, rng_.split(), std::move(user)));
  return {.executor = executor_,
          .client = clients_.back()->client,
          .metrics = clients_.back()->metrics,
          .log = log};
}

Components::Stop Components::asks(std::function<void()> stop) {
  return [stop = std::move(stop)](Monotonic /*deadline*/) -> Task<void> {
    stop();
    return nothing_to_wait_for();
  };
}

void Components::add(std::string name, Run run, Stop stop) {
  parts_.push_back(std::make_unique<Part>(Part{.name = std::move(name),
                                               .run = std::move(run),
                                               .stop = std::move(stop),
                                               .task = std::make_unique<TaskGroup>(executor_)}));
}

void Components::start() {
  for (const auto& part : parts_) part->task->spawn(part->name, drive(*part));
}

Task<void> Components::drive(Part& part) {
  const auto ended = co_await part.run();
  if (stopping_) co_return;
  Error why = ended ? Error{.code = Errc::kUnavailable, .context = "it ended"} : ended.error();
  why.context = part.name + ": " + why.context;
  log_.critical("a part of the cluster ended", {{"error", why}});
  if (failure_) co_return;
  failure_ = std::move(why);
  if (on_failure_) on_failure_();
}

Task<Result<void>> Components::stop(Monotonic deadline) {
  stopping_ = true;
  Result<void> result;
  for (const auto& part : std::views::reverse(parts_)) {
    co_await part->stop(deadline);
    if (co_await part->task->join(clock_, deadline)) continue;
    part->task->stop();
    // Cancelled tasks end at once, or they are stuck in something that cannot be left.
    (void)co_await part->task->join(clock_, deadline + std::chrono::seconds{1});
    result = fail(Errc::kTimeout, "{} did not end in time", part->name);
  }
  co_return result;
}

}  // namespace amdahl::local
