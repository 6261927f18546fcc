// What makes an object a child: its name (W1), its owner (W9), and what we know of it. Pure.
//
// Failure: Errc::kInvalid for an object that cannot be a child of that owner.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "operator/controller/source.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::controller {

// A DNS label, because pods and services are also host names.
inline constexpr std::size_t kChildNameMax = 63;

// Which child of its owner. Every part that tells two children apart belongs here, and nothing that
// changes between two runs of the same decision.
struct ChildRole {
  std::string_view role{};
  std::optional<std::uint32_t> attempt{};
  std::optional<std::uint32_t> index{};
};
// "llama", {.attempt = 2, .index = 0} -> "llama-2-0". The same input gives the same name for ever,
// so a second create meets AlreadyExists. Longer names are cut and end in a hash of the whole.
std::string child_name(std::string_view owner, const ChildRole& which);

// The object that owns children, as seen by the reconcile that writes them.
struct OwnerObject {
  kube::Resource resource{};
  ObjectKey key{};
  std::string uid{};
  bool deleting = false;
};
template <class T>
OwnerObject owner_object(const T& object) {
  return {.resource = T::resource(),
          .key = {.ns = object.metadata.ns, .name = object.metadata.name},
          .uid = object.metadata.uid,
          .deleting = object.metadata.deleted.has_value()};
}

// Makes the owner the one controller of the object, in the owner's namespace.
Result<void> set_owner(Json& object, const OwnerObject& owner);

// What an answer of the server says about an object; empty where it says nothing.
struct LiveObject {
  std::string uid{};
  std::string version{};
  std::optional<Owner> controller{};
  bool deleting = false;
};
LiveObject live_object(const Json& object);

}  // namespace amdahl::controller
