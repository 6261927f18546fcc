#include "local/kubelet/log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "local/kubelet/log_stream.hpp"
#include "local/kubelet/pod_file.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

struct PieceName {
  std::int32_t run = 0;
  std::uint32_t piece = 0;
};
std::optional<PieceName> parse_name(const std::string& name) {
  PieceName result;
  const char* end = name.data() + name.size();
  const auto run = std::from_chars(name.data(), end, result.run);
  if (run.ec != std::errc{} || run.ptr == end || *run.ptr != '.') return std::nullopt;
  const auto piece = std::from_chars(run.ptr + 1, end, result.piece);
  if (piece.ec != std::errc{} || std::string_view(piece.ptr, end) != ".log") return std::nullopt;
  return result;
}

template <class Visit>
void for_each_piece(const std::string& folder, Visit visit) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const auto name = parse_name(entry.path().filename().string())) visit(*name);
}

// With the nine digits that clients of Kubernetes expect.
std::string prefix(WallTime now, bool whole) {
  std::string text = format_micro_time(now);
  text.insert(text.size() - 1, "000");
  return text + (whole ? " F " : " P ");
}

}  // namespace

std::string log_piece(const std::string& folder, std::int32_t run, std::uint32_t piece) {
  return fmt::format("{}/{}.{}.log", folder, run, piece);
}

LogPieces log_pieces(const std::string& folder, std::int32_t run) {
  LogPieces result;
  for_each_piece(folder, [&](PieceName name) {
    if (name.run != run) return;
    result.first = result.empty() ? name.piece : std::min(result.first, name.piece);
    result.last = std::max(result.last, name.piece);
  });
  return result;
}

std::int32_t last_log_run(const std::string& folder) {
  std::int32_t last = -1;
  for_each_piece(folder, [&](PieceName name) { last = std::max(last, name.run); });
  return last;
}

LogWriter::LogWriter(std::string folder, std::int32_t run, std::size_t piece_max)
    : folder_(std::move(folder)), run_(run), piece_max_(piece_max) {}

Result<std::shared_ptr<LogWriter>> LogWriter::open(std::string folder, std::int32_t run,
                                                   std::size_t piece_max) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Errc::kIo, "create {}: {}", folder, error.message());
  std::vector<PieceName> old;
  for_each_piece(folder, [&](PieceName name) {
    if (name.run <= run - kLogRunsMax || name.run >= run) old.push_back(name);
  });
  for (const PieceName& name : old) fs::remove(log_piece(folder, name.run, name.piece), error);
  std::shared_ptr<LogWriter> writer(new LogWriter(std::move(folder), run, piece_max));
  TRY(writer->next_piece());
  return writer;
}

Result<void> LogWriter::next_piece() {
  const std::string path = log_piece(folder_, run_, piece_ + 1);
  std::error_code ignored;
  fs::remove(path, ignored);  // a program of the pod put it there
  TRY(Fd next, open_pod_file(path, O_CREAT | O_EXCL | O_WRONLY | O_APPEND));
  file_ = std::move(next);
  ++piece_;
  written_ = 0;
  if (piece_ > kLogPiecesMax) fs::remove(log_piece(folder_, run_, piece_ - kLogPiecesMax), ignored);
  return {};
}

void LogWriter::write(std::string_view bytes, WallTime now) {
  // Once for all of them: a program may print a hundred thousand lines a second.
  const std::string whole_prefix = prefix(now, true);
  const std::string part_prefix = prefix(now, false);
  std::string text;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const bool whole = end != std::string_view::npos;
    text += whole ? whole_prefix : part_prefix;
    text += bytes.substr(0, end);
    text += '\n';
    bytes.remove_prefix(whole ? end + 1 : bytes.size());
  }
  if (written_ > 0 && written_ + text.size() > piece_max_) (void)next_piece();  // else goes on here
  const ssize_t count = ::write(file_.get(), text.data(), text.size());
  if (count == std::ssize(text)) {
    written_ += text.size();
    return;
  }
  // The disk is full. A record without its end would spoil the next one.
  [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(written_));
}

std::string log_tail(const std::string& folder, std::int32_t run, std::size_t lines_max,
                     std::size_t bytes_max) {
  LogStream stream({.folder = folder, .run = run, .tail_lines = lines_max});
  std::string text;
  for (auto next = stream.next(); next.ready == WatchStream::Ready::kFrame; next = stream.next())
    text += next.bytes;
  return text.size() > bytes_max ? text.substr(text.size() - bytes_max) : text;
}

}  // namespace amdahl::local
