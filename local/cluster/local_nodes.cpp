#include "local/cluster/local_nodes.hpp"

#include <fmt/format.h>

#include "operator/kube/quantity.hpp"

namespace amdahl::local {

std::string node_name(std::int32_t number) {
  return fmt::format("local-{}", number);
}

Result<std::vector<NodeSpec>> local_nodes(const NodeShape& shape, const MachineSize& machine) {
  NodeSpec one{.cpu_milli = machine.cpu_milli,
               .memory_bytes = machine.memory_bytes,
               .gpus = shape.gpus,
               .labels = {}};
  if (!shape.cpu.empty()) {
    TRY(const auto cpu, kube::Quantity::parse(shape.cpu));
    one.cpu_milli = cpu.milli_value();
  }
  if (!shape.memory.empty()) {
    TRY(const auto memory, kube::Quantity::parse(shape.memory));
    one.memory_bytes = memory.value();
  }
  std::vector<NodeSpec> nodes;
  for (std::int32_t number = 0; number < shape.count; ++number) {
    one.name = node_name(number);
    nodes.push_back(one);
  }
  return nodes;
}

namespace {

Status not_started() {
  return Status{.code = 503,
                .reason = "ServiceUnavailable",
                .message = "the kubelet has not started yet, try again",
                .retry_after_seconds = 1};
}

}  // namespace

Outcome<std::unique_ptr<WatchStream>> LateLogs::open(const LogQuery& query) {
  return kubelet_ != nullptr ? kubelet_->open(query) : not_started();
}

Outcome<std::unique_ptr<WatchStream>> LateLogs::open_kept(const LogQuery& query) {
  return kubelet_ != nullptr ? kubelet_->open_kept(query) : not_started();
}

}  // namespace amdahl::local
