#include "local/apiserver/kinds/digest.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/check.hpp"
#include "operator/kube/base64.hpp"

namespace amdahl::local {

namespace {

std::string digest(const EVP_MD* algorithm, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, algorithm, nullptr);
  AMDAHL_CHECK(ok == 1);
  std::string result;
  for (unsigned int i = 0; i < size; ++i) result.push_back(static_cast<char>(out.at(i)));
  return result;
}

}  // namespace

std::string sha512_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string hex;
  for (const char c : digest(EVP_sha512(), bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

std::string base64_of_sha256(std::string_view bytes, std::size_t bytes_max) {
  const std::string whole = digest(EVP_sha256(), bytes);
  return kube::base64_encode(std::string_view(whole).substr(0, bytes_max));
}

}  // namespace amdahl::local
