// Garbage collection as a step: which objects go because their owners went or their time is over,
// and what is still to be done for namespaces and CRDs that are being deleted.
//
// collect() is pure: it looks at the table and says what to do for one object. sweep() does it, a
// bounded amount at a time. Thread: the server's. Failure: an action whose object has changed
// meanwhile is dropped; the change has queued the object again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

inline constexpr std::string_view kFinalizerCrdCleanup =
    "customresourcecleanup.apiextensions.k8s.io";

enum class GcStep : std::uint8_t { kDelete, kDropOwners, kUnblockOwners, kDropFinalizer };

struct GcAction {
  GcStep step = GcStep::kDelete;
  ObjectPlace place = {};
  std::string uid = {};
  std::string policy = {};               // of kDelete
  std::vector<std::string> owners = {};  // UIDs, of kDropOwners
  std::string finalizer = {};            // of kDropFinalizer
  bool operator==(const GcAction&) const = default;
};

// For the object with this UID; nothing when it is fine or gone. `again`: there is more to do.
struct GcPlan {
  std::vector<GcAction> actions = {};
  bool again = false;
};
GcPlan collect(const ObjectTable& table, const KindRules& rules, const std::string& uid);

// Takes from the queue of touched objects and from terminating namespaces. True: more is waiting.
bool sweep(ServerState& state);

}  // namespace amdahl::local
