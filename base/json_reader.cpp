#include "base/json_reader.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json_text.hpp"

namespace amdahl {
namespace {

namespace ondemand = simdjson::ondemand;
using json_text::find_quote_or_escape;
using json_text::trim_end;

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// Documents up to this size reuse the parser's buffers; after a larger one they are given back.
constexpr std::size_t kParserKeepBytes = std::size_t{1} << 20U;
constexpr std::size_t kParserBytesMin = std::size_t{16} << 10U;
constexpr std::size_t kPathKeyBytesMax = 64;

}  // namespace

// What the values of one document share.
struct JsonValue::Walk {
  const char* text_end = nullptr;
  int depth = 0;
  bool failed = false;
  bool root_consumed = false;
  Errc code = Errc::kInvalid;
  std::string path = {};
  std::string what = {};

  bool fail_with(Errc why, std::string_view text) {
    if (failed) return false;
    failed = true;
    code = why;
    what = text;
    return false;
  }
  bool malformed(simdjson::error_code error) {
    if (error == simdjson::UTF8_ERROR) return fail_with(Errc::kCorrupt, "not valid UTF-8");
    if (error == simdjson::CAPACITY)
      return fail_with(Errc::kTooLarge, fmt::format("longer than {} bytes", kJsonBytesMax));
    return fail_with(Errc::kCorrupt,
                     fmt::format("malformed JSON: {}", simdjson::error_message(error)));
  }
  bool in_member(std::string_view key) {
    if (!json_text::plain_key(key))
      return in(fmt::format("[\"{}\"]", key.substr(0, kPathKeyBytesMax)));
    return in(key.substr(0, kPathKeyBytesMax));
  }
  bool in_element(std::size_t index) { return in(fmt::format("[{}]", index)); }
  Error error() const {
    return {.code = code, .context = path.empty() ? what : fmt::format("{}: {}", path, what)};
  }

  // The key's text. Nearly always it has no escapes and is a view of the input.
  bool key_of(ondemand::field& field, std::string_view& key) {
    const char* const start = field.key().raw();
    const char* const stop = find_quote_or_escape(start, text_end);
    if (stop == text_end) return malformed(simdjson::UNCLOSED_STRING);
    key = {start, static_cast<std::size_t>(stop - start)};
    if (*stop == '"') [[likely]]
      return true;
    if (const auto error = field.unescaped_key().get(key)) return malformed(error);
    return well_formed(key);
  }
  // The input was checked as a whole, but an escape can still spell half a surrogate pair.
  bool well_formed(std::string_view unescaped) {
    if (simdjson::validate_utf8(unescaped.data(), unescaped.size())) return true;
    return malformed(simdjson::UTF8_ERROR);
  }

  bool members(ondemand::object& object, OnMember on_member);
  bool elements(ondemand::array& array, OnElement on_element);

 private:
  bool in(std::string_view step) {
    if (path.empty())
      path = step;
    else
      path = fmt::format("{}{}{}", step, path.front() == '[' ? "" : ".", path);
    return false;
  }
};

bool JsonValue::Walk::members(ondemand::object& object, OnMember on_member) {
  if (++depth > kJsonDepthMax)
    return fail_with(Errc::kTooLarge, fmt::format("nested deeper than {} levels", kJsonDepthMax));
  for (auto next : object) {
    ondemand::field field;
    if (const auto error = std::move(next).get(field)) return malformed(error);
    std::string_view key;
    if (!key_of(field, key)) return false;
    JsonValue value(&field.value(), field.value().raw_json_token(), *this, false);
    if (!on_member(key, value)) return in_member(key);
  }
  --depth;
  return true;
}

bool JsonValue::Walk::elements(ondemand::array& array, OnElement on_element) {
  if (++depth > kJsonDepthMax)
    return fail_with(Errc::kTooLarge, fmt::format("nested deeper than {} levels", kJsonDepthMax));
  std::size_t index = 0;
  for (auto next : array) {
    ondemand::value element;
    if (const auto error = std::move(next).get(element)) return malformed(error);
    JsonValue value(&element, element.raw_json_token(), *this, false);
    if (!on_element(value)) return in_element(index);
    ++index;
  }
  --depth;
  return true;
}

JsonKind JsonValue::kind() const {
  return json_text::kind_of(token_);
}

bool JsonValue::reject(std::string_view reason, Errc code) {
  return walk_->fail_with(code, reason);
}

bool JsonValue::reject_member(std::string_view key, std::string_view reason) {
  if (walk_->failed) return false;
  walk_->fail_with(Errc::kInvalid, reason);
  return walk_->in_member(key);
}

bool JsonValue::reject_kind(std::string_view wanted) {
  const JsonKind found = kind();
  const Errc code = found == JsonKind::kInvalid ? Errc::kCorrupt : Errc::kInvalid;
  return reject(fmt::format("expected {}, found {}", wanted, name(found)), code);
}

std::optional<std::string_view> JsonValue::string() {
  auto& value = *static_cast<ondemand::value*>(node_);
  if (root_ || token_.front() != '"') {
    reject_kind("a string");
    return std::nullopt;
  }
  const char* const start = token_.data() + 1;
  const char* const token_end = token_.data() + token_.size();
  const char* const stop = find_quote_or_escape(start, token_end);
  std::string_view text(start, static_cast<std::size_t>(stop - start));
  simdjson::error_code error = simdjson::SUCCESS;
  if (stop != token_end && *stop == '"') [[likely]] {
    ondemand::raw_json_string consumed;
    error = value.get_raw_json_string().get(consumed);
  } else {
    error = value.get_string().get(text);
    if (!error && !walk_->well_formed(text)) return std::nullopt;
  }
  if (!error) [[likely]]
    return text;
  walk_->malformed(error);
  return std::nullopt;
}

std::optional<std::int64_t> JsonValue::integer() {
  std::int64_t number = 0;
  if (!root_ && static_cast<ondemand::value*>(node_)->get_int64().get(number) == simdjson::SUCCESS)
    return number;
  if (root_ || kind() != JsonKind::kNumber) {
    reject_kind("an integer");
    return std::nullopt;
  }
  const bool digits = trim_end(token_).find_first_not_of("-0123456789") == std::string_view::npos;
  reject(digits ? "integer out of range" : "expected an integer, found another number");
  return std::nullopt;
}

std::optional<double> JsonValue::number() {
  double number = 0;
  if (!root_ && static_cast<ondemand::value*>(node_)->get_double().get(number) == simdjson::SUCCESS)
    return number;
  if (!root_ && kind() == JsonKind::kNumber)
    reject("not a number that can be represented");
  else
    reject_kind("a number");
  return std::nullopt;
}

std::optional<bool> JsonValue::boolean() {
  bool truth = false;
  if (!root_ && static_cast<ondemand::value*>(node_)->get_bool().get(truth) == simdjson::SUCCESS)
    return truth;
  reject_kind("a boolean");
  return std::nullopt;
}

std::optional<std::string_view> JsonValue::raw() {
  std::string_view text;
  simdjson::error_code error = simdjson::SUCCESS;
  const JsonKind found = kind();
  if (root_) {
    error = static_cast<ondemand::document*>(node_)->raw_json().get(text);
    walk_->root_consumed = true;
  } else if (found == JsonKind::kObject) {
    ondemand::object object;
    error = static_cast<ondemand::value*>(node_)->get_object().get(object);
    if (!error) error = object.raw_json().get(text);
  } else if (found == JsonKind::kArray) {
    ondemand::array array;
    error = static_cast<ondemand::value*>(node_)->get_array().get(array);
    if (!error) error = array.raw_json().get(text);
  } else {
    text = token_;
  }
  if (error) {
    walk_->malformed(error);
    return std::nullopt;
  }
  return trim_end(text);
}

bool JsonValue::json(nlohmann::json& into) {
  const auto text = raw();
  if (!text) return false;
  if (json_text::nested_deeper_than(*text, kRawJsonDepthMax))
    return reject(fmt::format("nested deeper than {} levels", kRawJsonDepthMax), Errc::kTooLarge);
  into = nlohmann::json::parse(*text, nullptr, false);
  if (!into.is_discarded()) return true;
  into = nullptr;
  return reject("malformed JSON", Errc::kCorrupt);
}

bool JsonValue::for_each_member(OnMember on_member) {
  if (kind() != JsonKind::kObject) return reject_kind("an object");
  ondemand::object object;
  const auto error = root_ ? static_cast<ondemand::document*>(node_)->get_object().get(object)
                           : static_cast<ondemand::value*>(node_)->get_object().get(object);
  if (error) return walk_->malformed(error);
  if (root_) walk_->root_consumed = true;
  return walk_->members(object, on_member);
}

bool JsonValue::for_each_element(OnElement on_element) {
  if (kind() != JsonKind::kArray) return reject_kind("an array");
  ondemand::array array;
  const auto error = root_ ? static_cast<ondemand::document*>(node_)->get_array().get(array)
                           : static_cast<ondemand::value*>(node_)->get_array().get(array);
  if (error) return walk_->malformed(error);
  if (root_) walk_->root_consumed = true;
  return walk_->elements(array, on_element);
}

struct JsonReader::Parser {
  ondemand::parser engine{kJsonBytesMax};
};

JsonReader::JsonReader() : parser_(std::make_unique<Parser>()) {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;

Result<void> JsonReader::read(std::string_view text, OnRoot on_root) {
  if (text.size() > kJsonBytesMax) return read_padded(text, on_root);  // which refuses it
  AMDAHL_CHECK(!busy_);
  copy_.clear();
  copy_.reserve(text.size() + kJsonPadding);
  copy_.append(text);
  auto result = read_padded(copy_, on_root);
  if (copy_.capacity() > kParserKeepBytes) copy_ = {};
  return result;
}

Result<void> JsonReader::read(std::string&& text, OnRoot on_root) {
  text.reserve(text.size() + kJsonPadding);
  return read_padded(text, on_root);
}

Result<void> JsonReader::read_padded(std::string_view text, OnRoot on_root) {
  AMDAHL_CHECK(!busy_);  // a second document would pull the buffers from under the first
  busy_ = true;
  JsonValue::Walk walk{.text_end = text.data() + text.size()};
  const auto walk_document = [&]() -> bool {
    if (text.size() > kJsonBytesMax) return walk.malformed(simdjson::CAPACITY);
    auto& engine = parser_->engine;
    if (engine.capacity() < text.size()) {
      const auto room =
          std::min(std::bit_ceil(std::max(text.size(), kParserBytesMin)), kJsonBytesMax);
      if (const auto error = engine.allocate(room)) return walk.malformed(error);
    }
    ondemand::document document;
    const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kJsonPadding);
    if (const auto error = engine.iterate(padded).get(document)) return walk.malformed(error);
    std::string_view token;
    if (const auto error = document.raw_json_token().get(token)) return walk.malformed(error);
    JsonValue root(&document, token, walk, true);
    if (root.kind() != JsonKind::kObject && root.kind() != JsonKind::kArray)
      return root.reject_kind("an object or an array");
    if (!on_root(root)) return false;
    // The cursor stands after the last token exactly when nothing follows the root.
    if (!walk.root_consumed || document.current_location().error() == simdjson::OUT_OF_BOUNDS)
      return true;
    return walk.fail_with(Errc::kCorrupt, "malformed JSON: text after the end of the document");
  };
  const bool ok = walk_document();
  busy_ = false;
  if (parser_->engine.capacity() > kParserKeepBytes) parser_ = std::make_unique<Parser>();
  if (ok) return {};
  if (!walk.failed) walk.fail_with(Errc::kInvalid, "refused");
  return std::unexpected(walk.error());
}

}  // namespace amdahl
