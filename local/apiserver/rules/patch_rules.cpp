// How objects change: ServedKinds over local/apiserver/patch.
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/patch/apply.hpp"
#include "local/apiserver/patch/json_patch.hpp"
#include "local/apiserver/patch/merge_patch.hpp"
#include "local/apiserver/patch/strategic_merge.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kRejected =
    "the server rejected our request due to an error in our request";

Status refused(const Error& error) {
  switch (refusal_of(error)) {
    case PatchRefusal::kBadRequest:
      return bad_request(error.context);
    case PatchRefusal::kUnprocessable:
      return {
          .code = 422, .reason = "Invalid", .message = std::string(kRejected), .has_details = true};
    case PatchRefusal::kTooLarge:
      return {.code = 413, .reason = "RequestEntityTooLarge", .message = error.context};
    case PatchRefusal::kUnclassified:
      break;
  }
  return unknown_failure(error.context);
}

Result<Json> patched(PatchType type, const Json& live, const Json& patch, const MergeShape* shape) {
  switch (type) {
    case PatchType::kJson:
      return apply_json_patch(live, patch);
    case PatchType::kMerge:
      return apply_merge_patch(live, patch);
    default:
      return apply_strategic_merge(live, patch, shape);
  }
}

FieldSet not_of_status(const ResourceInfo& info) {
  if (info.custom) return FieldSet::of({{"spec"}});
  if (info.kind == "Pod")
    return FieldSet::of(
        {{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}});
  if (info.kind == "Deployment") return FieldSet::of({{"spec"}, {"metadata", "labels"}});
  if (info.observed) return FieldSet::of({{"spec"}, {"metadata"}});
  return FieldSet::of({{"spec"}});
}

// What the door that was used does not write.
local::FieldRules rules_of(const ServedKinds::Served& one, std::string_view subresource) {
  local::FieldRules rules{.shape = one.shape.get(), .unset = &one.unset};
  if (one.info.has_status)
    rules.reset_fields =
        subresource == "status" ? not_of_status(one.info) : FieldSet::of({{"status"}});
  return rules;
}

FieldWriter writer_of(const ResourceInfo& info, const FieldEdit& edit) {
  return {.manager = std::string(edit.manager),
          .api_version = info.api_version(),
          .subresource = std::string(edit.subresource),
          .now = edit.now};
}

}  // namespace

Outcome<Json> ServedKinds::patch(const ResourceInfo& info, PatchType type, const Json& live,
                                 const Json& patch) const {
  auto result = patched(type, live, patch, served(info).shape.get());
  if (!result) return refused(result.error());
  return *std::move(result);
}

Outcome<Json> ServedKinds::apply(const ResourceInfo& info, const Json* live, const Json& config,
                                 const FieldEdit& edit) const {
  auto applied = server_side_apply(rules_of(served(info), edit.subresource), writer_of(info, edit),
                                   live, config, edit.force);
  if (!applied) return refused(applied.error());
  if (applied->conflict)
    return Status{.code = 409,
                  .reason = "Conflict",
                  .message = applied->conflict->message,
                  .causes = applied->conflict->causes};
  return std::move(applied->object);
}

Json ServedKinds::unset(const ResourceInfo& info) const {
  return find(info.group, info.version, info.plural) ? served(info).unset : Json::object();
}

void ServedKinds::track(const ResourceInfo& info, const Json* old, Json& object,
                        const FieldEdit& edit) const {
  // Who owns what is worth less than the write itself: a shape we cannot walk keeps the old owners.
  (void)track_update(rules_of(served(info), edit.subresource), writer_of(info, edit), old, object);
}

}  // namespace amdahl::local
