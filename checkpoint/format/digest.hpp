// SHA-256, and bytes as text: hexadecimal for names and digests, base64 for arrays.
//
// Plain values; thread any. Failure: decoding returns nothing for what the encoder would not have
// written, so that a value has one spelling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace amdahl::checkpoint {

using Bytes = std::span<const std::byte>;
using Sha256Digest = std::array<std::byte, 32>;

inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Sha256 {
 public:
  Sha256();
  void add(Bytes bytes);
  void add(std::string_view text) { add(bytes_of(text)); }
  void add_u32(std::uint32_t number);  // little-endian
  void add_u64(std::uint64_t number);
  // Of everything so far; begins anew.
  Sha256Digest finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;  // EVP_MD_CTX, kept out of headers
};

Sha256Digest sha256(Bytes bytes);
inline Sha256Digest sha256(std::string_view text) {
  return sha256(bytes_of(text));
}

std::string hex(Bytes bytes);  // lower case
bool is_hex(std::string_view text, std::size_t digits);
std::optional<Sha256Digest> digest_of_hex(std::string_view text);

std::string base64(Bytes bytes);
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace amdahl::checkpoint
