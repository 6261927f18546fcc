// An explanation as lines for people.
#include "cli/job_explain.hpp"
#include "cli/text_layout.hpp"

namespace amdahl::cli {
namespace {

std::string meaning_of(api::CauseClass cause) {
  for (const api::CauseClassText& row : api::cause_classes())
    if (row.value == cause) return std::string(row.meaning);
  return "";
}

std::string end_of(const api::Cause& cause) {
  std::string text;
  if (!cause.node.empty()) text += ", node " + one_line(cause.node);
  if (cause.exit_code) text += fmt::format(", exit code {}", *cause.exit_code);
  if (cause.signal) text += fmt::format(", signal {}", *cause.signal);
  return text;
}

std::string_view certainty(api::CauseConfidence confidence) {
  switch (confidence) {
    case api::CauseConfidence::kConfirmed:
      return "confirmed: the platform says so";
    case api::CauseConfidence::kSupported:
      return "supported: the evidence fits";
    case api::CauseConfidence::kUnknown:
      break;
  }
  return "not certain";
}

std::string_view prospect(api::CauseOutlook outlook) {
  switch (outlook) {
    case api::CauseOutlook::kMayRecover:
      return "another try may get through";
    case api::CauseOutlook::kCannotRecoverUnchanged:
      return "the same again will fail the same way";
    case api::CauseOutlook::kUnknown:
      break;
  }
  return "unknown";
}

void add_cause_lines(Columns& rows, const Explanation& explanation) {
  const api::Cause& cause = *explanation.cause;
  rows.add({"Cause:", cause_text(cause) + end_of(cause)});
  rows.add({"Means:", meaning_of(cause.cause_class)});
  if (explanation.attempt > 0) rows.add({"Attempt:", fmt::format("{}", explanation.attempt)});
  rows.add({"Role:",
            fmt::format("{}, of the {} domain", enum_name(cause.role), enum_name(cause.domain))});
  rows.add({"Certainty:", std::string(certainty(cause.confidence))});
  rows.add({"Outlook:", std::string(prospect(cause.outlook))});
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  Columns rows;
  rows.add({"Job:", fmt::format("{}/{}", explanation.ns, explanation.job)});
  rows.add({"Phase:", explanation.reason.empty() || explanation.reason == explanation.phase
                          ? explanation.phase
                          : fmt::format("{} ({})", explanation.phase, explanation.reason)});
  rows.add({"Summary:", explanation.summary});
  if (explanation.cause) add_cause_lines(rows, explanation);
  for (const std::string& line : explanation.evidence) rows.add({"Evidence:", line});
  for (const std::string& line : explanation.next) rows.add({"Next:", line});
  return rows.text();
}

}  // namespace amdahl::cli
