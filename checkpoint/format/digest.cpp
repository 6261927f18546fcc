#include "checkpoint/format/digest.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace amdahl::checkpoint {
namespace {

EVP_MD_CTX* context_of(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

template <class Number>
std::array<std::byte, sizeof(Number)> little_endian(Number number) {
  std::array<std::byte, sizeof(Number)> bytes{};
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(number);
    number >>= 8U;
  }
  return bytes;
}

}  // namespace

void Sha256::Free::operator()(void* context) const {
  EVP_MD_CTX_free(context_of(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  AMDAHL_CHECK(context_ != nullptr);
  AMDAHL_CHECK(EVP_DigestInit_ex(context_of(context_.get()), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(Bytes bytes) {
  AMDAHL_CHECK(EVP_DigestUpdate(context_of(context_.get()), bytes.data(), bytes.size()) == 1);
}

void Sha256::add_u32(std::uint32_t number) {
  add(little_endian(number));
}

void Sha256::add_u64(std::uint64_t number) {
  add(little_endian(number));
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  EVP_MD_CTX* const context = context_of(context_.get());
  auto* const out = reinterpret_cast<unsigned char*>(digest.data());
  AMDAHL_CHECK(EVP_DigestFinal_ex(context, out, nullptr) == 1);
  AMDAHL_CHECK(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
  return digest;
}

Sha256Digest sha256(Bytes bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.finish();
}

std::string hex(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte >> 4U)];
    text += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::optional<Sha256Digest> digest_of_hex(std::string_view text) {
  Sha256Digest digest{};
  if (!is_hex(text, digest.size() * 2)) return std::nullopt;
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest.at(i) = static_cast<std::byte>((value(text[2 * i]) << 4) | value(text[2 * i + 1]));
  return digest;
}

std::string base64(Bytes bytes) {
  AMDAHL_CHECK(bytes.size() <= std::numeric_limits<int>::max() / 2);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL adds a zero byte
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max() / 2)
    return std::nullopt;
  const std::size_t padding = text.size() - std::min(text.find('='), text.size());
  if (padding > 2) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0 || static_cast<std::size_t>(length) != bytes.size()) return std::nullopt;
  bytes.resize(bytes.size() - padding);  // OpenSSL counts padding as zero bytes
  // It also skips white space and ignores bits that no byte needs; we do not.
  if (base64(bytes_of(bytes)) != text) return std::nullopt;
  return bytes;
}

}  // namespace amdahl::checkpoint
