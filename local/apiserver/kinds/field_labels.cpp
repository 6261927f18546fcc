// What a field selector compares; see kind.hpp.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

namespace {

std::string as_text(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  if (value->is_boolean()) return value->get<bool>() ? "true" : "false";
  if (value->is_number_integer()) return std::to_string(value->get<std::int64_t>());
  return {};
}

std::string at_dotted(const Json& object, std::string_view path) {
  const Json* value = &object;
  while (value != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    value = member(*value, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return as_text(value);
}

// An older writer fills source, a newer one the reporting fields; both answer to "source".
std::string event_source(const Json& event) {
  std::string source = text_at(event, {"source", "component"});
  return source.empty() ? text_at(event, {"reportingComponent"}) : source;
}

// Stored events have the core names, whichever group they are asked through.
std::string stored_name(std::string_view label) {
  constexpr std::string_view kRegarding = "regarding.";
  if (label.starts_with(kRegarding)) {
    return "involvedObject." + std::string(label.substr(kRegarding.size()));
  }
  return label == "reportingController" ? "reportingComponent" : std::string(label);
}

}  // namespace

bool field_label_allowed(const Kind& kind, std::string_view label) {
  if (label == "metadata.name") return true;
  if (label == "metadata.namespace") {
    return kind.namespaced || (kind.builtin && kind.field_labels.empty());
  }
  return std::ranges::find(kind.field_labels, label) != kind.field_labels.end();
}

std::string field_label_value(const Kind& kind, const Json& object, std::string_view label) {
  if (!kind.builtin) return at_dotted(object, label);
  if (kind.kind == "Event") {
    if (label == "source") return event_source(object);
    return at_dotted(object, at(object, {"involvedObject"}) != nullptr ? stored_name(label)
                                                                       : std::string(label));
  }
  if (label == "status.successful") {
    return std::to_string(number_at(object, {"status", "succeeded"}).value_or(0));
  }
  // Kubernetes accepts the label and never fills it.
  if (label == "status.podIPs") return {};
  std::string text = at_dotted(object, label);
  const bool is_flag = label == "spec.hostNetwork" || label == "spec.unschedulable";
  if (is_flag && text.empty()) return "false";
  return text;
}

}  // namespace amdahl::local
