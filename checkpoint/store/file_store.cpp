#include "checkpoint/store/file_store.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/check.hpp"
#include "checkpoint/store/file_error.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY;

std::string_view folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == name.npos ? std::string_view() : name.substr(0, slash);
}

std::unexpected<Error> not_there(std::string_view doing, std::string_view path) {
  return fail(Errc::kNotFound, "{} {}: not there", doing, path);
}

}  // namespace

FileStore::FileStore(FileStoreOptions options, const Clock& clock, Rng rng, PosixCalls& calls)
    : options_(std::move(options)), clock_(clock), calls_(calls), rng_(rng) {
  AMDAHL_CHECK(options_.root.starts_with('/'));
}

Result<void> FileStore::sync_directory(const OpenFile& directory, const std::string& path) {
  const int result = uninterrupted([&] { return calls_.sync(directory.get()); });
  if (result < 0) return file_error(result, "sync directory", path);
  return {};
}

Result<void> FileStore::make_root(const std::string& path) {
  int made = calls_.make_directory(AT_FDCWD, path.c_str());
  if (made == -EEXIST) return {};
  const std::string parent(path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)));
  if (made == -ENOENT && parent.size() < path.size()) {
    TRY(make_root(parent));
    made = calls_.make_directory(AT_FDCWD, path.c_str());
  }
  if (made < 0 && made != -EEXIST) return file_error(made, "make directory", path);
  const OpenFile above(calls_, uninterrupted([&] {
                         return calls_.open(AT_FDCWD, parent.c_str(), kDirectoryFlags);
                       }));
  if (!above) return file_error(above.get(), "open directory", parent);
  return sync_directory(above, parent);
}

// The last part of `path`, which is relative to the root, from the directory that holds it.
Result<OpenFile> FileStore::enter(const OpenFile& parent, std::string_view path,
                                  IfAbsent if_absent) {
  const std::string leaf(path.substr(path.rfind('/') + 1));
  const std::string shown_path = options_.root + "/" + std::string(path);
  const auto open = [&] {
    return uninterrupted(
        [&] { return calls_.open(parent.get(), leaf.c_str(), kDirectoryFlags | O_NOFOLLOW); });
  };
  OpenFile directory(calls_, open());
  if (directory.get() == -ENOENT && if_absent == IfAbsent::kMake) {
    const int made = calls_.make_directory(parent.get(), leaf.c_str());
    if (made < 0 && made != -EEXIST) return file_error(made, "make directory", shown_path);
    directory = OpenFile(calls_, open());
  }
  if (!directory) return file_error(directory.get(), "open directory", shown_path);
  if (if_absent == IfAbsent::kFail) return directory;
  // Also if it was there: whoever made it may have died before its name was on the disk.
  {
    const std::scoped_lock lock(mutex_);
    if (synced_.contains(path)) return directory;
  }
  TRY(sync_directory(parent, shown_path));
  const std::scoped_lock lock(mutex_);
  if (synced_.size() >= kSyncedDirectoriesMax) synced_.clear();
  synced_.emplace(path);
  return directory;
}

Result<OpenFile> FileStore::open_directory(std::string_view folder, IfAbsent if_absent) {
  const auto open = [&] {
    return uninterrupted(
        [&] { return calls_.open(AT_FDCWD, options_.root.c_str(), kDirectoryFlags); });
  };
  OpenFile directory(calls_, open());
  if (directory.get() == -ENOENT && if_absent == IfAbsent::kMake) {
    TRY(make_root(options_.root));
    directory = OpenFile(calls_, open());
  }
  if (!directory) return file_error(directory.get(), "open directory", options_.root);
  for (std::size_t end = 0; end < folder.size();) {
    end = std::min(folder.find('/', end + 1), folder.size());
    TRY(directory, enter(directory, folder.substr(0, end), if_absent));
  }
  return directory;
}

Result<FileStore::Place> FileStore::find(std::string_view name, IfAbsent if_absent) {
  TRY(check_store_name(name));
  TRY(OpenFile directory, open_directory(folder_of(name), if_absent));
  return Place{.directory = std::move(directory),
               .leaf = std::string(name.substr(name.rfind('/') + 1)),
               .path = options_.root + "/" + std::string(name)};
}

Result<std::int64_t> FileStore::size(std::string_view name, const StoreCall& call) {
  TRY(check_going(clock_, call));
  TRY(const Place place, find(name, IfAbsent::kFail));
  FileStatus status;
  const int found = calls_.status_at(place.directory.get(), place.leaf.c_str(), status);
  if (found == -ENOENT || (found == 0 && !status.regular)) return not_there("size of", place.path);
  if (found < 0) return file_error(found, "size of", place.path);
  return status.bytes;
}

// A file that has the range; kCorrupt when it is shorter.
Result<FileStore::Readable> FileStore::open_range(std::string_view name, StoreRange range) {
  TRY(Place place, find(name, IfAbsent::kFail));
  // Without O_NONBLOCK a pipe of that name would be waited for.
  OpenFile file(calls_, uninterrupted([&] {
                  return calls_.open(place.directory.get(), place.leaf.c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
                }));
  if (!file) return file_error(file.get(), "read", place.path);
  FileStatus status;
  const int known = calls_.status(file.get(), status);
  if (known < 0) return file_error(known, "read", place.path);
  if (!status.regular) return not_there("read", place.path);
  if (range.begin < 0 || range.begin > status.bytes || status.bytes - range.begin < range.bytes)
    return fail(Errc::kCorrupt, "read {}: it ends at byte {}, before byte {}", place.path,
                status.bytes, range.begin + range.bytes);
  return Readable{.file = std::move(file), .path = std::move(place.path)};
}

Result<std::size_t> FileStore::read_some(const Readable& from, std::int64_t begin,
                                         std::span<std::byte> into, const StoreCall& call) {
  TRY(check_going(clock_, call));
  const ssize_t got = uninterrupted([&] { return calls_.read(from.file.get(), into, begin); });
  if (got < 0) return file_error(got, "read", from.path);
  if (got == 0) return fail(Errc::kCorrupt, "read {}: it was cut to {} bytes", from.path, begin);
  return static_cast<std::size_t>(got);
}

Result<void> FileStore::read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                             const StoreCall& call) {
  TRY(const Readable from,
      open_range(name, {.begin = begin, .bytes = static_cast<std::int64_t>(into.size())}));
  while (!into.empty()) {
    const auto part = into.first(std::min(into.size(), kReadBytesMax));
    TRY(const std::size_t got, read_some(from, begin, part, call));
    into = into.subspan(got);
    begin += static_cast<std::int64_t>(got);
  }
  return {};
}

Result<void> FileStore::read_through(std::string_view name, StoreRange range, Scratch& scratch,
                                     const TakePiece& take, const StoreCall& call) {
  TRY(const Readable from, open_range(name, range));
  if (scratch.size() < kPieceBytes) scratch.resize(kPieceBytes);
  const std::int64_t end = range.begin + range.bytes;
  for (std::int64_t at = range.begin; at < end;) {
    const auto part = std::min(kPieceBytes, static_cast<std::size_t>(end - at));
    TRY(const std::size_t got, read_some(from, at, std::span(scratch).first(part), call));
    take(Bytes(scratch).first(got));
    at += static_cast<std::int64_t>(got);
  }
  return {};
}

Result<void> FileStore::remove(std::string_view name, const StoreCall& call) {
  TRY(check_going(clock_, call));
  auto place = find(name, IfAbsent::kFail);
  if (!place && place.error().code == Errc::kNotFound) return {};
  if (!place) return std::unexpected<Error>(std::move(place).error());
  FileStatus status;
  int result = calls_.status_at(place->directory.get(), place->leaf.c_str(), status);
  if (result == 0 && !status.regular)
    return fail(Errc::kInvalid, "remove {}: it is no regular file, so it is not ours", place->path);
  if (result == 0) result = calls_.unlink(place->directory.get(), place->leaf.c_str());
  if (result < 0 && result != -ENOENT) return file_error(result, "remove", place->path);
  // Also when it is absent: a removal before may have ended here.
  return sync_directory(place->directory, place->path);
}

}  // namespace amdahl::checkpoint
