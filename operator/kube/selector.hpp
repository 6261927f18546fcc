// Label selectors: "app=web,tier in (a,b),!canary". Parsed and validated as Kubernetes does.
//
// A value type. Failure: parse() names the place and the rule that is broken.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/packed_map.hpp"
#include "base/result.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kSelectorRequirementsMax = 256;
inline constexpr std::size_t kSelectorBytesMax = 64U << 10U;

enum class SelectorOperator : std::uint8_t {
  kIn,
  kNotIn,
  kEquals,
  kNotEquals,
  kExists,
  kNotExists,
  kGreater,
  kLess
};

struct Requirement {
  std::string key = {};
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values = {};  // sorted, distinct
  auto operator<=>(const Requirement&) const = default;

  bool matches(const PackedMap& labels) const;
  std::string to_string() const;
};

class Selector {
 public:
  Selector() = default;  // matches everything
  static Result<Selector> parse(std::string_view text);

  bool matches(const PackedMap& labels) const;
  std::string to_string() const;  // canonical: requirements by key, values sorted
  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  bool operator==(const Selector&) const = default;

 private:
  std::vector<Requirement> requirements_;  // sorted by key
};

// Kubernetes' rules for "prefix/name" keys and for values; the error says which one is broken.
Result<void> validate_label_key(std::string_view key);
Result<void> validate_label_value(std::string_view value);

}  // namespace amdahl::kube
