// What the server serves: the bodies of /apis and /apis/<group>/<version> (C10). JSON only.
#pragma once

#include <string>
#include <vector>

#include "operator/kube/types_meta.hpp"

namespace amdahl::kube {

struct GroupVersion {
  std::string group_version = {};
  std::string version = {};
  bool operator==(const GroupVersion&) const = default;
};
template <class V>
constexpr void fields(V& v, GroupVersion& served) {
  v.required("groupVersion", served.group_version);
  v.required("version", served.version);
}

struct ApiGroup {
  std::string name = {};
  std::vector<GroupVersion> versions = {};
  GroupVersion preferred = {};
  bool operator==(const ApiGroup&) const = default;
};
template <class V>
constexpr void fields(V& v, ApiGroup& group) {
  v.required("name", group.name);
  v.optional("versions", group.versions);
  v.optional("preferredVersion", group.preferred);
}

struct ApiGroupList {
  std::vector<ApiGroup> groups = {};
};
template <class V>
constexpr void fields(V& v, ApiGroupList& list) {
  v.optional("groups", list.groups);
}

struct ApiResource {
  std::string name = {};  // plural; "pods/status" for a subresource
  std::string singular = {};
  std::string kind = {};
  bool namespaced = false;
  std::vector<std::string> verbs = {};
  std::vector<std::string> short_names = {};
  bool operator==(const ApiResource&) const = default;
};
template <class V>
constexpr void fields(V& v, ApiResource& resource) {
  v.required("name", resource.name);
  v.optional("singularName", resource.singular);
  v.required("kind", resource.kind);
  v.optional("namespaced", resource.namespaced);
  v.optional("verbs", resource.verbs);
  v.optional("shortNames", resource.short_names);
}

struct ApiResourceList {
  std::string group_version = {};
  std::vector<ApiResource> resources = {};
};
template <class V>
constexpr void fields(V& v, ApiResourceList& list) {
  v.required("groupVersion", list.group_version);
  v.optional("resources", list.resources);
}

}  // namespace amdahl::kube
