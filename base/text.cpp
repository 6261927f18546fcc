#include "base/text.hpp"

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json_reader.hpp"
#include "base/wire_reader.hpp"

namespace amdahl {

void Text::assign(std::string_view text) {
  if (text.size() <= kShortMax) {
    if (!text.empty()) std::memcpy(bytes_.data(), text.data(), text.size());
    bytes_[kShortMax] = static_cast<char>(kShortMax - text.size());
    return;
  }
  AMDAHL_CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max());
  char* heap = static_cast<char*>(::operator new(text.size()));
  std::memcpy(heap, text.data(), text.size());
  const auto size = static_cast<std::uint32_t>(text.size());
  std::memcpy(bytes_.data(), &heap, sizeof heap);
  std::memcpy(bytes_.data() + sizeof heap, &size, sizeof size);
  bytes_[kShortMax] = kLong;
}

void Text::release() noexcept {
  ::operator delete(const_cast<char*>(data()));
}

bool FieldCodec<Text>::read(JsonValue& from, Text& into) {
  const auto text = from.string();
  if (text) into = *text;
  return text.has_value();
}

Json FieldCodec<Text>::write(const Text& value) {
  return value.str();
}

bool FieldCodec<Text>::read_wire(const WireValue& from, Text& into) {
  const auto text = from.string();
  if (text) into = *text;
  return text.has_value();
}

void FieldCodec<Text>::describe(Json& schema) {
  schema["type"] = "string";
}

}  // namespace amdahl
