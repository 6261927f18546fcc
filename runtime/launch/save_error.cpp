#include "runtime/launch/save_error.hpp"

#include "base/redact.hpp"
#include "operator/api/report.hpp"
#include "runtime/launch/cut.hpp"

namespace amdahl::launch {

std::string save_error(std::string_view words) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::string text;
  for (std::size_t at = words.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = words.find_first_of(kSpace, at);
    std::string_view word = words.substr(at, end - at);
    // A signed address carries its signature in the query.
    if (const std::size_t scheme = word.find("://"); scheme != std::string_view::npos)
      word = word.substr(0, word.find('?', scheme));
    if (!text.empty()) text += ' ';
    text += word;
    at = words.find_first_not_of(kSpace, end);
  }
  return std::string(cut_utf8(redact(text), api::kReportSaveErrorMax));
}

}  // namespace amdahl::launch
