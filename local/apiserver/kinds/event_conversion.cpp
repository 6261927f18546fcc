#include "local/apiserver/kinds/event_conversion.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
}};

void rename(Json& object, std::string_view from, std::string_view to) {
  const auto found = object.find(from);
  if (found == object.end()) return;
  Json value = std::move(*found);
  object.erase(found);
  object[std::string(to)] = std::move(value);
}

}  // namespace

Json event_to_events_v1(const Json& stored) {
  if (!stored.is_object()) return stored;
  Json event = stored;
  event["apiVersion"] = "events.k8s.io/v1";
  for (const auto& [core, other] : kNames) rename(event, core, other);
  // Core always writes these, the newer group leaves empty ones out.
  for (const std::string_view name : {"reportingController", "reportingInstance"}) {
    if (text_at(event, {name}).empty()) event.erase(std::string(name));
  }
  return event;
}

Json event_to_core(const Json& event) {
  if (!event.is_object()) return event;
  Json stored = event;
  stored["apiVersion"] = "v1";
  for (const auto& [core, other] : kNames) rename(stored, other, core);
  set_default(stored, "source", Json::object());
  set_default(stored, "involvedObject", Json::object());
  for (const std::string_view name : {"reportingComponent", "reportingInstance"}) {
    set_default(stored, name, "");
  }
  for (const std::string name : {"firstTimestamp", "lastTimestamp", "eventTime"}) {
    if (!stored.contains(name)) stored[name] = nullptr;
  }
  return stored;
}

}  // namespace amdahl::local
