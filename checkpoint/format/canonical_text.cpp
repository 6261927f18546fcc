#include "checkpoint/format/canonical_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kStateBegin = ",\"state\":";
constexpr std::string_view kStepBegin = ",\"step\":";
constexpr std::string_view kListBegin = ",\"tensors\":[";
constexpr std::size_t kDigitsMax = 18;  // more might not fit

// Bytes that JSON shows as they are, whoever writes it.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  std::string_view rest() const { return rest_; }

  bool literal(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // As printed: no sign, no leading zero.
  template <class Number>
  bool number(Number& into) {
    const char* const begin = rest_.data();
    const char* const end = begin + std::min(rest_.size(), kDigitsMax + 1);
    if (begin == end || *begin < '0' || *begin > '9') return false;
    const auto [after, error] = std::from_chars(begin, end, into);
    const auto digits = static_cast<std::size_t>(after - begin);
    if (error != std::errc() || digits > kDigitsMax || (*begin == '0' && digits > 1)) return false;
    rest_.remove_prefix(digits);
    return true;
  }

  bool text(std::string_view& into) {
    if (!literal("\"")) return false;
    const std::size_t end = rest_.find('"');
    if (end == rest_.npos || !is_plain(rest_.substr(0, end))) return false;
    into = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool list(Shape& into) {
    if (!literal("[")) return false;
    if (literal("]")) return true;
    do {
      if (into.size() == kDimensionsMax || !number(into.emplace_back())) return false;
    } while (literal(","));
    return literal("]");
  }

  // A list that is left out when it has no items.
  bool optional_list(std::string_view name, Shape& into) {
    return !literal(name) || (list(into) && !into.empty());
  }

 private:
  std::string_view rest_;
};

template <class Enum>
bool read_enum(Cursor& cursor, Enum& into) {
  std::string_view text;
  if (!cursor.text(text)) return false;
  const auto value = parse_enum<Enum>(text);
  if (value) into = *value;
  return value.has_value();
}

// The names of an object are in alphabetical order.
bool read_tensor(Cursor& cursor, TensorRecord& into) {
  std::string_view name;
  if (!cursor.literal("{\"begin\":") || !cursor.number(into.begin)) return false;
  if (!cursor.literal(",\"dtype\":") || !read_enum(cursor, into.dtype)) return false;
  if (cursor.literal(",\"encoding\":") &&
      (!read_enum(cursor, into.encoding) || into.encoding == Encoding::kPlain))
    return false;
  if (!cursor.literal(",\"end\":") || !cursor.number(into.end)) return false;
  if (!cursor.optional_list(",\"globalShape\":", into.global_shape)) return false;
  if (!cursor.literal(",\"name\":") || !cursor.text(name)) return false;
  into.name = name;
  if (!cursor.literal(",\"object\":") || !cursor.number(into.object)) return false;
  if (!cursor.optional_list(",\"offset\":", into.offset)) return false;
  return cursor.literal(",\"shape\":") && cursor.list(into.shape) && cursor.literal("}");
}

// The names of an object are in alphabetical order here too.
bool read_object(Cursor& cursor, OnObjectRecord on_object) {
  std::int64_t bytes = 0;
  std::int64_t chunk_bytes = 0;
  std::string_view name;
  std::string_view other;
  if (!cursor.literal("{\"bytes\":") || !cursor.number(bytes)) return false;
  if (!cursor.literal(",\"chunkBytes\":") || !cursor.number(chunk_bytes)) return false;
  if (!cursor.literal(",\"crc32c\":") || !cursor.text(other)) return false;
  if (!cursor.literal(",\"name\":") || !cursor.text(name)) return false;
  if (name.size() > kNameBytesMax) return false;
  if (!cursor.literal(",\"root\":") || !cursor.text(other)) return false;
  if (cursor.literal(",\"sha256\":") && !cursor.text(other)) return false;
  if (!cursor.literal("}")) return false;
  on_object(name, bytes);
  return true;
}

bool append_header_tensor(std::string& json, const TensorRecord& tensor, std::int64_t start) {
  if (!append_plain_text(json, tensor.name)) return false;
  fmt::format_to(std::back_inserter(json),
                 FMT_COMPILE(":{{\"data_offsets\":[{},{}],\"dtype\":\"{}"), tensor.begin - start,
                 tensor.end - start, enum_name(tensor.dtype));
  if (tensor.encoding != Encoding::kPlain) json.append("/").append(enum_name(tensor.encoding));
  json += "\",\"shape\":";
  append_list(json, tensor.shape);
  json += '}';
  return true;
}

}  // namespace

bool append_plain_text(std::string& json, std::string_view text) {
  if (!is_plain(text)) return false;
  json += '"';
  json += text;
  json += '"';
  return true;
}

void append_list(std::string& json, const Shape& numbers) {
  json += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i)
    fmt::format_to(std::back_inserter(json), FMT_COMPILE("{}{}"), i == 0 ? "" : ",", numbers[i]);
  json += ']';
}

std::optional<SplitReceipt> split_receipt(std::string_view body_line) {
  // Quotes inside of texts have a backslash, and what follows the list has no list: the last one.
  const std::size_t at = body_line.rfind(kListBegin);
  if (at == body_line.npos) return std::nullopt;
  Cursor cursor(body_line.substr(at + kListBegin.size()));
  SplitReceipt split;
  do {
    if (split.tensors.size() == kTensorsMax || !read_tensor(cursor, split.tensors.emplace_back()))
      return std::nullopt;
  } while (cursor.literal(","));
  if (!cursor.rest().starts_with(']')) return std::nullopt;
  // What comes before has no "state" in it, and after the state there is only the step.
  const std::string_view before = body_line.substr(0, at);
  const std::size_t step = before.rfind(kStepBegin);
  if (step == before.npos) return std::nullopt;
  const std::size_t state = std::min(before.find(kStateBegin), step);
  if (state < step) split.state = before.substr(state, step - state).substr(kStateBegin.size());
  split.rest = before.substr(0, state);
  split.rest.append(before.substr(step)).append(kListBegin).append(cursor.rest());
  return split;
}

bool each_object(std::string_view body_line, OnObjectRecord on_object) {
  Cursor cursor(body_line);
  std::int32_t format = 0;
  std::string_view uid;
  if (!cursor.literal("{\"format\":") || !cursor.number(format) || format != kFormatVersion)
    return false;
  if (!cursor.literal(",\"jobUid\":") || !cursor.text(uid)) return false;
  if (!cursor.literal(",\"objects\":[")) return false;
  if (cursor.literal("]")) return true;
  do {
    if (!read_object(cursor, on_object)) return false;
  } while (cursor.literal(","));
  return cursor.literal("]");
}

bool has_header_of(Bytes from_start, const Receipt& receipt, std::size_t object) {
  const auto start = static_cast<std::int64_t>(from_start.size());
  const auto tensors = std::ranges::equal_range(receipt.tensors, static_cast<std::int32_t>(object),
                                                {}, &TensorRecord::object);
  std::string json = "{";
  std::int64_t first = kObjectBytesMax;
  for (const TensorRecord& tensor : tensors) {
    first = std::min(first, tensor.begin);
    if (json.size() > 1) json += ',';
    if (!append_header_tensor(json, tensor, start)) return false;
  }
  json += '}';
  const std::string_view found = text_of(from_start);
  if (first != start || found.size() < kHeaderLengthBytes + json.size()) return false;
  const std::string_view padding = found.substr(kHeaderLengthBytes + json.size());
  const auto wanted = header_bytes(from_start, receipt.objects.at(object).bytes);
  return wanted && *wanted == found.size() &&
         found.substr(kHeaderLengthBytes, json.size()) == json &&
         padding.find_first_not_of(' ') == padding.npos;
}

}  // namespace amdahl::checkpoint
