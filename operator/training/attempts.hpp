// How attempts begin and end in a status, and how a job ends. Pure edits of a status that a policy
// then completes (status_of.hpp) and writes ahead.
//
// Terminal conditions are set here and nowhere else: exactly one becomes True, once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/training/situation.hpp"

namespace amdahl::training {

using api::TrainingJobStatus;

// Whose steps are the steps of the gang: the lowest rank that counts any, since many programs print
// on one rank only and not always on the first (Megatron prints on its last). While none counts,
// the lowest rank that reports; null: none does. Checkpoints and pauses follow rank 0 all the same.
const api::Report* counting_report(const Situation& s);

// What the ranks reported, into progress, checkpoint and the record of the attempt.
void take_reports(TrainingJobStatus& next, const Situation& s);

// How the attempt stopped that a pause or a cancel has ended, once its pods are over.
void note_stop(TrainingJobStatus& next, const Situation& s);

// When its first pod was created, by the API server's clock.
void note_start(api::AttemptStatus& record, const Situation& s);

// Closes the record of the current attempt. Its time goes to `elapsed`: training time adds up over
// all attempts; waiting and starting are carried over a pause that came before they were through,
// and begin anew after anything else.
void end_attempt(TrainingJobStatus& next, const Situation& s, api::AttemptOutcome outcome,
                 std::optional<api::Cause> cause);

// The next number, with as many pods as the spec says now, from the newest checkpoint.
void begin_attempt(TrainingJobStatus& next, const Situation& s);

void finish_job(TrainingJobStatus& next, const Situation& s, std::string_view condition,
                std::string_view reason, std::string message);

// When the current attempt began to wait for nodes.
WallTime attempt_began(const TrainingJobStatus& status);
// Null: the current one is the first that is remembered.
const api::AttemptStatus* attempt_before(const TrainingJobStatus& status);
// Until when the current attempt waits because of how the one before ended; a first disruption
// costs no wait.
std::optional<WallTime> backoff_until(const Situation& s);
// It has its nodes, and not all ranks run, or none of them has made a step. When no rank reports,
// no step can be seen: then it has started when all ranks run.
bool is_starting(const Situation& s);
// Used of the deadlines, with what runs now.
struct Used {
  std::int64_t queue_seconds = 0;
  std::int64_t start_seconds = 0;
  std::int64_t active_seconds = 0;
};
Used used_time(const Situation& s);

// The highest step that attempts before the current one reached, -1: none.
std::int64_t best_step_before(const TrainingJobStatus& status);
// Attempts that ended badly in a row, newest last, without getting further than those before.
std::int32_t fruitless_attempts(const TrainingJobStatus& status);
// Steps that have to be done again when the attempt ends now.
std::optional<std::int64_t> steps_at_risk(const TrainingJobStatus& status,
                                          const api::TrainingJobSpec& spec);

}  // namespace amdahl::training
