#include "operator/controller/conditions.hpp"

#include <algorithm>

namespace amdahl::controller {

bool set_condition(std::vector<kube::Condition>& conditions, kube::Condition next, WallTime now) {
  const auto known = std::ranges::find(conditions, next.type, &kube::Condition::type);
  if (known == conditions.end()) {
    next.changed = now;
    conditions.push_back(std::move(next));
    return true;
  }
  const bool flipped = known->status != next.status || !known->changed;
  next.changed = flipped ? now : known->changed;
  if (*known == next) return false;
  *known = std::move(next);
  return true;
}

const kube::Condition* find_condition(const std::vector<kube::Condition>& conditions,
                                      std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &kube::Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace amdahl::controller
