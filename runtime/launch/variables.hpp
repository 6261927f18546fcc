// An environment as a value: what we were given, and what the trainer gets.
//
// Keeps order; of a repeated name the first one counts, as getenv() has it. Pure. Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl::launch {

class Variables {
 public:
  Variables() = default;
  explicit Variables(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  std::string_view get(std::string_view name) const;  // "" when absent
  bool has(std::string_view name) const;
  void set(std::string_view name, std::string_view value);
  const std::vector<std::string>& entries() const { return entries_; }  // "NAME=value"

 private:
  std::vector<std::string> entries_;
};

}  // namespace amdahl::launch
