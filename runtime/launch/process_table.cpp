#include "runtime/launch/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <set>
#include <string>

#include "base/fd.hpp"
#include "runtime/launch/cut.hpp"

namespace amdahl::launch {
namespace {

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

// The value of "Name:\tvalue\n".
std::string_view line_value(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  while (at != std::string_view::npos && at > 0 && text[at - 1] != '\n')
    at = text.find(name, at + 1);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + name.size());
  return trim(rest.substr(0, std::min(rest.find('\n'), rest.size())));
}

std::string read_status(const char* pid) {
  const std::string path = std::string("/proc/") + pid + "/status";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(8192, '\0');
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

std::unexpected<Error> unreadable(const std::string& path, int error) {
  const bool denied = error == EACCES || error == EPERM;
  return fail(denied ? Errc::kForbidden : Errc::kNotFound, "read {}: {}", path, errno_text(error));
}

// Of all its threads; false where the kernel keeps no such list.
bool add_children(pid_t pid, std::vector<pid_t>& family) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks.c_str()), ::closedir);
  if (!folder) return true;  // it has ended
  bool kept = false;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const auto list = read_process_file(pid, fmt::format("task/{}/children", entry->d_name));
    if (!list) continue;
    kept = true;
    std::string_view rest = *list;
    while (const auto child = number<pid_t>(rest)) {
      if (family.size() >= kProcessesMax) return true;
      family.push_back(*child);
      rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
    }
  }
  return kept;
}

}  // namespace

std::optional<ProcessInfo> parse_process_status(std::string_view text) {
  const auto pid = number<pid_t>(line_value(text, "Pid:"));
  const auto parent = number<pid_t>(line_value(text, "PPid:"));
  const auto caught = number<std::uint64_t>(line_value(text, "SigCgt:"), 16);
  if (!pid || !parent) return std::nullopt;
  return ProcessInfo{.pid = *pid,
                     .parent = *parent,
                     .caught = caught.value_or(0),
                     .zombie = line_value(text, "State:").starts_with('Z')};
}

std::vector<ProcessInfo> read_processes() {
  std::vector<ProcessInfo> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return all;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (auto process = parse_process_status(read_status(entry->d_name))) all.push_back(*process);
    if (all.size() == kProcessesMax) break;
  }
  return all;
}

bool catches(const ProcessInfo& process, int signal) {
  return ((process.caught >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
}

std::vector<ProcessInfo> descendants_of(pid_t root, const std::vector<ProcessInfo>& all) {
  std::vector<ProcessInfo> found;
  std::set<pid_t> family = {root};
  // A parent may come after its child in the list: as often as there is somebody new.
  for (bool grew = true; grew;) {
    grew = false;
    for (const ProcessInfo& process : all) {
      if (!family.contains(process.parent) || !family.insert(process.pid).second) continue;
      if (!process.zombie) found.push_back(process);
      grew = true;
    }
  }
  return found;
}

Result<std::string> read_process_file(pid_t pid, std::string_view name) {
  const std::string path = fmt::format("/proc/{}/{}", pid, name);
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return unreadable(path, errno);
  std::string text;
  char part[4096];
  ssize_t size = 0;
  while (text.size() < kProcessFileBytesMax && (size = ::read(file.get(), part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(size));
  if (size < 0) return unreadable(path, errno);
  return text;
}

std::vector<pid_t> family_of(pid_t root) {
  std::vector<pid_t> family = {root};
  if (!add_children(root, family)) {
    for (const ProcessInfo& process : descendants_of(root, read_processes()))
      family.push_back(process.pid);
    return family;
  }
  for (std::size_t i = 1; i < family.size(); ++i) (void)add_children(family[i], family);
  return family;
}

const ProcessInfo* find_process(pid_t pid, const std::vector<ProcessInfo>& all) {
  const auto place = std::ranges::find(all, pid, &ProcessInfo::pid);
  return place == all.end() ? nullptr : &*place;
}

std::vector<pid_t> signal_targets(pid_t main, int signal, const std::vector<ProcessInfo>& all) {
  const ProcessInfo* process = find_process(main, all);
  if (process == nullptr || catches(*process, signal)) return {main};
  std::vector<pid_t> targets;
  for (const ProcessInfo& below : descendants_of(main, all))
    if (catches(below, signal)) targets.push_back(below.pid);
  if (targets.empty()) targets.push_back(main);
  return targets;
}

bool saver_catches(pid_t main, int signal, bool wrapped, const std::vector<ProcessInfo>& all) {
  const ProcessInfo* process = find_process(main, all);
  if (!wrapped && process != nullptr && catches(*process, signal)) return true;
  const auto below = descendants_of(main, all);
  return std::ranges::any_of(below, [&](const ProcessInfo& p) { return catches(p, signal); });
}

}  // namespace amdahl::launch
