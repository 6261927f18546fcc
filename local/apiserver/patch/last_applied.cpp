#include "local/apiserver/patch/last_applied.hpp"

#include "local/apiserver/patch/field_walk.hpp"

namespace amdahl::local {
namespace {

constexpr const char* kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

Json::json_pointer annotation_pointer() {
  return Json::json_pointer() / "metadata" / "annotations" / kAnnotation;
}

// The annotation's text; empty when the object has none.
std::string annotation_of(const Json& object) {
  const Json::json_pointer pointer = annotation_pointer();
  if (!object.contains(pointer)) return {};
  const Json& text = object[pointer];
  return text.is_string() ? text.get<std::string>() : std::string();
}

}  // namespace

FieldSet last_applied_fields(const FieldRules& rules, const FieldWriter& writer, const Json& live) {
  const Json last = Json::parse(annotation_of(live), nullptr, false);
  if (!last.is_object() || !check_depth(last, "the annotation")) return {};
  const auto version = last.find("apiVersion");
  if (version == last.end() || *version != writer.api_version) return {};
  const FieldComparison difference = compared(&last, &live, rules.shape);
  return fields_of(last, rules.shape)
      .without(difference.modified)
      .without(difference.added)
      .without(difference.removed);
}

void refresh_last_applied(Json& object, const Json& configuration) {
  if (annotation_of(object).empty()) return;
  Json plain = configuration;
  const Json::json_pointer pointer = annotation_pointer();
  if (plain.contains(pointer)) plain[pointer.parent_pointer()].erase(kAnnotation);
  object[pointer] = plain.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace amdahl::local
