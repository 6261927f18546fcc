#include "operator/training/diagnose/python_error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "operator/api/report_frames.hpp"

namespace amdahl::training {
namespace {

constexpr std::string_view kHead = "Traceback (most recent call last):";
constexpr std::size_t kTypeMax = 128;
constexpr std::size_t kFunctionMax = 64;
constexpr std::size_t kTagMax = 32;  // "[rank0]: "

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Takes lines off a text; the prefix of the first is taken off the others that have it.
class Lines {
 public:
  Lines(std::string_view text, std::string_view prefix) : rest_(text), prefix_(prefix) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    if (!prefix_.empty() && line.starts_with(prefix_)) line.remove_prefix(prefix_.size());
    return true;
  }

 private:
  std::string_view rest_;
  std::string_view prefix_;
};

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

struct Frame {
  std::string text = {};  // "train.py:12 in main"
  bool library = false;
};

// The innermost frame of the script; a library's only as long as there is no other.
void keep_frame(Frame& kept, Frame next) {
  if (kept.text.empty() || kept.library || !next.library) kept = std::move(next);
}

// '  File "/app/train.py", line 12, in main' -> "train.py:12 in main".
std::optional<Frame> frame_of(std::string_view line) {
  line.remove_prefix(indent_of(line));
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  if (!line.starts_with(kFile)) return std::nullopt;
  line.remove_prefix(kFile.size());
  const std::size_t middle = line.find(kLine);
  if (middle == std::string_view::npos) return std::nullopt;
  std::string_view file = line.substr(0, middle);
  const bool library = api::is_library_file(file);
  file = file.substr(file.rfind('/') + 1);
  std::string_view rest = line.substr(middle + kLine.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  std::string frame = clean_line(file, kFunctionMax) + ":" + std::to_string(number);
  constexpr std::string_view kIn = ", in ";
  if (rest.starts_with(kIn)) frame += " in " + clean_line(rest.substr(kIn.size()), kFunctionMax);
  return Frame{.text = clean_line(frame, kLineMax), .library = library};
}

struct Traceback {
  PythonError error = {};
  std::string_view prefix = {};
};

// `text` begins behind the head of a traceback.
std::optional<Traceback> read_traceback(std::string_view text, std::string_view prefix) {
  Lines lines(text, prefix);
  std::string_view line;
  Frame frame;
  std::size_t frame_indent = 0;
  lines.next(line);  // the rest of the head's own line
  for (std::size_t count = 0; count < 2 * kFramesMax && lines.next(line); ++count) {
    if (auto found = frame_of(line)) {
      keep_frame(frame, *std::move(found));
      frame_indent = indent_of(line);
      continue;
    }
    if (frame.text.empty() || indent_of(line) >= frame_indent) continue;
    auto error = parse_python_error(line);
    if (!error) return std::nullopt;
    error->frame = std::move(frame.text);
    return Traceback{.error = *std::move(error), .prefix = prefix};
  }
  return std::nullopt;
}

bool is_launcher(const PythonError& error) {
  return error.name() == "ChildFailedError" || error.name() == "SignalException" ||
         error.name() == "ProcessRaisedException";
}

// What a kubelet keeps of a log is its end, which may begin in the middle of a traceback: then the
// line of the exception, and the frames before it, are all there is.
std::optional<PythonError> find_headless_error(std::string_view text) {
  Lines lines(text, {});
  std::optional<PythonError> last;
  std::string_view line;
  Frame frame;
  while (lines.next(line)) {
    const std::size_t tag = line.starts_with('[') ? line.find("]: ") : std::string_view::npos;
    if (tag != std::string_view::npos && tag < kTagMax) line.remove_prefix(tag + 3);
    if (auto found = frame_of(line)) {
      keep_frame(frame, *std::move(found));
      continue;
    }
    if (line.find("Error") == std::string_view::npos &&
        line.find("Exception") == std::string_view::npos)
      continue;
    auto error = parse_python_error(line);
    if (!error || is_launcher(*error)) continue;
    const std::string_view name = error->name();
    if (name[0] < 'A' || name[0] > 'Z') continue;  // classes are; NCCL's own codes are not
    if (name == "Error" || (!name.ends_with("Error") && !name.ends_with("Exception"))) continue;
    error->frame = std::exchange(frame, {}).text;
    last = std::move(error);
  }
  return last;
}

}  // namespace

std::string_view PythonError::name() const {
  const std::string_view whole = type;
  return whole.substr(whole.rfind('.') + 1);
}

std::optional<PythonError> parse_python_error(std::string_view line) {
  line.remove_prefix(indent_of(line));
  const std::size_t colon = line.find(':');
  const std::string_view type = line.substr(0, std::min(colon, line.find_last_not_of(" \r") + 1));
  const auto fits = [](char c) { return is_name(c) || c == '.'; };
  if (type.empty() || type.size() > kTypeMax || !std::ranges::all_of(type, fits) ||
      (type[0] >= '0' && type[0] <= '9') || type.ends_with('.'))
    return std::nullopt;
  PythonError error{.type = std::string(type)};
  if (colon != std::string_view::npos && colon + 1 < line.size())
    error.message = clean_line(line.substr(colon + 1), kLineMax);
  return error;
}

bool speaks_of_peer(const PythonError& error) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"DistBackendError", "DistNetworkError", "DistError"});
  return std::ranges::find(kNames, error.name()) != kNames.end();
}

std::optional<PythonError> find_python_error(std::string_view text) {
  std::optional<Traceback> last;
  std::size_t before = text.size();
  for (std::size_t count = 0; count < kTracebacksMax; ++count) {
    const std::size_t at = before == 0 ? std::string_view::npos : text.rfind(kHead, before - 1);
    if (at == std::string_view::npos) break;
    before = at;
    const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    auto found = read_traceback(text.substr(at), text.substr(line, at - line));
    if (!found || is_launcher(found->error)) continue;
    if (!last) {
      last = std::move(found);
      if (!speaks_of_peer(last->error)) break;
    } else if (!speaks_of_peer(found->error) && found->prefix != last->prefix) {
      last = std::move(found);  // another process of this pod, which did not merely lose a peer
      break;
    }
  }
  if (!last) return find_headless_error(text);
  return std::move(last->error);
}

}  // namespace amdahl::training
