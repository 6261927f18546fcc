// What this machine permits: namespaces, host names without them, cgroups. Found at start.
//
// Thread: one. Failure: none; what is not permitted is done in another way, and `why` says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace amdahl::local {

enum class IsolationWish : std::uint8_t { kBest, kPlain };

struct Isolation {
  bool namespaces = false;
  std::string why = {};          // why there are none
  std::string nss_wrapper = {};  // the library that reads another hosts file; empty: none
};

// The names of host variables that containers see; nothing else of this process leaks to them.
inline constexpr std::string_view kHostVariables[] = {"PATH", "HOME", "LANG",  "LC_ALL",
                                                      "TZ",   "USER", "SHELL", "TMPDIR"};

Task<Isolation> detect_isolation(std::string shim, IsolationWish wish, Clock& clock);

// Ends what an earlier life of the kubelet left behind on this data folder. How many there were.
std::size_t kill_leftovers(const std::string& data_dir);
inline constexpr std::string_view kPodFolderVariable = "AMDAHL_POD_FOLDER";

}  // namespace amdahl::local
