// metav1: what every object carries, and what the server says when it refuses.
//
// Here and in the other types_*.hpp: only the fields somebody reads (L15), each with its JSON name
// and its protobuf number from the Kubernetes generated.proto files. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/packed_map.hpp"
#include "base/text.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::kube {

struct OwnerReference {
  Text api_version = {};
  Text kind = {};
  Text name = {};
  Text uid = {};
  bool controller = false;
  bool block_deletion = false;
  bool operator==(const OwnerReference&) const = default;
};
template <class V>
constexpr void fields(V& v, OwnerReference& owner) {
  v.required("apiVersion", owner.api_version, {.wire = 5});
  v.required("kind", owner.kind, {.wire = 1});
  v.required("name", owner.name, {.wire = 3});
  v.required("uid", owner.uid, {.wire = 4});
  v.optional("controller", owner.controller, {.wire = 6});
  v.optional("blockOwnerDeletion", owner.block_deletion, {.wire = 7});
}

// The metadata of objects we write, and of those whose annotations or finalizers matter.
struct ObjectMeta {
  std::string name = {};
  std::string generate_name = {};
  std::string ns = {};
  std::string uid = {};
  std::string version = {};  // resourceVersion
  std::int64_t generation = 0;
  std::optional<WallTime> created = {};
  std::optional<WallTime> deleted = {};
  PackedMap labels = {};
  PackedMap annotations = {};
  std::vector<OwnerReference> owners = {};
  std::vector<std::string> finalizers = {};
  bool operator==(const ObjectMeta&) const = default;
  ObjectKey key() const { return {.ns = ns, .name = name}; }
};
template <class V>
constexpr void fields(V& v, ObjectMeta& meta) {
  v.optional("name", meta.name, {.wire = 1});
  v.optional("generateName", meta.generate_name, {.wire = 2});
  v.optional("namespace", meta.ns, {.wire = 3});
  v.optional("uid", meta.uid, {.wire = 5});
  v.optional("resourceVersion", meta.version, {.wire = 6});
  v.optional("generation", meta.generation, {.wire = 7});
  v.optional("creationTimestamp", meta.created, {.wire = 8});
  v.optional("deletionTimestamp", meta.deleted, {.wire = 9});
  v.optional("labels", meta.labels, {.wire = 11});
  v.optional("annotations", meta.annotations, {.wire = 12});
  v.optional("ownerReferences", meta.owners, {.wire = 13});
  v.optional("finalizers", meta.finalizers, {.wire = 14});
}

// The part of the metadata a cache of many objects needs: no annotations, no finalizers.
struct CacheMeta {
  Text name = {};
  Text ns = {};
  Text uid = {};
  Text version = {};
  std::int64_t generation = 0;
  std::optional<WallTime> created = {};
  std::optional<WallTime> deleted = {};
  PackedMap labels = {};
  std::vector<OwnerReference> owners = {};
  bool operator==(const CacheMeta&) const = default;
  ObjectKey key() const { return {.ns = ns.str(), .name = name.str()}; }
};
template <class V>
constexpr void fields(V& v, CacheMeta& meta) {
  v.optional("name", meta.name, {.wire = 1});
  v.optional("namespace", meta.ns, {.wire = 3});
  v.optional("uid", meta.uid, {.wire = 5});
  v.optional("resourceVersion", meta.version, {.wire = 6});
  v.optional("generation", meta.generation, {.wire = 7});
  v.optional("creationTimestamp", meta.created, {.wire = 8});
  v.optional("deletionTimestamp", meta.deleted, {.wire = 9});
  v.optional("labels", meta.labels, {.wire = 11});
  v.optional("ownerReferences", meta.owners, {.wire = 13});
}

// The owner with controller: true, if any (W9).
const OwnerReference* controller_of(const std::vector<OwnerReference>& owners);

enum class ConditionStatus : std::uint8_t { kUnknown, kTrue, kFalse };
constexpr auto enum_names(ConditionStatus) {
  return std::to_array<EnumName<ConditionStatus>>({{ConditionStatus::kUnknown, "Unknown"},
                                                   {ConditionStatus::kTrue, "True"},
                                                   {ConditionStatus::kFalse, "False"}});
}
constexpr ConditionStatus enum_unknown(ConditionStatus) {
  return ConditionStatus::kUnknown;
}

// metav1.Condition, as our own kinds and Volcano's use it.
struct Condition {
  std::string type = {};
  ConditionStatus status = ConditionStatus::kUnknown;
  std::int64_t observed_generation = 0;
  std::optional<WallTime> changed = {};  // lastTransitionTime
  std::string reason = {};
  std::string message = {};
  bool operator==(const Condition&) const = default;
};
template <class V>
constexpr void fields(V& v, Condition& condition) {
  v.required("type", condition.type,
             {.doc = "What the condition is about.", .wire = 1, .length_max = 316});
  v.required("status", condition.status, {.doc = "Whether it holds.", .wire = 2});
  v.optional("observedGeneration", condition.observed_generation,
             {.doc = "The generation of the object it was derived from.", .wire = 3, .min = 0});
  v.optional("lastTransitionTime", condition.changed,
             {.doc = "When the status last changed.", .wire = 4});
  v.optional("reason", condition.reason,
             {.doc = "The cause in one CamelCase word.", .wire = 5, .length_max = 1024});
  v.optional("message", condition.message,
             {.doc = "The cause for people.", .wire = 6, .length_max = 32768});
}

struct StatusCause {
  std::string reason = {};
  std::string message = {};
  std::string field = {};
  bool operator==(const StatusCause&) const = default;
};
template <class V>
constexpr void fields(V& v, StatusCause& cause) {
  v.optional("reason", cause.reason, {.wire = 1});
  v.optional("message", cause.message, {.wire = 2});
  v.optional("field", cause.field, {.wire = 3});
}

struct StatusDetails {
  std::string name = {};
  std::string group = {};
  std::string kind = {};
  std::string uid = {};
  std::vector<StatusCause> causes = {};
  std::int32_t retry_after_seconds = 0;
  bool operator==(const StatusDetails&) const = default;
};
template <class V>
constexpr void fields(V& v, StatusDetails& details) {
  v.optional("name", details.name, {.wire = 1});
  v.optional("group", details.group, {.wire = 2});
  v.optional("kind", details.kind, {.wire = 3});
  v.optional("uid", details.uid, {.wire = 6});
  v.optional("causes", details.causes, {.wire = 4});
  v.optional("retryAfterSeconds", details.retry_after_seconds, {.wire = 5});
}

// The body of every refusal, and the object of an ERROR watch event (L7).
struct Status {
  std::string status = {};  // "Success" or "Failure"
  std::string message = {};
  std::string reason = {};  // "NotFound", "AlreadyExists", "Expired", ...
  StatusDetails details = {};
  std::int32_t code = 0;  // the HTTP status
  bool operator==(const Status&) const = default;
};
template <class V>
constexpr void fields(V& v, Status& status) {
  v.optional("status", status.status, {.wire = 2});
  v.optional("message", status.message, {.wire = 3});
  v.optional("reason", status.reason, {.wire = 4});
  v.optional("details", status.details, {.wire = 5});
  v.optional("code", status.code, {.wire = 6});
}

}  // namespace amdahl::kube
