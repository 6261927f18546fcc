#include "operator/controller/token_memory.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.hpp"

namespace amdahl::controller {

TokenDigest token_digest(std::string_view token, std::string_view purpose) {
  const std::string text = std::string(purpose) + '\n' + std::string(token);
  TokenDigest digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  AMDAHL_CHECK(done == 1 && size == digest.size());
  return digest;
}

bool same_digest(const TokenDigest& a, const TokenDigest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace amdahl::controller
