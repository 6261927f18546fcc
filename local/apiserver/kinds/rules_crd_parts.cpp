// Rules of what the versions of a definition have; see rules_crd_parts.hpp.
#include "local/apiserver/kinds/rules_crd_parts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

namespace {

constexpr std::array<std::string_view, 5> kColumnTypes = {"boolean", "date", "integer", "number",
                                                          "string"};
constexpr std::array<std::string_view, 8> kColumnFormats = {
    "byte", "date", "date-time", "double", "float", "int32", "int64", "password"};

std::string listed(const auto& words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ',';
    list += word;
  }
  return list;
}

const Json* schema_in(const Json& version) {
  return at(version, {"schema", "openAPIV3Schema"});
}

bool has_status(const Json& version) {
  return at(version, {"subresources", "status"}) != nullptr;
}

// A list that is empty is as good as none.
const Json* part_of(const Json& version, std::string_view part) {
  const Json* found = member(version, part);
  return found == nullptr || (found->is_array() && found->empty()) ? nullptr : found;
}

bool all_share(const Json& versions, std::string_view part) {
  const Json* first = versions.empty() ? nullptr : part_of(versions[0], part);
  return std::ranges::all_of(versions, [&](const Json& version) {
    const Json* here = part_of(version, part);
    return first == nullptr || here == nullptr ? first == here : *first == *here;
  });
}

bool check_simple_path(const FieldPath& path, const std::string& text, Causes& causes) {
  if (text.starts_with('.')) return true;
  causes.invalid(path, text, "must be a simple json path starting with .");
  return false;
}

void check_scale(const FieldPath& path, const Json& version, Causes& causes) {
  const Json* scale = at(version, {"subresources", "scale"});
  if (scale == nullptr) return;
  const FieldPath at_scale = path.child("subresources").child("scale");
  for (const auto& [name, root] : {std::pair("specReplicasPath", std::string(".spec")),
                                   std::pair("statusReplicasPath", std::string(".status"))}) {
    const std::string text = text_at(*scale, {name});
    if (text.empty()) {
      causes.required(at_scale.child(name));
    } else if (check_simple_path(at_scale.child(name), text, causes) &&
               !text.starts_with(root + ".")) {
      causes.invalid(at_scale.child(name), text, "should be a json path under " + root);
    }
  }
  const FieldPath at_selector = at_scale.child("labelSelectorPath");
  const std::string selector = text_at(*scale, {"labelSelectorPath"});
  if (selector.empty() || !check_simple_path(at_selector, selector, causes)) return;
  if (!selector.starts_with(".spec.") && !selector.starts_with(".status.")) {
    causes.invalid(at_selector, selector, "should be a json path under either .spec or .status");
  }
}

void check_columns(const FieldPath& path, const Json& version, Causes& causes) {
  const Json& columns = list_at(version, {"additionalPrinterColumns"});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const FieldPath at_column = path.child("additionalPrinterColumns").index(i);
    if (text_at(columns[i], {"name"}).empty()) causes.required(at_column.child("name"));
    const std::string type = text_at(columns[i], {"type"});
    if (type.empty()) {
      causes.required(at_column.child("type"), "must be one of " + listed(kColumnTypes));
    } else if (std::ranges::find(kColumnTypes, type) == kColumnTypes.end()) {
      causes.invalid(at_column.child("type"), type, "must be one of " + listed(kColumnTypes));
    }
    const std::string format = text_at(columns[i], {"format"});
    if (!format.empty() && std::ranges::find(kColumnFormats, format) == kColumnFormats.end()) {
      causes.invalid(at_column.child("format"), format, "must be one of " + listed(kColumnFormats));
    }
    const std::string value = text_at(columns[i], {"jsonPath"});
    if (value.empty()) {
      causes.required(at_column.child("JSONPath"));
    } else {
      check_simple_path(at_column.child("JSONPath"), value, causes);
    }
  }
}

// Why ".spec.color" leads to no field of the schema; "" when it does, and `type` is the field's.
std::string wrong_field_path(std::string_view text, const Json& root, std::string& type) {
  const Json* schema = &root;
  while (!text.empty()) {
    if (text.front() == '[') return "array notation is not allowed";
    if (text.front() != '.') {
      return "expected [ or . but got: " + std::string(text.substr(0, text.find_first_of(".[]")));
    }
    text.remove_prefix(1);
    if (text.empty()) return "unexpected end of JSON path";
    const std::size_t end =
        std::max<std::size_t>(1, std::min(text.find_first_of(".[]"), text.size()));
    const bool named = member(*schema, "properties") != nullptr;
    schema = named ? at(*schema, {"properties", text.substr(0, end)})
                   : member(*schema, "additionalProperties");
    if (schema == nullptr) return "does not refer to a valid field";
    text.remove_prefix(end);
  }
  type = text_at(*schema, {"type"});
  return "";
}

void check_selectable(const FieldPath& path, const Json& fields, const Json& schema,
                      Causes& causes) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldPath at_field = path.index(i).child("jsonPath");
    const std::string text = text_at(fields[i], {"jsonPath"});
    if (text.empty()) {
      causes.required(at_field);
      continue;
    }
    std::string type;
    const std::string why = wrong_field_path(text, schema, type);
    if (!why.empty()) {
      causes.invalid(at_field, text, "is an invalid path: " + why);
      continue;
    }
    if (text.starts_with(".metadata")) {
      causes.invalid(at_field, text, "must not point to fields in metadata");
    }
    if (type != "string" && type != "boolean" && type != "integer") {
      causes.invalid(at_field, text,
                     "must point to a field of type string, boolean or integer. Enum string fields "
                     "and strings with formats are allowed.");
    }
    if (!seen.insert(text).second) causes.duplicate(at_field, text);
  }
}

void check_schema(const Json& version, const CrdSchemaOptions& options, Causes& causes) {
  if (const Json* schema = schema_in(version); schema != nullptr) {
    causes.append(compile_crd_schema(*schema, options).causes);
  }
}

// A schema that is kept elsewhere than the fields does not count.
void check_selectable_at(const FieldPath& path, const Json& version, bool with_schema,
                         std::string_view missing, Causes& causes) {
  const Json& fields = list_at(version, {"selectableFields"});
  const FieldPath at_fields = path.child("selectableFields");
  if (fields.empty()) return;
  if (!with_schema || schema_in(version) == nullptr) {
    return causes.invalid(at_fields, "", missing);
  }
  check_selectable(at_fields, fields, *schema_in(version), causes);
}

}  // namespace

SharedParts shared_parts(const Json& versions) {
  return {.schema = all_share(versions, "schema"),
          .subresources = all_share(versions, "subresources"),
          .columns = all_share(versions, "additionalPrinterColumns"),
          .selectable = all_share(versions, "selectableFields")};
}

void check_own_parts(const FieldPath& path, const Json& version, const SharedParts& shared,
                     Causes& causes) {
  if (!shared.schema) {
    check_schema(version,
                 {.prefix = path.child("schema").child("openAPIV3Schema").text(),
                  .status_subresource = has_status(version)},
                 causes);
  }
  if (!shared.subresources) check_scale(path, version, causes);
  if (!shared.columns) check_columns(path, version, causes);
  if (!shared.selectable) {
    check_selectable_at(path, version, !shared.schema,
                        "may only be set when `version.schema.openAPIV3Schema` is not included",
                        causes);
  }
}

void check_shared_parts(const Json& versions, const SharedParts& shared, Causes& causes) {
  if (versions.empty()) return;
  const FieldPath path("spec");
  const Json& first = versions[0];
  if (shared.schema) {
    check_schema(first, {.status_subresource = std::ranges::any_of(versions, has_status)}, causes);
  }
  if (shared.subresources) check_scale(path, first, causes);
  if (shared.columns) check_columns(path, first, causes);
  if (shared.selectable) {
    check_selectable_at(path, first, shared.schema,
                        "may only be set when validations.schema is included", causes);
  }
}

}  // namespace amdahl::local
