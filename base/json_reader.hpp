// Streaming JSON: a cursor over simdjson On-Demand that builds no tree and keeps simdjson out of
// headers.
//
// A callback returns false to stop with the failure that the value recorded; the path to it, such
// as spec.containers[2].name, is put together on the way out, so success pays nothing for it.
// Thread: one reader per thread, one document at a time. Lifetime: a JsonValue lives for the
// callback it is given to; the views it hands out live until read() returns. Failure: malformed
// text is Errc::kCorrupt, text of the wrong shape kInvalid, a bound that was passed kTooLarge. What
// is skipped is not validated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "base/result.hpp"

namespace amdahl {

// Readable bytes that must follow the text given to read_padded(); their content does not matter.
inline constexpr std::size_t kJsonPadding = 64;
inline constexpr std::size_t kJsonBytesMax = std::size_t{64} << 20U;
inline constexpr int kJsonDepthMax = 64;      // of what is decoded
inline constexpr int kRawJsonDepthMax = 128;  // of what is kept as a tree

enum class JsonKind : std::uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject, kInvalid };
std::string_view name(JsonKind kind);  // with its article: "a string"

class JsonValue {
 public:
  using OnMember = function_ref<bool(std::string_view key, JsonValue& value)>;
  using OnElement = function_ref<bool(JsonValue& value)>;

  JsonKind kind() const;
  bool is_null() const { return kind() == JsonKind::kNull; }

  // Each consumes the value, once. nullopt or false: rejected, and the reason is recorded.
  std::optional<std::string_view> string();
  std::optional<std::int64_t> integer();
  std::optional<double> number();
  std::optional<bool> boolean();
  // The text of the value as it stands in the input; of containers only the nesting is checked.
  std::optional<std::string_view> raw();
  bool json(nlohmann::json& into);
  // In document order. A member or element that the callback leaves alone is skipped unparsed.
  bool for_each_member(OnMember on_member);
  bool for_each_element(OnElement on_element);

  // Records why this value is refused; returns false. The first reason stays.
  bool reject(std::string_view reason, Errc code = Errc::kInvalid);
  bool reject_member(std::string_view key, std::string_view reason);

 private:
  friend class JsonReader;
  struct Walk;
  friend struct Walk;
  JsonValue(void* node, std::string_view token, Walk& walk, bool root)
      : node_(node), token_(token), walk_(&walk), root_(root) {}
  bool reject_kind(std::string_view wanted);

  void* node_;              // simdjson's document when root_, else its value
  std::string_view token_;  // a scalar's text, or the opening bracket; white space may follow
  Walk* walk_;
  bool root_;
};

class JsonReader {
 public:
  using OnRoot = function_ref<bool(JsonValue& root)>;

  JsonReader();
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;

  // One document, an object or an array, and nothing after it but white space.
  Result<void> read(std::string_view text, OnRoot on_root);  // copies the text to pad it
  Result<void> read(std::string&& text, OnRoot on_root);     // pads the string where it is
  Result<void> read(const char* text, OnRoot on_root) {
    return read(std::string_view(text), on_root);
  }
  Result<void> read_padded(std::string_view text, OnRoot on_root);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string copy_;
  bool busy_ = false;
};

}  // namespace amdahl
