// What the verbs need to know about kinds: the seam to schemas, patches and discovery.
//
// The verbs own metadata, versions and deletion; an implementation owns everything a kind decides.
// Objects given here have a metadata object whose known members have the right types. Thread: the
// server's. Lifetime: outlives the server. Failure: a Status where the client is to blame.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/packed_map.hpp"
#include "local/apiserver/core/message.hpp"
#include "local/apiserver/core/status.hpp"
#include "local/apiserver/model/cause.hpp"

namespace amdahl::local {

// One resource of one group version. The address stays valid until the next call of changed().
struct ResourceInfo {
  std::string group = {};
  std::string version = {};
  std::string plural = {};
  std::string kind = {};
  std::string list_kind = {};
  std::string storage = {};  // "pods", "deployments.apps": the same for every served version
  bool namespaced = true;
  bool custom = false;                // of a CRD: strict kinds, no strategic merge patch
  bool has_status = false;            // serves plural/name/status
  bool has_scale = false;             // serves plural/name/scale
  bool stored = true;                 // false: create is answered by KindRules::answer_review
  bool unconditional_update = false;  // an update may leave out the version
  bool create_on_update = false;
  bool returns_deleted = false;     // a delete answers with the object and not with a Status
  bool graceful_delete = false;     // pods
  bool orphans_by_default = false;  // a delete without a policy orphans the dependents
  bool selects_fields = false;      // knows labels of its own for field selectors
  bool observed = false;            // changed() wants to know about writes: CRDs
  std::string namesake = {};    // the storage whose object of the same name goes with it: endpoints
  std::string deprecated = {};  // a warning with every answer
  std::chrono::seconds ttl{0};  // after its last write the object goes by itself: Events

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  GroupName resource_name() const { return {.group = group, .name = plural}; }
  GroupName kind_name() const { return {.group = group, .name = kind}; }
};

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

struct FieldEdit {  // who changed fields, through which door, when
  std::string_view manager = {};
  std::string_view subresource = {};
  bool force = false;  // only of an apply
  WallTime now{};
};

struct Document {
  std::string content_type = "application/json";
  std::string body = {};
};

class KindRules {
 public:
  virtual ~KindRules() = default;

  virtual const ResourceInfo* find(std::string_view group, std::string_view version,
                                   std::string_view plural) const = 0;
  // Any served version of a kind, for owner references; null when the kind is unknown.
  virtual const ResourceInfo* find_kind(std::string_view api_version,
                                        std::string_view kind) const = 0;
  // The version that objects of a storage are kept in; null when the kind is gone.
  virtual const ResourceInfo* find_storage(std::string_view storage) const = 0;
  // An observed object was written, or removed (null): kinds may come and go.
  virtual void changed(const ResourceInfo& info, std::string_view name, const Json* object) = 0;

  // An object of another served version of the same kind, as `to` shows it. Objects are kept in the
  // version of find_storage().
  virtual Json convert(const ResourceInfo& to, Json object) const = 0;

  // Drops what the schema does not know and returns the texts: unknown field "spec.x".
  // A wrong type is a Status (400).
  virtual Outcome<std::vector<std::string>> decode(const ResourceInfo& info,
                                                   Json& object) const = 0;
  virtual void apply_defaults(const ResourceInfo& info, Json& object) const = 0;
  // Clears what a client may not set, sets generation and the status a new object has.
  virtual void prepare_create(const ResourceInfo& info, Json& object, WallTime now) const = 0;
  // Keeps spec or status apart by `subresource` ("" or "status") and moves the generation.
  virtual void prepare_update(const ResourceInfo& info, std::string_view subresource, Json& object,
                              const Json& old) const = 0;
  // Of the whole object, metadata included; `old` is null for a new one.
  virtual std::vector<Cause> validate(const ResourceInfo& info, std::string_view subresource,
                                      const Json& object, const Json* old) const = 0;

  // Texts about what is valid and still unwise; `old` is null for a new object.
  virtual std::vector<std::string> warnings(const ResourceInfo& /*info*/, const Json& /*object*/,
                                            const Json* /*old*/) const {
    return {};
  }

  virtual Outcome<Json> patch(const ResourceInfo& info, PatchType type, const Json& live,
                              const Json& patch) const = 0;
  // `live` is null when the apply creates.
  virtual Outcome<Json> apply(const ResourceInfo& info, const Json* live, const Json& config,
                              const FieldEdit& edit) const = 0;
  // An object of the kind before anybody set a field: {"spec":{}}. The kind may be gone.
  virtual Json unset(const ResourceInfo& /*info*/) const { return Json::object(); }
  // Writes metadata.managedFields of `object`; `old` is null for a new one.
  virtual void track(const ResourceInfo& info, const Json* old, Json& object,
                     const FieldEdit& edit) const = 0;

  // Selectable fields besides metadata.name and metadata.namespace, as they are now.
  virtual PackedMap fields(const ResourceInfo& info, const Json& object) const = 0;
  virtual bool selectable(const ResourceInfo& info, std::string_view field) const = 0;

  virtual Json table_columns(const ResourceInfo& info) const = 0;
  virtual Json table_cells(const ResourceInfo& info, const Json& object, WallTime now) const = 0;

  // Where a custom kind keeps what its scale shows; none when it has no scale.
  struct ScalePaths {
    std::string spec_replicas = {};    // "/spec/replicas": JSON pointers
    std::string status_replicas = {};  // "/status/replicas"
    std::string selector = {};         // "" or a pointer to a string or a LabelSelector
  };
  virtual std::optional<ScalePaths> scale_paths(const ResourceInfo& info) const = 0;

  // Reviews and other kinds that are computed and not kept; also a subresource like
  // serviceaccounts/token, with the object it belongs to.
  struct Review {
    const ResourceInfo* info = nullptr;
    std::string_view subresource = {};
    const Json* parent = nullptr;
    const Json* object = nullptr;
    const User* user = nullptr;
    WallTime now{};
  };
  virtual bool reviews(const ResourceInfo& info, std::string_view subresource) const = 0;
  virtual Outcome<Json> answer_review(const Review& review) const = 0;

  // /api, /apis/..., /openapi/..., /version: whatever is no resource and no health check.
  virtual std::optional<Document> document(std::string_view path,
                                           std::string_view accept) const = 0;
};

}  // namespace amdahl::local
