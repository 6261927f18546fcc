// Whatever a process of the trainer writes to the socket or into the marker, the report that comes
// of it keeps its bounds and its phases add up.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/validate.hpp"
#include "runtime/launch/rank_state.hpp"
#include "runtime/launch/report_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amdahl;
  using namespace amdahl::launch;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  RankState state(Monotonic{});
  Moment moment;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    moment.now += std::chrono::milliseconds{300};
    if (const auto message = read_helper_line(line)) {
      state.helper(*message, true, moment);
      if (message->kind == HelperKind::kCommitted) state.committed(*message->checkpoint, moment);
    }
    if (auto checkpoint = read_marker(line)) state.committed(std::move(*checkpoint), moment);
  }
  api::Report report{.job = "a/b"};
  state.write(report, moment.now);
  const auto arrived = decode<api::Report>(report_json(report));
  AMDAHL_CHECK(arrived.has_value() && validate(*arrived).has_value());
  AMDAHL_CHECK(termination_message(report).size() <= api::kTerminationMessageBytesMax);
  std::chrono::nanoseconds sum{0};
  for (const auto span : state.spans(moment.now)) sum += span;
  AMDAHL_CHECK(sum == moment.now - Monotonic{});
  return 0;
}
