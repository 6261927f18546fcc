// One line of the log for every decision that changes something: which job, why, from where to
// where. docs/reference/logs.md is its description for people.
//
// decision_of() is pure. Progress, counters and messages that move by themselves are no decision.
// Nothing that a user or a trainer wrote is in it, so no secret can be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "operator/kube/request.hpp"
#include "operator/training/plan.hpp"

namespace amdahl::training {

struct Decision {
  std::string policy = {};
  std::string move = {};  // empty: no status was written
  std::string from = {};  // phases
  std::string to = {};
  std::string reason = {};  // of the event, or of the phase
  std::int32_t attempt = 0;
  std::string cause = {};  // of an attempt that ended
  std::optional<std::int32_t> rank = {};
  std::optional<std::int64_t> step = {};  // the last one that is known
  std::size_t created = 0;                // pods
  std::size_t deleted = 0;
  std::size_t released = 0;
  bool warning = false;
  bool operator==(const Decision&) const = default;
};
std::optional<Decision> decision_of(const Plan& plan, const api::TrainingJobStatus& before);

void write_decision(const Log& log, const kube::ObjectKey& job, const std::string& uid,
                    const Decision& decision);

}  // namespace amdahl::training
