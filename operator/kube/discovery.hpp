// What the server serves: its version, groups, and where a kind lives (C10).
//
// Answers are kept until forget(). Whoever gets a 404 for a kind calls forget() and finds it again:
// a CRD may have come, gone or changed its versions. Thread: one. Lifetime: the client outlives it;
// it outlives its tasks. Failure: Errc::kNotFound for a kind or group that is not served.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/types_discovery.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kGroupVersionsMax = 256;  // kept at a time

struct ServerVersion {
  std::string git_version = {};  // "v1.34.4"
  std::string major = {};
  std::string minor = {};  // some vendors append a plus sign
  std::string platform = {};
};
template <class V>
constexpr void fields(V& v, ServerVersion& version) {
  v.required("gitVersion", version.git_version);
  v.optional("major", version.major);
  v.optional("minor", version.minor);
  v.optional("platform", version.platform);
}

class Discovery {
 public:
  explicit Discovery(Client& client) : client_(client) {}

  Task<Result<ServerVersion>> version();
  // Named groups with their versions, the preferred one first; the core group "" has only v1.
  Task<Result<std::vector<ApiGroup>>> groups();
  Task<Result<std::vector<std::string>>> versions_of(std::string group);
  // Everything in one version of a group, subresources included.
  Task<Result<ApiResourceList>> resources(std::string group, std::string version);
  // Where a kind lives: in the first of `versions` that serves it, or by the server's preference
  // when none is named. Subresources do not count.
  Task<Result<Resource>> find(std::string group, std::string kind,
                              std::vector<std::string> versions = {});
  void forget();

 private:
  Client& client_;
  std::optional<std::vector<ApiGroup>> groups_;
  std::map<std::string, ApiResourceList> resources_;  // by "group/version"
};

}  // namespace amdahl::kube
