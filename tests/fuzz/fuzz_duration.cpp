// What parses is written in a form that parses to the same span, and every text that the pattern in
// our schemas lets through is either a duration or too long for one.
#include <boost/regex.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/duration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amdahl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto span = parse_go_duration(text);
  if (span) {
    const std::string written = format_duration(*span);
    AMDAHL_CHECK(parse_go_duration(written) == span);
    AMDAHL_CHECK(*span < std::chrono::nanoseconds{0} || written.size() <= 32);
    return 0;
  }
  Json schema;
  FieldCodec<Duration>::describe(schema, {});
  static const boost::regex pattern(schema["pattern"].get<std::string>());
  const bool short_digits = size <= 9;  // 999999h is far from the end of 64 bits
  AMDAHL_CHECK(!short_digits ||
               !boost::regex_search(text.begin(), text.end(), pattern, boost::match_single_line));
  return 0;
}
