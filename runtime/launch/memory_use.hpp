// The most memory that this container has used: what an out-of-memory kill is explained with.
//
// From the cgroup, if only our own processes are in it, as in a container: memory.peak, the highest
// memory.current that was seen (kernels before 5.19), or memory.max_usage_in_bytes of cgroup v1.
// Otherwise the highest sum of the resident memory of the launcher and all processes below it.
// Thread: one. Failure: a file that cannot be read counts nothing; without any figure there is no
// peak.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::launch {

inline constexpr std::size_t kCgroupFileBytesMax = std::size_t{64} << 10U;

// The file with the figure. `mount`: /sys/fs/cgroup; `own`: the text of /proc/self/cgroup. A group
// with another process than `ours` is a user's session or a whole machine, and is not taken.
std::optional<std::string> find_memory_file(const std::string& mount, std::string_view own,
                                            const std::vector<pid_t>& ours);

class MemoryUse {
 public:
  // `root`: the first process of the container. Looks for the cgroup at once, while no process of
  // the trainer exists.
  explicit MemoryUse(pid_t root);

  void look();                        // the kernel may forget: several times per second
  void at_least(std::int64_t bytes);  // a figure of another source
  std::optional<std::int64_t> peak() const { return peak_; }
  // Whether the peak is so much above the last one told that it shall be told now: a kill for
  // memory leaves no time for another report.
  bool is_news() const;
  void told() { told_ = peak_.value_or(0); }

 private:
  pid_t root_;
  std::optional<std::string> file_;
  std::optional<std::int64_t> peak_;
  std::int64_t told_ = 0;
};

}  // namespace amdahl::launch
