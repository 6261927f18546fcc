// v1: what a container's variables are made of. Only what the kubelet reads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::local {

struct FieldRef {
  std::string path = {};
  bool operator==(const FieldRef&) const = default;
};
template <class V>
constexpr void fields(V& v, FieldRef& ref) {
  v.required("fieldPath", ref.path);
}

struct ResourceRef {
  std::string container = {};
  std::string resource = {};
  std::optional<kube::Quantity> divisor = {};
  bool operator==(const ResourceRef&) const = default;
};
template <class V>
constexpr void fields(V& v, ResourceRef& ref) {
  v.optional("containerName", ref.container);
  v.required("resource", ref.resource);
  v.optional("divisor", ref.divisor);
}

struct KeyRef {
  std::string name = {};
  std::string key = {};
  bool optional = false;
  bool operator==(const KeyRef&) const = default;
};
template <class V>
constexpr void fields(V& v, KeyRef& ref) {
  v.optional("name", ref.name);
  v.optional("key", ref.key);
  v.optional("optional", ref.optional);
}

struct EnvSource {
  std::optional<FieldRef> field = {};
  std::optional<ResourceRef> resource = {};
  std::optional<KeyRef> config_map = {};
  std::optional<KeyRef> secret = {};
  bool operator==(const EnvSource&) const = default;
};
template <class V>
constexpr void fields(V& v, EnvSource& source) {
  v.optional("fieldRef", source.field);
  v.optional("resourceFieldRef", source.resource);
  v.optional("configMapKeyRef", source.config_map);
  v.optional("secretKeyRef", source.secret);
}

struct EnvVar {
  std::string name = {};
  std::string value = {};
  std::optional<EnvSource> from = {};
  bool operator==(const EnvVar&) const = default;
};
template <class V>
constexpr void fields(V& v, EnvVar& variable) {
  v.required("name", variable.name);
  v.optional("value", variable.value);
  v.optional("valueFrom", variable.from);
}

struct EnvFrom {
  std::string prefix = {};
  std::optional<KeyRef> config_map = {};
  std::optional<KeyRef> secret = {};
  bool operator==(const EnvFrom&) const = default;
};
template <class V>
constexpr void fields(V& v, EnvFrom& from) {
  v.optional("prefix", from.prefix);
  v.optional("configMapRef", from.config_map);
  v.optional("secretRef", from.secret);
}

using Quantities = std::map<std::string, kube::Quantity>;
struct Resources {
  Quantities limits = {};
  Quantities requests = {};
  bool operator==(const Resources&) const = default;
};
template <class V>
constexpr void fields(V& v, Resources& resources) {
  v.optional("limits", resources.limits);
  v.optional("requests", resources.requests);
}

}  // namespace amdahl::local
