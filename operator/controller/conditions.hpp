// Conditions of our own kinds. Pure.
//
// C is kube::Condition or anything with the same members.
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::controller {

// Puts `next` in the place of the condition of its type. lastTransitionTime moves only when the
// status flips (W6). True when anything but the time differs, so that a reconcile which changes
// nothing writes nothing (Q7).
template <class C>
bool set_condition(std::vector<C>& conditions, std::type_identity_t<C> next, WallTime now) {
  const auto known = std::ranges::find(conditions, next.type, &C::type);
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

// Null when there is none.
template <class C>
const C* find_condition(const std::vector<C>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &C::type);
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace amdahl::controller
