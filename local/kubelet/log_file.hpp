// What a container printed, on disk: pieces of a bounded size, each line with its time.
//
//   CONTAINER/RUN.PIECE.log      RUN counts the starts of the container, PIECE its files
//   2026-11-16T08:00:00.123456000Z F text       F: the line ends here; P: more of it follows
//
// Of a run the last kLogPiecesMax pieces are kept, of a container the last kLogRunsMax runs.
// Thread: one. Lifetime: the folder outlives both. Failure: Errc::kIo; a full disk loses lines and
// never stops the container.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace amdahl::local {

inline constexpr std::size_t kLogPieceBytesMax = std::size_t{10} << 20U;
inline constexpr std::uint32_t kLogPiecesMax = 2;
inline constexpr std::int32_t kLogRunsMax = 2;  // the present one and the one before
inline constexpr std::size_t kLogPrefixBytes = 33;

std::string log_piece(const std::string& folder, std::int32_t run, std::uint32_t piece);
// The pieces of a run that are there: [first, last]; first > last when there is none.
struct LogPieces {
  std::uint32_t first = 1;
  std::uint32_t last = 0;
  bool empty() const { return first > last; }
};
LogPieces log_pieces(const std::string& folder, std::int32_t run);

// The highest run that has a piece; -1 when nothing was written yet.
std::int32_t last_log_run(const std::string& folder);

class LogWriter {
 public:
  // Makes the folder and forgets runs that are too old.
  static Result<std::shared_ptr<LogWriter>> open(std::string folder, std::int32_t run,
                                                 std::size_t piece_max = kLogPieceBytesMax);
  // Bytes as they came: any number of lines, also a part of one.
  void write(std::string_view bytes, WallTime now);
  void close() { closed_ = true; }
  bool closed() const { return closed_; }
  std::int32_t run() const { return run_; }
  const std::string& folder() const { return folder_; }

 private:
  LogWriter(std::string folder, std::int32_t run, std::size_t piece_max);
  Result<void> next_piece();

  std::string folder_;
  std::int32_t run_;
  std::size_t piece_max_;
  std::uint32_t piece_ = 0;
  std::size_t written_ = 0;
  Fd file_;
  bool closed_ = false;
};

// The end of what a run printed, for a termination message: at most so many lines and bytes.
std::string log_tail(const std::string& folder, std::int32_t run, std::size_t lines_max,
                     std::size_t bytes_max);

}  // namespace amdahl::local
