#include "local/apiserver/front/tokens.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>

#include "base/check.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kSecretMin = 32;
constexpr std::string_view kPrefix = "amdahl-sa";
constexpr char kSeparator = ':';  // no name of Kubernetes has one

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view next_part(std::string_view& rest) {
  const std::size_t end = rest.find(kSeparator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

}  // namespace

Tokens::Tokens(std::string admin_token, std::string secret)
    : admin_token_(std::move(admin_token)), secret_(std::move(secret)) {
  AMDAHL_CHECK(admin_token_.size() >= kSecretMin && secret_.size() >= kSecretMin);
}

std::string Tokens::sign(std::string_view text) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* signed_by =
      HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  AMDAHL_CHECK(signed_by != nullptr);
  return hex({reinterpret_cast<const char*>(digest.data()), size});
}

std::optional<User> Tokens::user_of(std::string_view token, WallTime now) const {
  if (token.size() > kTokenBytesMax) return std::nullopt;
  if (same(token, admin_token_))
    return User{.name = "amdahl-admin", .groups = {"system:masters", "system:authenticated"}};
  const std::size_t cut = token.rfind(kSeparator);
  if (cut == std::string_view::npos || !same(token.substr(cut + 1), sign(token.substr(0, cut))))
    return std::nullopt;
  // From here on the text is our own.
  std::string_view rest = token.substr(0, cut);
  if (next_part(rest) != kPrefix) return std::nullopt;
  const std::string_view ns = next_part(rest);
  const std::string_view account = next_part(rest);
  std::int64_t expires = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), expires);
  if (WallTime{std::chrono::seconds{expires}} <= now) return std::nullopt;
  return User{.name = fmt::format("system:serviceaccount:{}:{}", ns, account),
              .groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", ns),
                         "system:authenticated"}};
}

std::optional<Identities::Issued> Tokens::issue(std::string_view ns, std::string_view account,
                                                std::int64_t seconds, WallTime now) {
  const auto expires = std::chrono::ceil<std::chrono::seconds>(now + std::chrono::seconds{seconds});
  std::string text = fmt::format("{}{}{}{}{}{}{}", kPrefix, kSeparator, ns, kSeparator, account,
                                 kSeparator, expires.time_since_epoch().count());
  const std::string signature = sign(text);
  return Issued{.token = text + kSeparator + signature, .expires = expires};
}

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  AMDAHL_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace amdahl::local
