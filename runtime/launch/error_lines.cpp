#include "runtime/launch/error_lines.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "operator/api/report_frames.hpp"
#include "runtime/launch/cut.hpp"
#include "runtime/launch/json_input.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

using api::ReportError;
using api::ReportErrorKind;
using api::ReportErrorSource;
constexpr auto kNone = std::string_view::npos;
constexpr std::int64_t kTerminated = 15;  // SIGTERM

// "[rank3]: " or "[default3]:" as torchrun and torch put it before what a rank prints.
std::string_view rank_prefix(std::string_view line) {
  constexpr std::size_t kPrefixMax = 24;
  if (!line.starts_with("[rank") && !line.starts_with("[default")) return {};
  const std::size_t end = line.substr(0, kPrefixMax).find("]:");
  if (end == kNone) return {};
  return line.substr(0, end + (line.substr(end + 2).starts_with(' ') ? 3 : 2));
}

std::optional<std::int64_t> rank_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == kNone) return std::nullopt;
  std::string_view rest = line.substr(at + words.size());
  skip_spaces(rest);
  const auto rank = take_count(rest);
  return rank && *rank <= api::kReportRankMax ? rank : std::nullopt;
}

bool is_type_name(std::string_view text) {
  if (text.empty() || text.size() > api::kReportErrorTypeMax) return false;
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return letter(text[0]) && std::ranges::all_of(text, [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '.';
         });
}

ReportErrorKind kind_of(std::string_view type, std::string_view message) {
  if (type.ends_with("OutOfMemoryError") || message.starts_with("CUDA out of memory"))
    return ReportErrorKind::kGpuOutOfMemory;
  if (type.ends_with("RendezvousTimeoutError")) return ReportErrorKind::kRendezvousTimeout;
  if (message.starts_with("CUDA error") || message.contains("CUDNN_STATUS_") ||
      message.contains("CUBLAS_STATUS_"))
    return ReportErrorKind::kGpuFault;
  if (type.ends_with("DistBackendError") || message.contains("NCCL error") ||
      message.contains("ncclRemoteError"))
    return ReportErrorKind::kCollectiveError;
  return ReportErrorKind::kException;
}

// `  File "train.py", line 7, in main` becomes "train.py:7 in main".
std::string frame_text(std::string_view line) {
  std::string_view rest = trim(line);
  if (!take(rest, "File \"")) return {};
  const std::size_t name_end = rest.find("\", line ");
  if (name_end == kNone) return {};
  const std::string_view name = rest.substr(0, name_end);
  rest.remove_prefix(name_end + 8);
  const auto number = take_count(rest);
  if (!number) return {};
  std::string text = fmt::format("{}:{}", name, *number);
  if (take(rest, ", in ")) text += fmt::format(" in {}", rest);
  return std::string(cut_utf8(text, api::kReportErrorWhereMax));
}

// Of a frame as frame_text() writes it.
bool is_library(std::string_view frame) {
  return api::is_library_file(frame.substr(0, frame.rfind(':')));
}

// The innermost frame of the script; a library's only as long as there is no other.
void keep_frame(std::string& kept, std::string frame) {
  if (frame.empty()) return;
  if (kept.empty() || is_library(kept) || !is_library(frame)) kept = std::move(frame);
}

std::optional<ReportError> read_watchdog(std::string_view line) {
  if (!line.contains("Watchdog caught collective operation timeout") ||
      !line.contains("ProcessGroup"))
    return std::nullopt;
  const std::size_t at = line.find("Watchdog caught");
  ReportError error{.kind = ReportErrorKind::kCollectiveTimeout,
                    .source = ReportErrorSource::kLog,
                    .message = std::string(cut_utf8(line.substr(at), api::kReportErrorMessageMax)),
                    .rank = rank_after(line, "[Rank ")};
  if (!error.rank) error.rank = rank_after(line, "[rank");
  return error;
}

// "/usr/bin/python3: can't open file '/app/train.py': [Errno 2] No such file or directory".
std::optional<ReportError> read_no_script(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == kNone) return std::nullopt;
  const std::string_view program = line.substr(0, colon);
  if (!program.substr(program.rfind('/') + 1).starts_with("python")) return std::nullopt;
  const std::string_view words = line.substr(colon + 2);
  constexpr std::array<std::string_view, 3> kSaid = {
      "can't open file '", "No module named ", "Error while finding module specification for "};
  if (std::ranges::none_of(kSaid, [&](std::string_view one) { return words.starts_with(one); }))
    return std::nullopt;
  return ReportError{.kind = ReportErrorKind::kCommandNotFound,
                     .source = ReportErrorSource::kLog,
                     .message = std::string(cut_utf8(words, api::kReportErrorMessageMax))};
}

std::string innermost_frame(std::string_view stack) {
  std::string kept;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find('\n'), stack.size());
    keep_frame(kept, frame_text(stack.substr(0, end)));
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return kept;
}

}  // namespace

std::optional<ReportError> read_exception(std::string_view line) {
  const std::size_t colon = std::min(line.find(": "), line.size());
  std::string_view type = trim(line.substr(0, colon));
  if (type.ends_with(':')) type.remove_suffix(1);
  if (!is_type_name(type)) return std::nullopt;
  const std::string_view message = trim(line.substr(std::min(colon + 1, line.size())));
  return ReportError{.kind = kind_of(type, message),
                     .source = ReportErrorSource::kLog,
                     .type = std::string(type),
                     .message = std::string(cut_utf8(message, api::kReportErrorMessageMax))};
}

std::optional<ReportError> read_error_file(std::string_view text) {
  const Json json = parse_input(text);
  if (!json.is_object()) return std::nullopt;
  const auto string_in = [](const Json& object, const char* key) {
    const auto place = object.is_object() ? object.find(key) : object.end();
    return place != object.end() && place->is_string() ? place->get<std::string>() : std::string();
  };
  std::string message = string_in(json, "message");
  const auto inner = json.find("message");
  std::string stack;
  if (inner != json.end() && inner->is_object()) {
    message = string_in(*inner, "message");
    if (const auto more = inner->find("extraInfo"); more != inner->end())
      stack = string_in(*more, "py_callstack");
  }
  if (message.empty()) return std::nullopt;
  ReportError error = read_exception(message).value_or(
      ReportError{.kind = ReportErrorKind::kException,
                  .message = std::string(cut_utf8(message, api::kReportErrorMessageMax))});
  error.source = ReportErrorSource::kErrorFile;
  error.where = innermost_frame(stack);
  return error;
}

// Frames are indented, the exception is not; so the first line that is not indented ends it.
std::optional<ReportError> ErrorLines::read_traceback(std::string_view line) {
  const std::string_view prefix = rank_prefix(line);
  const std::string_view text = line.substr(prefix.size());
  if (text == "Traceback (most recent call last):") {
    if (traceback_left_ > 0 && prefix != prefix_) return std::nullopt;  // the first one is followed
    traceback_left_ = kTracebackLinesMax;
    prefix_ = std::string(prefix);
    where_.clear();
    return std::nullopt;
  }
  if (traceback_left_ == 0 || prefix != prefix_) return std::nullopt;
  --traceback_left_;
  if (text.starts_with(' ')) {
    keep_frame(where_, frame_text(text));
    return std::nullopt;
  }
  traceback_left_ = 0;
  auto error = read_exception(text);
  // torchrun's own exception says only that a worker failed; its summary, which follows, says why.
  if (!error || error->type.ends_with("ChildFailedError")) return std::nullopt;
  error->where = where_;
  error->rank = rank_after(prefix, "[rank");
  return error;
}

std::optional<ReportError> ErrorLines::read_summary(std::string_view line) {
  // Who was killed may stand among the others, when somebody who lost him was seen first.
  if (line.starts_with("Failures:") || line.starts_with("Root Cause (first observed failure):")) {
    summary_left_ = kSummaryLinesMax;
    summary_rank_.reset();
    summary_signal_.reset();
    return std::nullopt;
  }
  if (summary_left_ == 0) return std::nullopt;
  --summary_left_;
  std::string_view rest = trim(line);
  if (rest.starts_with("rank")) summary_rank_ = rank_after(rest, ": ");
  if (rest.starts_with("exitcode")) summary_signal_ = rank_after(rest, ": -");
  if (summary_signal_ == kTerminated) summary_signal_.reset();  // torchrun's own doing
  if (!rest.starts_with("traceback") || !summary_signal_) return std::nullopt;
  summary_left_ = 0;
  rest.remove_prefix(std::min(rest.find(": ") + 2, rest.size()));
  return ReportError{.kind = ReportErrorKind::kWorkerKilled,
                     .source = ReportErrorSource::kLog,
                     .message = std::string(cut_utf8(rest, api::kReportErrorMessageMax)),
                     .rank = summary_rank_};
}

std::optional<ReportError> ErrorLines::read(std::string_view line) {
  if (auto error = read_traceback(line)) return error;
  if (auto error = read_summary(line)) return error;
  if (auto error = read_no_script(line.substr(rank_prefix(line).size()))) return error;
  return read_watchdog(line);
}

void ErrorLines::gap() {
  traceback_left_ = 0;
  summary_left_ = 0;
}

}  // namespace amdahl::launch
