// The only thing that changes the cluster: handed to apply(), bound to one owner.
//
// Each call makes at most one write (W7) and notes the version it returned, so that the owner's
// next reconcile waits until the cache has seen it (W2). Safe to repeat: a create that happened
// already is a success, a delete of what is gone is a success, an equal status is not written.
//
// Thread: one. Lifetime: client and gate outlive it. Failure: Errc::kConflict means that the world
// is not as it was decided upon: decide again, never send the same body again (W4). Errc::kTooLarge
// names the object; Errc::kFenced means that this process may no longer be the leader (E2).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/child.hpp"
#include "operator/controller/write_gate.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::controller {

inline constexpr std::size_t kObjectBytesMax = 1'572'864;  // etcd's own limit (W12)
inline constexpr std::string_view kEpochKey = "amdahl.dev/epoch";

// The term of a leader: how often the lease had changed hands when it began (E3).
struct Epoch {
  std::int64_t transitions = 0;
  auto operator<=>(const Epoch&) const = default;
};

struct WriterOptions {
  std::string field_manager = "amdahl-operator";  // never change it: fields would stay owned (W5)
  Epoch epoch{};
};

struct DeleteChild {
  kube::Resource resource{};
  ObjectKey key{};
  std::string uid{};      // of the object the decision was about
  std::string version{};  // of it; empty: not known
  // Asked about the live object, when it is not the one of that version; true leaves it alone.
  std::function<bool(const Json&)> still_wanted{};
  std::optional<std::int64_t> grace_seconds{};
  std::string propagation{"Background"};
};
enum class DeleteOutcome : std::uint8_t {
  kDeleted,
  kGone,      // nobody there
  kDeleting,  // on its way out already
  kNotOurs,   // the name belongs to another object now (L11)
  kStillWanted,
};

struct ApplyObject {
  kube::Resource resource{};
  Json object{};       // the complete intent: what is missing is pruned (W5)
  std::string uid{};   // of the object as it was read; empty: it may not exist yet
  bool force = false;  // only for fields that are ours by definition
};

struct StatusUpdate {
  kube::Resource resource{};
  ObjectKey key{};
  std::string version{};  // of the object `before` was read from
  Json before{};
  Json after{};
};

class Writer {
 public:
  Writer(kube::Client& client, WriteGate& gate, ObjectKey owner, WriterOptions options);

  // The metadata of the object as the server has it, or all of it. Its name comes from
  // child_name(), its owner reference and its epoch label are set here. AlreadyExists is looked at
  // live: ours by UID is success, anything else a conflict that names both owners; nothing is ever
  // adopted (W1, W9).
  Task<Result<Json>> create_child(kube::Resource resource, Json object, OwnerObject owner);
  // Deletes exactly what was decided upon; if there is another version of it by now, or none is
  // given, reads live and deletes exactly what it read (W3).
  Task<Result<DeleteOutcome>> delete_child(DeleteChild what);
  // Server-side apply under one manager name (W5).
  Task<Result<Json>> apply_object(ApplyObject what);
  // Through the status subresource, over the version that was observed (W6). False: nothing to say.
  Task<Result<bool>> update_status(StatusUpdate what);
  // A merge patch over one version of the object (W4).
  Task<Result<Json>> patch(kube::Resource resource, ObjectKey key, std::string version,
                           Json change);
  // False: it was there already, or gone already (W8).
  Task<Result<bool>> add_finalizer(kube::Resource resource, kube::ObjectMeta seen,
                                   std::string name);
  Task<Result<bool>> remove_finalizer(kube::Resource resource, kube::ObjectMeta seen,
                                      std::string name);
  // Before acting in a new term: marks the object, so that an older leader's conditional writes
  // fail with a conflict (E3). False: it is marked already. Errc::kFenced: a newer term marked it.
  Task<Result<bool>> claim_epoch(kube::Resource resource, kube::ObjectMeta seen);

  Epoch epoch() const { return options_.epoch; }
  const ObjectKey& owner() const { return owner_; }

 private:
  Task<Result<DeleteOutcome>> delete_live(DeleteChild what);
  Task<Result<DeleteOutcome>> delete_exactly(DeleteChild what, std::string version);
  Task<Result<Json>> read_live(kube::Resource resource, ObjectKey key);
  // Checks the size, sends, reads the answer and notes its version.
  Task<Result<Json>> write(kube::Resource resource, Result<kube::Request> request);
  Task<Result<Json>> existing_child(kube::Resource resource, ObjectKey key, OwnerObject owner);
  Task<Result<bool>> patch_finalizers(kube::Resource resource, ObjectKey key, Json operations);

  kube::Client& client_;
  WriteGate& gate_;
  ObjectKey owner_;
  WriterOptions options_;
};

// The body of a request. Texts that came from elsewhere may be no UTF-8; what is wrong is replaced.
std::string to_body(const Json& object);

// RFC 7396: the patch that turns `before` into `after`, leaving alone what neither has.
Json merge_diff(const Json& before, const Json& after);

}  // namespace amdahl::controller
