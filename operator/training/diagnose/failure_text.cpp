#include "operator/training/diagnose/failure_text.hpp"

#include <algorithm>
#include <charconv>

#include "operator/training/diagnose/error_file.hpp"
#include "operator/training/diagnose/evidence.hpp"
#include "operator/training/diagnose/python_error.hpp"
#include "operator/training/diagnose/xid.hpp"

namespace amdahl::training {
namespace {

struct Phrase {
  Mark mark = Mark::kGpuOutOfMemory;
  std::string_view words = {};  // in lower case
};
constexpr auto kPhrases = std::to_array<Phrase>({
    {Mark::kGpuOutOfMemory, "cuda out of memory"},
    {Mark::kGpuOutOfMemory, "cuda error: out of memory"},
    {Mark::kGpuOutOfMemory, "cublas_status_alloc_failed"},
    {Mark::kGpuOutOfMemory, "hip out of memory"},
    {Mark::kGpuHardware, "uncorrectable ecc error"},
    {Mark::kGpuHardware, "uncorrectable nvlink error"},
    {Mark::kGpuHardware, "fallen off the bus"},
    {Mark::kWorkerKilled, "is killed by signal"},  // torch's DataLoader
    {Mark::kWorkerKilled, "signal: killed"},
    {Mark::kWorkerKilled, "insufficient shared memory (shm)"},
    {Mark::kRendezvous, "rendezvoustimeouterror"},
    {Mark::kRendezvous, "rendezvous timeout"},
    {Mark::kRendezvous, "rendezvous timed out"},
    {Mark::kRendezvous, "seconds waiting for clients"},  // "1/2 clients joined."
    {Mark::kConnection, "unhandled system error"},
    {Mark::kConnection, "ncclremoteerror"},
    {Mark::kConnection, "ncclsystemerror"},
    {Mark::kConnection, "connection closed by remote peer"},
    {Mark::kConnection, "connection closed by peer"},
    {Mark::kConnection, "connection reset by peer"},
    {Mark::kToldToStop, "got signal: 15"},
    {Mark::kNoScript, "can't open file '"},  // "python3: can't open file '/app/x.py': [Errno 2]"
    {Mark::kNoModule, "no module named "},   // of python3 -m; as an exception it is one
});

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::string line_around(std::string_view text, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const std::size_t end = std::min(text.find('\n', at), text.size());
  // Of a line without end, the part before the words matters less than the words.
  const std::size_t from = std::max(begin, at < kLineMax / 2 ? 0 : at - kLineMax / 2);
  return clean_line(text.substr(from, end - from), kLineMax);
}

bool is_word_at(std::string_view text, std::size_t at, std::size_t size) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && text[i] >= 'a' && text[i] <= 'z';
  };
  return (at == 0 || !letter(at - 1)) && !letter(at + size);
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size()))
    if (is_word_at(text, at, word.size())) return true;
  return false;
}

bool loss_is_not_finite(std::string_view line) {
  return line.find("loss") != std::string_view::npos &&
         (has_word(line, "nan") || has_word(line, "inf") || has_word(line, "infinite") ||
          line.find("not finite") != std::string_view::npos);
}

// "loss" and "nan" in one line.
std::optional<std::size_t> find_not_a_number(std::string_view lower) {
  for (std::size_t at = lower.find("loss"); at != std::string_view::npos;) {
    const std::size_t begin = at == 0 ? 0 : lower.rfind('\n', at - 1) + 1;
    const std::size_t end = std::min(lower.find('\n', at), lower.size());
    const std::size_t from = std::max(begin, at < kLineMax ? 0 : at - kLineMax);
    if (loss_is_not_finite(lower.substr(from, std::min(end, at + kLineMax) - from))) return at;
    at = lower.find("loss", end);
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + key.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

std::optional<CollectiveText> find_collective(std::string_view text) {
  const std::size_t at = text.find("Watchdog caught collective operation timeout");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(at, std::min(kLineMax, text.find('\n', at) - at));
  CollectiveText found{.sequence = number_after(line, "SeqNum="),
                       .timeout_ms = number_after(line, "Timeout(ms)=")};
  constexpr std::string_view kOperation = "OpType=";
  if (const std::size_t key = line.find(kOperation); key != std::string_view::npos) {
    std::string_view name = line.substr(key + kOperation.size());
    name = name.substr(0, name.find_first_of(",) "));
    found.operation = clean_line(name, 32);
  }
  return found;
}

// Launchers tell it in three ways: "exitcode  : -9 (pid: 7)" (torchrun), "Signal 9 (SIGKILL)
// received by PID 7" (torchrun without an error file), "return code = -9" (deepspeed).
std::optional<std::int32_t> find_child_signal(std::string_view text) {
  constexpr std::int64_t kSignalMax = 64;
  const std::size_t root = text.rfind("Root Cause (first observed failure)");
  if (root != std::string_view::npos) text = text.substr(root);
  for (const std::string_view key : {"exitcode  : -", "return code = -"})
    if (const auto number = number_after(text, key); number && *number > 0 && *number <= kSignalMax)
      return static_cast<std::int32_t>(*number);
  const std::size_t told = text.find("received by PID");
  if (told == std::string_view::npos) return std::nullopt;
  const std::size_t from = text.rfind("Signal ", told);
  if (from == std::string_view::npos || told - from > 32) return std::nullopt;
  const auto number = number_after(text.substr(from), "Signal ");
  if (!number || *number <= 0 || *number > kSignalMax) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

FailureText scan_plain(std::string_view text) {
  FailureText found{.error = find_python_error(text),
                    .collective = find_collective(text),
                    .xids = xids_in_log(text),
                    .child_signal = find_child_signal(text)};
  const std::string lower = lowered(text);
  const auto note = [&](Mark mark, std::size_t at) {
    std::string& line = found.lines[static_cast<std::size_t>(mark)];
    if (line.empty()) line = line_around(text, at);
  };
  for (const Phrase& phrase : kPhrases)
    if (const std::size_t at = lower.find(phrase.words); at != std::string::npos)
      note(phrase.mark, at);
  if (const auto at = find_not_a_number(lower)) note(Mark::kNotANumber, *at);
  return found;
}

// The message names the exception even when the file was cut before the end of the traceback.
std::optional<PythonError> error_of(const ErrorFile& file) {
  const std::string line = file.message.substr(0, file.message.find('\n'));
  auto error = parse_python_error(file.type.empty() ? line : file.type + ": " + line);
  if (!error) return std::nullopt;
  // Without a type or a traceback the message may be any end of a log.
  const std::string_view name = error->name();
  const bool named = name.ends_with("Error") || name.ends_with("Exception");
  if (file.type.empty() && file.traceback.empty() && !named) return std::nullopt;
  error->frame = clean_line(file.where, kLineMax / 2);
  if (file.traceback.empty()) return error;
  const auto partial = find_python_error(file.traceback + "\n" + error->type);
  if (partial) error->frame = partial->frame;
  return error;
}

// Length of the valid UTF-8 sequence at the beginning, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  const std::size_t size = first >= 0xf0U ? 4 : first >= 0xe0U ? 3 : 2;
  if (first < 0xc2U || first > 0xf4U || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0U && second < 0xa0U) || (first == 0xf0U && second < 0x90U);
  const bool outside = (first == 0xedU && second > 0x9fU) || (first == 0xf4U && second > 0x8fU);
  return overlong || outside ? 0 : size;
}

}  // namespace

std::string clean_line(std::string_view text, std::size_t bytes) {
  std::string clean;
  while (!text.empty() && (static_cast<unsigned char>(text[0]) <= 0x20U || text[0] == 0x7f))
    text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
    if (clean.size() + std::max<std::size_t>(size, 1) > bytes) break;
    const bool control =
        size == 1 && (static_cast<unsigned char>(text[0]) < 0x20U || text[0] == 0x7f);
    if (size == 0)
      clean += '?';
    else if (control)
      clean += ' ';
    else
      clean += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  while (clean.ends_with(' ')) clean.pop_back();
  return clean;
}

FailureText merge_failure(FailureText first, const FailureText& second) {
  if (!first.error) first.error = second.error;
  if (!first.collective) first.collective = second.collective;
  if (first.xids.empty()) first.xids = second.xids;
  if (!first.child_signal) first.child_signal = second.child_signal;
  for (std::size_t mark = 0; mark < kMarks; ++mark)
    if (first.lines[mark].empty()) first.lines[mark] = second.lines[mark];
  return first;
}

FailureText scan_failure(std::string_view text) {
  const auto file = parse_error_file(text);
  if (!file) return scan_plain(bounded_tail(text));
  FailureText found = scan_plain(file->traceback);
  if (!found.error) found.error = error_of(*file);
  return merge_failure(std::move(found), scan_plain(file->message));
}

}  // namespace amdahl::training
