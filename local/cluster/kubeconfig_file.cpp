#include "local/cluster/kubeconfig_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "local/cluster/whole_file.hpp"
#include "operator/kube/environment.hpp"
#include "operator/kube/kubeconfig.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

struct Found {
  std::string path = {};  // behind symbolic links
  std::string text = {};
  mode_t mode = kOwnerOnly;
  bool exists = false;
};

Result<Found> find_file(const std::string& path) {
  Found found{.path = path};
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) return file_error("follow", path, error.value());
  found.path = real.string();
  struct stat info{};
  if (::stat(found.path.c_str(), &info) != 0) {
    if (errno == ENOENT) return found;
    return file_error("look at", found.path, errno);
  }
  if (!S_ISREG(info.st_mode)) return fail(Errc::kInvalid, "{} is not a file", found.path);
  found.exists = true;
  found.mode = info.st_mode & 07777U;
  TRY(found.text, kube::read_file(found.path, kube::kKubeconfigBytesMax));
  return found;
}

}  // namespace

Result<std::string> merge_into_file(const std::string& path, const ClusterAddress& address) {
  TRY(const Found found, find_file(path));
  TRY(const std::string text, merge_context(found.text, address, found.path));
  if (!found.exists) {
    std::error_code error;
    const fs::path parent = fs::path(found.path).parent_path();
    fs::create_directories(parent, error);
    if (error) return file_error("make", parent.string(), error.value());
  }
  // From here on it holds the token of an administrator.
  const mode_t mode = found.mode & kOwnerOnly;
  if (text != found.text || mode != found.mode) TRY(write_whole_file(found.path, text, mode));
  return found.path;
}

Result<void> remove_from_file(const std::string& path) {
  TRY(const Found found, find_file(path));
  if (!found.exists) return {};
  TRY(const std::string text, remove_context(found.text, found.path));
  if (text == found.text) return {};
  return write_whole_file(found.path, text, found.mode);
}

}  // namespace amdahl::local
