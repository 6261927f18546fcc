// Rules of services; see rules.hpp.
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

void check_target(const FieldPath& path, const Json& port, Causes& causes) {
  const Json* target = member(port, "targetPort");
  if (target != nullptr && target->is_string()) {
    causes.invalid(path, *target, port_name_errors(target->get_ref<const std::string&>()));
    return;
  }
  const std::int64_t number =
      target != nullptr && target->is_number_integer() ? target->get<std::int64_t>() : 0;
  causes.invalid(path, number, port_number_errors(number));
}

void check_service_port(const FieldPath& path, const Json& port, bool needs_name,
                        std::set<std::string>& names, Causes& causes) {
  const std::string name = text_at(port, {"name"});
  if (name.empty()) {
    if (needs_name) causes.required(path.child("name"));
  } else {
    causes.invalid(path.child("name"), name, dns_label_errors(name));
    if (!names.insert(name).second) causes.duplicate(path.child("name"), name);
  }
  const std::int64_t number = number_at(port, {"port"}).value_or(0);
  causes.invalid(path.child("port"), number, port_number_errors(number));
  const std::string protocol = text_at(port, {"protocol"});
  if (protocol.empty()) {
    causes.required(path.child("protocol"));
  } else {
    causes.one_of(path.child("protocol"), protocol, {"SCTP", "TCP", "UDP"});
  }
  check_target(path.child("targetPort"), port, causes);
}

void check_service_ports(const Json& spec, Causes& causes) {
  const FieldPath path("spec.ports");
  const Json& ports = list_at(spec, {"ports"});
  const bool headless = text_at(spec, {"clusterIP"}) == "None";
  if (ports.empty() && !headless && text_at(spec, {"type"}) != "ExternalName") {
    causes.required(path);
  }
  std::set<std::string> names;
  std::set<std::pair<std::string, std::int64_t>> numbers;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    check_service_port(path.index(i), ports[i], ports.size() > 1, names, causes);
    const std::string protocol = text_at(ports[i], {"protocol"});
    const std::int64_t number = number_at(ports[i], {"port"}).value_or(0);
    if (!numbers.emplace(protocol, number).second) {
      causes.duplicate_text(path.index(i), R"({"Name":"","Protocol":")" + protocol +
                                               R"(","AppProtocol":null,"Port":)" +
                                               std::to_string(number) +
                                               R"(,"TargetPort":0,"NodePort":0})");
    }
  }
}

void check_addresses(const Json& spec, Causes& causes) {
  const FieldPath path("spec.clusterIPs");
  const std::string type = text_at(spec, {"type"});
  const std::string address = text_at(spec, {"clusterIP"});
  if (type == "ExternalName" || address.empty()) return;
  if (address == "None") {
    if (type == "NodePort" || type == "LoadBalancer") {
      causes.invalid(path.index(0), address, "may not be set to 'None' for " + type + " services");
    }
    return;
  }
  causes.invalid(path.index(0), address, ip_errors(address));
}

}  // namespace

void check_service(const Json& service, Causes& causes) {
  const FieldPath path("spec");
  const Json& spec = map_at(service, {"spec"});
  check_service_ports(spec, causes);
  check_labels(path.child("selector"), map_at(spec, {"selector"}), causes);
  causes.one_of(path.child("sessionAffinity"), text_at(spec, {"sessionAffinity"}),
                {"ClientIP", "None"});
  const std::string type = text_at(spec, {"type"});
  causes.one_of(path.child("type"), type,
                {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  if (type == "ExternalName" && text_at(spec, {"externalName"}).empty()) {
    causes.required(path.child("externalName"));
  }
  check_addresses(spec, causes);
}

// A headless service without a selector claims both families, and so cannot get a selector later
// where there is only one.
static void check_families(const Json& service, Causes& causes) {
  const Json& spec = map_at(service, {"spec"});
  if (text_at(spec, {"ipFamilyPolicy"}) != "RequireDualStack") return;
  if (map_at(spec, {"selector"}).empty()) return;
  const FieldPath path("spec");
  causes.invalid(path.child("ipFamilyPolicy"), "RequireDualStack",
                 "this cluster is not configured for dual-stack services");
  causes.invalid(path.child("ipFamilies").index(1), "IPv6", "not configured on this cluster");
}

void check_service_update(const Json& old, const Json& service, Causes& causes) {
  const std::string before = text_at(old, {"spec", "clusterIP"});
  const std::string now = text_at(service, {"spec", "clusterIP"});
  const bool was_inside = text_at(old, {"spec", "type"}) != "ExternalName";
  const bool is_inside = text_at(service, {"spec", "type"}) != "ExternalName";
  if (was_inside && is_inside && !before.empty() && before != now) {
    causes.invalid(FieldPath("spec.clusterIPs").index(0), Json::array({now}),
                   "may not change once set");
  }
  check_service(service, causes);
  check_families(service, causes);
}

}  // namespace amdahl::local
