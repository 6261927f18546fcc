#include "tests/simulation/rules_of_run.hpp"

namespace amdahl {
namespace {

std::optional<Rule>& switched_off() {
  static std::optional<Rule> rule;
  return rule;
}

}  // namespace

bool rule_on(Rule rule) {
  return switched_off() != rule;
}

namespace simulation {

void switch_off(std::optional<Rule> rule) {
  switched_off() = rule;
}

}  // namespace simulation
}  // namespace amdahl
