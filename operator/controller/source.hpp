// Where a controller's work comes from: the cache of one kind, as far as a controller needs it.
//
// Thread: one; handlers run inside whatever fed the cache and must not block. Lifetime: a source
// outlives every controller that watches it; subscribe before it starts, because nothing is
// replayed. Failure: none here; with a broken watch synced() stays false or the version stands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/request.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::controller {

using kube::ObjectKey;

enum class ChangeType : std::uint8_t { kAdded, kUpdated, kDeleted };

// The controller owner reference of an object; the owner lives in the object's own namespace (W9).
struct Owner {
  std::string kind{};
  std::string name{};
  std::string uid{};
  bool operator==(const Owner&) const = default;
};

struct Change {
  ChangeType type = ChangeType::kUpdated;
  ObjectKey key{};
  std::string uid{};
  bool is_initial = false;            // part of the first set, or of a relist: may run late (Q4)
  bool relevant = true;               // false: nothing that changed_for_reconcile() looks at (Q7)
  std::optional<Owner> controller{};  // of the object as it is now, or as last seen when deleted
  // Of a delete that nobody reported, found by a relist or by a successor of the same name: what is
  // said of the object is what was last seen, and how it ended is not known (L10).
  bool final_state_unknown = false;
};

using ChangeHandler = std::function<void(const Change&)>;

class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view kind() const = 0;  // "Pod"
  // True once the whole first set has gone through every handler (L14).
  virtual bool synced() const = 0;
  // The highest resourceVersion seen, from events and bookmarks (W2); "" before the first sync.
  virtual std::string version() const = 0;
  virtual bool contains(const ObjectKey& key) const = 0;
  virtual void subscribe(ChangeHandler handler) = 0;
};

// The self-trigger guard (Q7): whether a user or the API server wants something new, and not only
// our own status write came back. Kinds that count no generations are always worth a look.
template <class T>
bool changed_for_reconcile(const T& before, const T& now) {
  const auto& was = before.metadata;
  const auto& is = now.metadata;
  if (is.generation == 0 || was.generation != is.generation) return true;
  if (was.deleted != is.deleted || was.labels != is.labels) return true;
  if constexpr (requires { is.finalizers; }) return was.finalizers != is.finalizers;
  return false;
}

// The owner that controls the object, as a Change carries it.
template <class T>
std::optional<Owner> controller_of(const T& object) {
  const kube::OwnerReference* owner = kube::controller_of(object.metadata.owners);
  if (owner == nullptr) return std::nullopt;
  return Owner{.kind = owner->kind.str(), .name = owner->name.str(), .uid = owner->uid.str()};
}

}  // namespace amdahl::controller
