// The nodes an embedded cluster declares, and the logs of pods before there is a kubelet.
//
// Plain values; any thread. Failure: Errc::kInvalid names a quantity that is none.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "local/apiserver/core/pod_logs.hpp"
#include "local/cluster/cluster_files.hpp"
#include "local/kubelet/options.hpp"

namespace amdahl::local {

// What the machine has: the size of a node that was given none.
struct MachineSize {
  std::int64_t cpu_milli = 1000;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
};

// local-0, local-1, ...; all of one size.
Result<std::vector<NodeSpec>> local_nodes(const NodeShape& shape, const MachineSize& machine);

std::string node_name(std::int32_t number);

// The server asks for logs by this, from its start; the kubelet comes later.
class LateLogs final : public PodLogs {
 public:
  void set(PodLogs* kubelet) { kubelet_ = kubelet; }
  Outcome<std::unique_ptr<WatchStream>> open(const LogQuery& query) override;
  Outcome<std::unique_ptr<WatchStream>> open_kept(const LogQuery& query) override;

 private:
  PodLogs* kubelet_ = nullptr;
};

}  // namespace amdahl::local
