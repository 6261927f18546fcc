#include "local/kubelet/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "base/fd.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kProcBytesMax = std::size_t{4} << 20U;
constexpr std::int64_t kKibibyte = 1024;

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

template <class Visit>
void for_each_process(Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return;
  while (const dirent* entry = ::readdir(proc.get()))
    if (const auto pid = number<pid_t>(static_cast<const char*>(entry->d_name))) visit(*pid);
}

// "pid (name) state ppid ...", and the name may hold anything.
std::optional<pid_t> parent_of(pid_t pid) {
  const std::string stat = read_proc(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return std::nullopt;
  return number<pid_t>(std::string_view(stat).substr(name_end + 4));
}

std::int64_t resident_bytes(pid_t pid) {
  const std::string statm = read_proc(fmt::format("/proc/{}/statm", pid));
  const std::size_t space = statm.find(' ');
  if (space == std::string::npos) return 0;
  return number<std::int64_t>(std::string_view(statm).substr(space + 1)).value_or(0) *
         ::sysconf(_SC_PAGESIZE);
}

// What is shared by n processes counts for one n-th; nothing when the kernel does not tell.
std::optional<std::int64_t> proportional_bytes(pid_t pid) {
  const std::string rollup = read_proc(fmt::format("/proc/{}/smaps_rollup", pid));
  constexpr std::string_view kLabel = "\nPss:";
  const std::size_t at = rollup.find(kLabel);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t digits = rollup.find_first_not_of(" \t", at + kLabel.size());
  if (digits == std::string::npos) return std::nullopt;
  const auto kib = number<std::int64_t>(std::string_view(rollup).substr(digits));
  return kib ? std::optional(*kib * kKibibyte) : std::nullopt;
}

}  // namespace

std::string read_proc(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[8192];
  while (file && text.size() < kProcBytesMax) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for_each_process([&](pid_t pid) {
    if (const auto parent = parent_of(pid)) children.emplace(*parent, pid);
  });
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::int64_t memory_of(const std::vector<pid_t>& pids, std::int64_t limit) {
  std::int64_t sum = 0;
  for (const pid_t pid : pids) sum += resident_bytes(pid);
  if (sum <= limit) return sum;
  std::int64_t exact = 0;
  for (const pid_t pid : pids) exact += proportional_bytes(pid).value_or(resident_bytes(pid));
  return exact;
}

std::vector<pid_t> marked_processes(std::string_view name, std::string_view value_prefix) {
  const std::string mark = fmt::format("{}{}={}", '\0', name, value_prefix);
  std::vector<pid_t> found;
  for_each_process([&](pid_t pid) {
    if (pid == ::getpid()) return;
    const std::string environment =
        std::string(1, '\0') + read_proc(fmt::format("/proc/{}/environ", pid));
    if (environment.contains(mark)) found.push_back(pid);
  });
  return found;
}

}  // namespace amdahl::local
