#include "local/apiserver/front/tokens.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "operator/kube/base64.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kSecretMin = 32;
constexpr std::string_view kPrefix = "amdahl-sa.";
constexpr char kSeparator = '.';  // base64 has none

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// What a token says.
struct Claims {
  std::string ns = {};
  std::string account = {};
  std::string account_uid = {};
  std::vector<std::string> audiences = {};
  std::string pod = {};
  std::string pod_uid = {};
  std::int64_t expires = 0;
};
template <class V>
constexpr void fields(V& v, Claims& claims) {
  v.required("ns", claims.ns);
  v.required("sub", claims.account);
  v.optional("uid", claims.account_uid);
  v.required("aud", claims.audiences);
  v.optional("pod", claims.pod);
  v.optional("podUid", claims.pod_uid);
  v.required("exp", claims.expires);
}

User user_of_claims(const Claims& claims) {
  User user{
      .name = fmt::format("system:serviceaccount:{}:{}", claims.ns, claims.account),
      .uid = claims.account_uid,
      .groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", claims.ns),
                 "system:authenticated"}};
  if (!claims.pod.empty()) {
    user.extra["authentication.kubernetes.io/pod-name"] = {claims.pod};
    user.extra["authentication.kubernetes.io/pod-uid"] = {claims.pod_uid};
  }
  return user;
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

std::optional<Identities::Owner> Tokens::owner_of(std::string_view token, WallTime now) const {
  if (token.size() > kTokenBytesMax) return std::nullopt;
  if (same(token, admin_token_))
    return Owner{
        .user = {.name = "amdahl-admin", .groups = {"system:masters", "system:authenticated"}},
        .audiences = {kApiAudience}};
  const std::size_t cut = token.rfind(kSeparator);
  if (cut == std::string_view::npos || !same(token.substr(cut + 1), sign(token.substr(0, cut))))
    return std::nullopt;
  // From here on the text is our own, if perhaps that of an older version.
  std::string_view text = token.substr(0, cut);
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const auto decoded = kube::base64_decode(text);
  const auto claims = decode<Claims>(decoded.value_or(""));
  if (!claims || WallTime{std::chrono::seconds{claims->expires}} <= now) return std::nullopt;
  return Owner{.user = user_of_claims(*claims), .audiences = claims->audiences};
}

std::optional<Identities::Issued> Tokens::issue(const Wish& wish, WallTime now) {
  const auto expires =
      std::chrono::ceil<std::chrono::seconds>(now + std::chrono::seconds{wish.seconds});
  const Claims claims{.ns = wish.ns,
                      .account = wish.account,
                      .account_uid = wish.account_uid,
                      .audiences = wish.audiences,
                      .pod = wish.pod,
                      .pod_uid = wish.pod_uid,
                      .expires = expires.time_since_epoch().count()};
  const std::string text = std::string(kPrefix) + kube::base64_encode(encode(claims).dump());
  return Issued{.token = text + kSeparator + sign(text), .expires = expires};
}

std::optional<User> user_of(const Identities& identities, std::string_view token, WallTime now) {
  auto owner = identities.owner_of(token, now);
  if (!owner || std::ranges::find(owner->audiences, kApiAudience) == owner->audiences.end())
    return std::nullopt;
  return std::move(owner->user);
}

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  AMDAHL_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace amdahl::local
