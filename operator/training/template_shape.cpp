#include "operator/training/template_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"

namespace amdahl::training {
namespace {

using Fault = std::optional<std::string>;

constexpr std::size_t kShownKeyMax = 63;

enum class Shape : std::uint8_t { kText, kFlag, kInteger, kAmount, kList, kObject };

struct Row {
  std::string_view path = {};
  Shape shape = Shape::kText;
};

constexpr std::string_view kContainers = "containers|initContainers|ephemeralContainers";

// Of the pod, and of each container where it begins with a dot.
constexpr auto kRows = std::to_array<Row>({
    {"metadata|spec", Shape::kObject},
    {"metadata.labels|annotations", Shape::kObject},
    {"spec.containers|initContainers|ephemeralContainers", Shape::kList},
    {"spec.containers|initContainers|ephemeralContainers[]", Shape::kObject},
    {"spec.volumes|tolerations|imagePullSecrets|topologySpreadConstraints|hostAliases|"
     "readinessGates|schedulingGates|resourceClaims",
     Shape::kList},
    {"spec.volumes|tolerations|imagePullSecrets|topologySpreadConstraints|hostAliases|"
     "readinessGates|schedulingGates|resourceClaims[]",
     Shape::kObject},
    {"spec.volumes|imagePullSecrets[].name", Shape::kText},
    {"spec.tolerations[].key|operator|value|effect", Shape::kText},
    {"spec.tolerations[].tolerationSeconds", Shape::kInteger},
    {"spec.affinity|nodeSelector|securityContext|dnsConfig|os|overhead", Shape::kObject},
    {"spec.affinity.nodeAffinity|podAffinity|podAntiAffinity", Shape::kObject},
    {"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", Shape::kList},
    {"spec.serviceAccountName|serviceAccount|schedulerName|priorityClassName|restartPolicy|"
     "nodeName|"
     "hostname|subdomain|runtimeClassName|dnsPolicy|preemptionPolicy",
     Shape::kText},
    {"spec.hostNetwork|hostPID|hostIPC|hostUsers|shareProcessNamespace|enableServiceLinks|"
     "automountServiceAccountToken|setHostnameAsFQDN",
     Shape::kFlag},
    {"spec.terminationGracePeriodSeconds|activeDeadlineSeconds|priority", Shape::kInteger},
    {"spec.securityContext.sysctls|supplementalGroups", Shape::kList},
    {"spec.securityContext.sysctls[]", Shape::kObject},
    {"spec.securityContext.sysctls[].name|value", Shape::kText},

    {".name|image|imagePullPolicy|workingDir|terminationMessagePath|terminationMessagePolicy|"
     "restartPolicy",
     Shape::kText},
    {".command|args|env|envFrom|ports|volumeMounts|volumeDevices|resizePolicy", Shape::kList},
    {".command|args[]", Shape::kText},
    {".env|envFrom|ports|volumeMounts|volumeDevices|resizePolicy[]", Shape::kObject},
    {".env[].name|value", Shape::kText},
    {".env[].valueFrom", Shape::kObject},
    {".ports[].containerPort|hostPort", Shape::kInteger},
    {".ports[].name|protocol|hostIP", Shape::kText},
    {".volumeMounts[].name|mountPath|subPath|subPathExpr|mountPropagation", Shape::kText},
    {".volumeMounts[].readOnly", Shape::kFlag},
    {".resources|securityContext|livenessProbe|readinessProbe|startupProbe|lifecycle",
     Shape::kObject},
    {".resources.limits|requests", Shape::kObject},
    {".stdin|stdinOnce|tty", Shape::kFlag},
    {".securityContext.privileged|allowPrivilegeEscalation|readOnlyRootFilesystem", Shape::kFlag},
    {".securityContext.capabilities", Shape::kObject},
    {".securityContext.capabilities.add|drop", Shape::kList},
    {".securityContext.capabilities.add|drop[]", Shape::kText},
    {".securityContext.procMount", Shape::kText},
});

// The same in the pod and in each container, below securityContext.
constexpr auto kSecurityRows = std::to_array<Row>({
    {".seccompProfile|appArmorProfile|seLinuxOptions|windowsOptions", Shape::kObject},
    {".seccompProfile|appArmorProfile.type|localhostProfile", Shape::kText},
    {".seLinuxOptions.type|user|role|level", Shape::kText},
    {".windowsOptions.hostProcess", Shape::kFlag},
    {".runAsNonRoot", Shape::kFlag},
    {".runAsUser|runAsGroup", Shape::kInteger},
});

// The largest number of entries. Some are compared with every node of the cluster, and all are
// counted for every gang.
struct CountRow {
  std::string_view path = {};
  std::size_t most = 0;
};
constexpr auto kCountRows = std::to_array<CountRow>({
    {"spec.containers|initContainers|ephemeralContainers", 64},
    {".resources.limits|requests", 64},
    {".env|envFrom|volumeMounts", 4096},
    {"spec.volumes", 1024},
    {"spec.tolerations|nodeSelector", 64},
    {"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
     16},
    {"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]"
     ".matchExpressions|matchFields",
     16},
    {"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]"
     ".matchExpressions|matchFields[].values",
     512},
});

bool fits(const Json& value, Shape shape) {
  switch (shape) {
    case Shape::kText:
      return value.is_string();
    case Shape::kFlag:
      return value.is_boolean();
    case Shape::kInteger:
      return value.is_number_integer();
    case Shape::kAmount:
      return value.is_string() || value.is_number();
    case Shape::kList:
      return value.is_array();
    case Shape::kObject:
      return value.is_object();
  }
  return false;
}

std::string_view name_of(Shape shape) {
  constexpr std::array<std::string_view, 6> kNames{"a string",   "true or false", "an integer",
                                                   "a quantity", "a list",        "an object"};
  return kNames[static_cast<std::size_t>(shape)];
}

std::string mismatch(const std::string& place, Shape shape, const Json& value) {
  return fmt::format("spec.template.{}: must be {}, is {}", place, name_of(shape),
                     kind_name(value));
}

Fault fault_at(const Json& pod_template, const std::string& path, Shape shape) {
  Fault fault;
  each_at(pod_template, path, [&](const Json& value, const std::string& place) {
    if (!fits(value, shape)) fault = mismatch(place, shape, value);
    return !fault;
  });
  return fault;
}

// Every value of the objects at a path, whatever its key. A null is an absent entry.
Fault values_fault(const Json& pod_template, const std::string& path, Shape shape) {
  Fault fault;
  each_at(pod_template, path, [&](const Json& map, const std::string& place) {
    if (!map.is_object()) return true;
    for (const auto& [key, value] : map.items()) {
      if (value.is_null() || fits(value, shape)) continue;
      fault = mismatch(fmt::format("{}[\"{}\"]", place, key.substr(0, kShownKeyMax)), shape, value);
      return false;
    }
    return true;
  });
  return fault;
}

Fault count_fault(const Json& pod_template, const std::string& path, std::size_t most) {
  Fault fault;
  each_at(pod_template, path, [&](const Json& value, const std::string& place) {
    if (value.is_structured() && value.size() > most)
      fault = fmt::format("spec.template.{}: has {} entries, and at most {} are allowed", place,
                          value.size(), most);
    return !fault;
  });
  return fault;
}

// An empty Helm value. The API server would only say that it is missing.
Fault null_fault(const Json& pod_template) {
  Fault fault;
  each_at(pod_template, fmt::format("spec.{}[]", kContainers),
          [&](const Json& container, const std::string& place) {
            for (const char* key : {"name", "image"})
              if (!fault && container.is_object() && container.contains(key) &&
                  member_of(container, key).is_null())
                fault = mismatch(fmt::format("{}.{}", place, key), Shape::kText, Json());
            return !fault;
          });
  return fault;
}

}  // namespace

std::optional<std::string> shape_fault(const Json& pod_template) {
  const std::string container = fmt::format("spec.{}[]", kContainers);
  for (const Row& row : kRows) {
    const std::string scope = row.path.starts_with('.') ? container : "";
    if (auto fault = fault_at(pod_template, scope + std::string(row.path), row.shape)) return fault;
  }
  for (const CountRow& row : kCountRows) {
    const std::string scope = row.path.starts_with('.') ? container : "";
    if (auto fault = count_fault(pod_template, scope + std::string(row.path), row.most))
      return fault;
  }
  for (const std::string& scope : {std::string("spec"), container})
    for (const Row& row : kSecurityRows)
      if (auto fault =
              fault_at(pod_template, scope + ".securityContext" + std::string(row.path), row.shape))
        return fault;
  for (const char* path : {"metadata.labels|annotations", "spec.nodeSelector"})
    if (auto fault = values_fault(pod_template, path, Shape::kText)) return fault;
  if (auto fault =
          values_fault(pod_template, container + ".resources.limits|requests", Shape::kAmount))
    return fault;
  return null_fault(pod_template);
}

}  // namespace amdahl::training
