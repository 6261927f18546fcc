// Rules of environment variables and probes; see rules.hpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::array<std::string_view, 12> kEnvFields = {
    "metadata.name",           "metadata.namespace", "metadata.uid",         "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP",      "status.hostIPs",       "status.podIP",
    "status.podIPs",           "metadata.labels",    "metadata.annotations", "status.phase"};

bool is_env_field(std::string_view path) {
  const std::string_view plain = path.substr(0, path.find('['));
  return std::ranges::find(kEnvFields, plain) != kEnvFields.end();
}

void check_key_ref(const FieldPath& path, const Json& ref, Causes& causes) {
  const std::string name = text_at(ref, {"name"});
  causes.invalid(path.child("name"), name, dns_subdomain_errors(name));
  const std::string key = text_at(ref, {"key"});
  if (key.empty()) {
    causes.required(path.child("key"));
  } else {
    causes.invalid(path.child("key"), key, config_key_errors(key));
  }
}

void check_field_ref(const FieldPath& path, const Json& ref, Causes& causes) {
  const std::string field = text_at(ref, {"fieldPath"});
  if (field.empty()) return causes.required(path.child("fieldPath"));
  if (!is_env_field(field)) {
    causes.invalid(path.child("fieldPath"), field,
                   "error converting fieldPath: field label not supported: " + field);
  }
}

void check_resource_ref(const FieldPath& path, const Json& ref, Causes& causes) {
  const std::string resource = text_at(ref, {"resource"});
  if (resource.empty()) return causes.required(path.child("resource"));
  if (resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-")) {
    return;
  }
  causes.one_of(path.child("resource"), resource,
                {"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
                 "requests.ephemeral-storage", "requests.memory"});
}

void check_value_from(const FieldPath& path, const Json& variable, Causes& causes) {
  const Json* from = member(variable, "valueFrom");
  if (from == nullptr) return;
  int sources = 0;
  for (const std::string_view name :
       {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    const Json* ref = member(*from, name);
    if (ref == nullptr) continue;
    ++sources;
    if (name == "fieldRef") check_field_ref(path.child(name), *ref, causes);
    if (name == "resourceFieldRef") check_resource_ref(path.child(name), *ref, causes);
    if (name.ends_with("KeyRef") && name != "fileKeyRef") {
      check_key_ref(path.child(name), *ref, causes);
    }
  }
  if (sources == 0) {
    causes.invalid(path, "",
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                   "`secretKeyRef`");
  } else if (!text_at(variable, {"value"}).empty()) {
    causes.invalid(path, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    causes.invalid(path, "", "may not have more than one field specified at a time");
  }
}

void check_env_from(const FieldPath& path, const Json& container, Causes& causes) {
  const Json& sources = list_at(container, {"envFrom"});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const FieldPath at_source = path.index(i);
    const std::string prefix = text_at(sources[i], {"prefix"});
    if (!prefix.empty()) {
      causes.invalid(at_source.child("prefix"), prefix, env_name_errors(prefix));
    }
    int refs = 0;
    for (const std::string_view name : {"configMapRef", "secretRef"}) {
      const Json* ref = member(sources[i], name);
      if (ref == nullptr) continue;
      ++refs;
      const std::string target = text_at(*ref, {"name"});
      if (target.empty()) causes.required(at_source.child(name).child("name"));
    }
    if (refs == 0) {
      causes.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    } else if (refs > 1) {
      causes.invalid(path, "", "may not have more than one field specified at a time");
    }
  }
}

void check_number_or_name(const FieldPath& path, const Json* port, Causes& causes) {
  if (port != nullptr && port->is_string()) {
    causes.invalid(path, *port, port_name_errors(port->get_ref<const std::string&>()));
  } else {
    const std::int64_t number =
        port != nullptr && port->is_number_integer() ? port->get<std::int64_t>() : 0;
    causes.invalid(path, number, port_number_errors(number));
  }
}

void check_handler(const FieldPath& path, const Json& handler, Causes& causes) {
  int handlers = 0;
  for (const std::string_view name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Json* found = member(handler, name);
    if (found == nullptr) continue;
    if (handlers++ > 0) {
      causes.forbidden(path.child(name), "may not specify more than 1 handler type");
      continue;
    }
    const FieldPath at_handler = path.child(name);
    if (name == "exec" && list_at(*found, {"command"}).empty()) {
      causes.required(at_handler.child("command"));
    }
    if (name == "httpGet" || name == "tcpSocket" || name == "grpc") {
      check_number_or_name(at_handler.child("port"), member(*found, "port"), causes);
    }
    if (name == "httpGet") {
      if (text_at(*found, {"path"}).empty()) causes.required(at_handler.child("path"));
      causes.one_of(at_handler.child("scheme"), text_at(*found, {"scheme"}), {"HTTP", "HTTPS"});
    }
  }
  if (handlers == 0) causes.required(path, "must specify a handler type");
}

void check_probe(const FieldPath& path, const Json& probe, bool only_one_success, Causes& causes) {
  check_handler(path, probe, causes);
  for (const std::string_view name : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                      "successThreshold", "failureThreshold"}) {
    causes.not_negative(path, probe, name);
  }
  const auto successes = number_at(probe, {"successThreshold"});
  if (only_one_success && successes.value_or(1) != 1) {
    causes.invalid(path.child("successThreshold"), *successes, "must be 1");
  }
  const auto grace = number_at(probe, {"terminationGracePeriodSeconds"});
  if (grace && *grace <= 0) {
    causes.invalid(path.child("terminationGracePeriodSeconds"), *grace, "must be greater than 0");
  }
}

}  // namespace

void check_env(const FieldPath& path, const Json& container, Causes& causes) {
  const Json& env = list_at(container, {"env"});
  for (std::size_t i = 0; i < env.size(); ++i) {
    const FieldPath at_variable = path.child("env").index(i);
    const std::string name = text_at(env[i], {"name"});
    if (name.empty()) {
      causes.required(at_variable.child("name"));
    } else {
      causes.invalid(at_variable.child("name"), name, env_name_errors(name));
    }
    check_value_from(at_variable.child("valueFrom"), env[i], causes);
  }
  check_env_from(path.child("envFrom"), container, causes);
}

void check_probes(const FieldPath& path, const Json& container, bool init, Causes& causes) {
  const bool sidecar = text_at(container, {"restartPolicy"}) == "Always";
  for (const std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Json* probe = member(container, name);
    if (probe == nullptr) continue;
    if (init && !sidecar) {
      causes.forbidden(path.child(name),
                       "may not be set for init containers without restartPolicy=Always");
    } else {
      check_probe(path.child(name), *probe, name != "readinessProbe", causes);
    }
  }
  const Json* lifecycle = member(container, "lifecycle");
  if (lifecycle == nullptr) return;
  if (init && !sidecar) {
    return causes.forbidden(path.child("lifecycle"),
                            "may not be set for init containers without restartPolicy=Always");
  }
  for (const std::string_view hook : {"postStart", "preStop"}) {
    if (const Json* handler = member(*lifecycle, hook); handler != nullptr) {
      check_handler(path.child("lifecycle").child(hook), *handler, causes);
    }
  }
}

}  // namespace amdahl::local
