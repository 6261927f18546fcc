#include "checkpoint/engine/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.hpp"

namespace amdahl::checkpoint {
namespace {

Result<void> check_size(std::int64_t bytes) {
  if (bytes > 0 && bytes <= kArenaBytesMax) return {};
  return fail(Errc::kInvalid, "arena: {} bytes, 1 to {} are possible", bytes, kArenaBytesMax);
}

std::unexpected<Error> no_memory(std::int64_t bytes, int error) {
  const bool full = error == ENOMEM || error == ENOSPC || error == EFAULT;
  return fail(full ? Errc::kTooLarge : Errc::kIo,
              "arena: {} bytes are needed: {}; raise the memory limit or the memory volume's size",
              bytes, errno_text(error));
}

// Pages are taken now, so that a limit is met here and not in the middle of a save.
Result<void> populate(kernels::MutableBytes memory) {
  if (memory.empty() || ::madvise(memory.data(), memory.size(), MADV_POPULATE_WRITE) == 0)
    return {};
  if (errno != EINVAL) return no_memory(static_cast<std::int64_t>(memory.size()), errno);
  for (std::size_t at = 0; at < memory.size(); at += kArenaAlignment) {  // before Linux 5.14
    volatile std::byte& page = memory[at];
    page = std::byte{0};
  }
  return {};
}

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<Fd> open_file(const ArenaOptions& options) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC;
  const bool anonymous = options.kind == ArenaKind::kAnonymousFile;
  const bool named = options.kind == ArenaKind::kFile;
  const char* path = options.path.c_str();
  Fd fd(anonymous ? ::memfd_create("amdahl-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)
        : named   ? ::open(path, kFlags | O_CREAT | O_EXCL, 0600)
                  : ::open(path, kFlags | O_TMPFILE, 0600));
  if (!fd) return fail(Errc::kIo, "arena {}: {}", options.path, errno_text(errno));
  if (named) (void)::unlink(path);
  if (::ftruncate(fd.get(), options.bytes) != 0) return no_memory(options.bytes, errno);
  if (anonymous && ::fcntl(fd.get(), F_ADD_SEALS, kSizeSeals) != 0)
    return fail(Errc::kIo, "arena: seal: {}", errno_text(errno));
  return fd;
}

Result<void> check_keeps_its_size(int fd, const struct stat& status) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  const bool sealed = seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  if (S_ISREG(status.st_mode) && (sealed || status.st_nlink == 0)) return {};
  return fail(Errc::kForbidden, "arena of descriptor {}: others could cut it short", fd);
}

}  // namespace

Result<Arena> Arena::create(const ArenaOptions& options) {
  TRY(check_size(options.bytes));
  if (options.kind != ArenaKind::kPrivate) {
    TRY(Fd fd, open_file(options));
    TRY(Arena shared, mapped(std::move(fd), options.bytes, PROT_READ | PROT_WRITE));
    if (options.touch_now) TRY(shared.touch(options.bytes));
    return shared;
  }
  const auto size = static_cast<std::size_t>(options.bytes);
  void* place = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return no_memory(options.bytes, errno);
  Arena arena(Fd(), {static_cast<std::byte*>(place), size});
  // A child of the trainer has no use for it. Large pages were tried: copies were no faster, and
  // taking the pages was three times slower.
  (void)::madvise(place, size, MADV_DONTFORK);
  if (options.touch_now) TRY(arena.touch(options.bytes));
  return arena;
}

Result<void> Arena::touch(std::int64_t end) {
  if (end <= touched_) return {};
  // A volume that is full says so here, and not by a signal.
  if (const int error = fd_ ? ::posix_fallocate(fd_.get(), touched_, end - touched_) : 0;
      error != 0)
    return no_memory(end, error);
  TRY(populate(memory_.subspan(static_cast<std::size_t>(touched_),
                               static_cast<std::size_t>(end - touched_))));
  touched_ = end;
  return {};
}

Result<Arena> Arena::mapped(Fd fd, std::int64_t bytes, int protection) {
  const auto size = static_cast<std::size_t>(bytes);
  void* place = ::mmap(nullptr, size, protection, MAP_SHARED, fd.get(), 0);
  if (place == MAP_FAILED) return no_memory(bytes, errno);
  return Arena(std::move(fd), {static_cast<std::byte*>(place), size});
}

Result<Arena> Arena::adopt(int fd) {
  TRY(Fd own, duplicate_fd(fd));
  struct stat status{};
  if (::fstat(own.get(), &status) != 0)
    return fail(Errc::kIo, "arena of descriptor {}: {}", fd, errno_text(errno));
  TRY(check_size(status.st_size));
  TRY(check_keeps_its_size(own.get(), status));
  return mapped(std::move(own), status.st_size, PROT_READ);
}

Arena::~Arena() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

ArenaSpace::ArenaSpace(Arena arena, std::size_t leases_max)
    : arena_(std::move(arena)), leases_max_(std::clamp<std::size_t>(leases_max, 1, kLeasesMax)) {}

std::shared_ptr<ArenaSpace> ArenaSpace::make(Arena arena, std::size_t leases_max) {
  return std::shared_ptr<ArenaSpace>(new ArenaSpace(std::move(arena), leases_max));
}

std::int64_t ArenaSpace::free_place(std::int64_t bytes) const {
  if (taken_.size() >= leases_max_) return -1;
  std::int64_t at = 0;
  for (const Range& range : taken_) {
    if (range.begin - at >= bytes) return at;
    at = range.end;
  }
  return arena_.bytes() - at >= bytes ? at : -1;
}

Result<ArenaSpace::Lease> ArenaSpace::take(std::int64_t bytes, std::chrono::nanoseconds patience) {
  const std::int64_t room = std::max(aligned_up(bytes), kArenaAlignment);
  if (room > arena_.bytes())
    return fail(Errc::kTooLarge, "the snapshot needs {} bytes, the arena has {}: make it larger",
                room, arena_.bytes());
  std::unique_lock lock(mutex_);
  if (!freed_.wait_for(lock, patience, [&] { return free_place(room) >= 0; }))
    return fail(Errc::kThrottled,
                "{} earlier snapshots are still being written and hold the arena; save less often",
                taken_.size());
  const std::int64_t begin = free_place(room);
  TRY(arena_.touch(begin + room));
  const auto after = std::ranges::upper_bound(taken_, begin, {}, &Range::begin);
  taken_.insert(after, {.begin = begin, .end = begin + room});
  return Lease(shared_from_this(), begin, room);
}

void ArenaSpace::give_back(std::int64_t begin) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(taken_, begin, &Range::begin);
    AMDAHL_CHECK(found != taken_.end());
    taken_.erase(found);
  }
  freed_.notify_all();
}

bool ArenaSpace::idle() const {
  const std::scoped_lock lock(mutex_);
  return taken_.empty();
}

ArenaSpace::Lease::~Lease() {
  if (space_) space_->give_back(begin_);
}

kernels::MutableBytes ArenaSpace::Lease::memory() const {
  return space_->arena().memory().subspan(static_cast<std::size_t>(begin_),
                                          static_cast<std::size_t>(bytes_));
}

}  // namespace amdahl::checkpoint
