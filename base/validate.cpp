#include "base/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/regex.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::validate_detail {
namespace {

// Matching may backtrack, so it is not tried on text that no field of ours allows.
constexpr std::size_t kPatternTextBytesMax = std::size_t{64} << 10U;

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

bool matches(std::string_view text, std::string_view pattern) {
  if (text.size() > kPatternTextBytesMax) return false;
  try {
    // Like the API server: found anywhere, unless the pattern is anchored.
    return boost::regex_search(text.begin(), text.end(),
                               boost::regex(pattern.begin(), pattern.end()),
                               boost::match_default | boost::match_single_line);
  } catch (const std::runtime_error&) {
    return false;  // it backtracks too much to be decided, or is no pattern
  }
}

}  // namespace

Result<void> Walk::result() const {
  if (!failed_) return {};
  return fail(Errc::kInvalid, "{}{}{}", path_, path_.empty() ? "" : ": ", what_);
}

void Walk::fault(std::string_view what) {
  if (failed_) return;
  failed_ = true;
  what_ = what;
}

void Walk::number(std::int64_t value, const FieldRules& rules) {
  if (rules.min && value < *rules.min) fault(fmt::format("{} is less than {}", value, *rules.min));
  if (rules.max && value > *rules.max) fault(fmt::format("{} is more than {}", value, *rules.max));
}

void Walk::number(double value, const FieldRules& rules) {
  const auto min = static_cast<double>(rules.min.value_or(0));
  const auto max = static_cast<double>(rules.max.value_or(0));
  if (rules.min && !(value >= min)) fault(fmt::format("{} is less than {}", value, min));
  if (rules.max && !(value <= max)) fault(fmt::format("{} is more than {}", value, max));
}

void Walk::text(std::string_view value, const FieldRules& rules) {
  if (rules.length_min != 0 || rules.length_max != 0) {
    const std::size_t length = code_points(value);
    if (length < rules.length_min)
      return fault(fmt::format("shorter than {} characters", rules.length_min));
    if (rules.length_max != 0 && length > rules.length_max)
      return fault(fmt::format("longer than {} characters", rules.length_max));
  }
  if (!rules.pattern.empty() && !matches(value, rules.pattern))
    fault(fmt::format("does not match {}", rules.pattern));
}

void Walk::open(const Json& value, const FieldRules& rules) {
  if (!rules.any_type && !value.is_null() && !value.is_object()) fault("not an object");
}

void Walk::count(std::size_t items, const FieldRules& rules) {
  if (items < rules.items_min) fault(fmt::format("fewer than {} items", rules.items_min));
  if (rules.items_max != 0 && items > rules.items_max)
    fault(fmt::format("more than {} items", rules.items_max));
}

}  // namespace amdahl::validate_detail
