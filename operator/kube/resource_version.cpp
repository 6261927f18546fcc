#include "operator/kube/resource_version.hpp"

#include <algorithm>

namespace amdahl::kube {
namespace {

constexpr std::size_t kDigitsMax = 39;  // 2^128 has 39 digits

}  // namespace

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= kDigitsMax && text.front() != '0' &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::strong_ordering> compare_versions(std::string_view a, std::string_view b) {
  if (!is_version(a) || !is_version(b)) return std::nullopt;
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

bool is_older(std::string_view a, std::string_view b) {
  const auto order = compare_versions(a, b);
  return order && *order == std::strong_ordering::less;
}

}  // namespace amdahl::kube
