// Rules of pods and pod templates; see rules.hpp.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::string_view kUpdatable =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

constexpr std::int64_t kDeadlineMax = std::numeric_limits<std::int32_t>::max();

void check_name_of(const FieldPath& path, const Json& spec, std::string_view name,
                   NameErrors (*errors)(std::string_view), Causes& causes) {
  const std::string text = text_at(spec, {name});
  if (!text.empty()) causes.invalid(path.child(name), text, errors(text));
}

void check_spec(const FieldPath& path, const Json& spec, Causes& causes) {
  check_volumes(path, spec, causes);
  check_containers(path, spec, causes);
  causes.one_of(path.child("restartPolicy"), text_at(spec, {"restartPolicy"}),
                {"Always", "OnFailure", "Never"});
  const std::string dns = text_at(spec, {"dnsPolicy"});
  causes.one_of(path.child("dnsPolicy"), dns,
                {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  if (dns == "None" && member(spec, "dnsConfig") == nullptr) {
    causes.required(path.child("dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None");
  }
  check_scheduling(path, spec, causes);
  check_name_of(path, spec, "serviceAccountName", dns_subdomain_errors, causes);
  check_name_of(path, spec, "nodeName", dns_subdomain_errors, causes);
  check_name_of(path, spec, "hostname", dns_label_errors, causes);
  check_name_of(path, spec, "subdomain", dns_label_errors, causes);
  check_name_of(path, spec, "priorityClassName", dns_subdomain_errors, causes);
  const auto deadline = number_at(spec, {"activeDeadlineSeconds"});
  if (deadline && (*deadline < 1 || *deadline > kDeadlineMax)) {
    causes.invalid(path.child("activeDeadlineSeconds"), *deadline,
                   "must be between 1 and 2147483647, inclusive");
  }
}

// True when the lists have the same containers; only then a comparison makes sense.
bool check_same_containers(const Json& old, const Json& pod, std::string_view list,
                           Causes& causes) {
  const FieldPath path = FieldPath("spec").child(list);
  if (list_at(old, {"spec", list}).size() == list_at(pod, {"spec", list}).size()) return true;
  causes.forbidden(path, "pod updates may not add or remove containers");
  return false;
}

// False when nothing more is looked at.
bool check_deadline_update(const Json& old, const Json& pod, Causes& causes) {
  const FieldPath path("spec.activeDeadlineSeconds");
  const auto before = number_at(old, {"spec", "activeDeadlineSeconds"});
  const auto now = number_at(pod, {"spec", "activeDeadlineSeconds"});
  if (!now) {
    if (before) {
      causes.invalid(path, nullptr, "must not update from a positive integer to nil value");
    }
    return true;
  }
  if (*now < 0 || *now > kDeadlineMax) {
    causes.invalid(path, *now,
                   "must be between 0 and " + std::to_string(kDeadlineMax) + ", inclusive");
    return false;
  }
  if (before && *now > *before) {
    causes.invalid(path, *now, "must be less than or equal to previous value");
    return false;
  }
  return true;
}

void check_tolerations_update(const Json& old, const Json& pod, Causes& causes) {
  const Json& now = list_at(pod, {"spec", "tolerations"});
  for (const Json& toleration : list_at(old, {"spec", "tolerations"})) {
    // The time may change; everything else of an old toleration must still be there.
    const auto same = [&](Json other) {
      Json before = toleration;
      before.erase("tolerationSeconds");
      other.erase("tolerationSeconds");
      return before == other;
    };
    if (std::ranges::none_of(now, same)) {
      return causes.forbidden(
          FieldPath("spec.tolerations"),
          "existing toleration can not be modified except its tolerationSeconds");
    }
  }
}

void check_gates_update(const Json& old, const Json& pod, Causes& causes) {
  const Json& before = list_at(old, {"spec", "schedulingGates"});
  const Json& now = list_at(pod, {"spec", "schedulingGates"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (std::ranges::find(before, now[i]) != before.end()) continue;
    causes.forbidden(FieldPath("spec.schedulingGates").index(i).child("name"),
                     "only deletion is allowed, but found new scheduling gate '" +
                         text_at(now[i], {"name"}) + "'");
  }
}

// The new spec with everything that may change put back.
Json without_changeable(const Json& old, const Json& pod) {
  Json spec = map_at(pod, {"spec"});
  const Json& before = map_at(old, {"spec"});
  for (const std::string_view list : {"containers", "initContainers"}) {
    Json* containers = member(spec, list);
    const Json& known = list_at(before, {list});
    for (std::size_t i = 0; containers != nullptr && i < known.size(); ++i) {
      Json& container = (*containers)[i];
      if (container.is_object()) container["image"] = text_at(known[i], {"image"});
    }
  }
  const bool gated = !list_at(before, {"schedulingGates"}).empty();
  for (const std::string name :
       {"activeDeadlineSeconds", "schedulingGates", "tolerations", "nodeSelector"}) {
    if (name == "nodeSelector" && !gated) continue;
    spec.erase(name);
    if (const Json* value = member(before, name); value != nullptr) spec[name] = *value;
  }
  return spec;
}

void check_selector_additions(const Json& old, const Json& pod, Causes& causes) {
  const Json& now = map_at(pod, {"spec", "nodeSelector"});
  for (const auto& [key, value] : map_at(old, {"spec", "nodeSelector"}).items()) {
    if (now.contains(key) && now[key] == value) continue;
    return causes.invalid(FieldPath("spec.nodeSelector"), now,
                          "only additions to spec.nodeSelector are allowed (no mutations or "
                          "deletions)");
  }
}

}  // namespace

void check_pod(const Json& pod, Causes& causes) {
  check_spec(FieldPath("spec"), map_at(pod, {"spec"}), causes);
}

// Kubernetes leaves "metadata" out of the path of labels and annotations here.
void check_pod_template(const FieldPath& path, const Json& pod, Causes& causes) {
  const Json& metadata = map_at(pod, {"metadata"});
  check_labels(path.child("labels"), map_at(metadata, {"labels"}), causes);
  check_annotations(path.child("annotations"), map_at(metadata, {"annotations"}), causes);
  check_spec(path.child("spec"), map_at(pod, {"spec"}), causes);
}

void check_pod_update(const Json& old, const Json& pod, Causes& causes) {
  check_pod(pod, causes);
  for (const std::string_view list : {"containers", "initContainers"}) {
    if (!check_same_containers(old, pod, list, causes)) return;
  }
  if (!check_deadline_update(old, pod, causes)) return;
  check_tolerations_update(old, pod, causes);
  check_gates_update(old, pod, causes);
  if (!list_at(old, {"spec", "schedulingGates"}).empty()) {
    check_selector_additions(old, pod, causes);
  }
  if (without_changeable(old, pod) != map_at(old, {"spec"})) {
    causes.forbidden(FieldPath("spec"), kUpdatable);
  }
}

void check_pod_status_update(const Json& old, const Json& pod, Causes& causes) {
  const std::string before = text_at(old, {"status", "qosClass"});
  const std::string now = text_at(pod, {"status", "qosClass"});
  if (now != before) {
    causes.invalid(FieldPath("status.qosClass"), now, "field is immutable");
  }
}

}  // namespace amdahl::local
