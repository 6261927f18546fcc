#include "local/kubelet/downward.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace amdahl::local {
namespace {

// metadata.labels['x'] and metadata.annotations['x']
std::optional<std::string_view> key_of(std::string_view path, std::string_view map) {
  if (!path.starts_with(map) || !path.ends_with("']")) return std::nullopt;
  path.remove_prefix(map.size());
  if (!path.starts_with("['") || path.size() < 4) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

// One line a key, the value quoted, as Kubernetes writes them to files.
std::string all_of(const PackedMap& map) {
  std::string text;
  for (const auto& [key, value] : map) {
    if (!text.empty()) text += '\n';
    text +=
        fmt::format("{}={}", key, Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return text;
}

Result<kube::Quantity> amount(const Container& container, NodeRoom node, std::string_view wanted) {
  const std::size_t dot = wanted.find('.');
  const std::string_view kind = wanted.substr(0, dot);
  if (dot == std::string_view::npos || (kind != "limits" && kind != "requests"))
    return fail(Errc::kInvalid, "resourceFieldRef: no such resource: {}", wanted);
  const std::string name(wanted.substr(dot + 1));
  const Quantities& from =
      kind == "limits" ? container.resources.limits : container.resources.requests;
  if (const auto found = from.find(name); found != from.end()) return found->second;
  if (kind == "limits" && name == "cpu") return kube::Quantity::from_milli(node.cpu_milli);
  if (kind == "limits" && name == "memory") return kube::Quantity::from_integer(node.memory_bytes);
  return kube::Quantity{};
}

}  // namespace

Result<std::string> field_value(const Pod& pod, std::string_view address, std::string_view path) {
  const kube::ObjectMeta& meta = pod.metadata;
  if (path == "metadata.name") return meta.name;
  if (path == "metadata.namespace") return meta.ns;
  if (path == "metadata.uid") return meta.uid;
  if (path == "metadata.labels") return all_of(meta.labels);
  if (path == "metadata.annotations") return all_of(meta.annotations);
  if (path == "spec.nodeName") return pod.spec.node;
  if (path == "spec.serviceAccountName") return pod.spec.service_account;
  if (path == "status.podIP" || path == "status.podIPs") return std::string(address);
  if (path == "status.hostIP" || path == "status.hostIPs") return std::string(kHostAddress);
  if (const auto key = key_of(path, "metadata.labels"))
    return std::string(meta.labels.find(*key).value_or(""));
  if (const auto key = key_of(path, "metadata.annotations"))
    return std::string(meta.annotations.find(*key).value_or(""));
  return fail(Errc::kInvalid, "fieldRef: this kubelet does not know the field {}", path);
}

Result<std::string> resource_value(const Pod& pod, const Container& container, NodeRoom node,
                                   const ResourceRef& ref) {
  const Container* of = &container;
  if (!ref.container.empty()) {
    const auto found = std::ranges::find(pod.spec.containers, ref.container, &Container::name);
    if (found == pod.spec.containers.end())
      return fail(Errc::kInvalid, "resourceFieldRef: no container {}", ref.container);
    of = &*found;
  }
  TRY(const kube::Quantity value, amount(*of, node, ref.resource));
  // cpu may be divided by thousandths, everything else by whole units; the result is rounded up.
  const bool unset = !ref.divisor || ref.divisor->is_zero();
  const kube::Quantity divisor = unset ? kube::Quantity::from_integer(1) : *ref.divisor;
  const bool in_milli = divisor.milli_value() % 1000 != 0;
  const std::int64_t top = in_milli ? value.milli_value() : value.value();
  const std::int64_t bottom = in_milli ? divisor.milli_value() : divisor.value();
  return fmt::format("{}", top / bottom + (top % bottom != 0 ? 1 : 0));
}

}  // namespace amdahl::local
