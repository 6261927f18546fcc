#include "local/kubelet/pod_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "local/kubelet/log_file.hpp"
#include "local/kubelet/pod_file.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

Result<void> make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail(Errc::kIo, "create {}: {}", path.string(), error.message());
  return {};
}

// Written anew and in place: a program that has the file open or mounted sees the new content.
Result<void> write_file(const std::string& path, const std::string& bytes, std::uint32_t mode) {
  TRY(make_folders(fs::path(path).parent_path()));
  // A second write of a read-only file.
  ::fchmodat(AT_FDCWD, path.c_str(), kPodFileMode | mode, AT_SYMLINK_NOFOLLOW);
  TRY(const Fd file, open_pod_file(path, O_CREAT | O_TRUNC | O_WRONLY));
  if (::write(file.get(), bytes.data(), bytes.size()) != std::ssize(bytes) ||
      ::fchmod(file.get(), mode) != 0)
    return fail(Errc::kIo, "write {}: {}", path, errno_text(errno));
  return {};
}

std::string read_up_to(const std::string& path, std::size_t bytes_max) {
  const Result<Fd> file = open_pod_file(path, O_RDONLY);
  if (!file) return {};
  std::string text(bytes_max, '\0');
  const ssize_t count = ::read(file->get(), text.data(), text.size());
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

}  // namespace

std::string PodFolder::last_words(const std::string& container, std::int32_t run) const {
  return fmt::format("{}/last-words/{}.{}", root_, container, run);
}

Result<void> PodFolder::prepare(const std::string& container, std::int32_t run) const {
  TRY(make_folders(work(container)));
  TRY(make_folders(scratch()));
  if (!temporary().empty()) TRY(make_folders(temporary()));
  constexpr std::uint32_t kAnybody = 0666;  // a program may change its user
  return write_file(last_words(container, run), "", kAnybody);
}

Result<void> PodFolder::write_volume(const std::string& name, const VolumeFiles& files) const {
  TRY(make_folders(volume(name)));
  for (const auto& [path, file] : files)
    TRY(write_file(fmt::format("{}/{}", volume(name), path), file.bytes, file.mode));
  return {};
}

std::string PodFolder::termination_message(const Container& container, std::int32_t run,
                                           bool failed) const {
  std::string text = read_up_to(last_words(container.name, run), kTerminationBytesMax);
  if (text.empty() && failed && container.termination_policy == "FallbackToLogsOnError")
    return log_tail(logs(container.name), run, kFallbackLinesMax, kFallbackBytesMax);
  return text;
}

void PodFolder::remove() const {
  std::error_code ignored;  // what is left is tried again when the kubelet starts next
  fs::remove_all(root_, ignored);
  fs::remove_all(temporary_, ignored);
}

std::vector<std::string> PodFolder::names() const {
  return {fs::path(root_).filename(), fs::path(temporary_).filename()};
}

Result<std::string> host_path(const HostPath& wanted, const std::string& allowed_root) {
  if (allowed_root.empty())
    return fail(Errc::kForbidden, "hostPath {}: not allowed here; start with --host-path-root",
                wanted.path);
  std::error_code error;
  const fs::path root = fs::weakly_canonical(allowed_root, error);
  const fs::path path = fs::weakly_canonical(wanted.path, error);
  if (error) return fail(Errc::kIo, "hostPath {}: {}", wanted.path, error.message());
  const auto [end, rest] = std::ranges::mismatch(root, path);
  if (end != root.end())
    return fail(Errc::kForbidden, "hostPath {}: only folders below {} are allowed", wanted.path,
                root.string());
  if (wanted.type == "DirectoryOrCreate") TRY(make_folders(path));
  if (wanted.type == "FileOrCreate" && !fs::exists(path, error))
    TRY(write_file(path.string(), "", 0644));
  if (!fs::exists(path, error))
    return fail(Errc::kNotFound, "hostPath {}: no such file or folder", wanted.path);
  const bool is_folder = fs::is_directory(path, error);
  if (is_folder ? wanted.type.starts_with("File") : wanted.type.starts_with("Directory"))
    return fail(Errc::kInvalid, "hostPath {} is not a {}", wanted.path, wanted.type);
  return path.string();
}

}  // namespace amdahl::local
