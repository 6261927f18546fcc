#include "runtime/launch/log_scanner.hpp"

namespace amdahl::launch {

void LogScanner::feed(std::string_view bytes, Sink sink) {
  lines_.feed(bytes, [&](std::string_view line) {
    if (const auto error = errors_.read(line)) {
      sink(ErrorSeen{*error});
      return;
    }
    if (const auto fact = progress_.read(line)) sink(*fact);
  });
}

void LogScanner::gap() {
  lines_.gap();
  errors_.gap();
}

}  // namespace amdahl::launch
