// What ranks say in a scenario, and what they have left in the store.

#include <charconv>

#include "operator/training/test_scenario.hpp"

namespace amdahl::training {
namespace {

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string digest_of(std::int64_t step) {
  return fmt::format("sha256:{}", step);
}

}  // namespace

Result<void> report_word(World& world, const std::vector<Word>& words) {
  api::Report& report = world.report(static_cast<std::uint32_t>(number(words.at(1).key)));
  RankReport& entry = world.reports.at(report.pod_uid);
  report.ended_ranks.clear();
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string& value = words[i].value;
    if (words[i].key == "step") {
      if (report.step != number(value)) entry.step_changed = world.now;
      report.step = number(value);
    }
    if (words[i].key == "source") report.step_source = *parse_enum<api::StepSource>(value);
    if (words[i].key == "stepAge")  // as Reports take it: of a step that is news
      entry.step_changed = world.now - std::chrono::seconds{number(value)};
    if (words[i].key == "total") report.total_steps = number(value);
    if (words[i].key == "stepSeconds") report.step_seconds = static_cast<double>(number(value));
    if (words[i].key == "quiet") report.quiet_seconds = static_cast<double>(number(value));
    if (words[i].key == "phase") report.phase = *parse_enum<api::ReportPhase>(value);
    if (words[i].key == "pause") report.pause.state = *parse_enum<api::ReportPauseState>(value);
    if (words[i].key == "trained")
      report.phases = {
          {.name = api::ReportPhase::kTrain, .seconds = static_cast<double>(number(value))}};
    if (words[i].key == "exit")
      report.exit = api::ReportExit{.code = static_cast<std::int32_t>(number(value))};
    if (words[i].key == "pauseStep") report.pause.step = number(value);
    if (words[i].key == "checkpoint")
      report.checkpoint = api::ReportCheckpoint{.step = number(value), .path = "p"};
    if (words[i].key == "stall")
      report.checkpoint->stall_seconds = static_cast<double>(number(value));
    if (words[i].key == "ended") report.ended_ranks.push_back(number(value));
    if (words[i].key == "endedAge") report.ended_age_seconds = static_cast<double>(number(value));
    if (words[i].key == "error")
      report.error = api::ReportError{.kind = api::ReportErrorKind::kException, .type = value};
    if (words[i].key == "errorMessage") report.error->message = value;
    if (words[i].key == "errorWhere") report.error->where = value;
    if (words[i].key == "way") report.pause.way = *parse_enum<api::ReportPauseWay>(value);
    if (words[i].key == "failedSaves" || words[i].key == "saveError") {
      if (!report.failed_saves) report.failed_saves.emplace();
      report.failed_saves->at = world.now;
      if (words[i].key == "saveError") report.failed_saves->message = value;
      if (words[i].key == "failedSaves") report.failed_saves->count = number(value);
    }
    // Written by our own engine, which gives it a digest.
    if (words[i].key == "saved")
      report.checkpoint = api::ReportCheckpoint{.step = number(value),
                                                .path = world.job->spec.checkpoint.uri,
                                                .manifest_digest = digest_of(number(value))};
  }
  return {};
}

// store 62="a chunk is cut" 60      newest first; the first that has no fault is sound
// store empty | store silent | store unreadable="forbidden" | store taken="TrainingJob a/b"
// store unseen | store in-pods
Result<void> store_word(World& world, const std::vector<Word>& words) {
  world.in_store = CheckpointFinding{};
  world.store_is_silent = words.size() > 1 && words[1].key == "silent";
  world.store_in_pods = words.size() > 1 && words[1].key == "in-pods";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].key == "empty" || words[i].key == "silent" || words[i].key == "in-pods") return {};
    if (words[i].key == "unseen") return world.in_store.reset(), Result<void>{};
    if (words[i].key == "unreadable") {
      world.in_store = fail(Errc::kForbidden, "{}", words[i].value);
      return {};
    }
    CheckpointFinding& finding = **world.in_store;
    if (words[i].key == "taken") return finding.taken_by = words[i].value, Result<void>{};
    const std::int64_t step = number(words[i].key);
    if (!words[i].has_value) {
      finding.newest = FoundCheckpoint{.step = step, .digest = digest_of(step), .bytes = 1};
      return {};
    }
    finding.passed_over.push_back({.step = step, .why = words[i].value});
  }
  return {};
}

}  // namespace amdahl::training
