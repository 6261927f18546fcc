#include "operator/controller/leader_election.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/rules.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::controller {
namespace {

constexpr int kReleaseTriesMax = 3;

LeaseRecord record_from(const kube::Lease& lease) {
  return {.holder = lease.spec.holder.value_or(""),
          .duration = std::chrono::seconds{lease.spec.duration_seconds.value_or(0)},
          .transitions = lease.spec.transitions.value_or(0),
          .version = lease.metadata.version};
}

Json spec_of(const LeaseRecord& record, WallTime now) {
  Json spec = {{"leaseDurationSeconds", record.duration.count()},
               {"leaseTransitions", record.transitions},
               {"renewTime", format_micro_time(now)}};
  // An empty holder is not valid; null takes the field away.
  if (record.holder.empty()) {
    spec["holderIdentity"] = nullptr;
  } else {
    spec["holderIdentity"] = record.holder;
  }
  return spec;
}

// Nobody may refuse it for a lost lease: it is how we learn whether it is lost.
Result<kube::Request> on_lease_lane(Result<kube::Request> request) {
  if (request) {
    request->lane = kube::Lane::kLease;
    request->fenced = false;
  }
  return request;
}

}  // namespace

Result<void> validate(const LeaderElectionOptions& options) {
  TRY(validate(options.timings));
  if (options.identity.empty()) return fail(Errc::kInvalid, "leader election needs an identity");
  if (options.lease.ns.empty() || options.lease.name.empty())
    return fail(Errc::kInvalid, "leader election needs the namespace and name of a lease");
  return {};
}

LeaderElection::LeaderElection(kube::Client& client, Rng rng, LeaderElectionOptions options,
                               LeaderMetrics& metrics, Log log)
    : client_(client),
      clock_(client.clock()),
      rng_(rng),
      options_(std::move(options)),
      metrics_(metrics),
      log_(log.with({{"lease", options_.lease}, {"identity", options_.identity}})),
      candidate_{.identity = options_.identity, .timings = options_.timings} {
  AMDAHL_CHECK(validate(options_).has_value());
}

bool LeaderElection::may_write(Monotonic now) const {
  if (!rule_on(Rule::kE2)) return true;
  return state_.leading && now < state_.valid_until;
}

Task<Result<Epoch>> LeaderElection::acquire() {
  LeaseInput input = LeaseTick{};
  for (;;) {
    LeaseStep step = lease_step(candidate_, state_, input, clock_.monotonic());
    state_ = step.next;
    if (state_.leading) {
      became_leader();
      co_return Epoch{.transitions = state_.seen->transitions};
    }
    if (step.action == LeaseAction::kWait || step.action == LeaseAction::kLost) {
      // Followers come at different moments, so that they do not collide for ever (E1).
      if (!co_await pause(kLeaseJitter)) co_return fail(Errc::kCancelled, "acquire lease: stopped");
      input = LeaseTick{};
    } else {
      input = co_await perform(std::move(step));
    }
  }
}

Task<Error> LeaderElection::hold() {
  (void)co_await pause(0);  // acquire() has just written
  LeaseInput input = LeaseTick{};
  for (;;) {
    const auto stopped = co_await boost::asio::this_coro::cancellation_state;
    if (stopped.cancelled() != boost::asio::cancellation_type::none)
      co_return Error{.code = Errc::kCancelled, .context = "hold lease: stopped"};
    LeaseStep step = lease_step(candidate_, state_, input, clock_.monotonic());
    state_ = step.next;
    if (step.action == LeaseAction::kLost) {
      metrics_.leader.set(0);
      co_return Error{
          .code = Errc::kFenced,
          .context = fmt::format("lease {} is lost: {}", to_string(options_.lease),
                                 last_problem_.empty() ? "not renewed in time" : last_problem_)};
    }
    if (step.action == LeaseAction::kWait) {
      (void)co_await pause(0);
      input = LeaseTick{};
    } else {
      input = co_await perform(std::move(step));
    }
  }
}

Task<Result<void>> LeaderElection::release() {
  if (!state_.leading || !state_.seen) co_return Result<void>{};
  state_.leading = false;  // the fence closes before the lease is given up
  metrics_.leader.set(0);
  LeaseRecord held = *state_.seen;
  for (int tries = 0; tries < kReleaseTriesMax; ++tries) {
    const LeaseInput input = co_await exchange(write_request(released(held)));
    if (std::holds_alternative<LeaseWritten>(input)) {
      log_.info("lease released");
      co_return Result<void>{};
    }
    // A renewal may have been on its way when we were stopped: look once more.
    const LeaseInput read = co_await exchange(read_request());
    const auto* now = std::get_if<LeaseRead>(&read);
    if (now == nullptr) continue;
    if (now->record.holder != options_.identity) co_return Result<void>{};
    held = now->record;
  }
  co_return fail(Errc::kIo, "release lease {}: {}", to_string(options_.lease), last_problem_);
}

void LeaderElection::became_leader() {
  metrics_.leader.set(1);
  metrics_.epoch.set(static_cast<double>(state_.seen->transitions));
  log_.notice("became leader", {{"epoch", state_.seen->transitions}});
}

Task<bool> LeaderElection::pause(double jitter) {
  Monotonic until = clock_.monotonic() + rng_.jitter(options_.timings.retry, jitter);
  if (state_.leading) until = std::min(until, state_.valid_until);
  co_return co_await clock_.sleep_until(until);
}

Task<LeaseInput> LeaderElection::perform(LeaseStep step) {
  if (step.action == LeaseAction::kRead) co_return co_await exchange(read_request());
  if (step.action == LeaseAction::kCreate) co_return co_await exchange(create_request(step.record));
  co_return co_await exchange(write_request(step.record));
}

Task<LeaseInput> LeaderElection::exchange(Result<kube::Request> built) {
  if (!built) {
    report(built.error());
    co_return LeaseFailed{};
  }
  const kube::Request request = *std::move(built);
  const Monotonic sent_at = clock_.monotonic();
  Monotonic deadline = sent_at + options_.timings.renew / 2;
  if (state_.leading) deadline = std::min(deadline, state_.valid_until);
  auto response = co_await client_.transport().send(request, deadline);
  if (response && response->status >= 300)
    response = std::unexpected<Error>(kube::error_from_status(request, *response));
  const bool write = is_write(request.verb);
  if (!response) {
    const Errc code = response.error().code;
    if (code == Errc::kNotFound) co_return LeaseAbsent{};
    report(response.error());
    if (code == Errc::kConflict || code == Errc::kAlreadyExists) co_return LeaseConflict{};
    co_return LeaseFailed{};
  }
  auto lease = decode<kube::Lease>(reader_, response->body);
  if (!lease) {
    report(lease.error());
    co_return LeaseFailed{};
  }
  if (!write) co_return LeaseRead{record_from(*lease)};
  metrics_.renewals.increment();
  last_problem_.clear();
  co_return LeaseWritten{record_from(*lease), sent_at};
}

Result<kube::Request> LeaderElection::read_request() const {
  return on_lease_lane(kube::get_request(kube::kLeases, options_.lease));
}

Result<kube::Request> LeaderElection::create_request(const LeaseRecord& record) const {
  Json spec = spec_of(record, clock_.wall());
  spec["acquireTime"] = spec["renewTime"];
  const Json object = {
      {"apiVersion", kube::kLeases.api_version()},
      {"kind", kube::kLeases.kind},
      {"metadata", {{"name", options_.lease.name}, {"namespace", options_.lease.ns}}},
      {"spec", std::move(spec)}};
  return on_lease_lane(
      kube::create_request(kube::kLeases, options_.lease.ns, options_.lease.name, to_body(object)));
}

Result<kube::Request> LeaderElection::write_request(const LeaseRecord& record) const {
  Json spec = spec_of(record, clock_.wall());
  if (!state_.leading && !record.holder.empty()) spec["acquireTime"] = spec["renewTime"];
  // A merge patch keeps labels and annotations that others put on the lease; the version makes it
  // conditional.
  const Json change = {{"metadata", {{"resourceVersion", record.version}}},
                       {"spec", std::move(spec)}};
  return on_lease_lane(kube::patch_request(
      kube::kLeases, options_.lease, to_body(change),
      {.kind = kube::PatchKind::kMerge, .field_manager = "", .force = false, .subresource = ""}));
}

void LeaderElection::report(const Error& error) {
  if (error.code == Errc::kCancelled) return;
  last_problem_ = error.context;
  metrics_.failures.increment();
  log_.warning("lease request failed", {{"error", error}});
}

}  // namespace amdahl::controller
