// Rules of events: lenient ones for the core group, strict ones for events.k8s.io; see rules.hpp.
//
// Causes name the fields of the core group, whichever group the event came through.
#include <array>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::size_t kEventTextBytesMax = 128;
constexpr std::size_t kEventNoteBytesMax = 1024;

void check_length(std::string_view field, const std::string& text, std::size_t bytes_max,
                  Causes& causes) {
  if (text.size() <= bytes_max) return;
  causes.invalid(FieldPath(std::string(field)), "",
                 "can have at most " + std::to_string(bytes_max) + " characters");
}

void check_required(std::string_view field, const Json& event, Causes& causes) {
  const std::string text = text_at(event, {field});
  if (text.empty()) causes.required(FieldPath(std::string(field)));
  check_length(field, text, kEventTextBytesMax, causes);
}

void check_event_namespace(const Json& event, bool is_timed, const std::string& about,
                           Causes& causes) {
  const std::string own = text_at(event, {"metadata", "namespace"});
  const bool anywhere = own == "default" || (is_timed && own == "kube-system");
  const bool fits = about.empty() ? anywhere : is_timed || about == own;
  if (fits) return;
  causes.invalid(FieldPath("involvedObject.namespace"), about, "does not match event.namespace");
}

void check_series(const Json& event, Causes& causes) {
  const Json* series = member(event, "series");
  if (series == nullptr) return;
  if (number_at(*series, {"count"}).value_or(0) < 2) {
    causes.invalid(FieldPath("series.count"), "", "should be at least 2");
  }
  if (text_at(*series, {"lastObservedTime"}).empty()) {
    causes.required(FieldPath("series.lastObservedTime"));
  }
}

// What an event of the newer group keeps for life.
struct Fixed {
  std::string_view name = {};  // in events.k8s.io
  std::string_view shown = {};
  std::string_view unset = {};  // as JSON
};
constexpr std::array kFixed = {
    Fixed{"regarding", "involvedObject", "{}"},
    Fixed{"reason", "reason", R"("")"},
    Fixed{"note", "message", R"("")"},
    Fixed{"deprecatedSource", "source", "{}"},
    Fixed{"deprecatedFirstTimestamp", "firstTimestamp", "null"},
    Fixed{"deprecatedLastTimestamp", "lastTimestamp", "null"},
    Fixed{"deprecatedCount", "count", "0"},
    Fixed{"type", "type", R"("")"},
    Fixed{"eventTime", "eventTime", "null"},
    Fixed{"action", "action", R"("")"},
    Fixed{"related", "related", "null"},
    Fixed{"reportingController", "reportingController", R"("")"},
    Fixed{"reportingInstance", "reportingInstance", R"("")"},
};

}  // namespace

void check_event(const Kind& kind, const Json& event, Causes& causes) {
  const bool is_core = kind.group.empty();
  const bool is_timed = !text_at(event, {"eventTime"}).empty();
  const std::string_view object = is_core ? "involvedObject" : "regarding";
  check_event_namespace(event, is_timed, text_at(event, {object, "namespace"}), causes);
  if (!is_timed) return;
  const std::string reporter = is_core ? "reportingComponent" : "reportingController";
  const std::string controller = text_at(event, {reporter});
  if (controller.empty()) causes.required(FieldPath(reporter));
  causes.invalid(FieldPath(reporter), controller, qualified_name_errors(controller));
  for (const std::string_view name : {"reportingInstance", "action", "reason"}) {
    check_required(name, event, causes);
  }
  const std::string note = text_at(event, {is_core ? "message" : "note"});
  check_length("message", note, kEventNoteBytesMax, causes);
}

void check_new_event(const Json& event, Causes& causes) {
  check_series(event, causes);
  if (text_at(event, {"eventTime"}).empty()) causes.required(FieldPath("eventTime"));
  const std::string type = text_at(event, {"type"});
  if (type != "Normal" && type != "Warning") {
    causes.invalid(FieldPath("type"), "", "has invalid value: " + type);
  }
  const auto unset = [&](std::string_view shown, bool is_set) {
    if (is_set) causes.invalid(FieldPath(std::string(shown)), "", "needs to be unset");
  };
  unset("firstTimestamp", !text_at(event, {"deprecatedFirstTimestamp"}).empty());
  unset("lastTimestamp", !text_at(event, {"deprecatedLastTimestamp"}).empty());
  unset("count", number_at(event, {"deprecatedCount"}).value_or(0) != 0);
  unset("source", !text_at(event, {"deprecatedSource", "component"}).empty() ||
                      !text_at(event, {"deprecatedSource", "host"}).empty());
}

void check_new_event_update(const Json& old, const Json& event, Causes& causes) {
  const Json* before = member(old, "series");
  const Json* now = member(event, "series");
  if (now != nullptr && (before == nullptr || *before != *now)) check_series(event, causes);
  for (const Fixed& fixed : kFixed) {
    const Json unset = Json::parse(fixed.unset);
    const Json* was = member(old, fixed.name);
    const Json* is = member(event, fixed.name);
    const Json& value = is == nullptr ? unset : *is;
    if (value == (was == nullptr ? unset : *was)) continue;
    causes.invalid(FieldPath(std::string(fixed.shown)), value, "field is immutable");
  }
}

}  // namespace amdahl::local
