// A log cut anywhere says what it says as a whole, and as a report nothing of it is over a bound.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/validate.hpp"
#include "runtime/launch/log_scanner.hpp"
#include "runtime/launch/report_text.hpp"

namespace {

using namespace amdahl;
using namespace amdahl::launch;

void check_bounds(const LogFact& fact) {
  api::Report report{.job = "a/b"};
  if (const auto* seen = std::get_if<StepSeen>(&fact)) {
    report.step = seen->step;
    report.total_steps = seen->total;
    report.metrics = seen->metrics;
  }
  if (const auto* seen = std::get_if<MetricsSeen>(&fact)) report.metrics = seen->metrics;
  if (const auto* seen = std::get_if<ErrorSeen>(&fact)) report.error = seen->error;
  const auto arrived = decode<api::Report>(report_json(report));
  AMDAHL_CHECK(arrived.has_value() && validate(*arrived).has_value());
}

std::vector<LogFact> scan(std::string_view text, std::size_t piece) {
  LogScanner scanner;
  std::vector<LogFact> facts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, piece);
    text.remove_prefix(part.size());
    scanner.feed(part, [&](const LogFact& fact) { facts.push_back(fact); });
  }
  return facts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = scan(text, text.size() + 1);
  for (const LogFact& fact : whole) check_bounds(fact);
  AMDAHL_CHECK(scan(text, 7) == whole);
  (void)read_error_file(text);
  return 0;
}
