// v1: the volumes of a pod. Only what the kubelet reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "local/kubelet/types_env.hpp"

namespace amdahl::local {

struct KeyPath {
  std::string key = {};
  std::string path = {};
  std::optional<std::int32_t> mode = {};
  bool operator==(const KeyPath&) const = default;
};
template <class V>
constexpr void fields(V& v, KeyPath& item) {
  v.required("key", item.key);
  v.required("path", item.path);
  v.optional("mode", item.mode);
}

struct DownwardFile {
  std::string path = {};
  std::optional<FieldRef> field = {};
  std::optional<ResourceRef> resource = {};
  std::optional<std::int32_t> mode = {};
  bool operator==(const DownwardFile&) const = default;
};
template <class V>
constexpr void fields(V& v, DownwardFile& file) {
  v.required("path", file.path);
  v.optional("fieldRef", file.field);
  v.optional("resourceFieldRef", file.resource);
  v.optional("mode", file.mode);
}

struct TokenFile {
  std::string path = {};
  std::string audience = {};
  std::int64_t seconds = 3600;
  bool operator==(const TokenFile&) const = default;
};
template <class V>
constexpr void fields(V& v, TokenFile& token) {
  v.required("path", token.path);
  v.optional("audience", token.audience);
  v.defaulted("expirationSeconds", token.seconds, 3600);
}

// A config map or secret as files. As a volume of its own, a secret is called secretName.
struct MapFiles {
  std::string name = {};
  std::string secret_name = {};
  std::vector<KeyPath> items = {};
  bool optional = false;
  std::optional<std::int32_t> mode = {};
  bool operator==(const MapFiles&) const = default;
};
template <class V>
constexpr void fields(V& v, MapFiles& files) {
  v.optional("name", files.name);
  v.optional("secretName", files.secret_name);
  v.optional("items", files.items);
  v.optional("optional", files.optional);
  v.optional("defaultMode", files.mode);
}

struct DownwardFiles {
  std::vector<DownwardFile> items = {};
  std::optional<std::int32_t> mode = {};
  bool operator==(const DownwardFiles&) const = default;
};
template <class V>
constexpr void fields(V& v, DownwardFiles& files) {
  v.optional("items", files.items);
  v.optional("defaultMode", files.mode);
}

struct VolumePart {
  std::optional<MapFiles> config_map = {};
  std::optional<MapFiles> secret = {};
  std::optional<DownwardFiles> downward = {};
  std::optional<TokenFile> token = {};
  bool operator==(const VolumePart&) const = default;
};
template <class V>
constexpr void fields(V& v, VolumePart& part) {
  v.optional("configMap", part.config_map);
  v.optional("secret", part.secret);
  v.optional("downwardAPI", part.downward);
  v.optional("serviceAccountToken", part.token);
}

struct ProjectedFiles {
  std::vector<VolumePart> sources = {};
  std::optional<std::int32_t> mode = {};
  bool operator==(const ProjectedFiles&) const = default;
};
template <class V>
constexpr void fields(V& v, ProjectedFiles& files) {
  v.optional("sources", files.sources);
  v.optional("defaultMode", files.mode);
}

struct EmptyDir {
  std::string medium = {};  // "Memory" is a folder too
  bool operator==(const EmptyDir&) const = default;
};
template <class V>
constexpr void fields(V& v, EmptyDir& empty) {
  v.optional("medium", empty.medium);
}

struct HostPath {
  std::string path = {};
  std::string type = {};
  bool operator==(const HostPath&) const = default;
};
template <class V>
constexpr void fields(V& v, HostPath& host) {
  v.required("path", host.path);
  v.optional("type", host.type);
}

struct Volume {
  std::string name = {};
  std::optional<EmptyDir> empty_dir = {};
  std::optional<MapFiles> config_map = {};
  std::optional<MapFiles> secret = {};
  std::optional<ProjectedFiles> projected = {};
  std::optional<DownwardFiles> downward = {};
  std::optional<HostPath> host_path = {};
  bool operator==(const Volume&) const = default;
};
template <class V>
constexpr void fields(V& v, Volume& volume) {
  v.required("name", volume.name);
  v.optional("emptyDir", volume.empty_dir);
  v.optional("configMap", volume.config_map);
  v.optional("secret", volume.secret);
  v.optional("projected", volume.projected);
  v.optional("downwardAPI", volume.downward);
  v.optional("hostPath", volume.host_path);
}

struct VolumeMount {
  std::string name = {};
  std::string path = {};
  std::string sub_path = {};
  std::string sub_path_expr = {};
  bool read_only = false;
  bool operator==(const VolumeMount&) const = default;
};
template <class V>
constexpr void fields(V& v, VolumeMount& mount) {
  v.required("name", mount.name);
  v.required("mountPath", mount.path);
  v.optional("subPath", mount.sub_path);
  v.optional("subPathExpr", mount.sub_path_expr);
  v.optional("readOnly", mount.read_only);
}

}  // namespace amdahl::local
