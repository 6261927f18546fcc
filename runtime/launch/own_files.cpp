#include "runtime/launch/own_files.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/fd.hpp"
#include "runtime/launch/hooks_text.hpp"
#include "runtime/launch/small_files.hpp"

namespace amdahl::launch {

OwnFolder::OwnFolder(const Settings& settings, std::vector<std::string>& complaints) {
  files_.socket = settings.socket;
  std::string folder = settings.folder + "/amdahl-launch-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    complaints.push_back(
        fmt::format("no folder in {}: {}; torchrun's error file stays at the termination message",
                    settings.folder, errno_text(errno)));
    return;
  }
  folder_ = folder;
  if (files_.socket.empty()) files_.socket = folder_ + "/launch.sock";
  files_.error_file = folder_ + "/error.json";
  if (!settings.checkpoint_uri.empty()) files_.checkpoint_socket = folder_ + "/checkpoints.sock";
  const auto put = [&](const std::string& path, std::string_view text) {
    const auto written = write_file_atomically(path, text, 0644);
    if (!written) complaints.push_back(written.error().context);
    return written.has_value();
  };
  const std::string hosts = hostfile_text(settings);
  if (!hosts.empty() && put(folder_ + "/hostfile", hosts)) files_.hostfile = folder_ + "/hostfile";
  const std::string hooks = folder_ + "/hooks";
  if (!settings.hooks || ::mkdir(hooks.c_str(), 0755) != 0) return;
  if (put(hooks + "/sitecustomize.py", hooks_text()))
    files_.hooks = hooks;
  else
    ::rmdir(hooks.c_str());
}

OwnFolder::~OwnFolder() {
  if (!files_.socket.empty() && !files_.socket.starts_with('@')) ::unlink(files_.socket.c_str());
  if (folder_.empty()) return;
  for (const std::string& path : {files_.error_file, files_.hostfile, files_.checkpoint_socket})
    if (!path.empty()) ::unlink(path.c_str());
  std::error_code ignored;  // Python has put compiled files there
  if (!files_.hooks.empty()) std::filesystem::remove_all(files_.hooks, ignored);
  ::rmdir(folder_.c_str());
}

}  // namespace amdahl::launch
