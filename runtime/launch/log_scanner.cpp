#include "runtime/launch/log_scanner.hpp"

namespace amdahl::launch {

void LogScanner::read(std::string_view line, Sink sink) {
  if (const auto error = errors_.read(line)) {
    sink(ErrorSeen{*error});
    return;
  }
  if (const auto fact = progress_.read(line)) sink(*fact);
}

void LogScanner::feed(std::string_view bytes, Sink sink) {
  lines_.feed(bytes, [&](std::string_view line) { read(line, sink); });
}

void LogScanner::gap() {
  lines_.gap();
  errors_.gap();
}

void LogScanner::again() {
  lines_.clear();
  errors_.gap();
}

void LogScanner::finish(Sink sink) {
  lines_.finish([&](std::string_view line) { read(line, sink); });
}

}  // namespace amdahl::launch
