// Rules of containers; see rules.hpp.
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::int64_t kUserMax = 2'147'483'647;

void check_port(const FieldPath& path, const Json& port, std::set<std::string>& names,
                Causes& causes) {
  const std::string name = text_at(port, {"name"});
  if (!name.empty()) {
    const NameErrors errors = port_name_errors(name);
    causes.invalid(path.child("name"), name, errors);
    if (errors.empty() && !names.insert(name).second) causes.duplicate(path.child("name"), name);
  }
  const std::int64_t number = number_at(port, {"containerPort"}).value_or(0);
  if (number == 0) {
    causes.required(path.child("containerPort"));
  } else {
    causes.invalid(path.child("containerPort"), number, port_number_errors(number));
  }
  if (const std::int64_t host = number_at(port, {"hostPort"}).value_or(0); host != 0) {
    causes.invalid(path.child("hostPort"), host, port_number_errors(host));
  }
  const std::string protocol = text_at(port, {"protocol"});
  if (protocol.empty()) {
    causes.required(path.child("protocol"));
  } else {
    causes.one_of(path.child("protocol"), protocol, {"SCTP", "TCP", "UDP"});
  }
}

void check_ports(const FieldPath& path, const Json& container, bool host_network, Causes& causes) {
  std::set<std::string> names;
  const Json& ports = list_at(container, {"ports"});
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const FieldPath at_port = path.child("ports").index(i);
    check_port(at_port, ports[i], names, causes);
    const auto host = number_at(ports[i], {"hostPort"});
    if (host_network && host != number_at(ports[i], {"containerPort"})) {
      causes.invalid(at_port.child("hostPort"), host.value_or(0),
                     "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void check_sub_path(const FieldPath& path, const Json& mount, std::string_view name,
                    Causes& causes) {
  const std::string sub = text_at(mount, {name});
  if (sub.starts_with('/')) causes.invalid(path.child(name), sub, "must be a relative path");
  if (leads_up(sub)) causes.invalid(path.child(name), sub, "must not contain '..'");
}

void check_mounts(const FieldPath& path, const Json& container,
                  const std::set<std::string>& volumes, Causes& causes) {
  std::set<std::string> places;
  const Json& mounts = list_at(container, {"volumeMounts"});
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const FieldPath at_mount = path.child("volumeMounts").index(i);
    const std::string name = text_at(mounts[i], {"name"});
    const std::string place = text_at(mounts[i], {"mountPath"});
    if (name.empty()) {
      causes.required(at_mount.child("name"));
    } else if (!volumes.contains(name)) {
      causes.not_found(at_mount.child("name"), name);
    }
    if (place.empty()) {
      causes.required(at_mount.child("mountPath"));
    } else if (!places.insert(place).second) {
      causes.invalid(at_mount.child("mountPath"), place, "must be unique");
    }
    check_sub_path(path.child("volumeMounts"), mounts[i], "subPath", causes);
    check_sub_path(path.child("volumeMounts"), mounts[i], "subPathExpr", causes);
  }
}

void check_image(const FieldPath& path, const Json& container, Causes& causes) {
  const std::string image = text_at(container, {"image"});
  if (image.empty()) return causes.required(path);
  constexpr std::string_view kSpace = " \t\r\n";
  if (kSpace.contains(image.front()) || kSpace.contains(image.back())) {
    causes.invalid(path, image, "must not have leading or trailing whitespace");
  }
}

void check_user(const FieldPath& path, const Json& context, std::string_view name, Causes& causes) {
  const auto number = number_at(context, {name});
  if (number && (*number < 0 || *number > kUserMax)) {
    causes.invalid(path.child(name), *number, "must be between 0 and 2147483647, inclusive");
  }
}

struct Around {
  bool host_network = false;
  std::set<std::string> volumes = {};
};

void check_container(const FieldPath& path, const Json& container, bool init, const Around& around,
                     Causes& causes) {
  check_image(path.child("image"), container, causes);
  causes.one_of(path.child("terminationMessagePolicy"),
                text_at(container, {"terminationMessagePolicy"}),
                {"File", "FallbackToLogsOnError"});
  causes.one_of(path.child("imagePullPolicy"), text_at(container, {"imagePullPolicy"}),
                {"Always", "IfNotPresent", "Never"});
  check_ports(path, container, around.host_network, causes);
  check_env(path, container, causes);
  check_mounts(path, container, around.volumes, causes);
  check_probes(path, container, init, causes);
  check_resources(path.child("resources"), map_at(container, {"resources"}), causes);
  const Json& security = map_at(container, {"securityContext"});
  check_user(path.child("securityContext"), security, "runAsUser", causes);
  check_user(path.child("securityContext"), security, "runAsGroup", causes);
}

}  // namespace

void check_containers(const FieldPath& spec_path, const Json& spec, Causes& causes) {
  Around around{.host_network = flag_at(spec, {"hostNetwork"})};
  for (const Json& volume : list_at(spec, {"volumes"})) {
    around.volumes.insert(text_at(volume, {"name"}));
  }
  if (list_at(spec, {"containers"}).empty()) causes.required(spec_path.child("containers"));
  std::set<std::string> names;
  for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    const Json& containers = list_at(spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const FieldPath path = spec_path.child(list).index(i);
      const std::string name = text_at(containers[i], {"name"});
      if (name.empty()) {
        causes.required(path.child("name"));
      } else {
        causes.invalid(path.child("name"), name, dns_label_errors(name));
        if (!names.insert(name).second) causes.duplicate(path.child("name"), name);
      }
      check_container(path, containers[i], list == "initContainers", around, causes);
    }
  }
}

}  // namespace amdahl::local
