// The folder an embedded cluster lives in: its files, who may read them, and who runs in it.
//
//   lock            held by the running server; the kernel tells its process id
//   objects.db      the objects (SQLite, with its -wal and -shm)
//   ca.crt ca.key server.crt server.key      certificates
//   admin.token accounts.secret              credentials
//   kubeconfig      how to reach the server
//   settings.json   what the next start keeps: port, nodes, kubeconfigs it was merged into
//   state.json      of the running server; log: what it said; pods: files of containers
//
// The folder has mode 0700, its files 0600. Thread: any. Failure: errors name the file and what to
// do next; a folder with files of somebody else is refused and left alone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::local {

class DataFolder {
 public:
  explicit DataFolder(std::string path) : path_(std::move(path)) {}
  // ~/.amdahl/local, or `chosen` as an absolute path.
  static Result<DataFolder> choose(const std::string& chosen, const kube::Environment& environment);

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

  bool exists() const;
  // Makes it, with its parents, or checks that it is ours and nobody else can read it. Not while
  // this process has the lock.
  Result<void> make() const;
  // Names in it that no cluster makes; empty when it does not exist.
  Result<std::vector<std::string>> foreign_files() const;
  // Deletes what a cluster made, and the folder when nothing else is in it.
  Result<void> remove_all() const;

 private:
  std::string path_;
};

// The right to be the server of a folder; given back when it dies, or the process does.
//
// Lifetime: closing any other handle of the lock file in this process would give it back too, so a
// server never calls lock_holder() on its own folder.
class FolderLock {
 public:
  // Errc::kAlreadyExists when somebody has it.
  static Result<FolderLock> take(const DataFolder& folder);
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

// The process that has the lock; 0: somebody this process cannot see, in another container.
Result<std::optional<pid_t>> lock_holder(const DataFolder& folder);

}  // namespace amdahl::local
