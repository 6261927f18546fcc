// Defaults of the smaller core kinds; see builtin_defaults.hpp.
#include <string>
#include <utility>

#include "local/apiserver/kinds/builtin_defaults.hpp"
#include "local/apiserver/kinds/json_access.hpp"
#include "operator/kube/base64.hpp"

namespace amdahl::local {

namespace {

constexpr int kAffinitySeconds = 10'800;

void default_affinity(Json& spec) {
  set_default(spec, "sessionAffinity", "None");
  if (text_at(spec, {"sessionAffinity"}) != "ClientIP") {
    spec.erase("sessionAffinityConfig");
    return;
  }
  Json* config = make_object(spec, "sessionAffinityConfig");
  Json* client = config == nullptr ? nullptr : make_object(*config, "clientIP");
  if (client != nullptr) set_default(*client, "timeoutSeconds", kAffinitySeconds);
}

bool is_unset(const Json& port) {
  const Json* target = member(port, "targetPort");
  return target == nullptr || *target == 0 || *target == "";
}

}  // namespace

void default_service(Json& service) {
  Json* spec = make_object(service, "spec");
  if (spec == nullptr) return;
  default_affinity(*spec);
  set_default(*spec, "type", "ClusterIP");
  if (Json* ports = member(*spec, "ports"); ports != nullptr && ports->is_array()) {
    for (Json& port : *ports) {
      if (!port.is_object()) continue;
      set_default(port, "protocol", "TCP");
      if (is_unset(port) && port.contains("port")) port["targetPort"] = port["port"];
    }
  }
  const std::string type = text_at(*spec, {"type"});
  const bool outside = type == "NodePort" || type == "LoadBalancer";
  const bool external_ips = type == "ClusterIP" && !list_at(*spec, {"externalIPs"}).empty();
  if (outside || external_ips) set_default(*spec, "externalTrafficPolicy", "Cluster");
  if (outside || type == "ClusterIP") set_default(*spec, "internalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_default(*spec, "allocateLoadBalancerNodePorts", true);
}

void default_secret(Json& secret) {
  set_default(secret, "type", "Opaque");
  const Json texts = map_at(secret, {"stringData"});
  secret.erase("stringData");
  if (texts.empty()) return;
  Json* data = make_object(secret, "data");
  if (data == nullptr) return;
  for (const auto& [name, text] : texts.items()) {
    if (text.is_string()) (*data)[name] = kube::base64_encode(text.get_ref<const std::string&>());
  }
}

void default_namespace(Json& ns) {
  const std::string name = text_at(ns, {"metadata", "name"});
  Json* metadata = make_object(ns, "metadata");
  Json* labels = metadata == nullptr || name.empty() ? nullptr : make_object(*metadata, "labels");
  if (labels != nullptr) (*labels)["kubernetes.io/metadata.name"] = name;
}

void default_volume_claim(Json& claim) {
  if (Json* spec = make_object(claim, "spec"); spec != nullptr) {
    set_default(*spec, "volumeMode", "Filesystem");
  }
  if (Json* status = make_object(claim, "status"); status != nullptr) {
    set_default(*status, "phase", "Pending");
  }
}

void default_volume(Json& volume) {
  Json* spec = make_object(volume, "spec");
  if (spec == nullptr) return;
  set_default(*spec, "persistentVolumeReclaimPolicy", "Retain");
  set_default(*spec, "volumeMode", "Filesystem");
  if (Json* path = member(*spec, "hostPath"); path != nullptr) set_default(*path, "type", "");
  if (Json* status = make_object(volume, "status"); status != nullptr) {
    set_default(*status, "phase", "Pending");
  }
}

void default_endpoints(Json& endpoints) {
  Json* subsets = member(endpoints, "subsets");
  if (subsets == nullptr || !subsets->is_array()) return;
  for (Json& subset : *subsets) {
    Json* ports = member(subset, "ports");
    if (ports == nullptr || !ports->is_array()) continue;
    for (Json& port : *ports) set_default(port, "protocol", "TCP");
  }
}

void default_endpoint_slice(Json& slice) {
  Json* ports = member(slice, "ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (Json& port : *ports) {
    set_default(port, "name", "");
    set_default(port, "protocol", "TCP");
  }
}

}  // namespace amdahl::local
