#include "runtime/launch/find_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace amdahl::launch {
namespace {

bool is_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Result<std::string> find_program(const std::string& name, std::string_view search_path) {
  std::string refused;
  const auto usable = [&](const std::string& path) {
    if (!is_file(path)) return false;
    if (::access(path.c_str(), X_OK) == 0) return true;
    refused = path;
    return false;
  };
  if (name.contains('/')) {
    if (usable(name)) return name;
    if (refused.empty()) return fail(Errc::kNotFound, "{}: no such file", name);
    return fail(Errc::kForbidden, "{}: not executable", name);
  }
  std::string_view rest = search_path;
  while (!name.empty() && !rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string path(rest.substr(0, end));
    path += path.empty() ? "./" : "/";
    path += name;
    if (usable(path)) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!refused.empty()) return fail(Errc::kForbidden, "{}: not executable", refused);
  return fail(Errc::kNotFound, "{}: not found in PATH ({})", name, search_path);
}

}  // namespace amdahl::launch
