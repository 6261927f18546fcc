#include "runtime/launch/json_input.hpp"

namespace amdahl::launch {

Json parse_input(std::string_view text) {
  Json nothing(Json::value_t::discarded);
  if (text.size() > kInputBytesMax) return nothing;
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  if (deepest > kInputDepthMax) return nothing;
  return Json::parse(text, nullptr, false);
}

}  // namespace amdahl::launch
