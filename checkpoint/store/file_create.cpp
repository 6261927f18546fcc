// The part of FileStore that creates: a file that nobody sees, then its name.
#include <fcntl.h>

#include <array>
#include <cerrno>

#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/file_error.hpp"
#include "checkpoint/store/file_store.hpp"

namespace amdahl::checkpoint {

// A file that is not an object yet. If it has a name of its own, the name goes with this.
struct NewFile {
  NewFile() = default;
  NewFile(NewFile&& other) noexcept
      : file(std::move(other.file)),
        direct(other.direct),
        calls(other.calls),
        folder(std::move(other.folder)),
        temporary(std::exchange(other.temporary, {})) {}
  NewFile& operator=(NewFile&& other) = delete;
  ~NewFile() {
    // What stays behind is a leftover, and remove_leftovers() finds it.
    if (!temporary.empty()) (void)calls->unlink(folder.get(), temporary.c_str());
  }

  OpenFile file = {};
  bool direct = false;
  PosixCalls* calls = nullptr;
  OpenFile folder = {};
  std::string temporary = {};  // empty: a file without a name
};

namespace {

template <std::size_t kCount>
bool is_one_of(const std::array<int, kCount>& errors, long result) {
  for (const int error : errors)
    if (result == -error) return true;
  return false;
}

// How file systems say that they have no files without names, or no O_DIRECT.
constexpr std::array kNotKnown = {EINVAL, EOPNOTSUPP, EISDIR, ENOSYS};
// How they say that a file cannot get a name, or a second one.
constexpr std::array kNoLinks = {EPERM, EOPNOTSUPP, ENOSYS, EINVAL, EXDEV, EMLINK};

}  // namespace

Result<void> FileStore::create(std::string_view name, std::span<const Bytes> pieces,
                               const StoreCall& call) {
  TRY(check_going(clock_, call));
  TRY(const Place place, find(name, IfAbsent::kMake));
  FileStatus there;
  const int found = calls_.status_at(place.directory.get(), place.leaf.c_str(), there);
  if (found == 0) return fail(Errc::kAlreadyExists, "create {}: it is there", place.path);
  if (found != -ENOENT) return file_error(found, "create", place.path);
  if (auto created = create_at(place, pieces, call); !created)
    return wrap(std::move(created).error(), "create {}", name);
  return {};
}

Result<void> FileStore::create_at(const Place& place, std::span<const Bytes> pieces,
                                  const StoreCall& call) {
  bool created = false;
  if (unnamed_files_) {
    TRY(created, try_create(place, pieces, call, true));
    if (!created) unnamed_files_ = false;
  }
  if (!created) {
    TRY(created, try_create(place, pieces, call, false));
    if (!created)
      return fail(Errc::kIo,
                  "{}: this file system can neither link nor rename without replacing; use "
                  "another volume, or the bucket itself by gs:// or s3://",
                  place.path);
  }
  auto synced = sync_directory(place.directory, place.path);
  // Its name may be gone after a crash: then let it be gone now, and say so.
  if (!synced) (void)calls_.unlink(place.directory.get(), place.leaf.c_str());
  return synced;
}

Result<bool> FileStore::try_create(const Place& place, std::span<const Bytes> pieces,
                                   const StoreCall& call, bool unnamed) {
  const bool large = size_of(pieces) >= options_.direct_bytes_min;
  TRY(const NewFile file, open_new(place, unnamed, large));
  if (!file.file) return false;
  TRY(write_durably({.calls = calls_,
                     .clock = clock_,
                     .call = call,
                     .fd = file.file.get(),
                     .large = large,
                     .direct = file.direct},
                    pieces, place.path));
  return link_into_place(file, place, pieces);
}

// Without a file in it: files without names are not known here.
Result<NewFile> FileStore::open_new(const Place& place, bool unnamed, bool large) {
  NewFile file;
  file.calls = &calls_;
  if (!unnamed) {
    TRY(file.folder, open_directory(kTemporaryFolder, IfAbsent::kMake));
  }
  const auto open = [&](int flags) {
    if (!unnamed) return open_named(file, flags);
    return uninterrupted(
        [&] { return calls_.open(place.directory.get(), ".", flags | O_TMPFILE); });
  };
  file.direct = large;
  file.file = OpenFile(calls_, open(O_WRONLY | (large ? O_DIRECT : 0)));
  if (large && is_one_of(kNotKnown, file.file.get())) {
    file.direct = false;
    file.file = OpenFile(calls_, open(O_WRONLY));
  }
  if (file.file || (unnamed && is_one_of(kNotKnown, file.file.get()))) return file;
  return file_error(file.file.get(), "make a temporary file for", place.path);
}

int FileStore::open_named(NewFile& file, int flags) {
  int fd = -EEXIST;
  for (int i = 0; i < kTemporaryNamesMax && fd == -EEXIST; ++i) {
    // A refused O_DIRECT may have left the name behind.
    if (!file.temporary.empty()) (void)calls_.unlink(file.folder.get(), file.temporary.c_str());
    {
      const std::scoped_lock lock(mutex_);
      file.temporary = fmt::format("{}{:016x}", kTemporaryPrefix, rng_.next());
    }
    fd = uninterrupted([&] {
      return calls_.open(file.folder.get(), file.temporary.c_str(),
                         flags | O_CREAT | O_EXCL | O_NOFOLLOW);
    });
    if (fd == -EEXIST) file.temporary.clear();  // somebody else's
  }
  return fd;
}

int FileStore::link(const NewFile& file, const Place& place) {
  const int to = place.directory.get();
  const char* const leaf = place.leaf.c_str();
  if (file.temporary.empty())
    return uninterrupted([&] { return calls_.link_open(file.file.get(), to, leaf); });
  const char* const from = file.temporary.c_str();
  const int linked = uninterrupted([&] { return calls_.link(file.folder.get(), from, to, leaf); });
  if (!is_one_of(kNoLinks, linked)) return linked;
  return uninterrupted([&] { return calls_.rename_new(file.folder.get(), from, to, leaf); });
}

// False: this file system does not do it. A refusal may be the second answer to a request whose
// first answer a file server lost, so what is there is looked at.
Result<bool> FileStore::link_into_place(const NewFile& file, const Place& place,
                                        std::span<const Bytes> pieces) {
  const int linked = link(file, place);
  if (linked >= 0 || is_ours(file, place, pieces, linked)) return true;
  if (linked == -EEXIST)
    return fail(Errc::kAlreadyExists, "{}: it was created meanwhile", place.path);
  // ENOENT: there is no /proc.
  if (is_one_of(kNoLinks, linked) || (linked == -ENOENT && file.temporary.empty())) return false;
  return file_error(linked, "link", place.path);
}

bool FileStore::is_ours(const NewFile& file, const Place& place, std::span<const Bytes> pieces,
                        int refusal) {
  FileStatus mine;
  FileStatus there;
  if (calls_.status(file.file.get(), mine) < 0) return false;
  if (calls_.status_at(place.directory.get(), place.leaf.c_str(), there) < 0) return false;
  if (mine.device == there.device && mine.inode == there.inode) return true;
  // Some file servers give one file several numbers; EEXIST alone is clear enough.
  return refusal != -EEXIST && there.regular && there.bytes == size_of(pieces) &&
         has_content(place, pieces);
}

bool FileStore::has_content(const Place& place, std::span<const Bytes> pieces) {
  const OpenFile file(calls_, calls_.open(place.directory.get(), place.leaf.c_str(),
                                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return false;
  std::vector<std::byte> buffer(kBounceBytes);
  std::int64_t at = 0;
  for (const std::int64_t bytes = size_of(pieces); at < bytes;) {
    const ssize_t got = uninterrupted([&] { return calls_.read(file.get(), buffer, at); });
    if (got <= 0) return false;
    if (!has_bytes_at(pieces, at, Bytes(buffer).first(static_cast<std::size_t>(got)))) return false;
    at += got;
  }
  return true;
}

}  // namespace amdahl::checkpoint
