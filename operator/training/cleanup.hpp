// What is removed when an attempt or a job is over. Pure.
//
// Pods that have not ended are deleted; finalizers go when every pod of the attempt is over and its
// GPU-seconds are on record. Nothing that another owner controls is touched, but for the finalizer
// that an older job of the same name put on its pods.
#pragma once

#include "operator/training/plan.hpp"
#include "operator/training/situation.hpp"

namespace amdahl::training {

enum class Leave : std::uint8_t {
  kNothing,   // a pause gives back all that others could use
  kEvidence,  // the pods that recorded causes name, and ended pods of the last attempt of a job
};

// The pods of attempts that are over.
void clear_pods(Plan& plan, const Situation& s, Leave leave, std::string_view why);
void clear_group(Plan& plan, const Situation& s);
// The PodGroup and the Service.
void clear_gang(Plan& plan, const Situation& s);
// The GPU-seconds of attempts whose pods are all over, if they are not on record yet: then nothing
// else is done.
std::optional<Plan> settle(const Situation& s);

// Of a job that is deleted or gone: the garbage collector does the rest.
Plan release_everything(const AttemptView& view);
void release_others(Plan& plan, const AttemptView& view);

}  // namespace amdahl::training
