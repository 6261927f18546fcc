#include "cli/job_wish.hpp"

#include <nlohmann/json.hpp>

#include "cli/job_explain.hpp"
#include "cli/pause_words.hpp"
#include "operator/api/condition.hpp"
#include "operator/api/names.hpp"

namespace amdahl::cli {
namespace {

using api::Phase;

std::string ended(const TrainingJob& job) {
  return fmt::format("{} has ended ({})", job.metadata.name, enum_name(phase_of(job).phase));
}

std::string paused(const TrainingJob& job) {
  const auto& pause = job.status.pause;
  return pause && pause->outcome != api::PauseOutcome::kUnknown ? pause_text(*pause)
                                                                : "no pod of it had started";
}

std::string resumed(const TrainingJob& job) {
  const auto& attempts = job.status.attempts;
  std::string text = fmt::format("{} runs, attempt {}", job.metadata.name, job.status.attempt);
  if (!attempts.empty() && attempts.back().resumed_from_step)
    text += fmt::format(", from step {}", *attempts.back().resumed_from_step);
  return text;
}

std::string cancelled(const TrainingJob& job) {
  const auto& cancel = job.status.cancel;
  std::string text = job.metadata.name + " is cancelled";
  if (cancel && cancel->last_step)
    text += fmt::format(", its last step was {}", *cancel->last_step);
  return text;
}

FirstLook done(std::string said, int code) {
  return {.ask = false, .wait = false, .said = std::move(said), .code = code};
}

// A job without a checkpoint loses all its steps if its script cannot be asked to save, whatever
// the policy promises (ADR 0026). The person who pauses it may not know that.
bool would_lose_steps(const TrainingJob& job) {
  const api::CheckpointSpec& spec = job.spec.checkpoint;
  const auto& saved = job.status.checkpoint;
  return spec.pause.policy == api::PausePolicy::kCommitted && spec.uri.empty() &&
         !(saved && saved->last_committed) && job.status.progress &&
         job.status.progress->step.value_or(0) > 0 &&
         api::is_true(job.status.conditions, api::condition::kRunning);
}

FirstLook look_before_pause(const TrainingJob& job, const std::string& called, bool lose_steps) {
  if (!job.spec.suspend && !lose_steps && would_lose_steps(job))
    return done(
        fmt::format("{} is not paused: it has no checkpoint, and a pause would lose its {} step{} "
                    "unless its script saves for it. Set spec.checkpoint.uri before its next run, "
                    "or run '{} pause {} -n {} --lose-steps' to pause it anyway",
                    job.metadata.name, *job.status.progress->step,
                    *job.status.progress->step == 1 ? "" : "s", called, job.metadata.name,
                    job.metadata.ns),
        kFailed);
  if (!job.spec.suspend) return {};
  if (api::is_true(job.status.conditions, api::condition::kSuspended))
    return done(fmt::format("{} is paused already: {}", job.metadata.name, paused(job)), kDone);
  std::string said = job.metadata.name + " is being paused already";
  if (lose_steps)
    said +=
        "; --lose-steps changes nothing now: to stop it without a checkpoint, set "
        "spec.checkpoint.pause.policy to BestEffort";
  return {.ask = false, .said = std::move(said)};
}

FirstLook look_before_resume(const TrainingJob& job) {
  if (job.spec.suspend) return {};
  const bool runs = api::is_true(job.status.conditions, api::condition::kRunning);
  return {.ask = false,
          .wait = !runs,
          .said = fmt::format("{} is not paused: {}", job.metadata.name,
                              enum_name(phase_of(job).phase))};
}

WishVerdict closed(std::string said, int code) {
  return {.open = false, .said = std::move(said), .code = code};
}

WishVerdict judge_pause(const TrainingJob& job, bool fresh) {
  if (is_finished(phase_of(job).phase))
    return closed(ended(job) + " before it could be paused", kFailed);
  if (!job.spec.suspend) return closed(job.metadata.name + " was told to run again", kFailed);
  if (!fresh) return {};
  const auto* suspended = api::find_condition(job.status.conditions, api::condition::kSuspended);
  if (suspended == nullptr) return {};
  if (suspended->status == api::ConditionStatus::kTrue)
    return closed(fmt::format("{} is paused: {}", job.metadata.name, paused(job)), kDone);
  if (suspended->reason != api::reason::kPauseRefused) return {};
  const std::string why = job.status.pause ? pause_text(*job.status.pause) : suspended->message;
  return closed(fmt::format("{} is not paused: {}", job.metadata.name, why), kFailed);
}

WishVerdict judge_resume(const TrainingJob& job, bool fresh) {
  const Phase phase = phase_of(job).phase;
  if (is_finished(phase)) return closed(ended(job), phase == Phase::kSucceeded ? kDone : kFailed);
  if (job.spec.suspend) return closed(job.metadata.name + " was told to pause again", kFailed);
  if (fresh && api::is_true(job.status.conditions, api::condition::kRunning))
    return closed(resumed(job), kDone);
  return {};
}

WishVerdict judge_cancel(const TrainingJob& job) {
  const Phase phase = phase_of(job).phase;
  if (phase == Phase::kCancelled) return closed(cancelled(job), kDone);
  return is_finished(phase) ? closed(ended(job) + " before it could be cancelled", kDone)
                            : WishVerdict{};
}

}  // namespace

FirstLook first_look(Wish wish, const TrainingJob& job, const std::string& called,
                     bool lose_steps) {
  const Phase phase = phase_of(job).phase;
  if (is_finished(phase)) {
    if (wish == Wish::kCancel) return done(ended(job) + " already", kDone);
    return done(fmt::format("{}: there is nothing to {}; '{} rerun {} -n {}' runs it again",
                            ended(job), wish == Wish::kPause ? "pause" : "resume", called,
                            job.metadata.name, job.metadata.ns),
                kFailed);
  }
  if (job.spec.cancel) {
    FirstLook look{.ask = false, .said = job.metadata.name + " is being cancelled already"};
    look.wait = wish == Wish::kCancel;
    look.code = wish == Wish::kCancel ? kDone : kFailed;
    return look;
  }
  if (wish == Wish::kPause) return look_before_pause(job, called, lose_steps);
  return wish == Wish::kResume ? look_before_resume(job) : FirstLook{};
}

Json patch_of(Wish wish, const std::string& who) {
  Json patch = Json::object();
  if (wish == Wish::kCancel)
    patch["spec"]["cancel"] = true;
  else
    patch["spec"]["suspend"] = wish == Wish::kPause;
  if (!who.empty())
    patch["metadata"]["annotations"][std::string(api::annotation::kRequestedBy)] = who;
  return patch;
}

std::string asked_text(Wish wish, const TrainingJob& job, const std::string& called) {
  struct Words {
    std::string_view asked;
    std::string_view goal;
  };
  static constexpr Words kWords[] = {
      {"pause", "Paused"}, {"resume", "Running"}, {"cancel", "Finished"}};
  const Words& row = kWords[static_cast<std::size_t>(wish)];
  return fmt::format("{}: {} asked for ('{} wait {} -n {} --for={}' waits for it)",
                     job.metadata.name, row.asked, called, job.metadata.name, job.metadata.ns,
                     row.goal);
}

WishVerdict judge(Wish wish, std::int64_t generation, const TrainingJob& job) {
  const bool fresh = job.status.observed_generation >= generation;
  if (wish == Wish::kPause) return judge_pause(job, fresh);
  return wish == Wish::kResume ? judge_resume(job, fresh) : judge_cancel(job);
}

}  // namespace amdahl::cli
