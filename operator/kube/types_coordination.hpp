// coordination.k8s.io/v1 Lease and events.k8s.io/v1 Event: the two kinds with microseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/kube/types_core.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::kube {

inline const Resource kLeases{
    .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .kind = "Lease"};
inline const Resource kEvents{
    .group = "events.k8s.io", .version = "v1", .plural = "events", .kind = "Event"};

struct LeaseSpec {
  std::optional<std::string> holder = {};
  std::optional<std::int32_t> duration_seconds = {};
  std::optional<WallTime> acquired = {};
  std::optional<WallTime> renewed = {};
  std::optional<std::int32_t> transitions = {};
  bool operator==(const LeaseSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, LeaseSpec& spec) {
  v.optional("holderIdentity", spec.holder, {.wire = 1});
  v.optional("leaseDurationSeconds", spec.duration_seconds, {.wire = 2});
  v.optional("acquireTime", spec.acquired, {.wire = 3, .micro_time = true});
  v.optional("renewTime", spec.renewed, {.wire = 4, .micro_time = true});
  v.optional("leaseTransitions", spec.transitions, {.wire = 5});
}

struct Lease {
  ObjectMeta metadata = {};
  LeaseSpec spec = {};
  bool operator==(const Lease&) const = default;
  static const Resource& resource() { return kLeases; }
};
template <class V>
constexpr void fields(V& v, Lease& lease) {
  v.required("metadata", lease.metadata, {.wire = 1});
  v.optional("spec", lease.spec, {.wire = 2});
}

struct EventSeries {
  std::int32_t count = 0;
  std::optional<WallTime> last_observed = {};
  bool operator==(const EventSeries&) const = default;
};
template <class V>
constexpr void fields(V& v, EventSeries& series) {
  v.required("count", series.count, {.wire = 1});
  v.required("lastObservedTime", series.last_observed, {.wire = 2, .micro_time = true});
}

struct Event {
  ObjectMeta metadata = {};
  std::optional<WallTime> time = {};
  std::optional<EventSeries> series = {};
  std::string controller = {};  // reportingController
  std::string instance = {};    // reportingInstance
  std::string action = {};
  std::string reason = {};
  ObjectReference regarding = {};
  std::optional<ObjectReference> related = {};
  std::string note = {};
  std::string type = {};                   // "Normal" or "Warning"
  std::optional<WallTime> last_seen = {};  // of events that were written by the core group's API
  bool operator==(const Event&) const = default;
  static const Resource& resource() { return kEvents; }
};
template <class V>
constexpr void fields(V& v, Event& event) {
  v.required("metadata", event.metadata, {.wire = 1});
  v.optional("eventTime", event.time, {.wire = 2, .micro_time = true});
  v.optional("series", event.series, {.wire = 3});
  v.optional("reportingController", event.controller, {.wire = 4});
  v.optional("reportingInstance", event.instance, {.wire = 5});
  v.optional("action", event.action, {.wire = 6});
  v.optional("reason", event.reason, {.wire = 7});
  v.optional("regarding", event.regarding, {.wire = 8});
  v.optional("related", event.related, {.wire = 9});
  v.optional("note", event.note, {.wire = 10});
  v.optional("type", event.type, {.wire = 11});
  v.optional("deprecatedLastTimestamp", event.last_seen, {.wire = 14});
}

}  // namespace amdahl::kube
