#include "operator/api/fit_status.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "base/validate.hpp"

namespace amdahl::api {
namespace {

// Everything as large as somebody outside could make it.
TrainingJobStatus swollen(const std::string& text) {
  const Cause cause{.cause_class = CauseClass::kUserException,
                    .rank = 1'000'000'000,
                    .pod = text,
                    .node = text,
                    .exit_code = 4096,
                    .signal = -1,
                    .message = text,
                    .hint = text};
  TrainingJobStatus status{.reason = text, .attempt = 40};
  for (int i = 0; i < 20; ++i) {
    status.conditions.push_back({.type = "Type" + std::to_string(i),
                                 .changed = WallTime{},
                                 .reason = "Reason",
                                 .message = text});
  }
  for (std::int32_t number = 1; number <= 40; ++number) {
    status.attempts.push_back({.number = number,
                               .started_at = WallTime{},
                               .ended_at = WallTime{},
                               .outcome = AttemptOutcome::kFailed,
                               .cause = cause,
                               .first_step = -5,
                               .held_gpu_seconds = std::numeric_limits<std::int64_t>::max(),
                               .nodes = std::vector<std::string>(100, text)});
  }
  status.pending = PendingStatus{.reason = text, .message = text};
  status.progress =
      ProgressStatus{.percent = 250, .step_seconds = std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < 50; ++i)
    status.progress->metrics.push_back({.name = "m" + std::to_string(i), .value = text});
  status.pause = PauseStatus{.message = text};
  status.cancel = CancelStatus{.requested_by = text};
  return status;
}

TEST_CASE("fit_status makes any status one that the table and its size allow") {
  for (const std::string unit : {"a", "\xC3\xA9", "\xF0\x9F\x94\xA5", "\"", "\\", "\x01", "\xFF"}) {
    CAPTURE(unit);
    std::string text;
    for (int i = 0; i < 5000; ++i) text += unit;
    TrainingJobStatus status = swollen(text);
    CHECK(status_bytes(status) > kStatusBytesMax);
    fit_status(status);
    const auto valid = validate(status);
    CHECK((valid ? "" : valid.error().context) == "");
    CHECK(status_bytes(status) <= kStatusBytesMax);
    CHECK(status.attempts.back().number == 40);
    CHECK_FALSE(status.attempts.back().nodes.empty());
    CHECK(status.progress->percent == 100);
    CHECK(status.progress->step_seconds == 0);
    CHECK(status.attempts.back().first_step == 0);
    const TrainingJobStatus once = status;
    fit_status(status);
    CHECK(status == once);
  }
}

TEST_CASE("fit_status keeps the last of items with one key, after names are cut", "[A8]") {
  TrainingJobStatus status;
  const std::string longer(kLabelMax, 'x');
  status.progress = ProgressStatus{};
  status.progress->metrics = {{.name = "loss", .value = "1"},
                              {.name = longer + "a", .value = "2"},
                              {.name = "lr", .value = "3"},
                              {.name = "loss", .value = "4"},
                              {.name = longer + "b", .value = "5"}};
  CHECK_FALSE(validate(status));
  fit_status(status);
  CHECK(validate(status));
  const std::vector<MetricStatus> wanted{
      {.name = "lr", .value = "3"}, {.name = "loss", .value = "4"}, {.name = longer, .value = "5"}};
  CHECK(status.progress->metrics == wanted);
}

TEST_CASE("fit_status leaves what fits alone") {
  TrainingJobStatus status{.phase = Phase::kRunning, .attempt = 1, .restarts = 0};
  status.attempts.push_back({.number = 1, .nodes = {"n1"}});
  const TrainingJobStatus before = status;
  fit_status(status);
  CHECK(status == before);
}

TEST_CASE("fit_text cuts between characters and keeps no control character", "[A1]") {
  CHECK(fit_text("abc", 5) == "abc");
  CHECK(fit_text("abcdef", 5) == "abcde");
  CHECK(fit_text("a\xC3\xA9\xC3\xA9", 2) == "a\xC3\xA9");
  CHECK(fit_text("\xF0\x9F\x94\xA5\xF0\x9F\x94\xA5", 2) == "\xF0\x9F\x94\xA5");
  CHECK(fit_text("\"\"\"\"", 4) == "\"\"\"\"");
  CHECK(fit_text("a\tb\x7f", 4) == "a b ");
  CHECK(fit_text("a\xC2\x80\xC2\x9F\xC2\xA0", 4) == "a  \xC2\xA0");  // controls too
  CHECK(fit_text("", 4).empty());
  CHECK(fit_text("a\xFF\x62\xC3", 9) == "a?b?");
  CHECK(fit_text("\xE2\x82", 9) == "??");                           // cut off
  CHECK(fit_text("\xC0\xAF\xE0\x80\xAF", 9) == "?????");            // longer than it need be
  CHECK(fit_text("\xED\xA0\x80\xF4\x90\x80\x80", 9) == "???????");  // no characters
}

}  // namespace
}  // namespace amdahl::api
