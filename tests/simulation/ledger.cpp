#include "tests/simulation/ledger.hpp"

#include <algorithm>

namespace amdahl::simulation {
namespace {

constexpr std::size_t kViolationsMax = 20;

constexpr std::chrono::seconds kUnderWayMax{10};
// On objects of the script that belong to somebody else.
constexpr std::string_view kPreciousLabel = "precious";

bool counted(std::string_view storage) {
  return !storage.starts_with("events") && !storage.starts_with("leases");
}

// Every second write of a run is a lease's, so its text is not parsed: the server writes members
// without white space, and an identity has nothing to escape.
std::string holder_in(std::string_view lease) {
  constexpr std::string_view kMember = "\"holderIdentity\":\"";
  const auto at = lease.find(kMember);
  if (at == lease.npos) return {};
  lease.remove_prefix(at + kMember.size());
  return std::string(lease.substr(0, lease.find('"')));
}

}  // namespace

double seconds(Monotonic now) {
  return std::chrono::duration<double>(now.time_since_epoch()).count();
}

void Ledger::violated(std::string text) {
  if (violations_.size() < kViolationsMax) violations_.push_back(std::move(text));
}

void Ledger::there_already(std::string_view storage, const local::StoredObject& object) {
  there_.emplace(fmt::format("{} {}", storage, object.key), object.uid);
}

void Ledger::note(const Actor& actor, std::span<const local::Mutation> mutations, Monotonic now) {
  for (const local::Mutation& mutation : mutations) note_one(actor, mutation, now);
}

void Ledger::note_one(const Actor& actor, const local::Mutation& mutation, Monotonic now) {
  const std::string id = mutation.storage + " " + mutation.key;
  const bool lease = mutation.storage.starts_with("leases");
  const bool removed = mutation.object == nullptr;
  const auto known = there_.find(id);
  const bool created = known == there_.end();
  trace_.add(now, "{} {} {} version {}", actor.name,
             removed   ? "removes"
             : created ? "creates"
                       : "changes",
             id, mutation.version);
  if (!lease)
    active_ms_ =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  if (lease && !removed) lease_holder_ = holder_in(mutation.object->text);
  if (actor.is_operator && !lease) {
    ++writes_;
    if (actor.name != lease_holder_)
      violated(fmt::format("lost lease: {} wrote {} at {:.3f} s while \"{}\" held the lease",
                           actor.name, id, seconds(now), lease_holder_));
  }
  if (actor.is_operator && precious_.contains(id))
    violated(fmt::format("not ours: {} touched {} at {:.3f} s, which belongs to somebody else",
                         actor.name, id, seconds(now)));
  if (removed) {
    if (!created) gone_.emplace(known->second, now);
    there_.erase(id);
    precious_.erase(id);
  } else if (created) {
    there_.emplace(id, mutation.object->uid);
    if (mutation.object->labels.contains(kPreciousLabel)) precious_.insert(id);
  }
  if (!counted(mutation.storage)) return;
  ObjectCounts& count = counts_[id];
  if (removed) {
    ++count.deletes;
    count.operator_deletes += actor.is_operator ? 1 : 0;
  } else if (created) {
    ++count.creates;
    count.operator_creates += actor.is_operator ? 1 : 0;
    for (const auto& owner : mutation.object->owners) {
      const auto gone = gone_.find(owner.uid);
      if (gone == gone_.end()) continue;
      ++count.late_creates;
      count.stale_creates += now - gone->second > kUnderWayMax ? 1 : 0;
    }
  } else if (mutation.object->deleting && actor.is_operator) {
    ++count.operator_deletes;  // graceful: the kubelet removes it
  }
}

void Ledger::attempted(const Actor& actor, std::string_view method, std::string_view target,
                       Monotonic now) {
  if (silent_ && actor.is_operator && target.find("/leases") == target.npos)
    violated(fmt::format("no silence: {} sends {} {} at {:.3f} s, long after the last fault",
                         actor.name, method, target.substr(0, target.find('?')), seconds(now)));
}

}  // namespace amdahl::simulation
