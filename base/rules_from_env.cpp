#include <cstdlib>
#include <string_view>

#include "base/rules.hpp"

namespace amdahl {

bool rule_on(Rule rule) {
  static constexpr std::string_view kNames[] = {"L1", "W1", "W2", "W3", "E2"};
  static const char* const off = std::getenv("AMDAHL_SWITCH_OFF");
  return off == nullptr || kNames[static_cast<std::size_t>(rule)] != off;
}

}  // namespace amdahl
