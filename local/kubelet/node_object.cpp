#include "local/kubelet/node_object.hpp"

#include "local/kubelet/downward.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::local {
namespace {

using kube::Quantity;

Json condition(std::string_view type, bool is_true, std::string_view reason,
               std::string_view message) {
  return {{"type", type},
          {"status", is_true ? "True" : "False"},
          {"reason", reason},
          {"message", message}};
}

Json capacity(const NodeSpec& node) {
  Json room = {{"cpu", Quantity::from_milli(node.cpu_milli).to_string()},
               {"memory",
                Quantity::from_integer(node.memory_bytes, Quantity::Format::kBinarySi).to_string()},
               {"pods", Quantity::from_integer(node.pods).to_string()}};
  if (node.gpus > 0)
    room[std::string(kGpuResource)] = Quantity::from_integer(node.gpus).to_string();
  return room;
}

}  // namespace

Json node_object(const NodeSpec& node) {
  Json labels = {{"kubernetes.io/hostname", node.name},
                 {"kubernetes.io/os", "linux"},
                 {std::string(kNodeLabel), "true"}};
#if defined(__x86_64__)
  labels["kubernetes.io/arch"] = "amd64";
#elif defined(__aarch64__)
  labels["kubernetes.io/arch"] = "arm64";
#endif
  for (const auto& [key, value] : node.labels) labels[key] = value;
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", node.name}, {"labels", std::move(labels)}}}};
}

Json node_status(const NodeSpec& node, const KubeletOptions& options, const NodeState& state,
                 WallTime now) {
  Json conditions = Json::array(
      {condition("MemoryPressure", false, "NotMeasured", "memory is limited by container"),
       condition("DiskPressure", false, "NotMeasured", "disk space is not watched"),
       condition("PIDPressure", false, "NotMeasured", "process numbers are not watched"),
       condition("Ready", state.ready, state.reason, state.message)});
  for (Json& each : conditions) {
    each["lastHeartbeatTime"] = format_time(now);
    each["lastTransitionTime"] = format_time(state.changed.value_or(now));
  }
  const Json room = capacity(node);
  return {{"capacity", room},
          {"allocatable", room},
          {"conditions", std::move(conditions)},
          {"addresses", Json::array({{{"type", "InternalIP"}, {"address", kHostAddress}},
                                     {{"type", "Hostname"}, {"address", node.name}}})},
          {"nodeInfo",
           {{"kubeletVersion", options.version},
            {"kubeProxyVersion", ""},
            {"containerRuntimeVersion", "process://" + options.version},
            {"operatingSystem", "linux"},
            {"architecture",
             node_object(node)["metadata"]["labels"].value("kubernetes.io/arch", "unknown")},
            {"osImage", "this machine"},
            {"kernelVersion", ""},
            {"machineID", ""},
            {"systemUUID", ""},
            {"bootID", ""}}}};
}

}  // namespace amdahl::local
