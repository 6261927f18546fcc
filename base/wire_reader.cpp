#include "base/wire_reader.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <bit>
#include <cstring>

namespace amdahl {
namespace {

constexpr std::uint32_t kFieldNumberMax = (1U << 29U) - 1;

bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t high = 0;
  while (text.size() >= sizeof(high)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof(word));
    high |= word;
    text.remove_prefix(sizeof(word));
  }
  for (const char c : text) high |= static_cast<unsigned char>(c);
  return (high & kHighBits) == 0;
}

}  // namespace

bool WireWalk::reject(std::string_view reason, Errc code) {
  if (failed_) return false;
  failed_ = true;
  code_ = code;
  what_ = reason;
  return false;
}

bool WireWalk::in_field(std::uint32_t number) {
  path_ = path_.empty() ? fmt::format("{}", number) : fmt::format("{}.{}", number, path_);
  return false;
}

Error WireWalk::error() const {
  return {.code = code_,
          .context = path_.empty() ? what_ : fmt::format("field {}: {}", path_, what_)};
}

std::optional<std::string_view> WireValue::bytes() const {
  if (type == WireType::kBytes) return payload;
  walk->reject("expected a length-delimited field");
  return std::nullopt;
}

std::optional<std::string_view> WireValue::string() const {
  const auto text = bytes();
  if (!text || is_ascii(*text) || simdjson::validate_utf8(text->data(), text->size())) return text;
  walk->reject("not valid UTF-8");
  return std::nullopt;
}

std::optional<std::int64_t> WireValue::integer() const {
  if (type == WireType::kVarint) return static_cast<std::int64_t>(bits);
  walk->reject("expected a varint field");
  return std::nullopt;
}

std::optional<bool> WireValue::boolean() const {
  const auto number = integer();
  if (!number) return std::nullopt;
  return *number != 0;
}

std::optional<double> WireValue::number() const {
  if (type == WireType::kFixed64) return std::bit_cast<double>(bits);
  walk->reject("expected a 64-bit field");
  return std::nullopt;
}

bool WireMessage::long_varint(std::uint64_t& value) {
  constexpr unsigned kShiftMax = 63;
  value = 0;
  for (unsigned shift = 0; at_ != end_; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at_++);
    // The tenth byte has room for one bit.
    if (shift == kShiftMax && byte > 1) return walk_->reject("varint of more than 64 bits");
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80U) return true;
  }
  return walk_->reject("truncated varint");
}

bool WireMessage::fixed(std::size_t size, std::uint64_t& value) {
  static_assert(std::endian::native == std::endian::little);
  if (static_cast<std::size_t>(end_ - at_) < size) return walk_->reject("truncated number");
  value = 0;
  std::memcpy(&value, at_, size);
  at_ += size;
  return true;
}

bool WireMessage::next(WireValue& value) {
  if (at_ == end_ || walk_->failed()) return false;
  std::uint64_t tag = 0;
  if (!varint(tag)) return false;
  if (tag >> 3U == 0 || tag >> 3U > kFieldNumberMax)
    return walk_->reject("impossible field number");
  value.field = static_cast<std::uint32_t>(tag >> 3U);
  value.walk = walk_;
  value.bits = 0;
  value.payload = {};
  bool ok = false;
  switch (tag & 7U) {
    case static_cast<unsigned>(WireType::kVarint):
      value.type = WireType::kVarint;
      ok = varint(value.bits);
      break;
    case static_cast<unsigned>(WireType::kFixed64):
      value.type = WireType::kFixed64;
      ok = fixed(sizeof(std::uint64_t), value.bits);
      break;
    case static_cast<unsigned>(WireType::kFixed32):
      value.type = WireType::kFixed32;
      ok = fixed(sizeof(std::uint32_t), value.bits);
      break;
    case static_cast<unsigned>(WireType::kBytes): {
      value.type = WireType::kBytes;
      std::uint64_t size = 0;
      ok = varint(size);
      if (ok && size > static_cast<std::uint64_t>(end_ - at_))
        ok = walk_->reject("truncated field");
      if (!ok) break;
      value.payload = {at_, static_cast<std::size_t>(size)};
      at_ += size;
      break;
    }
    default:
      walk_->reject("groups and unknown wire types are not supported");
  }
  return ok || walk_->in_field(value.field);
}

}  // namespace amdahl
