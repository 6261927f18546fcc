#include "base/rules.hpp"

namespace amdahl {

bool rule_on(Rule /*rule*/) {
  return true;
}

}  // namespace amdahl
