// Defaults of pods and pod templates; see builtin_defaults.hpp.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/builtin_defaults.hpp"
#include "local/apiserver/kinds/image_name.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

constexpr int kVolumeFileMode = 0644;
constexpr int kProjectedTokenSeconds = 3600;
constexpr int kGraceSeconds = 30;
constexpr std::array<std::string_view, 3> kContainerLists = {"containers", "initContainers",
                                                             "ephemeralContainers"};

void default_http(Json& action) {
  Json* http = member(action, "httpGet");
  if (http == nullptr) return;
  set_default(*http, "path", "/");
  set_default(*http, "scheme", "HTTP");
}

void default_probe(Json& container, std::string_view name) {
  Json* probe = member(container, name);
  if (probe == nullptr) return;
  set_default(*probe, "timeoutSeconds", 1);
  set_default(*probe, "periodSeconds", 10);
  set_default(*probe, "successThreshold", 1);
  set_default(*probe, "failureThreshold", 3);
  default_http(*probe);
  if (Json* grpc = member(*probe, "grpc"); grpc != nullptr) set_default(*grpc, "service", "");
}

void default_field_ref(Json& source) {
  if (Json* ref = member(source, "fieldRef"); ref != nullptr) set_default(*ref, "apiVersion", "v1");
}

template <class Change>
void each(Json& object, std::string_view list, Change change) {
  Json* items = member(object, list);
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : *items) {
    if (item.is_object()) change(item);
  }
}

void default_container(Json& container) {
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  set_default(container, "imagePullPolicy",
              image_tag(text_at(container, {"image"})) == "latest" ? "Always" : "IfNotPresent");
  each(container, "ports", [](Json& port) { set_default(port, "protocol", "TCP"); });
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    default_probe(container, probe);
  }
  if (Json* lifecycle = member(container, "lifecycle"); lifecycle != nullptr) {
    for (const std::string_view hook : {"postStart", "preStop"}) {
      if (Json* handler = member(*lifecycle, hook); handler != nullptr) default_http(*handler);
    }
  }
  each(container, "env", [](Json& variable) {
    if (Json* from = member(variable, "valueFrom"); from != nullptr) default_field_ref(*from);
  });
}

void default_projected(Json& projected) {
  set_default(projected, "defaultMode", kVolumeFileMode);
  each(projected, "sources", [](Json& source) {
    if (Json* token = member(source, "serviceAccountToken"); token != nullptr) {
      set_default(*token, "expirationSeconds", kProjectedTokenSeconds);
    }
    if (Json* downward = member(source, "downwardAPI"); downward != nullptr) {
      each(*downward, "items", default_field_ref);
    }
  });
}

void default_pod_volume(Json& volume) {
  // Besides the name there is at most one member: where the volume comes from.
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = Json::object();
  for (const std::string_view source : {"secret", "configMap", "downwardAPI"}) {
    if (Json* found = member(volume, source); found != nullptr) {
      set_default(*found, "defaultMode", kVolumeFileMode);
    }
  }
  if (Json* downward = member(volume, "downwardAPI"); downward != nullptr) {
    each(*downward, "items", default_field_ref);
  }
  if (Json* projected = member(volume, "projected"); projected != nullptr) {
    default_projected(*projected);
  }
  if (Json* path = member(volume, "hostPath"); path != nullptr) set_default(*path, "type", "");
  if (Json* ephemeral = member(volume, "ephemeral"); ephemeral != nullptr) {
    Json* claim = member(*ephemeral, "volumeClaimTemplate");
    Json* spec = claim == nullptr ? nullptr : member(*claim, "spec");
    if (spec != nullptr) set_default(*spec, "volumeMode", "Filesystem");
  }
}

void default_pod_spec(Json& spec) {
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "securityContext", Json::object());
  set_default(spec, "terminationGracePeriodSeconds", kGraceSeconds);
  set_default(spec, "schedulerName", "default-scheduler");
  for (const std::string_view list : kContainerLists) each(spec, list, default_container);
  each(spec, "volumes", default_pod_volume);
  // Two names of one field; the older one is written for old readers.
  const std::string account = text_at(spec, {"serviceAccountName"});
  const std::string old_name = text_at(spec, {"serviceAccount"});
  if (!account.empty()) {
    spec["serviceAccount"] = account;
  } else if (!old_name.empty()) {
    spec["serviceAccountName"] = old_name;
  }
}

// Only of pods: a template keeps what its author wrote.
void requests_from_limits(Json& container) {
  Json* resources = member(container, "resources");
  if (resources == nullptr || member(*resources, "limits") == nullptr) return;
  const Json limits = map_at(*resources, {"limits"});
  Json* requests = make_object(*resources, "requests");
  if (requests == nullptr) return;
  for (const auto& [name, amount] : limits.items()) set_default(*requests, name, amount);
}

void host_ports(Json& container) {
  each(container, "ports", [](Json& port) {
    if (const auto number = number_at(port, {"containerPort"}); number) {
      set_default(port, "hostPort", *number);
    }
  });
}

// One address and the list of all of them: the first of the list is the one.
void one_and_all(Json& status, std::string_view one, std::string_view all) {
  const std::string address = text_at(status, {one});
  const Json& list = list_at(status, {all});
  if (!list.empty()) {
    const std::string first = text_at(list[0], {"ip"});
    if (!first.empty()) status[std::string(one)] = first;
  } else if (!address.empty()) {
    status[std::string(all)] = Json::array({{{"ip", address}}});
  }
}

}  // namespace

void default_pod(Json& pod) {
  Json* spec = make_object(pod, "spec");
  if (spec == nullptr) return;
  default_pod_spec(*spec);
  set_default(*spec, "enableServiceLinks", true);
  each(*spec, "containers", requests_from_limits);
  each(*spec, "initContainers", requests_from_limits);
  if (flag_at(*spec, {"hostNetwork"})) {
    each(*spec, "containers", host_ports);
    each(*spec, "initContainers", host_ports);
  }
  if (Json* status = member(pod, "status"); status != nullptr) {
    one_and_all(*status, "podIP", "podIPs");
    one_and_all(*status, "hostIP", "hostIPs");
  }
}

void default_pod_template(Json& spec) {
  Json* pod = make_object(spec, "template");
  Json* pod_spec = pod == nullptr ? nullptr : make_object(*pod, "spec");
  if (pod_spec != nullptr) default_pod_spec(*pod_spec);
}

}  // namespace amdahl::local
