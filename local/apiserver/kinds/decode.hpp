// A body as kube-apiserver reads it into a built-in kind: types are checked, unknown names are
// dropped and reported, and the rest takes the one form in which the server writes it.
//
// Pure functions. Failure: Errc::kInvalid with the text that Go's decoder gives, without the words
// `Pod in version "v1" cannot be handled as a Pod: ` that belong before it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "local/apiserver/kinds/builtin_schemas.hpp"

namespace amdahl::local {

inline constexpr std::size_t kUnknownFieldsMax = 100;

struct Decoded {
  Json object = {};
  std::vector<std::string> unknown_fields = {};  // "spec.containers[0].foo"
};

// Zero values that Go leaves out are left out, those it always writes are there, quantities and
// times are canonical. Do this with every object that comes in, also after a patch.
Result<Decoded> decode(const TypeNode& type, Json body);

// What Kubernetes reads back after it stored the object: a list that is always written and was
// empty is null.
void forget_empty_lists(const TypeNode& type, Json& object);

// `strict decoding error: unknown field "spec.foo", unknown field "x"`
std::string strict_error(const std::vector<std::string>& unknown_fields);

}  // namespace amdahl::local
