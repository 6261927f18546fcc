// What a kubelet is told by the program it lives in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "local/kubelet/isolation.hpp"

namespace amdahl::local {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

// A node of the embedded cluster. All nodes are this machine; their sizes are what users say.
struct NodeSpec {
  std::string name = {};
  std::int64_t cpu_milli = 1000;
  std::int64_t memory_bytes = std::int64_t{1} << 30U;
  std::int64_t gpus = 0;
  std::int64_t pods = 110;
  std::map<std::string, std::string> labels = {};
};

struct KubeletOptions {
  std::vector<NodeSpec> nodes = {};
  std::string data_dir = {};        // absolute; pods/ and hosts/ in it are the kubelet's
  std::string shim = {};            // the path of amdahl-shim
  std::string host_path_root = {};  // empty: hostPath volumes are refused
  std::string server_url = {};      // empty: pods are not told where the API server is
  std::string ca_file = {};         // of the API server, for pods; may be empty
  std::string version = {};         // shown as the kubelet's in `kubectl get nodes`
  std::vector<std::pair<std::string, std::string>> host_variables = {};  // see kHostVariables
  IsolationWish isolation = IsolationWish::kBest;
  bool cgroups = true;                // limit memory by cgroups where that is permitted
  std::string own_hosts = {};         // the text of the machine's hosts file
  std::function<void()> on_log = {};  // a log has grown or has ended
};

}  // namespace amdahl::local
