#include "operator/kube/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace amdahl::kube {

std::string base64_encode(std::string_view bytes) {
  AMDAHL_CHECK(bytes.size() <= std::numeric_limits<int>::max() / 2);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL adds a zero byte
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string packed(text);
  std::erase_if(packed, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  if (packed.size() % 4 != 0 || packed.size() > std::numeric_limits<int>::max() / 2)
    return std::nullopt;
  if (packed.empty()) return std::string();
  const std::size_t first_pad = std::min(packed.find('='), packed.size());
  const std::size_t padding = packed.size() - first_pad;
  if (padding > 2 || packed.find_first_not_of('=', first_pad) != std::string::npos)
    return std::nullopt;
  std::string bytes(packed.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(packed.data()),
                                     static_cast<int>(packed.size()));
  if (length < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(length) - padding);  // OpenSSL counts padding as zero bytes
  return bytes;
}

std::string base64url_encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  text.erase(text.find_last_not_of('=') + 1);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  if (text.find_first_of("+/= \n\r\t") != std::string_view::npos) return std::nullopt;
  std::string plain(text);
  std::ranges::replace(plain, '-', '+');
  std::ranges::replace(plain, '_', '/');
  while (plain.size() % 4 != 0) plain += '=';
  return base64_decode(plain);
}

}  // namespace amdahl::kube
