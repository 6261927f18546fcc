// Bytes into a file that nobody sees yet, until they are on the disk.
//
// Large objects go around the page cache: with O_DIRECT, or where that is refused, through the
// cache and out of it again, so that a save does not push the machine's files out of memory. Space
// is asked for first, so that a full disk is met before the first byte.
//
// Thread: any. Lifetime: calls, clock and pieces outlive the call. Failure: as file_error.hpp says;
// kTimeout and kCancelled between writes. An error of writeback or fsync is final for the file: the
// kernel reports it once and may have dropped the pages, so asking again would be told a lie.
#pragma once

#include <span>
#include <string>

#include "checkpoint/store/posix_calls.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {

// From here on around the page cache. Below, a copy and one fsync are quicker.
inline constexpr std::int64_t kDirectBytesMin = std::int64_t{1} << 20U;
inline constexpr std::size_t kBufferedWriteBytesMax = std::size_t{8} << 20U;

struct WriteTarget {
  PosixCalls& calls;
  const Clock& clock;
  const StoreCall& call;
  int fd = -1;
  bool large = false;   // keep it out of the page cache
  bool direct = false;  // opened with O_DIRECT
};

// The file has the bytes of the pieces, and the disk has them too.
Result<void> write_durably(WriteTarget target, std::span<const Bytes> pieces,
                           const std::string& path);

}  // namespace amdahl::checkpoint
