#include "runtime/launch/memory_use.hpp"

#include <unistd.h>

#include <algorithm>

#include "operator/api/report.hpp"
#include "runtime/launch/process_table.hpp"
#include "runtime/launch/small_files.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

std::optional<std::int64_t> read_count(const std::string& path) {
  const auto text = read_small_file(path, kCgroupFileBytesMax);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  return take_count(rest);
}

// Processes of other namespaces are listed as 0, and nobody of ours has that number.
bool only_ours(const std::string& group, const std::vector<pid_t>& ours) {
  const auto text = read_small_file(group + "/cgroup.procs", kCgroupFileBytesMax);
  if (!text || text->empty()) return false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto pid = take_count(rest);
    if (!pid || std::ranges::find(ours, static_cast<pid_t>(*pid)) == ours.end()) return false;
    if (!take(rest, "\n")) return false;
  }
  return true;
}

struct Group {
  bool second = false;
  std::string_view path = {};
};

// Of "4:cpu,memory:/pods/x" (cgroup v1) or "0::/pods/x" (v2). Where both are mounted, v1 counts.
std::optional<Group> memory_group(std::string_view own) {
  std::optional<Group> found;
  while (!own.empty()) {
    std::string_view line = own.substr(0, own.find('\n'));
    own.remove_prefix(std::min(line.size() + 1, own.size()));
    const std::size_t colon = line.find(':');
    const std::size_t path = colon == std::string_view::npos ? colon : line.find(':', colon + 1);
    if (path == std::string_view::npos) continue;
    const std::string_view kinds = line.substr(colon + 1, path - colon - 1);
    if (kinds == "memory" || kinds.starts_with("memory,") || kinds.ends_with(",memory") ||
        kinds.contains(",memory,"))
      return Group{.path = line.substr(path + 1)};
    if (line.starts_with("0::")) found = Group{.second = true, .path = line.substr(path + 1)};
  }
  return found;
}

std::int64_t resident_bytes(pid_t pid) {
  const auto text = read_process_file(pid, "statm");  // pages: all, resident, ...
  if (!text) return 0;
  std::string_view rest = *text;
  if (!take_count(rest)) return 0;
  skip_spaces(rest);
  return take_count(rest).value_or(0) * ::sysconf(_SC_PAGESIZE);
}

// The launcher, all below it, and the process that started it: a container may begin with that.
std::vector<pid_t> own_processes(pid_t root) {
  std::vector<pid_t> ours = family_of(root);
  const auto self = parse_process_status(read_process_file(root, "status").value_or(""));
  if (self && self->parent > 0) ours.push_back(self->parent);
  return ours;
}

}  // namespace

std::optional<std::string> find_memory_file(const std::string& mount, std::string_view own,
                                            const std::vector<pid_t>& ours) {
  const auto group = memory_group(own);
  if (!group || group->path.contains("..")) return std::nullopt;
  const std::string base = group->second ? mount : mount + "/memory";
  // Inside a container the mount may begin at its group, while the path is that of the machine.
  for (const std::string& folder : {base + std::string(group->path), base}) {
    if (!only_ours(folder, ours)) continue;
    for (const char* const name : {"/memory.peak", "/memory.current", "/memory.max_usage_in_bytes"})
      if (read_count(folder + name)) return folder + name;
  }
  return std::nullopt;
}

MemoryUse::MemoryUse(pid_t root) : root_(root) {
  const auto own = read_process_file(root, "cgroup");
  if (own) file_ = find_memory_file("/sys/fs/cgroup", *own, own_processes(root));
}

void MemoryUse::look() {
  if (file_) {
    if (const auto bytes = read_count(*file_)) at_least(*bytes);
    return;
  }
  std::int64_t sum = 0;
  for (const pid_t process : family_of(root_)) sum += resident_bytes(process);
  at_least(sum);
}

void MemoryUse::at_least(std::int64_t bytes) {
  if (bytes <= 0) return;
  peak_ = std::max(peak_.value_or(0), std::min(bytes, api::kReportIntegerMax));
}

bool MemoryUse::is_news() const {
  constexpr std::int64_t kLeast = std::int64_t{32} << 20U;  // below it, any start is news
  const std::int64_t peak = peak_.value_or(0);
  return peak >= kLeast && peak > told_ + told_ / 8;
}

}  // namespace amdahl::launch
