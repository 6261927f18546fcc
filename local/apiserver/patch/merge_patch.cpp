#include "local/apiserver/patch/merge_patch.hpp"

namespace amdahl::local {
namespace {

// Both sides were checked against kDepthMax.
void merge(Json& target, const Json& patch) {  // NOLINT(misc-no-recursion) bounded by kDepthMax
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (const auto& [name, value] : patch.items()) {
    if (value.is_null())
      target.erase(name);
    else
      merge(target[name], value);
  }
}

}  // namespace

Result<Json> apply_merge_patch(Json document, const Json& patch) {
  if (!patch.is_object()) return fail(Errc::kCorrupt, "Invalid JSON Patch");
  TRY(check_depth(document, "the object"));
  TRY(check_depth(patch, "the patch"));
  merge(document, patch);
  return document;
}

}  // namespace amdahl::local
