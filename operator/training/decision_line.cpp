#include "operator/training/decision_line.hpp"

#include <algorithm>

namespace amdahl::training {
namespace {

using api::TrainingJobStatus;

const api::AttemptStatus* find_attempt(const TrainingJobStatus& status, std::int32_t number) {
  const auto found = std::ranges::find(status.attempts, number, &api::AttemptStatus::number);
  return found == status.attempts.end() ? nullptr : &*found;
}

// The newest attempt whose outcome or cause is news.
const api::AttemptStatus* ended_now(const TrainingJobStatus& before,
                                    const TrainingJobStatus& after) {
  for (auto one = after.attempts.rbegin(); one != after.attempts.rend(); ++one) {
    if (one->outcome == api::AttemptOutcome::kUnknown && !one->cause) continue;
    const api::AttemptStatus* const old = find_attempt(before, one->number);
    if (old == nullptr || old->outcome != one->outcome || old->cause != one->cause) return &*one;
    return nullptr;
  }
  return nullptr;
}

bool is_decision(const Plan& plan, const TrainingJobStatus& before) {
  if (plan.acts()) return true;
  if (!plan.status) return false;
  const TrainingJobStatus& after = *plan.status;
  return after.phase != before.phase || after.attempt != before.attempt ||
         ended_now(before, after) != nullptr || !plan.events.empty() || after.epoch != before.epoch;
}

void take_status(Decision& line, const TrainingJobStatus& before, const TrainingJobStatus& after) {
  line.to = enum_name(after.phase);
  line.attempt = after.attempt;
  if (line.reason.empty()) line.reason = after.reason;
  const api::AttemptStatus* const ended = ended_now(before, after);
  if (ended == nullptr) return;
  line.attempt = ended->number;
  line.step = ended->last_step;
  if (!ended->cause) return;
  line.cause = enum_name(ended->cause->cause_class);
  line.rank = ended->cause->rank;
}

}  // namespace

std::optional<Decision> decision_of(const Plan& plan, const TrainingJobStatus& before) {
  if (!is_decision(plan, before)) return std::nullopt;
  Decision line{.policy = plan.policy,
                .move = plan.move ? std::string(name(*plan.move)) : std::string(),
                .from = std::string(enum_name(before.phase)),
                .to = std::string(enum_name(before.phase)),
                .attempt = plan.as_if ? plan.as_if->status.attempt : before.attempt,
                .created = plan.create_pods.size(),
                .deleted = plan.delete_pods.size(),
                .released = plan.release_pods.size()};
  if (before.progress) line.step = before.progress->step;
  for (const PlannedEvent& event : plan.events) {
    line.reason = event.reason;
    line.warning = line.warning || event.warning;
  }
  if (plan.status) take_status(line, before, *plan.status);
  return line;
}

void write_decision(const Log& log, const kube::ObjectKey& job, const std::string& uid,
                    const Decision& line) {
  Log about = log.with({{"trainingjob", job},
                        {"uid", uid},
                        {"attempt", line.attempt},
                        {"from", line.from},
                        {"to", line.to},
                        {"policy", line.policy}});
  if (!line.move.empty()) about = about.with({{"move", line.move}});
  if (!line.reason.empty()) about = about.with({{"reason", line.reason}});
  if (!line.cause.empty()) about = about.with({{"cause", line.cause}});
  if (line.rank) about = about.with({{"rank", *line.rank}});
  if (line.step) about = about.with({{"step", *line.step}});
  if (line.created > 0) about = about.with({{"pods_created", line.created}});
  if (line.deleted > 0) about = about.with({{"pods_deleted", line.deleted}});
  if (line.released > 0) about = about.with({{"pods_released", line.released}});
  if (line.warning)
    about.warning("job decision");
  else
    about.info("job decision");
}

}  // namespace amdahl::training
