#include "operator/report/token_claims.hpp"

#include "base/json_decode.hpp"
#include "operator/kube/base64.hpp"

namespace amdahl::report {
namespace {

struct PodClaim {
  std::string name = {};
  std::string uid = {};
};
template <class V>
constexpr void fields(V& v, PodClaim& pod) {
  v.required("name", pod.name);
  v.required("uid", pod.uid);
}

struct KubernetesClaim {
  std::string ns = {};
  PodClaim pod = {};
};
template <class V>
constexpr void fields(V& v, KubernetesClaim& claim) {
  v.required("namespace", claim.ns);
  v.required("pod", claim.pod);
}

struct Claims {
  std::vector<std::string> audiences = {};
  KubernetesClaim kubernetes = {};
};
template <class V>
constexpr void fields(V& v, Claims& claims) {
  v.required("aud", claims.audiences);
  v.required("kubernetes.io", claims.kubernetes);
}

}  // namespace

std::optional<TokenClaims> unverified_claims(std::string_view token) {
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  token.remove_prefix(first + 1);
  const std::size_t second = token.find('.');
  if (second == std::string_view::npos || second == 0 || second > kClaimsBytesMax ||
      second + 1 == token.size() || token.find('.', second + 1) != std::string_view::npos)
    return std::nullopt;
  const auto text = kube::base64url_decode(token.substr(0, second));
  if (!text) return std::nullopt;
  auto claims = decode<Claims>(*text);
  if (!claims) return std::nullopt;
  KubernetesClaim& bound = claims->kubernetes;
  if (bound.ns.empty() || bound.pod.name.empty() || bound.pod.uid.empty()) return std::nullopt;
  return TokenClaims{.audiences = std::move(claims->audiences),
                     .pod = {.ns = std::move(bound.ns),
                             .pod = std::move(bound.pod.name),
                             .pod_uid = std::move(bound.pod.uid)}};
}

}  // namespace amdahl::report
