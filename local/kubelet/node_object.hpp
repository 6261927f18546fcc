// The Node objects of the embedded cluster. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "local/kubelet/options.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

// Nodes of this kubelet carry it; one that carries it and was not declared is removed.
inline constexpr std::string_view kNodeLabel = "amdahl.dev/process-kubelet";

struct NodeState {
  bool ready = true;
  std::string reason = "KubeletReady";
  std::string message = "pods run as processes of this machine";
  std::optional<WallTime> changed = {};  // when `ready` last changed; nullopt: now
};

Json node_object(const NodeSpec& node);
Json node_status(const NodeSpec& node, const KubeletOptions& options, const NodeState& state,
                 WallTime now);

}  // namespace amdahl::local
