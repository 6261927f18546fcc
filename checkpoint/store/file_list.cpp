// The part of FileStore that walks through directories: list() and remove_leftovers().
#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/function_ref.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/store/file_error.hpp"
#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/name_page.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kEntriesBytes = std::size_t{64} << 10U;
constexpr int kFolderDepthMax = 16;

struct Entry {
  std::string name = {};
  bool regular = false;
  bool directory = false;
};
using OnEntry = function_ref<Result<void>(const Entry&)>;

class Walker {
 public:
  Walker(PosixCalls& calls, const Clock& clock, const StoreCall& call)
      : calls_(calls), clock_(clock), call_(call) {}

  Result<void> each(const OpenFile& directory, const std::string& path, OnEntry on_entry) {
    std::vector<std::byte> buffer(kEntriesBytes);
    for (;;) {
      TRY(check_going(clock_, call_));
      const ssize_t got = uninterrupted([&] { return calls_.entries(directory.get(), buffer); });
      if (got < 0) return file_error(got, "list", path);
      if (got == 0) return {};
      TRY(each_of(Bytes(buffer).first(static_cast<std::size_t>(got)), directory, on_entry));
    }
  }

  // `folder` is empty or ends in a slash, and `directory` is open there.
  Result<void> collect(const OpenFile& directory, const std::string& folder, NamePage& page,
                       int depth = 0) {
    if (depth > kFolderDepthMax)
      return fail(Errc::kTooLarge, "list {}: deeper than {} folders; is this a prefix of one job?",
                  folder, kFolderDepthMax);
    const auto on_entry = [&](const Entry& entry) -> Result<void> {
      if (folder.empty() && (entry.name == kTemporaryFolder || entry.name == "lost+found"))
        return {};
      note_odd(entry, folder + entry.name, page);
      if (entry.regular) page.offer(folder + entry.name);
      const std::string below = folder + entry.name + "/";
      if (!entry.directory || !page.wants_below(below)) return {};
      const OpenFile next(calls_, uninterrupted([&] {
                            return calls_.open(directory.get(), entry.name.c_str(),
                                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
                          }));
      if (next.get() == -ENOENT) return {};  // removed meanwhile
      if (next.get() == -ENOTDIR || next.get() == -ELOOP) {
        note_odd({.name = entry.name}, folder + entry.name, page);  // replaced meanwhile
        return {};
      }
      if (!next) return file_error(next.get(), "list", below);
      return collect(next, below, page, depth + 1);
    };
    return each(directory, folder, on_entry);
  }

 private:
  // An object must be a regular file, and a folder of ours a folder: what is behind a link or in
  // any other place is not listed, but it is not gone either.
  static void note_odd(const Entry& entry, const std::string& path, NamePage& page) {
    const bool wrong =
        is_folder_of_ours(path) ? !entry.directory : !entry.regular && parse_name(path).has_value();
    if (wrong) page.note_odd(path);
  }

  Result<void> each_of(Bytes entries, const OpenFile& directory, OnEntry on_entry) {
    while (!entries.empty()) {
      dirent64 head{};
      constexpr std::size_t kHead = offsetof(dirent64, d_name);
      std::memcpy(&head, entries.data(), kHead);
      Entry entry{.name = reinterpret_cast<const char*>(entries.data()) + kHead,
                  .regular = head.d_type == DT_REG,
                  .directory = head.d_type == DT_DIR};
      entries = entries.subspan(head.d_reclen);
      if (entry.name == "." || entry.name == "..") continue;
      if (head.d_type == DT_UNKNOWN) {
        FileStatus status;
        const int known = calls_.status_at(directory.get(), entry.name.c_str(), status);
        if (known == -ENOENT) continue;  // removed meanwhile
        if (known < 0) return file_error(known, "list", entry.name);
        entry.regular = status.regular;
        entry.directory = status.directory;
      }
      TRY(on_entry(entry));
    }
    return {};
  }

  PosixCalls& calls_;
  const Clock& clock_;
  const StoreCall& call_;
};

bool is_temporary(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  return name.starts_with(kTemporaryPrefix) &&
         is_hex(name.substr(kTemporaryPrefix.size()), kDigits);
}

}  // namespace

Result<ListPage> FileStore::list(std::string_view prefix, std::string_view next,
                                 const StoreCall& call) {
  auto root = open_directory({}, IfAbsent::kFail);
  if (!root && root.error().code == Errc::kNotFound) return ListPage{};
  if (!root) return std::unexpected<Error>(std::move(root).error());
  NamePage names(prefix, next);
  if (auto walked = Walker(calls_, clock_, call).collect(*root, "", names); !walked)
    return wrap(std::move(walked).error(), "list {}/{}", options_.root, prefix);
  ListPage page{.next = names.next(), .odd = names.odd()};
  TRY(add_sizes(names.names(), page));
  return page;
}

Result<void> FileStore::add_sizes(const std::set<std::string>& names, ListPage& page) {
  page.objects.reserve(names.size());
  OpenFile directory;
  std::string folder = "/";  // none yet
  for (const std::string& name : names) {
    const std::size_t slash = name.rfind('/');
    const std::string its_folder = slash == name.npos ? "" : name.substr(0, slash);
    if (its_folder != folder) {
      auto opened = open_directory(its_folder, IfAbsent::kFail);
      if (!opened && opened.error().code == Errc::kNotFound) continue;
      if (!opened) return std::unexpected<Error>(std::move(opened).error());
      directory = *std::move(opened);
      folder = its_folder;
    }
    FileStatus status;
    const std::string leaf = name.substr(slash == name.npos ? 0 : slash + 1);
    const int known = calls_.status_at(directory.get(), leaf.c_str(), status);
    if (known == -ENOENT) continue;  // removed meanwhile
    if (known < 0) return file_error(known, "list", options_.root + "/" + name);
    if (!status.regular && parse_name(name)) page.odd = name;  // replaced meanwhile
    if (!status.regular) continue;
    page.objects.push_back({.name = name, .bytes = status.bytes});
  }
  return {};
}

Result<std::int64_t> FileStore::remove_leftovers(WallTime before, const StoreCall& call) {
  auto folder = open_directory(kTemporaryFolder, IfAbsent::kFail);
  if (!folder && folder.error().code == Errc::kNotFound) return 0;
  if (!folder) return std::unexpected<Error>(std::move(folder).error());
  const std::string path = options_.root + "/" + std::string(kTemporaryFolder);
  std::int64_t removed = 0;
  const auto on_entry = [&](const Entry& entry) -> Result<void> {
    if (!entry.regular || !is_temporary(entry.name)) return {};
    FileStatus status;
    int result = calls_.status_at(folder->get(), entry.name.c_str(), status);
    if (result == -ENOENT || (result == 0 && status.modified >= before)) return {};
    if (result == 0) result = calls_.unlink(folder->get(), entry.name.c_str());
    if (result < 0 && result != -ENOENT) return file_error(result, "remove", path);
    ++removed;
    return {};
  };
  TRY(Walker(calls_, clock_, call).each(*folder, path, on_entry));
  return removed;
}

}  // namespace amdahl::checkpoint
