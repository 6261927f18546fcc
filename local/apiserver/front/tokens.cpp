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

// What a token says, in the form of Kubernetes' own: whoever reads the claims of those, reads ours.
struct Named {
  std::string name = {};
  std::string uid = {};
};
template <class V>
constexpr void fields(V& v, Named& named) {
  v.required("name", named.name);
  v.optional("uid", named.uid);
}
struct Binding {
  std::string ns = {};
  Named account = {};
  std::optional<Named> pod = {};
};
template <class V>
constexpr void fields(V& v, Binding& binding) {
  v.required("namespace", binding.ns);
  v.required("serviceaccount", binding.account);
  v.optional("pod", binding.pod);
}
struct Claims {
  std::vector<std::string> audiences = {};
  std::int64_t expires = 0;
  Binding bound = {};
};
template <class V>
constexpr void fields(V& v, Claims& claims) {
  v.required("aud", claims.audiences);
  v.required("exp", claims.expires);
  v.required("kubernetes.io", claims.bound);
}

User user_of_claims(const Claims& claims) {
  const Binding& bound = claims.bound;
  User user{.name = fmt::format("system:serviceaccount:{}:{}", bound.ns, bound.account.name),
            .uid = bound.account.uid,
            .groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", bound.ns),
                       "system:authenticated"}};
  if (bound.pod) {
    user.extra["authentication.kubernetes.io/pod-name"] = {bound.pod->name};
    user.extra["authentication.kubernetes.io/pod-uid"] = {bound.pod->uid};
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
  return kube::base64url_encode({reinterpret_cast<const char*>(digest.data()), size});
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
  const std::string_view text = token.substr(0, cut);
  const auto decoded = kube::base64url_decode(text.substr(text.find(kSeparator) + 1));
  const auto claims = decode<Claims>(decoded.value_or(""));
  if (!claims || WallTime{std::chrono::seconds{claims->expires}} <= now) return std::nullopt;
  return Owner{.user = user_of_claims(*claims), .audiences = claims->audiences};
}

std::optional<Identities::Issued> Tokens::issue(const Wish& wish, WallTime now) {
  const auto expires =
      std::chrono::ceil<std::chrono::seconds>(now + std::chrono::seconds{wish.seconds});
  Claims claims{
      .audiences = wish.audiences,
      .expires = expires.time_since_epoch().count(),
      .bound = {.ns = wish.ns, .account = {.name = wish.account, .uid = wish.account_uid}}};
  if (!wish.pod.empty()) claims.bound.pod = Named{.name = wish.pod, .uid = wish.pod_uid};
  const std::string text = kube::base64url_encode(R"({"alg":"HS256","typ":"JWT"})") + kSeparator +
                           kube::base64url_encode(encode(claims).dump());
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
