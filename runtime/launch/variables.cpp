#include "runtime/launch/variables.hpp"

#include <algorithm>

namespace amdahl::launch {
namespace {

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

std::string_view Variables::get(std::string_view name) const {
  for (const std::string_view entry : entries_)
    if (names(entry, name)) return entry.substr(name.size() + 1);
  return {};
}

bool Variables::has(std::string_view name) const {
  return std::ranges::any_of(entries_, [&](std::string_view entry) { return names(entry, name); });
}

void Variables::set(std::string_view name, std::string_view value) {
  std::erase_if(entries_, [&](std::string_view entry) { return names(entry, name); });
  entries_.push_back(std::string(name) + "=" + std::string(value));
}

}  // namespace amdahl::launch
