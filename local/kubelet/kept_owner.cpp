#include "local/kubelet/kept_owner.hpp"

#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
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
  OwnerSeen seen{.gone = text_of(member_of(*found, "metadata"), "uid") != owner.uid};
  const Json& attempt = member_of(member_of(*found, "status"), "attempt");
  if (attempt.is_number_unsigned()) seen.attempt = attempt.get<std::uint64_t>();
  co_return seen;
}

}  // namespace amdahl::local
