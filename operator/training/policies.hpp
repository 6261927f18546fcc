// The policies, in the order in which decide() asks them. Each is pure and in a file of its own
// name; nullopt: not its business.
#pragma once

#include <optional>
#include <string_view>

#include "operator/training/plan.hpp"
#include "operator/training/situation.hpp"

namespace amdahl::training {

std::optional<Plan> plan_submit(const Situation& s);    // the first status
std::optional<Plan> plan_finished(const Situation& s);  // cleanup: of a job that has ended; its TTL
std::optional<Plan> plan_unrecorded(const Situation& s);  // resume: pods that a crash left behind
std::optional<Plan> plan_cancel(const Situation& s);
std::optional<Plan> plan_parked(const Situation& s);   // resume: of a job whose attempt was paused
std::optional<Plan> plan_refused(const Situation& s);  // start: what was refused for good
std::optional<Plan> plan_finish(const Situation& s);   // every rank ended well
std::optional<Plan> plan_pause(const Situation& s);
std::optional<Plan> plan_restart(const Situation& s);
std::optional<Plan> plan_deadline(const Situation& s);
void plan_ttl(Plan& plan, const Situation& s);  // ttl: removes what ended long ago
Plan plan_start(const Situation& s);            // what is missing is made; what moves is shown

// How long nobody needs to read that the pods exist: nothing else is to be said of them yet.
std::optional<std::chrono::nanoseconds> record_wait(const Situation& s);

// What the ranks are asked for, as long as a pause is open.
api::ReportReply reply_to_ranks(const Situation& s);
// Records that the pause that `next` is asked for, if any, is not done now: why, and what follows.
void refuse_pause(api::TrainingJobStatus& next, const Situation& s, std::string_view why);
// When an open pause is decided without the ranks.
WallTime pause_deadline(const Situation& s);
// When the next deadline passes; nullopt: none runs.
std::optional<std::chrono::nanoseconds> next_deadline(const Situation& s);

}  // namespace amdahl::training
