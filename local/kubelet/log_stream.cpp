#include "local/kubelet/log_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "local/kubelet/pod_file.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kTimeBytes = 30;

bool is_whole(std::string_view record) {
  return record.size() > kTimeBytes + 1 && record[kTimeBytes + 1] == 'F';
}

}  // namespace

LogStream::LogStream(LogRead read) : read_(std::move(read)) {
  if (read_.since) {
    since_ = format_micro_time(*read_.since);
    since_.insert(since_.size() - 1, "000");
  }
  const LogPieces pieces = log_pieces(read_.folder, read_.run);
  ended_ = pieces.empty() || !open_piece(pieces.first);
  if (ended_ || !read_.tail_lines) return;
  skip_ = lines_before_tail();
  (void)open_piece(pieces.first);
  buffer_.clear();
  // Now and not piece by piece: until then the writer could delete some of what was counted.
  while (skip_ > 0 && read_more()) ready_ += take_records();
}

bool LogStream::open_piece(std::uint32_t piece) {
  const std::string path = log_piece(read_.folder, read_.run, piece);
  Result<Fd> next = open_pod_file(path, O_RDONLY);
  if (!next) return false;
  file_ = *std::move(next);
  piece_ = piece;
  piece_bytes_ = 0;
  return true;
}

bool LogStream::read_more() {
  const std::size_t old = buffer_.size();
  const std::size_t most = std::min(kReadBytes, kPieceReadMax - piece_bytes_);
  buffer_.resize(old + most);
  const auto count = std::max<ssize_t>(::read(file_.get(), buffer_.data() + old, most), 0);
  buffer_.resize(old + static_cast<std::size_t>(count));
  piece_bytes_ += static_cast<std::size_t>(count);
  if (count > 0) return true;
  // The writer only makes a piece when it has left the one before.
  return open_piece(piece_ + 1) || skip_lost_pieces();
}

// A reader that is slower than the writer finds the next pieces deleted.
bool LogStream::skip_lost_pieces() {
  const LogPieces pieces = log_pieces(read_.folder, read_.run);
  if (pieces.empty() || pieces.first <= piece_) return false;
  buffer_.clear();  // the rest of its record went with them
  return open_piece(pieces.first);
}

// One pass over everything: a log is bounded, and lines have no index.
std::size_t LogStream::lines_before_tail() {
  std::size_t lines = 0;
  bool open_line = false;
  while (read_more()) {
    std::size_t at = 0;
    for (std::size_t end = 0; (end = buffer_.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string_view record(buffer_.data() + at, end - at);
      open_line = !is_whole(record);
      if (!open_line && record.substr(0, kTimeBytes) >= since_) ++lines;
    }
    buffer_.erase(0, at);
  }
  lines += open_line ? 1 : 0;
  return lines - std::min(lines, *read_.tail_lines);
}

void LogStream::show(std::string_view record, std::string& out) {
  if (record.size() < kLogPrefixBytes || record.substr(0, kTimeBytes) < since_) return;
  const bool whole = is_whole(record);
  const bool begins = std::exchange(line_begins_, whole);
  if (skip_ > 0) {
    skip_ -= whole ? 1 : 0;
    return;
  }
  if (read_.timestamps && begins) {
    out += record.substr(0, kTimeBytes);
    out += ' ';
  }
  out += record.substr(kLogPrefixBytes);
  if (whole) out += '\n';
}

std::string LogStream::take_records() {
  std::string out;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = buffer_.find('\n', at)) != std::string::npos; at = end + 1)
    show(std::string_view(buffer_).substr(at, end - at), out);
  buffer_.erase(0, at);
  return out;
}

WatchStream::Next LogStream::next() {
  if (ended_) return {.ready = Ready::kEnd};
  // Asked before reading, so that nothing written in between is lost.
  const bool growing = read_.follow && !read_.follow->closed();
  std::string bytes = std::exchange(ready_, {});
  if (bytes.empty()) {
    if (!read_more()) {
      if (growing) return {.ready = Ready::kNothingYet};
      ended_ = true;
      return {.ready = Ready::kEnd};
    }
    bytes = take_records();
  }
  if (read_.limit_bytes && shown_ + bytes.size() >= *read_.limit_bytes) {
    bytes.resize(*read_.limit_bytes - shown_);
    ended_ = true;
  }
  shown_ += bytes.size();
  return {.ready = Ready::kFrame, .bytes = std::move(bytes)};
}

}  // namespace amdahl::local
