#include "operator/training/checkpoint_check.hpp"

#include <algorithm>

#include "operator/api/condition.hpp"
#include "operator/training/account.hpp"
#include "operator/training/events.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

namespace reason = api::reason;

constexpr std::size_t kPassedInWordsMax = 3;
constexpr std::size_t kReasonWordsMax = 120;  // of one step: all must fit into a message
constexpr std::chrono::seconds kExplainAfter{10};
constexpr std::string_view kFileScheme = "file://";
constexpr std::string_view kNotRead = "; not verified: ";

const api::CommittedCheckpoint* committed_in(const TrainingJobStatus& status) {
  if (!status.checkpoint || !status.checkpoint->last_committed) return nullptr;
  return &*status.checkpoint->last_committed;
}

// What the look of the status's attempt found; null: there was none.
const CheckpointLook* look_for(const TrainingJobStatus& status, const Situation& s) {
  const auto& look = s.seen.look;
  return look && look->attempt == status.attempt ? &*look : nullptr;
}
// The look was at what is still the newest.
bool is_about(const CheckpointLook* look, const TrainingJobStatus& status) {
  return look != nullptr && !status.attempts.empty() &&
         status.attempts.back().resumed_from_step == committed_in(status)->step;
}
bool none_is_sound(const CheckpointLook& look) {
  return look.finding && !look.finding->newest;
}
bool is_taken(const CheckpointLook* look) {
  return look != nullptr && look->finding && !look->finding->taken_by.empty();
}

std::string passed_in_words(const CheckpointFinding& finding) {
  std::string words;
  for (std::size_t i = 0; i < finding.passed_over.size() && i < kPassedInWordsMax; ++i) {
    const PassedStep& one = finding.passed_over[i];
    words += fmt::format("{}step {}: {}", words.empty() ? "" : "; ", one.step,
                         std::string_view(one.why).substr(0, kReasonWordsMax));
  }
  if (finding.passed_over.size() > kPassedInWordsMax)
    words += fmt::format("; and {} more", finding.passed_over.size() - kPassedInWordsMax);
  return words;
}

std::string damaged_in_words(const Situation& s, const CheckpointFinding& finding) {
  const std::string what =
      finding.passed_over.empty() ? "nothing is there" : passed_in_words(finding);
  return fmt::format(
      "no sound checkpoint ({}). See: amdahl checkpoint verify {}. To start from the beginning: "
      "pause the job, give it another checkpoint.uri, resume it",
      what, s.spec.checkpoint.uri);
}

std::string taken_in_words(const Situation& s, const CheckpointFinding& finding) {
  const std::string& uri = s.spec.checkpoint.uri;
  const auto& job = s.job().metadata;
  return fmt::format(
      "checkpoint.uri {} belongs to {}, so {}/{} cannot use it. Pause the job, give it another "
      "checkpoint.uri, resume it. To start from the checkpoints there, also set "
      "checkpoint.initFrom to {}",
      uri, finding.taken_by, job.ns, job.name, uri);
}

std::string unread_in_words(std::int64_t step, std::string_view why) {
  return fmt::format("step {}{}{}", step, kNotRead, why);
}
std::string in_pods_in_words(const Situation& s) {
  return fmt::format("{} is a folder of the pods, which the operator cannot read",
                     s.spec.checkpoint.uri);
}
std::string_view unread_reason(std::string_view message) {
  const auto at = message.find(kNotRead);
  return at == std::string_view::npos ? "" : message.substr(at + kNotRead.size());
}

// Everything that said from where the attempt goes on says so again.
void go_on_from(TrainingJobStatus& next, const FoundCheckpoint& found) {
  auto& known = *next.checkpoint->last_committed;
  const std::int64_t believed = known.step;
  known = {.step = found.step,
           .uri = known.uri,
           .manifest_digest = found.digest,
           .bytes = found.bytes,
           .committed_at = found.committed_at ? std::optional(stamp(*found.committed_at))
                                              : std::optional<WallTime>()};
  next.attempts.back().resumed_from_step = found.step;
  if (next.attempts.size() < 2) return;
  recount_lost(next, next.attempts.size() - 1, believed, found.step);
  const api::AttemptStatus& before = next.attempts[next.attempts.size() - 2];
  if (before.outcome != api::AttemptOutcome::kPaused || !next.pause) return;
  next.pause->step = found.step;
  next.pause->lost_steps = before.lost_steps;
}

CheckpointAsk ask_of(const Situation& s) {
  const api::CommittedCheckpoint* const known = committed_in(s.status);
  std::string place = known != nullptr && s.view.record->resumed_from_step ? known->uri : "";
  if (place.empty()) place = s.spec.checkpoint.uri;
  return {.job_uid = s.job().metadata.uid,
          .job = fmt::format("{}/{}", s.job().metadata.ns, s.job().metadata.name),
          .attempt = s.view.number,
          .uri = as_address(std::move(place))};
}

// What it waited for so far is over.
Shown as_shown(const Situation& s) {
  return {.in_queue = s.status.phase == api::Phase::kQueued};
}

// Written before a pod is made: the pods are told from where they go on.
bool correct(Plan& plan, const Situation& s, const CheckpointFinding& finding) {
  const FoundCheckpoint& found = *finding.newest;
  const api::CommittedCheckpoint& known = *committed_in(s.status);
  const bool same = known.step == found.step && known.manifest_digest == found.digest;
  // One that nobody reported was damaged: said once, together with the verification.
  const bool news = !finding.passed_over.empty() && !s.status.checkpoint->verified_at;
  if (same && !news) return false;
  TrainingJobStatus next = s.status;
  go_on_from(next, found);
  plan = write_ahead(s, std::move(next), Move::kObserve, as_shown(s));
  plan.policy = "verify";
  if (!finding.passed_over.empty())
    plan.events.push_back(
        event_of(event::kCheckpointDamaged,
                 fmt::format("{}; going on from step {}", passed_in_words(finding), found.step)));
  return true;
}

bool wait_for_repair(Plan& plan, const Situation& s, const CheckpointLook& look) {
  if (s.now >= look.when + kLookAgain || s.now < look.when) plan.look_at_checkpoint = ask_of(s);
  plan.look_again_in(
      std::max<std::chrono::nanoseconds>(look.when + kLookAgain - s.now, std::chrono::seconds{1}));
  const bool taken = is_taken(&look);
  show(plan, s,
       {.pending = api::PendingStatus{
            .reason = std::string(taken ? event::kCheckpointTaken : event::kCheckpointDamaged),
            .message =
                taken ? taken_in_words(s, *look.finding) : damaged_in_words(s, *look.finding)}});
  plan.policy = "verify";
  return true;
}

// Said once for each reason there is; the pods are made all the same.
bool go_on_unread(Plan& plan, const Situation& s, const CheckpointLook& look) {
  if (s.status.checkpoint->verified_at) return false;
  const auto* const before =
      api::find_condition(s.status.conditions, api::condition::kCheckpointReady);
  Plan said = write_ahead(s, s.status, Move::kObserve, as_shown(s));
  said.policy = "verify";
  const auto* const after =
      api::find_condition(said.status->conditions, api::condition::kCheckpointReady);
  // As it would be kept: cut to what a message may hold.
  if (before != nullptr && unread_reason(before->message) == unread_reason(after->message))
    return false;
  said.events.push_back(event_of(event::kCheckpointNotVerified,
                                 unread_in_words(committed_in(s.status)->step, look.unreadable)));
  plan = std::move(said);
  return true;
}

bool wait_for_look(Plan& plan, const Situation& s) {
  plan.look_at_checkpoint = ask_of(s);
  plan.policy = "verify";
  // Most looks end in a moment: nobody needs to read of them.
  const WallTime due = attempt_began(s.status) + kExplainAfter;
  plan.look_again_in(s.now < due ? due - s.now : kExplainAfter);
  if (s.now >= due)
    show(plan, s,
         {.pending = api::PendingStatus{
              .reason = "VerifyingCheckpoint",
              .message = fmt::format("the checkpoints at {} are read before GPUs are asked for",
                                     s.spec.checkpoint.uri)}});
  return true;
}

bool judge(Plan& plan, const Situation& s) {
  const CheckpointLook* const look = look_for(s.status, s);
  if (look == nullptr) return wait_for_look(plan, s);
  if (!look->finding) return go_on_unread(plan, s, *look);
  if (none_is_sound(*look)) return wait_for_repair(plan, s, *look);
  return correct(plan, s, *look->finding);
}

// A job that goes on from nothing is looked at too: its place may be another job's.
bool judge_place(Plan& plan, const Situation& s) {
  const CheckpointLook* const look = look_for(s.status, s);
  if (look == nullptr) return wait_for_look(plan, s);
  return is_taken(look) && wait_for_repair(plan, s, *look);
}

bool may_look(const Situation& s) {
  return s.seen.can_look && !s.seen.store_in_pods && s.view.created == 0 && s.view.live();
}
bool wants_check(const Situation& s) {
  return may_look(s) && s.view.record->resumed_from_step && is_verifiable(s.spec, s.status);
}
bool wants_place(const Situation& s) {
  return may_look(s) && !s.view.record->resumed_from_step && !s.spec.checkpoint.uri.empty();
}

}  // namespace

std::string as_address(std::string place) {
  if (place.starts_with('/')) place.insert(0, kFileScheme);
  return place;
}

bool lies_below(std::string_view part, std::string_view whole) {
  const auto trimmed = [](std::string_view text) {
    if (text.starts_with(kFileScheme)) text.remove_prefix(kFileScheme.size());
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
  };
  if (part.find("/..") != std::string_view::npos) return false;  // who knows where that leads
  part = trimmed(part);
  whole = trimmed(whole);
  return part.starts_with(whole) && (part.size() == whole.size() || part[whole.size()] == '/');
}

bool is_verifiable(const api::TrainingJobSpec& spec, const TrainingJobStatus& status) {
  const api::CommittedCheckpoint* const known = committed_in(status);
  return known != nullptr && !spec.checkpoint.uri.empty() && !known->manifest_digest.empty() &&
         (known->uri.empty() || lies_below(known->uri, spec.checkpoint.uri));
}

void begin_look(Plan& plan, const Situation& s) {
  const bool wanted = wants_check(s) || wants_place(s);
  if (wanted && look_for(s.status, s) == nullptr) plan.look_at_checkpoint = ask_of(s);
}

bool check_checkpoint(Plan& plan, const Situation& s) {
  if (wants_place(s)) return judge_place(plan, s);
  return wants_check(s) && judge(plan, s);
}

void take_look(TrainingJobStatus& next, const Situation& s) {
  const CheckpointLook* const look = look_for(next, s);
  const api::CommittedCheckpoint* const known = committed_in(next);
  if (look == nullptr || known == nullptr || !look->finding) return;
  const auto& found = look->finding->newest;
  if (!found && is_about(look, next)) next.checkpoint->verified_at.reset();
  if (found && found->step == known->step && found->digest == known->manifest_digest)
    next.checkpoint->verified_at = stamp(look->when);
}

api::Condition checkpoint_condition(const TrainingJobStatus& next, const Situation& s) {
  const auto said = [](api::ConditionStatus status, std::string_view why, std::string message) {
    return api::Condition{.type = std::string(api::condition::kCheckpointReady),
                          .status = status,
                          .reason = std::string(why),
                          .message = std::move(message)};
  };
  using enum api::ConditionStatus;
  if (s.spec.checkpoint.uri.empty()) return said(kFalse, reason::kNotConfigured, "");
  const CheckpointLook* const look = look_for(next, s);
  if (is_taken(look)) return said(kFalse, reason::kTaken, taken_in_words(s, *look->finding));
  const api::CommittedCheckpoint* const known = committed_in(next);
  if (known == nullptr) {
    const bool failed = next.checkpoint && next.checkpoint->last_failed_save;
    return said(kFalse, reason::kNoCheckpoint,
                failed ? "saves fail: " + next.checkpoint->last_failed_save->message : "");
  }
  const std::string step = fmt::format("step {}", known->step);
  if (next.checkpoint->verified_at) return said(kTrue, reason::kVerified, step);
  if (s.seen.store_in_pods)
    return said(kUnknown, reason::kNotVerified, unread_in_words(known->step, in_pods_in_words(s)));
  if (is_about(look, next) && none_is_sound(*look))
    return said(kFalse, reason::kDamaged, damaged_in_words(s, *look->finding));
  if (is_about(look, next) && !look->finding)
    return said(kUnknown, reason::kNotVerified, unread_in_words(known->step, look->unreadable));
  // A process that starts anew knows no looks; what was found of this checkpoint still holds.
  const auto* const before =
      api::find_condition(s.status.conditions, api::condition::kCheckpointReady);
  const api::CommittedCheckpoint* const before_known = committed_in(s.status);
  if (before != nullptr && before_known != nullptr && *before_known == *known &&
      (before->reason == reason::kDamaged || before->reason == reason::kNotVerified))
    return *before;
  // A rank says that it is complete; nobody has read it back.
  return said(kUnknown, reason::kNotVerified, step);
}

}  // namespace amdahl::training
