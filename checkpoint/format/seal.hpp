// The text of an owner record, a receipt or a manifest: two lines.
//
//   body LF seal LF      body: canonical JSON of the value; seal: {"sha256":"..."} of body LF
//
// The seal is checked before the body is parsed, and speaks of the bytes as they are, so that
// nobody has to agree on how JSON is written in order to check a digest or a signature.
// Thread: any. Failure: kCorrupt for damage, kInvalid for what is not understood, kTooLarge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int32_t kFormatVersion = 1;
inline constexpr std::size_t kSealBytesMax = 512;

// Of a manifest (signature.hpp).
struct Signature {
  std::string key_id = {};  // SHA-256 of the public key's 32 bytes, hexadecimal
  std::string value = {};   // base64 of 64 bytes
  bool operator==(const Signature&) const = default;
};
template <class V>
constexpr void fields(V& v, Signature& signature) {
  v.required("keyId", signature.key_id,
             {.doc = "SHA-256 of the 32 bytes of the public key, hexadecimal.", .length_max = 64});
  v.required("value", signature.value,
             {.doc = "Base64 of the 64 bytes of the signature.", .length_max = 88});
}

struct Seal {
  std::string sha256 = {};
  std::optional<Signature> signature = {};
  bool operator==(const Seal&) const = default;
};
template <class V>
constexpr void fields(V& v, Seal& seal) {
  v.required(
      "sha256", seal.sha256,
      {.doc = "SHA-256 of the first line with its line feed, hexadecimal.", .length_max = 64});
  v.optional("signature", seal.signature, {.doc = "Only of a manifest."});
}

struct OpenedDocument {
  std::string_view body_line = {};  // with its line feed; lives as long as the text
  Seal seal = {};
};
// Checks size, framing and seal.
Result<OpenedDocument> open_document(std::string_view text, std::size_t bytes_max);
// The text of a body without its line feed. A signature is the caller's to make.
std::string seal_document(std::string body, std::optional<Signature> signature = std::nullopt);

}  // namespace amdahl::checkpoint
