// Rules of endpoints and their slices; see rules.hpp.
#include <string>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

void check_addresses(const FieldPath& path, const Json& addresses, Causes& causes) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const FieldPath at_address = path.index(i);
    const std::string ip = text_at(addresses[i], {"ip"});
    causes.invalid(at_address.child("ip"), ip, ip_errors(ip));
    const std::string host = text_at(addresses[i], {"hostname"});
    if (!host.empty()) causes.invalid(at_address.child("hostname"), host, dns_label_errors(host));
    if (member(addresses[i], "nodeName") != nullptr) {
      const std::string node = text_at(addresses[i], {"nodeName"});
      causes.invalid(at_address.child("nodeName"), node, dns_subdomain_errors(node));
    }
    causes.invalid(at_address.child("ip"), ip, endpoint_ip_errors(ip));
  }
}

void check_port(const FieldPath& path, const Json& port, bool needs_name, Causes& causes) {
  const std::string name = text_at(port, {"name"});
  if (!name.empty()) {
    causes.invalid(path.child("name"), name, dns_label_errors(name));
  } else if (needs_name) {
    causes.required(path.child("name"));
  }
  const std::int64_t number = number_at(port, {"port"}).value_or(0);
  causes.invalid(path.child("port"), number, port_number_errors(number));
  const std::string protocol = text_at(port, {"protocol"});
  if (protocol.empty()) {
    causes.required(path.child("protocol"));
  } else {
    causes.one_of(path.child("protocol"), protocol, {"SCTP", "TCP", "UDP"});
  }
  if (member(port, "appProtocol") != nullptr) {
    const std::string above = text_at(port, {"appProtocol"});
    causes.invalid(path.child("appProtocol"), above, qualified_name_errors(above));
  }
}

}  // namespace

void check_endpoints(const Json& endpoints, Causes& causes) {
  const Json& subsets = list_at(endpoints, {"subsets"});
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    const FieldPath path = FieldPath("subsets").index(i);
    const Json& ready = list_at(subsets[i], {"addresses"});
    const Json& not_ready = list_at(subsets[i], {"notReadyAddresses"});
    if (ready.empty() && not_ready.empty()) {
      causes.required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    check_addresses(path.child("addresses"), ready, causes);
    check_addresses(path.child("notReadyAddresses"), not_ready, causes);
    const Json& ports = list_at(subsets[i], {"ports"});
    for (std::size_t j = 0; j < ports.size(); ++j) {
      check_port(path.child("ports").index(j), ports[j], ports.size() > 1, causes);
    }
  }
}

void check_endpoint_slice(const Json& slice, Causes& causes) {
  const std::string type = text_at(slice, {"addressType"});
  if (type.empty()) return causes.required(FieldPath("addressType"));
  causes.one_of(FieldPath("addressType"), type, {"FQDN", "IPv4", "IPv6"});
}

}  // namespace amdahl::local
