#include "cli/job_sections.hpp"

#include <algorithm>

#include "cli/job_account.hpp"
#include "cli/job_explain.hpp"
#include "cli/text_layout.hpp"

namespace amdahl::cli {
namespace {

std::string steps_text(const api::AttemptStatus& attempt) {
  if (!attempt.last_step) return "";
  std::string text = attempt.first_step
                         ? fmt::format("{}..{}", *attempt.first_step, *attempt.last_step)
                         : fmt::format("..{}", *attempt.last_step);
  if (attempt.lost_steps.value_or(0) > 0) text += fmt::format(", {} lost", *attempt.lost_steps);
  return text;
}

std::string lasted_text(const JobSeen& seen, const api::AttemptStatus& attempt) {
  if (!attempt.started_at) return "";
  const WallTime end = attempt.ended_at.value_or(seen.now);
  return short_span(std::chrono::duration_cast<std::chrono::seconds>(end - *attempt.started_at));
}

WallTime time_of(const kube::Event& event) {
  if (event.series && event.series->last_observed) return *event.series->last_observed;
  return event.time.value_or(event.metadata.created.value_or(WallTime{}));
}

}  // namespace

std::string ago(const JobSeen& seen, const std::optional<WallTime>& then) {
  if (!then) return "?";
  return short_span(std::chrono::duration_cast<std::chrono::seconds>(seen.now - *then));
}

std::string Told::rest_of(std::string_view message) const {
  std::string line = one_line(message);
  for (const std::string& told : lines_) {
    if (told.contains(line) && line.size() >= kTellingBytesMin) return "";
    if (const std::size_t at = line.find(told); at != std::string::npos)
      line.replace(at, told.size(), "...");
  }
  return line;
}

std::string Told::once(std::string_view message) {
  std::string rest = rest_of(message);
  if (std::string line = one_line(message); line.size() >= kTellingBytesMin)
    lines_.push_back(std::move(line));
  return rest;
}

std::string conditions_section(const JobSeen& seen, Told& told) {
  if (seen.job.status.conditions.empty()) return "";
  Columns rows("  ");
  rows.add({"TYPE", "STATUS", "AGE", "REASON", "MESSAGE"});
  for (const api::Condition& one : seen.job.status.conditions)
    rows.add({one_line(one.type), std::string(enum_name(one.status)), ago(seen, one.changed),
              one_line(one.reason), told.once(one.message)});
  return "Conditions:\n" + rows.text();
}

std::string attempts_section(const JobSeen& seen) {
  if (seen.job.status.attempts.empty()) return "";
  Columns rows("  ");
  rows.add({"NUMBER", "OUTCOME", "LASTED", "FROM", "STEPS", "GPU-SECONDS", "CAUSE"});
  for (const api::AttemptStatus& one : seen.job.status.attempts)
    rows.add({fmt::format("{}", one.number),
              one.outcome == api::AttemptOutcome::kUnknown ? "goes on"
                                                           : std::string(enum_name(one.outcome)),
              lasted_text(seen, one),
              one.resumed_from_step ? fmt::format("{}", *one.resumed_from_step) : "",
              steps_text(one), fmt::format("{}", one.held_gpu_seconds),
              one.cause ? cause_text(*one.cause) : ""});
  return "Attempts:\n" + rows.text();
}

std::string gpu_section(const JobSeen& seen) {
  const auto& account = seen.job.status.gpu_seconds;
  if (!account) return "";
  Columns rows("  ");
  for (const PhaseShare& share : shares_of(*account))
    rows.add({share.name, fmt::format("{}", share.seconds), percent_text(share.share)});
  return fmt::format("GPU-seconds: {} held, {} useful\n{}", account->held,
                     percent_text(useful_share(*account)), rows.text());
}

std::vector<const kube::Event*> newest_events(const JobSeen& seen, std::size_t count_max) {
  std::vector<const kube::Event*> events;
  events.reserve(seen.events.size());
  for (const kube::Event& event : seen.events) events.push_back(&event);
  std::ranges::sort(events, [](const kube::Event* a, const kube::Event* b) {
    return std::pair(time_of(*a), a->metadata.name) < std::pair(time_of(*b), b->metadata.name);
  });
  if (events.size() > count_max)
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(count_max));
  return events;
}

std::string events_section(const JobSeen& seen, std::size_t count_max, const Told& told) {
  Columns rows("  ");
  for (const kube::Event* event : newest_events(seen, count_max)) {
    const std::int32_t count = event->series ? event->series->count : 1;
    rows.add({ago(seen, time_of(*event)) + (count > 1 ? fmt::format(" (x{})", count) : ""),
              one_line(event->type), one_line(event->reason), told.rest_of(event->note)});
  }
  return rows.empty() ? "" : "Events:\n" + rows.text();
}

}  // namespace amdahl::cli
