#include "local/cluster/data_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "local/cluster/whole_file.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLock = "lock";
constexpr mode_t kFolderMode = 0700;
constexpr std::array<std::string_view, 18> kOurs = {
    "lock",        "objects.db", "objects.db-wal",  "objects.db-shm",
    "ca.crt",      "ca.key",     "server.crt",      "server.key",
    "admin.token", "kubeconfig", "accounts.secret", "settings.json",
    "state.json",  "log",        "log.old",         "pods",
    "hosts",       "kept-logs"};

bool is_ours(const std::string& name) {
  if (std::ranges::find(kOurs, name) != kOurs.end()) return true;
  // A write that was cut off leaves "kubeconfig.a1B2c3" (whole_file.cpp).
  const std::size_t dot = name.rfind('.');
  return dot != std::string::npos && name.size() - dot == sizeof ".XXXXXX" - 1 &&
         std::ranges::find(kOurs, std::string_view(name).substr(0, dot)) != kOurs.end();
}

struct flock whole_lock() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Result<int> open_lock(const DataFolder& folder) {
  const std::string path = folder.file(kLock);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (file < 0) return file_error("open", path, errno);
  return file;
}

Result<std::vector<std::string>> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory)
    return file_error("read", path, error.value());
  std::ranges::sort(names);
  return names;
}

}  // namespace

Result<DataFolder> DataFolder::choose(const std::string& chosen,
                                      const kube::Environment& environment) {
  if (!chosen.empty()) {
    std::error_code error;
    fs::path path = fs::absolute(chosen, error).lexically_normal();
    if (error) return file_error("use", chosen, error.value());
    if (!path.has_filename()) path = path.parent_path();  // "data/" is "data"
    return DataFolder(path.string());
  }
  const auto home = environment.get("HOME");
  if (!home) return fail(Errc::kInvalid, "HOME is not set; give --data DIR");
  return DataFolder(*home + "/.amdahl/local");
}

bool DataFolder::exists() const {
  std::error_code ignored;
  return fs::is_directory(path_, ignored);
}

Result<void> DataFolder::make() const {
  std::error_code error;
  const fs::path parent = fs::path(path_).parent_path();
  fs::create_directories(parent, error);
  if (error) return file_error("make", parent.string(), error.value());
  const bool made = ::mkdir(path_.c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) return file_error("make", path_, errno);
  TRY(const auto names, names_in(path_));
  const bool ours = names.empty() || std::ranges::find(names, kLock) != names.end();
  if (!ours)
    return fail(Errc::kInvalid,
                "{} is not empty and was not made by amdahl (it has {}); choose another --data DIR",
                path_, names.front());
  if (::chmod(path_.c_str(), kFolderMode) != 0) return file_error("protect", path_, errno);
  if (::access(path_.c_str(), R_OK | W_OK | X_OK) != 0) return file_error("use", path_, errno);
  // From now on the folder is ours, whatever else comes into it first.
  TRY(const int lock, open_lock(*this));
  ::close(lock);
  return {};
}

Result<std::vector<std::string>> DataFolder::foreign_files() const {
  TRY(auto names, names_in(path_));
  std::erase_if(names, is_ours);
  return names;
}

Result<void> DataFolder::remove_all() const {
  TRY(const auto names, names_in(path_));
  std::error_code error;
  for (const std::string& name : names)
    if (is_ours(name) && name != kLock)
      if (fs::remove_all(file(name), error); error)
        return file_error("delete", file(name), error.value());
  // Last, because it says that the folder is ours.
  if (fs::remove(file(kLock), error); error)
    return file_error("delete", file(kLock), error.value());
  TRY(const auto left, names_in(path_));
  if (left.empty() && exists() && ::rmdir(path_.c_str()) != 0)
    return file_error("delete", path_, errno);
  return {};
}

Result<FolderLock> FolderLock::take(const DataFolder& folder) {
  TRY(const int file, open_lock(folder));
  struct flock lock = whole_lock();
  if (::fcntl(file, F_SETLK, &lock) == 0) return FolderLock(file);
  const int error = errno;
  ::close(file);
  if (error != EACCES && error != EAGAIN) return file_error("lock", folder.file(kLock), error);
  return fail(Errc::kAlreadyExists, "another process runs a cluster in {}", folder.path());
}

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

Result<std::optional<pid_t>> lock_holder(const DataFolder& folder) {
  const std::string path = folder.file(kLock);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (file < 0) return file_error("open", path, errno);
  struct flock lock = whole_lock();
  const int asked = ::fcntl(file, F_GETLK, &lock);
  const int error = errno;
  ::close(file);
  if (asked != 0) return file_error("look at", path, error);
  if (lock.l_type == F_UNLCK) return std::nullopt;
  return std::optional<pid_t>(lock.l_pid);
}

}  // namespace amdahl::local
