#include "operator/api/condition.hpp"

#include <algorithm>

namespace amdahl::api {

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

bool is_true(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found != nullptr && found->status == ConditionStatus::kTrue;
}

}  // namespace amdahl::api
