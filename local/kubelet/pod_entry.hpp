// One pod that this kubelet holds: what is known of it, its folder and its processes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "local/kubelet/command.hpp"
#include "local/kubelet/container_process.hpp"
#include "local/kubelet/lifecycle.hpp"
#include "local/kubelet/pod_folder.hpp"

namespace amdahl::local {

struct PodEntry {
  std::shared_ptr<const Pod> pod = {};  // as last seen, with the mounts that the kubelet adds
  PodFolder folder;
  PodLife life = {};
  std::map<std::size_t, std::shared_ptr<ContainerProcess>> processes = {};
  std::map<std::string, std::vector<int>> gpus = {};  // by container
  Sources sources = {};
  bool volumes_ready = false;
  std::optional<WallTime> tokens_until = {};  // when they have to be asked for again
  bool gone = false;                          // the API has forgotten it
  bool logs_kept = false;                     // where they stay after the pod
  bool released = false;                      // address and GPUs were given back

  const Container& container(std::size_t index) const {
    const auto& inits = pod->spec.init_containers;
    return index < inits.size() ? inits[index] : pod->spec.containers[index - inits.size()];
  }
};

}  // namespace amdahl::local
