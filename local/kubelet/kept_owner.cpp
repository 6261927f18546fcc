#include "local/kubelet/kept_owner.hpp"

#include <nlohmann/json.hpp>

#include "operator/kube/api.hpp"

namespace amdahl::local {

Task<OwnerSeen> look_at_owner(kube::Client& client, kube::Discovery& discovery, KeptOwner owner) {
  const std::size_t slash = owner.api_version.find('/');
  const auto kind = co_await discovery.find(
      slash == std::string::npos ? "" : owner.api_version.substr(0, slash), owner.kind);
  if (!kind) co_return OwnerSeen{.gone = kind.error().code == Errc::kNotFound};
  const auto found =
      co_await kube::DynamicApi(client, *kind).get({.ns = owner.ns, .name = owner.name});
  if (!found) co_return OwnerSeen{.gone = found.error().code == Errc::kNotFound};
  static const Json::json_pointer uid_path("/metadata/uid");
  static const Json::json_pointer attempt_path("/status/attempt");
  OwnerSeen seen{.gone = !found->contains(uid_path) || found->at(uid_path) != owner.uid};
  if (found->contains(attempt_path) && found->at(attempt_path).is_number_unsigned())
    seen.attempt = found->at(attempt_path).get<std::uint64_t>();
  co_return seen;
}

}  // namespace amdahl::local
