// The safeguards that tests can switch off to prove that some test notices.
//
// rule_on() is a link seam: programs link rules_on.cpp, where it is always true; test executables
// link rules_from_env.cpp, where AMDAHL_SWITCH_OFF=W2 makes rule_on(Rule::kW2) false.
#pragma once

#include <cstdint>

namespace amdahl {

enum class Rule : std::uint8_t {
  kL1,  // the first list is consistent
  kW1,  // child names are deterministic
  kW2,  // a reconcile waits until the cache has seen our own writes
  kW3,  // a destructive act is preceded by a live read
  kE2,  // a write is refused once the lease may be lost
};

bool rule_on(Rule rule);

}  // namespace amdahl
