// Objects as files below one directory: a disk, a volume of Kubernetes, NFS.
//
// create() writes a file without a name, or with one in `.amdahl-tmp` where the file system has no
// such files, syncs it, links it to its name without replacing, and syncs the directory. What was
// interrupted is not there. remove() syncs the directory too: deletions happen in their order.
// Symbolic links below the directory are never followed.
//
// Thread: any, many at once. Lifetime: clock and calls outlive it. Failure: as store.hpp says; the
// text has the path, the system's words and a next step.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/rng.hpp"
#include "checkpoint/store/file_write.hpp"
#include "checkpoint/store/posix_calls.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

struct NewFile;

inline constexpr std::size_t kReadBytesMax = std::size_t{8} << 20U;  // of one system call
// Of a piece: from the page cache into a processor's own cache and on from there is faster than to
// memory and back.
inline constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;
inline constexpr std::size_t kSyncedDirectoriesMax = 1024;    // remembered
inline constexpr int kTemporaryNamesMax = 8;                  // tried for one file
inline constexpr std::string_view kTemporaryPrefix = "new-";  // and 16 digits of chance

struct FileStoreOptions {
  std::string root = {};  // an absolute path; made when the first object is created
  std::int64_t direct_bytes_min = kDirectBytesMin;
};

class FileStore final : public Store {
 public:
  FileStore(FileStoreOptions options, const Clock& clock, Rng rng,
            PosixCalls& calls = system_calls());

  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override;
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override;
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override;
  Result<void> read_through(std::string_view name, StoreRange range, Scratch& scratch,
                            const TakePiece& take, const StoreCall& call) override;
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override;
  Result<void> remove(std::string_view name, const StoreCall& call) override;
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override;
  std::string describe() const override { return "file://" + options_.root; }

 private:
  // Where an object is or will be.
  struct Place {
    OpenFile directory = {};
    std::string leaf = {};
    std::string path = {};  // for messages
  };
  enum class IfAbsent : std::uint8_t { kFail, kMake };

  Result<Place> find(std::string_view name, IfAbsent if_absent);
  Result<OpenFile> open_directory(std::string_view folder, IfAbsent if_absent);
  Result<OpenFile> enter(const OpenFile& parent, std::string_view path, IfAbsent if_absent);
  Result<void> make_root(const std::string& path);
  Result<void> sync_directory(const OpenFile& directory, const std::string& path);

  Result<void> create_at(const Place& place, std::span<const Bytes> pieces, const StoreCall& call);
  // False: this file system does not link files that have no name.
  Result<bool> try_create(const Place& place, std::span<const Bytes> pieces, const StoreCall& call,
                          bool unnamed);
  Result<NewFile> open_new(const Place& place, bool unnamed, bool large);
  int open_named(NewFile& file, int flags);
  int link(const NewFile& file, const Place& place);
  Result<bool> link_into_place(const NewFile& file, const Place& place,
                               std::span<const Bytes> pieces);
  bool is_ours(const NewFile& file, const Place& place, std::span<const Bytes> pieces, int refusal);
  bool has_content(const Place& place, std::span<const Bytes> pieces);

  struct Readable {
    OpenFile file = {};
    std::string path = {};
  };
  Result<Readable> open_range(std::string_view name, StoreRange range);
  Result<std::size_t> read_some(const Readable& from, std::int64_t begin, std::span<std::byte> into,
                                const StoreCall& call);
  Result<void> add_sizes(const std::set<std::string>& names, ListPage& page);

  const FileStoreOptions options_;
  const Clock& clock_;
  PosixCalls& calls_;
  std::atomic<bool> unnamed_files_ = true;  // until this file system refuses them
  std::mutex mutex_;
  Rng rng_;
  std::set<std::string, std::less<>> synced_;  // folders whose own names are on the disk
};

}  // namespace amdahl::checkpoint
