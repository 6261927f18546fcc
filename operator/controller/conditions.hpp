// Conditions of our own kinds. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::controller {

// Puts `next` in the place of the condition of its type. lastTransitionTime moves only when the
// status flips (W6). True when anything but the time differs, so that a reconcile which changes
// nothing writes nothing (Q7).
bool set_condition(std::vector<kube::Condition>& conditions, kube::Condition next, WallTime now);

const kube::Condition* find_condition(const std::vector<kube::Condition>& conditions,
                                      std::string_view type);

}  // namespace amdahl::controller
