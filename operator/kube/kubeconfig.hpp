// kubeconfig files: merged as kubectl merges them, one context chosen, decoded into a Config (C3).
//
// Pure but for load_kubeconfig. Failure: an error that names the file and, for a name that is not
// there, the names that are. Values are never quoted: any of them may be a secret.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/kube/config.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kKubeconfigFilesMax = 64;
inline constexpr std::size_t kKubeconfigBytesMax = std::size_t{4} << 20;

struct KubeconfigFile {
  std::string path = {};
  std::string text = {};
};

// Earlier files win: per named cluster, user and context as a whole, and for current-context.
// An empty `context` means current-context.
Result<Config> merge_kubeconfig(std::span<const KubeconfigFile> files, std::string_view context);

// Reads what is there of a KUBECONFIG list; missing files are skipped, but not all of them.
Result<Config> load_kubeconfig(const std::vector<std::string>& paths, std::string_view context,
                               const Environment& environment);

// KUBECONFIG split at colons, empty and repeated parts dropped.
std::vector<std::string> split_path_list(std::string_view list);

}  // namespace amdahl::kube
