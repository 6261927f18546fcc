// Text: a string that is set once and then read, for the members of cached objects.
//
// 16 bytes where std::string has 32; up to 15 characters need no heap. A controller's cache holds
// a dozen strings for each of many thousand objects, most of them short or empty. Converts
// to std::string_view; str() makes a std::string. Thread: like std::string. Failure: none; a text
// stays under 4 GiB, which is checked.
//
//   short:  characters ........ | 15 - size
//   long:   pointer | size | ... | kLong
#pragma once

#include <fmt/format.h>

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/fields.hpp"

namespace amdahl {

class JsonValue;
struct WireValue;

class Text {
 public:
  static constexpr std::size_t kShortMax = 15;

  Text() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): as for std::string.
  Text(std::string_view text) { assign(text); }
  Text(const std::string& text) { assign(text); }
  Text(const char* text) { assign(text); }
  operator std::string_view() const noexcept { return {data(), size()}; }
  // NOLINTEND(google-explicit-constructor)
  Text(const Text& other) { assign(other); }
  Text(Text&& other) noexcept : bytes_(std::exchange(other.bytes_, kEmpty)) {}
  Text& operator=(const Text& other) { return *this = Text(other); }
  Text& operator=(Text&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Text() {
    if (is_long()) release();
  }

  std::size_t size() const noexcept {
    if (!is_long()) return kShortMax - static_cast<unsigned char>(bytes_[kShortMax]);
    std::uint32_t size = 0;
    std::memcpy(&size, bytes_.data() + sizeof(char*), sizeof size);
    return size;
  }
  bool empty() const noexcept { return size() == 0; }
  std::size_t heap_bytes() const noexcept { return is_long() ? size() : 0; }
  std::string str() const { return std::string(std::string_view(*this)); }

  template <std::convertible_to<std::string_view> S>
  friend bool operator==(const Text& a, const S& b) {
    return std::string_view(a) == std::string_view(b);
  }
  template <std::convertible_to<std::string_view> S>
  friend auto operator<=>(const Text& a, const S& b) {
    return std::string_view(a) <=> std::string_view(b);
  }

 private:
  static constexpr char kLong = '\x7f';
  static constexpr std::array<char, kShortMax + 1> kEmpty = {{0, 0, 0, 0, 0, 0, 0, 0,  //
                                                              0, 0, 0, 0, 0, 0, 0, kShortMax}};

  bool is_long() const noexcept { return bytes_[kShortMax] == kLong; }
  const char* data() const noexcept {
    if (!is_long()) return bytes_.data();
    const char* heap = nullptr;
    std::memcpy(&heap, bytes_.data(), sizeof heap);
    return heap;
  }
  void assign(std::string_view text);  // of a fresh object
  void release() noexcept;

  alignas(char*) std::array<char, kShortMax + 1> bytes_ = kEmpty;
};
static_assert(sizeof(Text) == 16);

template <>
struct FieldCodec<Text> {
  static bool read(JsonValue& from, Text& into);
  static Json write(const Text& value);
  static bool read_wire(const WireValue& from, Text& into);
  static void describe(Json& schema);
  static std::string_view type_name() { return "string"; }
  static bool is_empty(const Text& value) { return value.empty(); }
};

}  // namespace amdahl

template <>
struct fmt::formatter<amdahl::Text> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const amdahl::Text& text, Context& context) const {
    return fmt::formatter<std::string_view>::format(std::string_view(text), context);
  }
};
