#include <algorithm>
#include <array>
#include <limits>

#include "local/apiserver/schema/cel/functions.hpp"
#include "local/apiserver/schema/value_checks.hpp"

namespace amdahl::local::cel {
namespace {

constexpr std::size_t kTextBytesMax = 4U << 20U;  // what a rule may build

const std::string* text_at(const Call& call, std::size_t index) {
  return call.args[index].as<std::string>();
}

// The texts of a call whose first `count` arguments have to be texts; charged by their size.
Result<std::array<std::string_view, 3>> texts(const Call& call, std::size_t count) {
  std::array<std::string_view, 3> found{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string* text = text_at(call, i);
    if (text == nullptr) return no_overload();
    if (!call.steps.take(text->size() / 10)) return too_costly();
    found.at(i) = *text;
  }
  return found;
}

// Byte offsets of code points: CEL counts those. One more entry than code points: the end.
std::vector<std::size_t> points(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) offsets.push_back(i);
  }
  offsets.push_back(text.size());
  return offsets;
}

Result<std::int64_t> number_at(const Call& call, std::size_t index, std::int64_t otherwise) {
  if (index >= call.args.size()) return otherwise;
  const auto* number = call.args[index].as<std::int64_t>();
  if (number == nullptr) return no_overload();
  return *number;
}

Result<Value> contains(const Call& call) {
  TRY(const auto text, texts(call, 2));
  return Value{text[0].find(text[1]) != std::string_view::npos};
}
Result<Value> starts_with(const Call& call) {
  TRY(const auto text, texts(call, 2));
  return Value{text[0].starts_with(text[1])};
}
Result<Value> ends_with(const Call& call) {
  TRY(const auto text, texts(call, 2));
  return Value{text[0].ends_with(text[1])};
}

Result<PatternPtr> pattern_of(const Call& call, std::string_view expression) {
  if (call.expr.pattern != nullptr) return call.expr.pattern;
  if (!call.steps.take(1'000 + expression.size() * 10)) return too_costly();
  return Pattern::compile(expression);
}

Result<Value> matches(const Call& call) {
  TRY(const auto text, texts(call, 2));
  TRY(const PatternPtr pattern, pattern_of(call, text[1]));
  if (!call.steps.take(text[0].size() * (1 + text[1].size() / 4) / 10)) return too_costly();
  return Value{pattern->found_in(text[0])};
}

Result<Value> with_case(const Call& call, char first, char last, char shift) {
  TRY(const auto text, texts(call, 1));
  std::string out(text[0]);
  for (char& c : out) {
    if (c >= first && c <= last) c = static_cast<char>(c + shift);
  }
  return Value{std::move(out)};
}
Result<Value> lower(const Call& call) {
  return with_case(call, 'A', 'Z', 'a' - 'A');
}
Result<Value> upper(const Call& call) {
  return with_case(call, 'a', 'z', 'A' - 'a');
}

Result<Value> trim(const Call& call) {
  TRY(auto text, texts(call, 1));
  constexpr std::string_view kBlank = " \t\n\v\f\r";
  const std::size_t begin = text[0].find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return Value{std::string()};
  return Value{std::string(text[0].substr(begin, text[0].find_last_not_of(kBlank) - begin + 1))};
}

Result<Value> split(const Call& call) {
  TRY(auto text, texts(call, 2));
  TRY(const std::int64_t limit, number_at(call, 2, -1));
  List parts;
  std::string_view rest = text[0];
  const std::string_view separator = text[1];
  while (limit != 0) {
    const bool last = limit > 0 && parts.size() + 1 >= static_cast<std::size_t>(limit);
    // An empty separator cuts after each code point.
    std::size_t at = separator.empty() ? points(rest.substr(0, 4)).at(rest.empty() ? 0 : 1)
                                       : rest.find(separator);
    if (separator.empty() && at >= rest.size()) at = std::string_view::npos;
    if (last || at == std::string_view::npos) {
      if (!separator.empty() || !rest.empty()) parts.push_back(Value{std::string(rest)});
      break;
    }
    if (!call.steps.take()) return too_costly();
    parts.push_back(Value{std::string(rest.substr(0, at))});
    rest.remove_prefix(at + separator.size());
  }
  return Value{std::make_shared<const List>(std::move(parts))};
}

Result<Value> join(const Call& call) {
  const std::string* separator = call.args.size() > 1 ? text_at(call, 1) : nullptr;
  if (!call.args[0].is_list() || (call.args.size() > 1 && separator == nullptr)) {
    return no_overload();
  }
  std::string out;
  for (std::size_t i = 0; i < list_size(call.args[0]); ++i) {
    TRY(const Value item, list_item(call.args[0], i));
    const auto* text = item.as<std::string>();
    if (text == nullptr) return no_overload();
    if (i > 0 && separator != nullptr) out.append(*separator);
    out.append(*text);
    if (!call.steps.take(1 + text->size() / 10) || out.size() > kTextBytesMax) return too_costly();
  }
  return Value{std::move(out)};
}

Result<Value> replace(const Call& call) {
  TRY(const auto text, texts(call, 3));
  TRY(std::int64_t left, number_at(call, 3, -1));
  const auto [source, from, to] = text;
  std::string out;
  std::size_t at = 0;
  while (left != 0) {
    const std::size_t found = source.find(from, at);
    if (found == std::string_view::npos) break;
    out.append(source.substr(at, found - at)).append(to);
    at = found + from.size();
    if (from.empty()) {
      if (at >= source.size()) {
        at = source.size();
        break;
      }
      out.push_back(source[at++]);
    }
    if (!call.steps.take(1 + to.size() / 10) || out.size() > kTextBytesMax) return too_costly();
    --left;
  }
  return Value{out.append(source.substr(at))};
}

std::int64_t points_before(std::string_view text, std::size_t offset) {
  return offset == std::string_view::npos ? -1 : code_points(text.substr(0, offset));
}

Result<Value> text_index_of(const Call& call) {
  TRY(const auto text, texts(call, 2));
  TRY(const std::int64_t from, number_at(call, 2, 0));
  const auto offsets = points(text[0]);
  if (from < 0 || from >= static_cast<std::int64_t>(offsets.size())) {
    return fail(Errc::kInvalid, "index out of range: {}", from);
  }
  return Value{
      points_before(text[0], text[0].find(text[1], offsets[static_cast<std::size_t>(from)]))};
}

Result<Value> text_last_index_of(const Call& call) {
  TRY(const auto text, texts(call, 2));
  const auto offsets = points(text[0]);
  TRY(const std::int64_t from, number_at(call, 2, static_cast<std::int64_t>(offsets.size()) - 1));
  if (from < 0 || from >= static_cast<std::int64_t>(offsets.size())) {
    return fail(Errc::kInvalid, "index out of range: {}", from);
  }
  return Value{
      points_before(text[0], text[0].rfind(text[1], offsets[static_cast<std::size_t>(from)]))};
}

// indexOf and lastIndexOf are functions of lists as well.
Result<Value> list_position(const Call& call, bool last) {
  std::int64_t found = -1;
  for (std::size_t i = 0; i < list_size(call.args[0]); ++i) {
    TRY(const Value item, list_item(call.args[0], i));
    TRY(const bool same, equal(item, call.args[1], call.steps));
    if (same && (last || found < 0)) found = static_cast<std::int64_t>(i);
  }
  return Value{found};
}
Result<Value> index_of(const Call& call) {
  return call.args[0].is_list() ? list_position(call, false) : text_index_of(call);
}
Result<Value> last_index_of(const Call& call) {
  return call.args[0].is_list() ? list_position(call, true) : text_last_index_of(call);
}

Result<Value> substring(const Call& call) {
  TRY(const auto text, texts(call, 1));
  const auto offsets = points(text[0]);
  const auto end_max = static_cast<std::int64_t>(offsets.size()) - 1;
  TRY(const std::int64_t begin, number_at(call, 1, 0));
  TRY(const std::int64_t end, number_at(call, 2, end_max));
  if (begin < 0 || begin > end_max) return fail(Errc::kInvalid, "index out of range: {}", begin);
  if (end < 0 || end > end_max) return fail(Errc::kInvalid, "index out of range: {}", end);
  if (begin > end) {
    return fail(Errc::kInvalid, "invalid substring range. start: {}, end: {}", begin, end);
  }
  const std::size_t from = offsets[static_cast<std::size_t>(begin)];
  return Value{std::string(text[0].substr(from, offsets[static_cast<std::size_t>(end)] - from))};
}

Result<Value> char_at(const Call& call) {
  TRY(const auto text, texts(call, 1));
  const auto offsets = points(text[0]);
  TRY(const std::int64_t index, number_at(call, 1, 0));
  if (index < 0 || index >= static_cast<std::int64_t>(offsets.size())) {
    return fail(Errc::kInvalid, "index out of range: {}", index);
  }
  const auto at = static_cast<std::size_t>(index);
  if (at + 1 == offsets.size()) return Value{std::string()};
  return Value{std::string(text[0].substr(offsets[at], offsets[at + 1] - offsets[at]))};
}

constexpr std::array<Function, 15> kText{{
    {"contains", true, 1, 1, Kind::kBool, Kind::kString, contains},
    {"startsWith", true, 1, 1, Kind::kBool, Kind::kString, starts_with},
    {"endsWith", true, 1, 1, Kind::kBool, Kind::kString, ends_with},
    {"matches", true, 1, 1, Kind::kBool, Kind::kString, matches},
    {"matches", false, 2, 2, Kind::kBool, Kind::kString, matches},
    {"lowerAscii", true, 0, 0, Kind::kString, Kind::kString, lower},
    {"upperAscii", true, 0, 0, Kind::kString, Kind::kString, upper},
    {"trim", true, 0, 0, Kind::kString, Kind::kString, trim},
    {"split", true, 1, 2, Kind::kList, Kind::kString, split},
    {"join", true, 0, 1, Kind::kString, Kind::kList, join},
    {"replace", true, 2, 3, Kind::kString, Kind::kString, replace},
    {"indexOf", true, 1, 2, Kind::kInt, Kind::kDynamic, index_of},
    {"lastIndexOf", true, 1, 2, Kind::kInt, Kind::kDynamic, last_index_of},
    {"substring", true, 1, 2, Kind::kString, Kind::kString, substring},
    {"charAt", true, 1, 1, Kind::kString, Kind::kString, char_at},
}};

}  // namespace

std::span<const Function> text_functions() {
  return kText;
}

}  // namespace amdahl::local::cel
