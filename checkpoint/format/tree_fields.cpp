#include "checkpoint/format/tree_fields.hpp"

namespace amdahl::checkpoint::tree_detail {

bool read_text(const Json& from, std::string& into, Fault& fault) {
  if (!from.is_string()) return fault.say("expected a string");
  into = from.get_ref<const std::string&>();
  return true;
}

bool read_time(const Json& from, WallTime& into, Fault& fault) {
  std::string text;
  if (!read_text(from, text, fault)) return false;
  const auto time = parse_time(text);
  if (!time) return fault.say(time.error().context);
  into = *time;
  return true;
}

}  // namespace amdahl::checkpoint::tree_detail
