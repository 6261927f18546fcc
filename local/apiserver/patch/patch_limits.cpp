#include "local/apiserver/patch/patch_limits.hpp"

#include <algorithm>

namespace amdahl::local {

PatchRefusal refusal_of(const Error& error) {
  switch (error.code) {
    case Errc::kCorrupt:
      return PatchRefusal::kBadRequest;
    case Errc::kInvalid:
      return PatchRefusal::kUnprocessable;
    case Errc::kTooLarge:
      return PatchRefusal::kTooLarge;
    default:
      return PatchRefusal::kUnclassified;
  }
}

std::size_t depth_of(const Json& value, std::size_t limit) {
  if (!value.is_structured()) return 0;
  if (limit == 0) return 1;
  std::size_t below = 0;
  const auto look_into = [&](const Json& child) {
    if (child.is_structured() && below < limit) below = std::max(below, depth_of(child, limit - 1));
  };
  if (const auto* members = value.get_ptr<const Json::object_t*>())
    for (const auto& [name, child] : *members) look_into(child);
  else
    for (const Json& child : value.get_ref<const Json::array_t&>()) look_into(child);
  return below + 1;
}

Result<void> check_depth(const Json& value, const char* what) {
  if (depth_of(value) > kDepthMax)
    return fail(Errc::kTooLarge, "{} is nested more than {} levels deep", what, kDepthMax);
  return {};
}

}  // namespace amdahl::local
