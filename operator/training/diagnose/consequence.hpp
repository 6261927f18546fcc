// What follows from each class of cause, as a table: whose it is, whether it may get through when
// it is tried again, what to do, which budget pays, and a hint for people.
//
// Pure; every class has a row.
#pragma once

#include <string_view>

#include "operator/api/training_job_cause.hpp"
#include "operator/training/diagnose/diagnose.hpp"

namespace amdahl::training {

struct Consequence {
  api::CauseClass cause_class = api::CauseClass::kUnknown;
  api::CauseDomain domain = api::CauseDomain::kUnknown;
  api::CauseOutlook outlook = api::CauseOutlook::kUnknown;
  Advice advice = Advice::kRestartOnce;
  Budget budget = Budget::kFailures;
  bool avoid_node = false;
  std::string_view hint = {};
};

const Consequence& consequence_of(api::CauseClass cause_class);

}  // namespace amdahl::training
