#include "operator/kube/discovery.hpp"

#include <algorithm>

#include "operator/kube/api.hpp"

namespace amdahl::kube {
namespace {

template <class T>
Task<Result<T>> fetch(Client& client, std::string path) {
  return api_detail::object<T>(client, discover_request(std::move(path)));
}

std::string path_of(const std::string& group, const std::string& version) {
  return group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
}

std::string shown(const std::string& group) {
  return group.empty() ? "core" : group;
}

// The server lists versions by its own order; what it prefers comes first here.
void prefer(ApiGroup& group) {
  const auto preferred =
      std::ranges::find(group.versions, group.preferred.version, &GroupVersion::version);
  if (preferred != group.versions.end())
    std::rotate(group.versions.begin(), preferred, preferred + 1);
}

}  // namespace

Task<Result<ServerVersion>> Discovery::version() {
  return fetch<ServerVersion>(client_, "/version");
}

Task<Result<std::vector<ApiGroup>>> Discovery::groups() {
  if (!groups_) {
    CO_TRY(auto list, co_await fetch<ApiGroupList>(client_, "/apis"));
    for (ApiGroup& group : list.groups) prefer(group);
    groups_ = std::move(list.groups);
  }
  co_return *groups_;
}

Task<Result<std::vector<std::string>>> Discovery::versions_of(std::string group) {
  if (group.empty()) co_return std::vector<std::string>{"v1"};
  CO_TRY(const auto served, co_await groups());
  const auto found = std::ranges::find(served, group, &ApiGroup::name);
  if (found == served.end())
    co_return fail(Errc::kNotFound, "the server does not serve the API group {}", group);
  std::vector<std::string> versions;
  for (const GroupVersion& one : found->versions) versions.push_back(one.version);
  co_return versions;
}

Task<Result<ApiResourceList>> Discovery::resources(std::string group, std::string version) {
  const std::string path = path_of(group, version);
  if (const auto kept = resources_.find(path); kept != resources_.end()) co_return kept->second;
  CO_TRY(auto list, co_await fetch<ApiResourceList>(client_, path));
  if (resources_.size() < kGroupVersionsMax) resources_[path] = list;
  co_return list;
}

Task<Result<Resource>> Discovery::find(std::string group, std::string kind,
                                       std::vector<std::string> versions) {
  CO_TRY(const auto served, co_await versions_of(group));
  if (versions.empty()) versions = served;
  for (const std::string& version : versions) {
    if (std::ranges::find(served, version) == served.end()) continue;
    CO_TRY(const auto list, co_await resources(group, version));
    for (const ApiResource& resource : list.resources)
      if (resource.kind == kind && resource.name.find('/') == std::string::npos)
        co_return Resource{.group = group,
                           .version = version,
                           .plural = resource.name,
                           .kind = kind,
                           .namespaced = resource.namespaced};
  }
  co_return fail(Errc::kNotFound, "the server does not serve {} in {} ({})", kind, shown(group),
                 fmt::join(versions, ", "));
}

void Discovery::forget() {
  groups_.reset();
  resources_.clear();
}

}  // namespace amdahl::kube
