#include "local/kubelet/expand.hpp"

#include <algorithm>

namespace amdahl::local {

std::string expand(std::string_view text, FindVariable find) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size() && result.size() <= std::max(kExpandedBytesMax, text.size())) {
    const std::size_t dollar = text.find('$', at);
    if (dollar == std::string_view::npos || dollar + 1 == text.size()) break;
    result += text.substr(at, dollar - at);
    at = dollar + 2;
    const char next = text[dollar + 1];
    const std::size_t close = next == '(' ? text.find(')', at) : std::string_view::npos;
    if (next == '$') {
      result += '$';
    } else if (close == std::string_view::npos) {
      // "$x" and "$(never closed" mean themselves.
      result += text.substr(dollar, 2);
    } else {
      const auto value = find(text.substr(at, close - at));
      result += value ? *value : text.substr(dollar, close + 1 - dollar);
      at = close + 1;
    }
  }
  return result += text.substr(at);
}

}  // namespace amdahl::local
