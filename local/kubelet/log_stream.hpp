// Reads what LogWriter wrote: from a line on, since a time, as far as asked, and on as it grows.
//
// Thread: the server's. Lifetime: its own; a piece that is deleted while it is read stays readable.
// Failure: a piece that cannot be read, or was deleted before this reader came to it, is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "local/apiserver/core/message.hpp"
#include "local/kubelet/log_file.hpp"

namespace amdahl::local {

struct LogRead {
  std::string folder = {};
  std::int32_t run = 0;
  bool timestamps = false;
  std::optional<std::size_t> tail_lines = {};
  std::optional<std::size_t> limit_bytes = {};
  std::optional<WallTime> since = {};
  std::shared_ptr<const LogWriter> follow = {};  // goes on until this one is closed
};

class LogStream final : public WatchStream {
 public:
  static constexpr std::size_t kReadBytes = 64 * 1024;
  // A writer stays far below it; a program of the pod may have made its log larger.
  static constexpr std::size_t kPieceReadMax = 2 * kLogPieceBytesMax;

  explicit LogStream(LogRead read);
  Next next() override;

 private:
  bool open_piece(std::uint32_t piece);
  bool read_more();  // false: nothing there now
  bool skip_lost_pieces();
  std::string take_records();
  void show(std::string_view record, std::string& out);
  std::size_t lines_before_tail();

  LogRead read_;
  std::uint32_t piece_ = 0;
  std::size_t piece_bytes_ = 0;  // read of it
  Fd file_;
  std::string buffer_;
  std::string ready_;     // to be shown next
  std::string since_;     // as text, which sorts like the times do
  std::size_t skip_ = 0;  // lines that come before the tail
  std::size_t shown_ = 0;
  bool line_begins_ = true;
  bool ended_ = false;
};

}  // namespace amdahl::local
