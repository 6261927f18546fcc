#include "checkpoint/engine/memory_budget.hpp"

#include <charconv>
#include <limits>

namespace amdahl::checkpoint {
namespace {

// The first version says "no limit" by the largest multiple of a page.
constexpr std::int64_t kUnlimitedMin = std::numeric_limits<std::int64_t>::max() / 2;

}  // namespace

Result<void> check_budget(std::int64_t bytes, const MemoryBudget& budget) {
  const std::int64_t share = budget.node_bytes / budget.local_processes;
  if (budget.node_bytes > 0 && bytes > share)
    return fail(Errc::kTooLarge,
                "snapshots need {} bytes of memory for each process; AMDAHL_ARENA_BYTES={} for {} "
                "processes leaves {}: raise the memory volume's size, or save with snapshotsMax=1",
                bytes, budget.node_bytes, budget.local_processes, share);
  if (budget.limit_bytes > 0 && bytes > budget.limit_bytes / budget.local_processes)
    return fail(Errc::kTooLarge,
                "snapshots need {} bytes of memory for each of {} processes; the container's limit "
                "(memory.max) is {}: raise it, or save with snapshotsMax=1",
                bytes, budget.local_processes, budget.limit_bytes);
  return {};
}

std::int64_t read_memory_limit(const std::function<std::string(const std::string& path)>& read) {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::string text = read(path);
    std::int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error == std::errc() && bytes > 0 && bytes < kUnlimitedMin) return bytes;
    if (!text.empty()) return 0;  // "max"
  }
  return 0;
}

}  // namespace amdahl::checkpoint
