#include "local/kubelet/memory_cgroup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <ranges>
#include <string_view>

#include "base/fd.hpp"
#include "local/kubelet/process_tree.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

// "0::/user.slice" for version 2, "4:memory:/path" for version 1.
std::optional<std::string> own_path(std::string_view own, bool second) {
  for (const auto part : own | std::views::split('\n')) {
    const std::string_view line(part.begin(), part.end());
    const std::size_t first = line.find(':');
    const std::size_t last = line.find(':', first + 1);
    if (last == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, last - first - 1);
    if (second ? controllers.empty() : controllers == "memory")
      return std::string(line.substr(last + 1));
  }
  return std::nullopt;
}

Result<void> write_value(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != std::ssize(text))
    return fail(Errc::kIo, "write {}: {}", path, errno_text(errno));
  return {};
}

bool make_folder(const std::string& path) {
  std::error_code error;
  return fs::create_directory(path, error) || fs::is_directory(path, error);
}

void remove_folder(const std::string& path) {
  ::rmdir(path.c_str());  // the files in it are the kernel's
}

bool counts_kills(const std::string& text) {
  constexpr std::string_view kLabel = "oom_kill ";
  for (const auto part : text | std::views::split('\n')) {
    const std::string_view line(part.begin(), part.end());
    if (line.starts_with(kLabel)) return line.substr(kLabel.size()) != "0";
  }
  return false;
}

// "amdahl-4711" of a kubelet that was killed. Only empty groups can be removed, and those of a
// process that lives are left alone.
void remove_abandoned(const std::string& base) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCgroupPrefix)) continue;
    pid_t owner = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + kCgroupPrefix.size(), end, owner);
    if (parsed.ec != std::errc{} || parsed.ptr != end || owner <= 0) continue;
    if (::kill(owner, 0) == 0 || errno != ESRCH) continue;
    std::error_code inner;
    for (const auto& group : fs::directory_iterator(entry.path(), inner))
      if (group.is_directory(inner)) remove_folder(group.path().string());
    remove_folder(entry.path().string());
  }
}

}  // namespace

std::optional<MemoryCgroups> MemoryCgroups::detect(const std::string& mount, const std::string& own,
                                                   const std::string& name) {
  for (const bool second : {true, false}) {
    const auto path = own_path(own, second);
    if (!path) continue;
    const std::string base = fs::path(mount + (second ? "" : "/memory") + *path).lexically_normal();
    const std::string folder = base + "/" + name;
    remove_abandoned(base);
    // Version 2 lets a group with processes have no limits below it, so this may well be refused.
    if (second && !write_value(base + "/cgroup.subtree_control", "+memory")) continue;
    if (!make_folder(folder)) continue;
    MemoryCgroups groups(folder, second);
    const bool ready = !second || write_value(folder + "/cgroup.subtree_control", "+memory");
    if (ready && groups.make("probe", std::int64_t{1} << 30U)) {
      (void)groups.finish("probe");
      return groups;
    }
    remove_folder(folder);
  }
  return std::nullopt;
}

Result<std::string> MemoryCgroups::make(const std::string& id, std::int64_t bytes) const {
  const std::string group = folder_ + "/" + id;
  if (!make_folder(group)) return fail(Errc::kIo, "create {}: {}", group, errno_text(errno));
  const std::string limit = second_ ? "/memory.max" : "/memory.limit_in_bytes";
  if (auto set = write_value(group + limit, fmt::format("{}", bytes)); !set) {
    remove_folder(group);
    return std::unexpected<Error>(std::move(set).error());
  }
  // The whole container goes, not the one process the kernel would choose.
  if (second_) (void)write_value(group + "/memory.oom.group", "1");
  return group + "/cgroup.procs";
}

bool MemoryCgroups::finish(const std::string& id) const {
  const std::string group = folder_ + "/" + id;
  const bool killed =
      counts_kills(read_proc(group + (second_ ? "/memory.events" : "/memory.oom_control")));
  remove_folder(group);
  return killed;
}

void MemoryCgroups::remove() const {
  remove_folder(folder_);
}

}  // namespace amdahl::local
