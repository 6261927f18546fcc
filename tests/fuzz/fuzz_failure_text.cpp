// What a trainer may have left behind: any bytes as termination message and as the error of its
// last report. Whatever they are, an exit code of 0 is no failure, nothing is confirmed by them,
// and every text that comes out is one line of valid UTF-8 within its bound.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "operator/api/bounds.hpp"
#include "operator/training/diagnose/diagnose.hpp"
#include "operator/training/diagnose/error_file.hpp"
#include "operator/training/diagnose/failure_text.hpp"
#include "operator/training/diagnose/recurrence.hpp"

namespace {

using namespace amdahl::training;

AttemptEvidence attempt_with(std::string_view text, std::int32_t exit_code) {
  AttemptEvidence attempt{.ranks = 2};
  PodEvidence pod{.pod = "p", .node = "n", .bound = true};
  pod.phase = exit_code == 0 ? amdahl::kube::PodPhase::kSucceeded : amdahl::kube::PodPhase::kFailed;
  pod.containers.push_back(
      {.name = "trainer",
       .ended = ContainerEnd{.exit_code = exit_code, .message = std::string(text)}});
  attempt.pods = {pod, pod};
  attempt.pods[1].rank = 1;
  attempt.pods[1].containers[0].ended->message.clear();
  attempt.pods[1].report.error = text;
  return attempt;
}

void check_line(std::string_view line, std::size_t most) {
  AMDAHL_CHECK(line.size() <= most);
  const std::string closed = std::string(line) + "|";  // a cut text may end with a space
  AMDAHL_CHECK(clean_line(closed, most + 1) == closed);
}

void check_text(const FailureText& found) {
  for (const std::string& line : found.lines) check_line(line, kLineMax);
  if (found.collective) check_line(found.collective->operation, kLineMax);
  if (!found.error) return;
  check_line(found.error->message, kLineMax);
  check_line(found.error->frame, kLineMax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_text(scan_failure(text));
  if (const auto file = parse_error_file(text)) {
    AMDAHL_CHECK(file->message.size() + file->traceback.size() <= 3 * size);
    check_text(scan_failure(file->traceback));
  }
  AMDAHL_CHECK(!diagnose(attempt_with(text, 0)).root);
  for (const std::int32_t exit_code : {1, 134, 137}) {
    const Diagnosis diagnosis = diagnose(attempt_with(text, exit_code));
    AMDAHL_CHECK(diagnosis.root.has_value());
    AMDAHL_CHECK(diagnosis.root->confidence != amdahl::api::CauseConfidence::kConfirmed);
    check_line(diagnosis.root->message, amdahl::api::kMessageMax * 2);
    if (exit_code == 137)
      AMDAHL_CHECK(diagnosis.root->cause_class == amdahl::api::CauseClass::kKilled);
    AMDAHL_CHECK(artifact_of(*diagnosis.root) == artifact_of(*diagnosis.root));
  }
  return 0;
}
