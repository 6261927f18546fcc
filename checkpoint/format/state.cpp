#include "checkpoint/format/state.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/format/digest.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

// Decimal digits that 64 bits do not hold; what they hold is a number.
bool is_long_integer(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.size() > kIntDigitsMax || digits.starts_with('0') ||
      digits.find_first_not_of("0123456789") != digits.npos)
    return false;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc::result_out_of_range;
}

// Where a value is, in words only when somebody asks: good states do not pay for it.
struct Place {
  const Place* above = nullptr;
  const std::string* key = nullptr;  // none: an item
  std::size_t index = 0;

  std::string text() const {
    if (above == nullptr) return "state";
    return above->text() + (key != nullptr ? "." + shown(*key) : fmt::format("[{}]", index));
  }
};

class StateWalk {
 public:
  // NOLINTBEGIN(misc-no-recursion): at most kStateDepthMax deep.
  Result<void> visit(const Json& value, const Place& place, int depth) {
    if (depth > kStateDepthMax)
      return fail(Errc::kTooLarge, "{}: nested deeper than {} levels", place.text(),
                  kStateDepthMax);
    if (value.is_number_float())
      return fail(Errc::kInvalid, "{}: write floats as text", place.text());
    if (value.is_array()) return visit_list(value, place, depth);
    if (!value.is_object()) return {};
    const auto& members = value.get_ref<const Json::object_t&>();
    if (members.size() == 1 && members.begin()->first.starts_with('$'))
      return visit_tag(members.begin()->first, members.begin()->second, place, depth);
    for (const auto& [key, item] : members) {
      if (key.starts_with('$'))
        return fail(Errc::kInvalid, "{}: {} is a reserved name", place.text(), shown(key));
      TRY(visit(item, {.above = &place, .key = &key}, depth + 1));
    }
    return {};
  }

  std::vector<std::string> tensors;

 private:
  Result<void> visit_list(const Json& list, const Place& place, int depth) {
    for (std::size_t i = 0; i < list.size(); ++i)
      TRY(visit(list[i], {.above = &place, .index = i}, depth + 1));
    return {};
  }

  Result<void> visit_map(const Json& pairs, const Place& place, int depth) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Place pair{.above = &place, .index = i};
      if (!pairs[i].is_array() || pairs[i].size() != 2)
        return fail(Errc::kInvalid, "{}: expected a key and a value", pair.text());
      TRY(visit_list(pairs[i], pair, depth + 1));
    }
    return {};
  }

  Result<void> visit_tag(const std::string& tag, const Json& value, const Place& place, int depth) {
    if (tag == "$tuple" && value.is_array()) return visit_list(value, place, depth + 1);
    if (tag == "$map" && value.is_array()) return visit_map(value, place, depth + 1);
    static const std::string no_text;
    const std::string& text = value.is_string() ? value.get_ref<const std::string&>() : no_text;
    const bool good = (tag == "$tensor" && !text.empty()) ||
                      (tag == "$float" && is_float_text(text)) ||
                      (tag == "$int" && is_long_integer(text)) ||
                      (tag == "$bytes" && value.is_string() && base64_decoded(text).has_value());
    if (!good) return fail(Errc::kInvalid, "{}: not a {} that is known", place.text(), shown(tag));
    if (tag == "$tensor") tensors.push_back(text);
    return {};
  }
  // NOLINTEND(misc-no-recursion)
};

}  // namespace

Result<std::vector<std::string>> check_state(const nlohmann::json& state) {
  StateWalk walk;
  TRY(walk.visit(state, {}, 0));
  return std::move(walk.tensors);
}

bool is_float_text(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && float_text(value) == text;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // As Python's repr(), so that a writer in Python needs no rules of its own.
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
  return text;
}

}  // namespace amdahl::checkpoint
