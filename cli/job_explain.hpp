// Why a TrainingJob is as it is, and what to do next: what its status records, in words.
//
// Pure, any thread. It finds nothing out by itself: causes and the arithmetic of waiting are the
// operator's. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "cli/job_seen.hpp"
#include "operator/api/training_job_cause.hpp"

namespace amdahl::cli {

struct Explanation {
  std::string job = {};
  std::string ns = {};
  std::string phase = {};
  std::string reason = {};
  std::string summary = {};                // one sentence
  std::int32_t attempt = 0;                // the one that `cause` ended; 0: none
  std::optional<api::Cause> cause = {};    // as the status has it
  std::vector<std::string> evidence = {};  // what the summary rests on
  std::vector<std::string> next = {};      // what to do, the best first
  bool trouble = false;                    // something waits, failed or was refused
};
template <class V>
constexpr void fields(V& v, Explanation& explanation) {
  v.required("job", explanation.job);
  v.required("namespace", explanation.ns);
  v.required("phase", explanation.phase);
  v.optional("reason", explanation.reason);
  v.required("summary", explanation.summary);
  v.optional("attempt", explanation.attempt);
  v.optional("cause", explanation.cause);
  v.required("evidence", explanation.evidence);
  v.required("next", explanation.next);
}

Explanation explain(const JobSeen& seen);
// Several lines, for people.
std::string explanation_text(const Explanation& explanation);

inline constexpr std::string_view kNoStepUnderstood =
    "no step was understood in the log so far; call job.step() in the script";
bool no_step_was_understood(const TrainingJob& job);
// "no step for 6m": of a workload that is silent.
std::string silence_text(const api::ProgressStatus& progress, WallTime now);
// "UserException on rank 1 (pod llama-1-1)"
std::string cause_text(const api::Cause& cause);

}  // namespace amdahl::cli
