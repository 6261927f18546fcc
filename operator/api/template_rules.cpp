#include "operator/api/template_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "base/json_member.hpp"
#include "operator/api/training_job_spec.hpp"

namespace amdahl::api {
namespace {

using Texts = std::span<const std::string_view>;

constexpr std::string_view kTemplate = "template.";
constexpr std::string_view kAppArmorKey = "container.apparmor.security.beta.kubernetes.io/";

// The lists of the Pod Security Standards, baseline.
constexpr auto kCapabilities = std::to_array<std::string_view>(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
     "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"});
constexpr auto kSysctls = std::to_array<std::string_view>(
    {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range",
     "net.ipv4.ip_unprivileged_port_start", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
     "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
     "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"});
constexpr auto kConfined = std::to_array<std::string_view>({"RuntimeDefault", "Localhost"});
constexpr auto kSelinuxTypes = std::to_array<std::string_view>(
    {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"});
constexpr auto kEmpty = std::to_array<std::string_view>({""});
constexpr auto kProcMount = std::to_array<std::string_view>({"Default"});
// Our own.
constexpr auto kCritical =
    std::to_array<std::string_view>({"system-node-critical", "system-cluster-critical"});
constexpr auto kControlPlane = std::to_array<std::string_view>(
    {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"});
constexpr auto kSchedulers = std::to_array<std::string_view>({"", "volcano", "default-scheduler"});
constexpr auto kNever = std::to_array<std::string_view>({"", "Never"});
constexpr auto kKey = std::to_array<std::string_view>({"key"});

constexpr std::string_view kSpec = "";
constexpr std::string_view kMetadata = "template.metadata";
constexpr std::string_view kPod = "template.spec";
constexpr std::string_view kContainers =
    "template.spec.containers|initContainers|ephemeralContainers[]";
constexpr std::string_view kNotShared = "pods of jobs do not share the node's own";
constexpr std::string_view kForbidden = "not allowed";
constexpr std::string_view kProfile = "only RuntimeDefault and Localhost are allowed";
constexpr std::string_view kSelinux = "only the types that containers have are allowed";
constexpr std::string_view kOtherHost = "the kubelet asks the pod itself and no other host";
constexpr std::string_view kPriority = "the priority of the cluster's own pods is not for jobs";

constexpr auto kRules = std::to_array<TemplateRule>({
    {kPod, ".hostNetwork|hostPID|hostIPC", Refuse::kTrue, {}, kNotShared},
    {kPod, ".securityContext.windowsOptions.hostProcess", Refuse::kTrue, {}, kForbidden},
    {kContainers, ".securityContext.windowsOptions.hostProcess", Refuse::kTrue, {}, kForbidden},
    {kContainers, ".securityContext.privileged", Refuse::kTrue, {}, kForbidden},
    {kContainers, ".securityContext.capabilities.add[]", Refuse::kNotIn, kCapabilities,
     "not a capability that containers have by default"},
    {kPod, ".volumes[].hostPath", Refuse::kAnything, {}, "folders of the node are not allowed"},
    {kPod,
     ".volumes[].gitRepo",
     Refuse::kAnything,
     {},
     "it runs git as root on the node; clone in an init container"},
    {kContainers, ".ports[].hostPort", Refuse::kNotZero, {}, kForbidden},
    {kContainers, ".livenessProbe|readinessProbe|startupProbe.httpGet|tcpSocket.host",
     Refuse::kNotIn, kEmpty, kOtherHost},
    {kContainers, ".lifecycle.postStart|preStop.httpGet|tcpSocket.host", Refuse::kNotIn, kEmpty,
     kOtherHost},
    {kMetadata,
     ".annotations",
     Refuse::kUnconfined,
     {},
     "container.apparmor.security.beta.kubernetes.io: only runtime/default and localhost/* are "
     "allowed"},
    {kPod, ".securityContext.appArmorProfile.type", Refuse::kNotIn, kConfined, kProfile},
    {kContainers, ".securityContext.appArmorProfile.type", Refuse::kNotIn, kConfined, kProfile},
    {kPod, ".securityContext.seccompProfile.type", Refuse::kNotIn, kConfined, kProfile},
    {kContainers, ".securityContext.seccompProfile.type", Refuse::kNotIn, kConfined, kProfile},
    {kPod, ".securityContext.seLinuxOptions.type", Refuse::kNotIn, kSelinuxTypes, kSelinux},
    {kContainers, ".securityContext.seLinuxOptions.type", Refuse::kNotIn, kSelinuxTypes, kSelinux},
    {kPod, ".securityContext.seLinuxOptions.user|role", Refuse::kNotIn, kEmpty, kForbidden},
    {kContainers, ".securityContext.seLinuxOptions.user|role", Refuse::kNotIn, kEmpty, kForbidden},
    {kContainers, ".securityContext.procMount", Refuse::kNotIn, kProcMount, kForbidden},
    {kPod, ".securityContext.sysctls[].name", Refuse::kNotIn, kSysctls,
     "not a sysctl that is safe for the other pods of a node"},
    // Beyond the baseline.
    {kPod, ".nodeName", Refuse::kAnything, {}, "the scheduler chooses the node; use nodeSelector"},
    {kPod, ".priorityClassName", Refuse::kIn, kCritical, kPriority},
    {kPod, ".priority", Refuse::kAnything, {}, "the cluster sets it by priorityClassName"},
    {kSpec, "scheduling.priorityClassName", Refuse::kIn, kCritical, kPriority},
    {kPod, ".tolerations[]", Refuse::kWithout, kKey,
     "without a key it tolerates every taint; name the taint's key"},
    {kPod, ".tolerations[].key", Refuse::kIn, kControlPlane,
     "nodes of the control plane are not for jobs"},
    {kPod, ".schedulerName", Refuse::kNotIn, kSchedulers,
     "the scheduler of scheduling.gang places the pods"},
    {kPod, ".restartPolicy", Refuse::kNotIn, kNever,
     "a gang restarts as a whole; leave it out or say Never"},
});

std::string path_of(const TemplateRule& rule) {
  return std::string(rule.scope) + std::string(rule.path);
}

// A job that is stored already can be paused, resumed and cancelled, whatever its template says:
// the operator makes no pods from one that is refused.
constexpr const char* kAsksForOtherPods =
    "request.operation == 'CREATE' || object.spec.template != oldObject.spec.template || "
    "object.spec.scheduling != oldObject.spec.scheduling";

bool is_in(const Json& value, Texts texts) {
  return value.is_string() &&
         std::ranges::find(texts, value.get_ref<const std::string&>()) != texts.end();
}

bool is_unconfined(const Json& annotations) {
  if (!annotations.is_object()) return false;
  return std::ranges::any_of(annotations.items(), [](const auto& entry) {
    if (!entry.key().starts_with(kAppArmorKey) || entry.value().is_null()) return false;
    if (!entry.value().is_string()) return true;
    const auto& profile = entry.value().template get_ref<const std::string&>();
    return profile != "runtime/default" && !profile.starts_with("localhost/");
  });
}

bool refuses(const TemplateRule& rule, const Json& value) {
  switch (rule.refuse) {
    case Refuse::kAnything:
      return true;
    case Refuse::kTrue:
      return value == true;
    case Refuse::kNotZero:
      return value != 0;
    case Refuse::kNotIn:
      return !is_in(value, rule.values);
    case Refuse::kIn:
      return is_in(value, rule.values);
    case Refuse::kWithout:
      return text_of(value, rule.values[0]).empty();
    case Refuse::kUnconfined:
      return is_unconfined(value);
  }
  return true;
}

std::string list_in_cel(Texts texts) {
  return fmt::format("['{}']", fmt::join(texts, "', '"));
}

// Whether the value at `place` is allowed; empty: it never is.
std::string leaf_in_cel(const TemplateRule& rule, const std::string& place) {
  switch (rule.refuse) {
    case Refuse::kAnything:
      return "";
    case Refuse::kTrue:
      return place + " != true";
    case Refuse::kNotZero:
      return place + " == 0";
    case Refuse::kNotIn:
      return fmt::format("{} in {}", place, list_in_cel(rule.values));
    case Refuse::kIn:
      return fmt::format("!({} in {})", place, list_in_cel(rule.values));
    case Refuse::kWithout: {
      const std::string member = fmt::format("{}.{}", place, rule.values[0]);
      return fmt::format("has({0}) && {0} != null && {0} != ''", member);
    }
    case Refuse::kUnconfined:
      return fmt::format(
          "{0}.all(k, !k.startsWith('{1}') || {0}[k] == null || {0}[k] == 'runtime/default' || "
          "{0}[k].startsWith('localhost/'))",
          place, kAppArmorKey);
  }
  return "";
}

std::string path_in_cel(const TemplateRule& rule, const std::string& place, std::string_view path,
                        int depth) {
  if (path.empty()) return leaf_in_cel(rule, place);
  if (path.starts_with("[]")) {
    const std::string item = fmt::format("x{}", depth);
    return fmt::format("{}.all({}, {})", place, item,
                       path_in_cel(rule, item, path.substr(2), depth + 1));
  }
  if (path.starts_with('.')) path.remove_prefix(1);
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  std::string all;
  std::string_view names = path.substr(0, end);
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    const std::string member = fmt::format("{}.{}", place, names.substr(0, bar));
    const std::string inside = path_in_cel(rule, member, path.substr(end), depth);
    all += fmt::format("{0}(!has({1}) || {1} == null{2}{3})", all.empty() ? "" : " && ", member,
                       inside.empty() ? "" : " || ", inside);
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return all;
}

Json object_of(const char* kind, Json spec) {
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", "trainingjobs.amdahl.dev"}}},
          {"spec", std::move(spec)}};
}

}  // namespace

std::span<const TemplateRule> template_rules() {
  return kRules;
}

std::optional<std::string> template_refusal(const TrainingJobSpec& spec) {
  const Json rest{{"scheduling", encode(spec.scheduling)}};
  std::optional<std::string> refusal;
  for (const TemplateRule& rule : kRules) {
    const std::string path = path_of(rule);
    const bool inside = path.starts_with(kTemplate);
    each_at(inside ? spec.pod_template : rest,
            std::string_view(path).substr(inside ? kTemplate.size() : 0),
            [&](const Json& value, const std::string& place) {
              if (!refuses(rule, value)) return true;
              refusal = fmt::format("spec.{}{}: {}", inside ? kTemplate : "", place, rule.why);
              return false;
            });
    if (refusal) break;
  }
  return refusal;
}

std::string rule_in_cel(const TemplateRule& rule, std::string_view root) {
  return path_in_cel(rule, std::string(root), path_of(rule), 0);
}

Json admission_policy() {
  Json validations = Json::array();
  for (const TemplateRule& rule : kRules)
    validations.push_back({{"expression", rule_in_cel(rule, "variables.spec")},
                           {"message", fmt::format("spec.{}: {}", path_of(rule), rule.why)}});
  const Json jobs{{"apiGroups", {"amdahl.dev"}},
                  {"apiVersions", {"v1alpha1"}},
                  {"operations", {"CREATE", "UPDATE"}},
                  {"resources", {"trainingjobs"}}};
  // The template is an object of any shape to the schema, so every step into it asks first.
  return object_of(
      "ValidatingAdmissionPolicy",
      {{"failurePolicy", "Fail"},
       {"matchConditions",
        Json::array({{{"name", "asks-for-other-pods"}, {"expression", kAsksForOtherPods}}})},
       {"matchConstraints", {{"resourceRules", Json::array({jobs})}}},
       {"variables", Json::array({{{"name", "spec"}, {"expression", "dyn(object.spec)"}}})},
       {"validations", std::move(validations)}});
}

Json admission_policy_binding() {
  return object_of("ValidatingAdmissionPolicyBinding",
                   {{"policyName", "trainingjobs.amdahl.dev"}, {"validationActions", {"Deny"}}});
}

}  // namespace amdahl::api
