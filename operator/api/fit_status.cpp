#include "operator/api/fit_status.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/each_field.hpp"
#include "base/json_encode.hpp"
#include "base/list_keys.hpp"

namespace amdahl::api {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

// Bytes of the character at the front, 0 when that is no UTF-8 (RFC 3629: shortest form, no
// surrogates, up to U+10FFFF).
std::size_t character_bytes(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80U) return 1;
  if (lead < 0xc2U || lead > 0xf4U) return 0;
  const unsigned second = byte_at(text, 1);
  const unsigned low = lead == 0xe0U ? 0xa0U : lead == 0xf0U ? 0x90U : 0x80U;
  const unsigned high = lead == 0xedU ? 0x9fU : lead == 0xf4U ? 0x8fU : 0xbfU;
  if (second < low || second > high) return 0;
  const std::size_t bytes = lead < 0xe0U ? 2 : lead < 0xf0U ? 3 : 4;
  for (std::size_t i = 2; i < bytes; ++i)
    if ((byte_at(text, i) & 0xc0U) != 0x80U) return 0;
  return bytes;
}

// Whether the character at the front is one: U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  return lead < 0x20U || lead == 0x7fU || (lead == 0xc2U && byte_at(text, 1) < 0xa0U);
}

template <class T>
void fit_number(T& member, const FieldRules& rules) {
  if constexpr (std::same_as<T, double>)
    if (!std::isfinite(member)) member = 0;  // JSON has no NaN
  if (rules.min) member = std::max(member, static_cast<T>(*rules.min));
  if (rules.max) member = std::min(member, static_cast<T>(*rules.max));
}

// Brings a member, and every member below it, to the bounds of its table.
template <class T>
void fit(T& member, const FieldRules& rules) {
  if constexpr (std::same_as<T, std::string>) {
    if (rules.length_max != 0) member = fit_text(member, rules.length_max);
  } else if constexpr (IntegerField<T> || std::same_as<T, double>) {
    fit_number(member, rules);
  } else if constexpr (OptionalField<T>) {
    if (member) fit(*member, rules);
  } else if constexpr (ListField<T>) {
    for (auto& item : member) fit(item, rules);
    // After the cuts: two long names may have become one.
    if constexpr (HasFields<typename T::value_type>)
      if (!rules.list_map_key.empty()) keep_last_of_each_key(member, rules.list_map_key);
    if (rules.items_max != 0 && member.size() > rules.items_max)
      member.erase(member.begin(), member.end() - rules.items_max);
  } else if constexpr (HasFields<T>) {
    each_field(member, [](std::string_view, auto& below, const FieldRules& below_rules) {
      fit(below, below_rules);
    });
  }
}

}  // namespace

std::string fit_text(std::string_view text, std::uint32_t characters) {
  const std::size_t bytes_max = std::size_t{2} * characters;
  std::string fitted;
  std::size_t written = 0;
  for (std::uint32_t count = 0; !text.empty() && count < characters; ++count) {
    const std::size_t bytes = character_bytes(text);
    const char first = text.front();
    written += std::max<std::size_t>(bytes, 1) + (first == '"' || first == '\\' ? 1 : 0);
    if (written > bytes_max) break;
    if (bytes == 0)
      fitted += '?';
    else if (is_control(text))
      fitted += ' ';
    else
      fitted += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return fitted;
}

std::size_t status_bytes(const TrainingJobStatus& status) {
  return encode(status).dump(-1, ' ', false, Json::error_handler_t::replace).size();
}

void fit_status(TrainingJobStatus& status) {
  fit(status, {});
  auto& attempts = status.attempts;
  for (std::size_t i = 0; i + 1 < attempts.size() && status_bytes(status) > kStatusBytesMax; ++i)
    attempts[i].nodes.clear();
  while (attempts.size() > 1 && status_bytes(status) > kStatusBytesMax)
    attempts.erase(attempts.begin());
}

}  // namespace amdahl::api
