// All kinds we read or write, and how one becomes a manifest. Files that need a single group
// include its own header.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "operator/kube/types_coordination.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_discovery.hpp"
#include "operator/kube/types_meta.hpp"
#include "operator/kube/types_pod.hpp"
#include "operator/kube/types_review.hpp"
#include "operator/kube/types_volcano.hpp"

namespace amdahl::kube {

// A type with a field table that the API server serves.
template <class T>
concept Kind = HasFields<T> && requires {
  { T::resource() } -> std::same_as<const Resource&>;
};

// The object with its apiVersion and kind, ready to be sent.
template <Kind T>
Json to_manifest(const T& object) {
  Json manifest = encode(object);
  manifest["apiVersion"] = T::resource().api_version();
  manifest["kind"] = T::resource().kind;
  return manifest;
}

}  // namespace amdahl::kube
