#include "local/kubelet/shim/mounts.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/fd.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

Result<void> bind_at(const fs::path& source, const fs::path& target) {
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return {};
  return fail(Errc::kIo, "mount {} at {}: {}", source.string(), target.string(), errno_text(errno));
}

// Flags that came with the mount may not be dropped by whoever did not set them.
unsigned long kept_flags(const fs::path& target) {
  struct statvfs now{};
  if (::statvfs(target.c_str(), &now) != 0) return 0;
  unsigned long flags = 0;
  constexpr std::pair<unsigned long, unsigned long> kFlags[] = {
      {ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
      {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
  for (const auto& [is, keep] : kFlags)
    if ((now.f_flag & is) != 0) flags |= keep;
  return flags;
}

Result<void> make_read_only(const fs::path& target) {
  const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | kept_flags(target);
  if (::mount(nullptr, target.c_str(), nullptr, flags, nullptr) == 0) return {};
  return fail(Errc::kIo, "mount {} read-only: {}", target.string(), errno_text(errno));
}

Result<void> make_file(const fs::path& path) {
  constexpr mode_t kMode = 0644;
  const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, kMode));
  if (!file) return fail(Errc::kIo, "create {}: {}", path.string(), errno_text(errno));
  return {};
}

Result<void> make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail(Errc::kIo, "create {}: {}", path.string(), error.message());
  return {};
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::ranges::mismatch(folder, path);
  return end == folder.end();
}

class Binder {
 public:
  explicit Binder(fs::path scratch) : scratch_(std::move(scratch)) {}

  Result<void> add(const ShimMount& mount) {
    std::error_code error;
    const bool is_folder = fs::is_directory(mount.source, error);
    const fs::path target = fs::weakly_canonical(mount.target, error);
    if (error) return fail(Errc::kIo, "{}: {}", mount.target, error.message());
    TRY(make_place(target, is_folder));
    TRY(bind_at(mount.source, target));
    if (mount.read_only) TRY(make_read_only(target));
    volumes_.push_back(target);
    return {};
  }

 private:
  Result<void> make_place(const fs::path& target, bool is_folder) {
    std::error_code error;
    if (fs::exists(target, error)) {
      if (fs::is_directory(target, error) == is_folder) return {};
      return fail(Errc::kIo, "mount at {}: one is a folder and the other a file", target.string());
    }
    fs::path parent = target.parent_path();
    while (!fs::exists(parent, error)) parent = parent.parent_path();
    const bool in_volume = std::ranges::any_of(
        volumes_, [&](const fs::path& volume) { return is_below(parent, volume); });
    if (!in_volume && !ours_.contains(parent)) TRY(cover(parent));
    const fs::path folder = is_folder ? target : target.parent_path();
    TRY(make_folders(folder));
    // What stands in memory, or in a volume, needs no cover of its own.
    for (fs::path made = folder; made != parent; made = made.parent_path()) ours_.insert(made);
    if (is_folder) return {};
    return make_file(target);
  }

  Result<void> cover(const fs::path& folder) {
    if (::mount("amdahl", scratch_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
      return fail(Errc::kIo, "mount a tmpfs over {}: {}", folder.string(), errno_text(errno));
    // So that binding a folder that holds the scratch folder does not bind the copy into itself.
    if (::mount(nullptr, scratch_.c_str(), nullptr, MS_UNBINDABLE, nullptr) != 0)
      return fail(Errc::kIo, "cover {}: {}", folder.string(), errno_text(errno));
    TRY(copy_entries(folder));
    TRY(folder == "/" ? become_root() : move_over(folder));
    ours_.insert(folder);
    return {};
  }

  Result<void> copy_entries(const fs::path& folder) {
    struct stat info{};
    if (::stat(folder.c_str(), &info) == 0) ::chmod(scratch_.c_str(), info.st_mode & 07777U);
    std::error_code error;
    std::size_t count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (++count > kMirrorEntriesMax)
        return fail(Errc::kTooLarge, "cannot make a path in {}: it has over {} entries",
                    folder.string(), kMirrorEntriesMax);
      TRY(copy_entry(entry, scratch_ / entry.path().filename()));
    }
    if (error) return fail(Errc::kIo, "list {}: {}", folder.string(), error.message());
    return {};
  }

  static Result<void> copy_entry(const fs::directory_entry& entry, const fs::path& to) {
    std::error_code error;
    const auto type = entry.symlink_status(error).type();
    if (type == fs::file_type::symlink) {
      fs::copy_symlink(entry.path(), to, error);
      return {};
    }
    if (type == fs::file_type::not_found) return {};  // gone since it was listed
    TRY(type == fs::file_type::directory ? make_folders(to) : make_file(to));
    return bind_at(entry.path(), to);
  }

  Result<void> move_over(const fs::path& folder) {
    if (::mount(scratch_.c_str(), folder.c_str(), nullptr, MS_MOVE, nullptr) == 0) return {};
    return fail(Errc::kIo, "cover {}: {}", folder.string(), errno_text(errno));
  }

  Result<void> become_root() {
    // The old root goes on top of the new one and is then taken off.
    if (::chdir(scratch_.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
        ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0)
      return fail(Errc::kIo, "change the root: {}", errno_text(errno));
    return {};
  }

  fs::path scratch_;
  std::set<fs::path> ours_;
  std::vector<fs::path> volumes_;
};

}  // namespace

Result<void> bind_all(std::vector<ShimMount> mounts, const std::string& scratch) {
  // A mount below another one comes after it.
  std::ranges::sort(mounts, {}, [](const ShimMount& mount) { return mount.target.size(); });
  Binder binder(scratch);
  for (const ShimMount& mount : mounts) TRY(binder.add(mount));
  return {};
}

}  // namespace amdahl::local
