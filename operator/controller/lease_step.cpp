#include "operator/controller/lease_step.hpp"

#include <algorithm>

namespace amdahl::controller {
namespace {

// A holder's record counts until nobody has seen it change for the time it asks for.
bool held_by_another(const LeaseCandidate& who, const LeaseState& state, Monotonic now) {
  if (!state.seen || state.seen->holder.empty() || state.seen->holder == who.identity) return false;
  const auto trusted = std::clamp(state.seen->duration, std::chrono::seconds{1}, kLeaseTrustedMax);
  return now < state.changed_at + trusted;
}

LeaseRecord claim(const LeaseCandidate& who, const LeaseState& state) {
  LeaseRecord record{.holder = who.identity,
                     .duration = std::chrono::ceil<std::chrono::seconds>(who.timings.lease)};
  if (!state.seen) return record;
  if (state.present) record.version = state.seen->version;
  // A new term begins when the holder changes, also when the object was deleted in between: an
  // epoch must never come twice (E3).
  const bool same_term = state.seen->holder == who.identity;
  record.transitions = state.seen->transitions + (same_term ? 0 : 1);
  return record;
}

LeaseStep decide(const LeaseCandidate& who, LeaseState state, Monotonic now) {
  if (!state.fresh) return {std::move(state), LeaseAction::kRead, {}};
  if (held_by_another(who, state, now)) return {std::move(state), LeaseAction::kWait, {}};
  LeaseRecord record = claim(who, state);
  const LeaseAction action = state.present ? LeaseAction::kWrite : LeaseAction::kCreate;
  return {std::move(state), action, std::move(record)};
}

LeaseStep lost(LeaseState state) {
  state.leading = false;
  state.valid_until = Monotonic{};
  return {std::move(state), LeaseAction::kLost, {}};
}

LeaseStep on_read(const LeaseCandidate& who, LeaseState state, const LeaseRecord& record,
                  Monotonic now) {
  if (!state.seen || *state.seen != record) {
    state.seen = record;
    state.changed_at = now;
  }
  state.present = true;
  state.fresh = true;
  // Our own name under our own write whose answer was lost is no reason to go.
  if (state.leading && record.holder != who.identity) return lost(std::move(state));
  return decide(who, std::move(state), now);
}

LeaseStep on_written(const LeaseCandidate& who, LeaseState state, const LeaseWritten& written,
                     Monotonic now) {
  state.seen = written.record;
  state.changed_at = now;
  state.present = true;
  state.fresh = true;
  state.leading = true;
  state.valid_until = written.sent_at + who.timings.renew;
  if (now >= state.valid_until) return lost(std::move(state));  // the answer came too late
  return {std::move(state), LeaseAction::kWait, {}};
}

}  // namespace

Result<void> validate(const LeaseTimings& timings) {
  const double retry_max_ms = kLeaseJitter * static_cast<double>(timings.retry.count());
  if (timings.retry.count() > 0 && timings.lease >= std::chrono::seconds{1} &&
      timings.lease <= kLeaseTrustedMax && timings.lease > timings.renew &&
      static_cast<double>(timings.renew.count()) > retry_max_ms)
    return {};
  return fail(Errc::kInvalid,
              "lease timings {} ms / {} ms / {} ms: need {} s >= lease > renew > {} x retry > 0, "
              "and a lease of at least 1 s",
              timings.lease.count(), timings.renew.count(), timings.retry.count(),
              kLeaseTrustedMax.count(), kLeaseJitter);
}

LeaseStep lease_step(const LeaseCandidate& who, LeaseState state, const LeaseInput& input,
                     Monotonic now) {
  if (state.leading && now >= state.valid_until) return lost(std::move(state));
  if (const auto* read = std::get_if<LeaseRead>(&input))
    return on_read(who, std::move(state), read->record, now);
  if (const auto* written = std::get_if<LeaseWritten>(&input))
    return on_written(who, std::move(state), *written, now);
  if (std::holds_alternative<LeaseTick>(input)) {
    // A leader knows its own version and needs no read; a follower has to look.
    state.fresh = state.fresh && state.leading;
    return decide(who, std::move(state), now);
  }
  if (std::holds_alternative<LeaseAbsent>(input)) {
    state.present = false;
    state.fresh = true;
    return decide(who, std::move(state), now);
  }
  state.fresh = false;
  const bool look_at_once = std::holds_alternative<LeaseConflict>(input) && state.leading;
  return {std::move(state), look_at_once ? LeaseAction::kRead : LeaseAction::kWait, {}};
}

LeaseRecord released(const LeaseRecord& held) {
  LeaseRecord record = held;
  record.holder.clear();
  record.duration = std::chrono::seconds{1};
  return record;
}

}  // namespace amdahl::controller
