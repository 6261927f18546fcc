#include "runtime/launch/own_files.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
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
  const std::string hosts = hostfile_text(settings);
  if (hosts.empty()) return;
  const std::string path = folder_ + "/hostfile";
  if (const auto written = write_file_atomically(path, hosts, 0644))
    files_.hostfile = path;
  else
    complaints.push_back(written.error().context);
}

OwnFolder::~OwnFolder() {
  if (!files_.socket.empty() && !files_.socket.starts_with('@')) ::unlink(files_.socket.c_str());
  if (folder_.empty()) return;
  for (const std::string& path : {files_.error_file, files_.hostfile, files_.checkpoint_socket})
    if (!path.empty()) ::unlink(path.c_str());
  ::rmdir(folder_.c_str());
}

}  // namespace amdahl::launch
