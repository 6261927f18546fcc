// Rules of the smaller core kinds; see rules.hpp.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::size_t kDataBytesMax = 1U << 20U;

std::size_t data_bytes(const Json& data) {
  std::size_t bytes = 0;
  for (const Json& value : data) {
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  return bytes;
}

void check_keys(std::string_view name, const Json& data, Causes& causes) {
  for (const auto& [key, value] : data.items()) {
    causes.invalid(FieldPath(std::string(name)).key(key), key, config_key_errors(key));
  }
}

void check_frozen(const Json& old, const Json& object, std::initializer_list<std::string_view> data,
                  Causes& causes) {
  if (!flag_at(old, {"immutable"})) return;
  constexpr std::string_view kText = "field is immutable when `immutable` is set";
  if (!flag_at(object, {"immutable"})) causes.forbidden(FieldPath("immutable"), kText);
  for (const std::string_view name : data) {
    if (map_at(old, {name}) != map_at(object, {name})) {
      causes.forbidden(FieldPath(std::string(name)), kText);
    }
  }
}

void require_data(const Json& secret, std::initializer_list<std::string_view> keys,
                  Causes& causes) {
  for (const std::string_view key : keys) {
    if (at(secret, {"data", key}) == nullptr) causes.required(FieldPath("data").key(key));
  }
}

}  // namespace

void check_config_map(const Json& config_map, Causes& causes) {
  const Json& data = map_at(config_map, {"data"});
  const Json& binary = map_at(config_map, {"binaryData"});
  check_keys("data", data, causes);
  for (const auto& [key, value] : data.items()) {
    if (binary.contains(key)) {
      causes.invalid(FieldPath("data").key(key), key, "duplicate of key present in binaryData");
    }
  }
  check_keys("binaryData", binary, causes);
  if (data_bytes(data) + data_bytes(binary) / 4 * 3 > kDataBytesMax) {
    causes.too_long(FieldPath(), kDataBytesMax);
  }
}

void check_config_map_update(const Json& old, const Json& config_map, Causes& causes) {
  check_frozen(old, config_map, {"data", "binaryData"}, causes);
  check_config_map(config_map, causes);
}

void check_secret(const Json& secret, Causes& causes) {
  const Json& data = map_at(secret, {"data"});
  check_keys("data", data, causes);
  if (data_bytes(data) / 4 * 3 > kDataBytesMax) causes.too_long(FieldPath("data"), kDataBytesMax);
  const std::string type = text_at(secret, {"type"});
  if (type == "kubernetes.io/tls") require_data(secret, {"tls.crt", "tls.key"}, causes);
  if (type == "kubernetes.io/ssh-auth") require_data(secret, {"ssh-privatekey"}, causes);
  if (type == "kubernetes.io/dockercfg") require_data(secret, {".dockercfg"}, causes);
  if (type == "kubernetes.io/dockerconfigjson") {
    require_data(secret, {".dockerconfigjson"}, causes);
  }
  // One of the two is enough.
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") &&
      !data.contains("password")) {
    require_data(secret, {"username", "password"}, causes);
  }
  constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
  if (type == "kubernetes.io/service-account-token" &&
      text_at(secret, {"metadata", "annotations", kAccount}).empty()) {
    causes.required(FieldPath("metadata.annotations").key(kAccount));
  }
}

void check_secret_update(const Json& old, const Json& secret, Causes& causes) {
  const std::string type = text_at(secret, {"type"});
  if (type != text_at(old, {"type"})) {
    causes.invalid(FieldPath("type"), type, "field is immutable");
  }
  check_frozen(old, secret, {"data"}, causes);
  check_secret(secret, causes);
}

void check_node(const Json& node, Causes& causes) {
  const FieldPath path("metadata.taints");  // as Kubernetes calls it
  const Json& taints = list_at(node, {"spec", "taints"});
  std::set<std::string> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string key = text_at(taints[i], {"key"});
    const std::string value = text_at(taints[i], {"value"});
    const std::string effect = text_at(taints[i], {"effect"});
    causes.invalid(path.index(i).child("key"), key, qualified_name_errors(key));
    causes.invalid(path.index(i).child("value"), value, label_value_errors(value));
    if (effect.empty()) {
      causes.required(path.index(i).child("effect"));
    } else {
      causes.one_of(path.index(i).child("effect"), effect,
                    {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (!seen.insert(key + "/" + effect).second) {
      const Json* since = member(taints[i], "timeAdded");
      causes.duplicate_text(path.index(i),
                            R"({"Key":)" + Json(key).dump() + R"(,"Value":)" + Json(value).dump() +
                                R"(,"Effect":)" + Json(effect).dump() + R"(,"TimeAdded":)" +
                                (since == nullptr ? Json() : *since).dump() + "}",
                            "taints must be unique by key and effect pair");
    }
  }
}

void check_lease(const Json& lease, Causes& causes) {
  const FieldPath path("spec");
  const Json& spec = map_at(lease, {"spec"});
  const auto duration = number_at(spec, {"leaseDurationSeconds"});
  if (duration && *duration <= 0) {
    causes.invalid(path.child("leaseDurationSeconds"), *duration, "must be greater than 0");
  }
  causes.not_negative(path, spec, "leaseTransitions");
}

void check_priority_class(const Json& priority_class, Causes& causes) {
  constexpr std::int64_t kUserPriorityMax = 1'000'000'000;
  const std::string name = text_at(priority_class, {"metadata", "name"});
  const bool known = name == "system-cluster-critical" || name == "system-node-critical";
  if (name.starts_with("system-")) {
    if (!known) {
      causes.forbidden(FieldPath("metadata.name"),
                       "priority class names with 'system-' prefix are reserved for system use "
                       "only. error: " +
                           name + " is not a known system priority class");
    }
  } else if (number_at(priority_class, {"value"}).value_or(0) > kUserPriorityMax) {
    causes.forbidden(FieldPath("value"),
                     "maximum allowed value of a user defined priority is 1000000000");
  }
  causes.one_of(FieldPath("preemptionPolicy"), text_at(priority_class, {"preemptionPolicy"}),
                {"PreemptLowerPriority", "Never"});
}

void check_priority_class_update(const Json& old, const Json& priority_class, Causes& causes) {
  if (number_at(old, {"value"}) != number_at(priority_class, {"value"})) {
    causes.forbidden(FieldPath("value"), "may not be changed in an update.");
  }
  const std::string policy = text_at(priority_class, {"preemptionPolicy"});
  if (policy != text_at(old, {"preemptionPolicy"})) {
    causes.invalid(FieldPath("preemptionPolicy"), policy, "field is immutable");
  }
}

void check_volume_claim(const Json& claim, Causes& causes) {
  const FieldPath path("spec");
  const Json& modes = list_at(claim, {"spec", "accessModes"});
  if (modes.empty()) {
    causes.required(path.child("accessModes"), "at least 1 access mode is required");
  }
  for (const Json& mode : modes) {
    causes.one_of(path.child("accessModes"), mode.is_string() ? mode.get<std::string>() : "",
                  {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
  }
  const std::string storage = text_at(claim, {"spec", "resources", "requests", "storage"});
  const FieldPath at_storage = path.child("resources").key("storage");
  if (storage.empty()) {
    causes.required(at_storage);
  } else if (storage.starts_with('-') || storage == "0") {
    causes.invalid(at_storage, storage, "must be greater than zero");
  }
}

}  // namespace amdahl::local
