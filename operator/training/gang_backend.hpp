// Who places the pods of a gang: which objects that needs, and what their state says.
//
// Pure; one constant object a backend. Failure: none. A third backend (Kubernetes' own PodGroup,
// Kueue's Workload) is one more file and one more row in gang_backend().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/fields.hpp"
#include "operator/training/situation.hpp"

namespace amdahl::training {

struct GangState {
  bool may_create_pods = true;
  bool in_queue = false;                           // it waits for its turn, not for us
  std::optional<api::PendingStatus> pending = {};  // why it waits, if it does
};

class GangBackend {
 public:
  virtual ~GangBackend() = default;
  // The group object of the gang as it shall be; nullopt: this backend has none, or cannot have one
  // now (Volcano is not there).
  virtual std::optional<Json> group(const Situation& s) const = 0;
  // Whether the group that was seen needs another spec.
  virtual bool outdated(const Situation& s) const = 0;
  virtual GangState state(const Situation& s) const = 0;
  virtual std::string_view scheduler() const = 0;  // schedulerName; empty: the default one
  virtual void join(Json& pod, const TrainingJob& job) const = 0;  // makes the pod a member
};

const GangBackend& gang_backend(api::GangScheduler which);
const GangBackend& volcano_backend();
const GangBackend& no_gang_backend();

// Ours by UID, and not on its way out.
bool has_group(const Situation& s);
bool group_is_foreign(const Situation& s);

}  // namespace amdahl::training
