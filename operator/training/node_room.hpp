// How much room nodes have for the pods of a job, at most: what pods of other controllers hold is
// not known here.
//
// Pure; any thread. Failure: none; what a template says in a way that is not understood here
// excludes no node.
#pragma once

#include <vector>

#include "operator/training/diagnose/pending.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// A node that the template's selector or required node affinity, or the node's taints, keep the
// pods from is not usable.
std::vector<NodeRoom> rooms_for(const Json& pod_template, const NodesSeen& seen);

}  // namespace amdahl::training
