#include "local/apiserver/rules/custom_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "local/apiserver/rules/scale_values.hpp"
#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/merge_shape_of.hpp"
#include "local/apiserver/schema/prune.hpp"
#include "local/apiserver/schema/schema.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {
namespace {

const Json* member(const Json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

const Json* schema_in(const Json& version) {
  return member(member(&version, "schema"), "openAPIV3Schema");
}

bool has_status(const Json& version) {
  return member(member(&version, "subresources"), "status") != nullptr;
}

// Kubernetes keeps a schema that all versions share in one place, and names that place.
bool all_share_one(const Json& versions) {
  const auto differs = [&](const Json& version) {
    const Json* first = schema_in(versions.front());
    const Json* here = schema_in(version);
    return (first == nullptr) != (here == nullptr) || (first != nullptr && *first != *here);
  };
  return std::ranges::none_of(versions, differs);
}

}  // namespace

SchemaPtr compile_schema_of(const Kind& kind) {
  if (!kind.schema) return nullptr;
  return compile_crd_schema(*kind.schema, {.status_subresource = kind.has_status}).schema;
}

MergeShapePtr shape_of(const Schema& schema) {
  return merge_shape_of(schema);
}

std::vector<Cause> validate_crd_schemas(const Json& crd) {
  const Json* versions = member(member(&crd, "spec"), "versions");
  if (versions == nullptr || !versions->is_array() || versions->empty()) return {};
  const bool shared = all_share_one(*versions);
  std::vector<Cause> causes;
  for (std::size_t at = 0; at < versions->size() && (at == 0 || !shared); ++at) {
    const Json* schema = schema_in((*versions)[at]);
    if (schema == nullptr) continue;
    CrdSchemaOptions options{.status_subresource = has_status((*versions)[at])};
    if (!shared) options.prefix = fmt::format("spec.versions[{}].schema.openAPIV3Schema", at);
    std::ranges::move(compile_crd_schema(*schema, options).causes, std::back_inserter(causes));
  }
  return causes;
}

Outcome<std::vector<std::string>> decode_custom(const Schema& schema, Json& object) {
  if (!nests_within(object, kObjectDepthMax)) return bad_request("the object is nested too deeply");
  std::vector<std::string> texts;
  for (const std::string& path : prune(schema, object))
    texts.push_back(fmt::format("unknown field \"{}\"", path));
  return texts;
}

void default_custom(const Schema& schema, Json& object) {
  apply_defaults(schema, object);
}

std::vector<Cause> validate_custom(const Schema& schema, CustomWrite write) {
  std::vector<Cause> of_scale = scale_spec_causes(write.scale, write.object);
  std::ranges::move(scale_status_causes(write.scale, write.object), std::back_inserter(of_scale));
  return validate(schema, write.object, write.old,
                  {.of_metadata = std::move(write.of_metadata), .of_scale = std::move(of_scale)});
}

std::vector<Cause> validate_custom_status(const Schema& schema, CustomWrite write) {
  AMDAHL_CHECK(write.old != nullptr);
  return validate_status(schema, write.object, *write.old,
                         {.of_metadata = std::move(write.of_metadata),
                          .of_scale = scale_status_causes(write.scale, write.object)});
}

}  // namespace amdahl::local
