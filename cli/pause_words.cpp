#include "cli/pause_words.hpp"

#include "cli/text_layout.hpp"

namespace amdahl::cli {

std::string pause_text(const api::PauseStatus& pause) {
  const std::string why = pause.message.empty() ? "" : ": " + one_line(pause.message);
  const std::string from = pause.step ? fmt::format(" at step {}", *pause.step) : "";
  const std::int64_t lost = pause.lost_steps.value_or(0);
  switch (pause.outcome) {
    case api::PauseOutcome::kUnknown:
      return "not done yet" + why;
    case api::PauseOutcome::kCommitted:  // the message repeats it
      return "checkpoint" + from + " is committed" +
             (lost > 0
                  ? fmt::format(", {} step{} to be done again", lost, lost == 1 ? " has" : "s have")
                  : "");
    case api::PauseOutcome::kStepsLost:
      if (lost == 0) return "not committed" + why;  // nobody counted
      return fmt::format("not committed, {} steps have to be done again{}", lost, why);
    case api::PauseOutcome::kNothingToSave:
      return "there was nothing to save" + why;
    case api::PauseOutcome::kRefused:
      return "refused" + why;
  }
  return "";
}

bool saves_fail(const api::CheckpointStatus& checkpoint) {
  if (!checkpoint.last_failed_save) return false;
  const auto& last = checkpoint.last_committed;
  return !last || !last->committed_at || last->committed_at < checkpoint.last_failed_save->at;
}

std::string failed_saves_text(const api::CheckpointStatus& checkpoint) {
  std::string text = fmt::format("{} save{} failed", checkpoint.failed_saves,
                                 checkpoint.failed_saves == 1 ? "" : "s");
  if (checkpoint.last_failed_save && !checkpoint.last_failed_save->message.empty())
    text += ", the last because: " + one_line(checkpoint.last_failed_save->message);
  return text;
}

}  // namespace amdahl::cli
