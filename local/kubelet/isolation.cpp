#include "local/kubelet/isolation.hpp"

#include <poll.h>
#include <signal.h>

#include <filesystem>

#include "local/kubelet/process_tree.hpp"
#include "operator/kube/subprocess.hpp"

namespace amdahl::local {
namespace {

constexpr std::chrono::seconds kProbeMax{10};
constexpr int kLeftoverRoundsMax = 100;  // of 10 ms
constexpr int kLeftoverPauseMs = 10;

// Where Debian and Fedora put it.
std::string find_nss_wrapper() {
  std::error_code error;
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                             "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
    const std::string path = std::string(folder) + "/libnss_wrapper.so";
    if (std::filesystem::exists(path, error)) return path;
  }
  return "";
}

}  // namespace

Task<Isolation> detect_isolation(std::string shim, IsolationWish wish, Clock& clock) {
  Isolation found;
  if (wish == IsolationWish::kPlain) {
    found.why = "switched off";
  } else {
    const auto probe = co_await kube::run_subprocess({.arguments = {shim, "probe"}}, clock,
                                                     clock.monotonic() + kProbeMax);
    found.namespaces = probe && probe->exit_code == 0;
    if (!found.namespaces) found.why = probe ? probe->out : probe.error().context;
  }
  if (!found.namespaces) found.nss_wrapper = find_nss_wrapper();
  co_return found;
}

std::size_t kill_leftovers(const std::string& data_dir) {
  std::size_t count = 0;
  // Again and again: one that is about to fork may leave a child behind.
  for (int round = 0; round < kLeftoverRoundsMax; ++round) {
    const auto left = marked_processes(kPodFolderVariable, data_dir + "/pods/");
    if (left.empty()) break;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    if (round == 0) count = left.size();
    ::poll(nullptr, 0, kLeftoverPauseMs);
  }
  return count;
}

}  // namespace amdahl::local
