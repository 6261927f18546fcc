#include "local/apiserver/schema/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local {
namespace {

void append(std::vector<Cause>& causes, std::vector<Cause> more) {
  for (Cause& cause : more) {
    if (causes.size() < kCausesMax) causes.push_back(std::move(cause));
  }
}

// Rules are written for values of the right shape.
bool keeps_rules_from_running(const Cause& cause) {
  return cause.reason == kCauseNotSupported || cause.reason == kCauseRequired ||
         cause.reason == kCauseTooLong || cause.reason == kCauseTooMany ||
         cause.reason == kCauseTypeInvalid;
}

}  // namespace

std::vector<Cause> validate(const Schema& schema, const Json& now, const Json* before) {
  if (!nests_within(now, kObjectDepthMax)) {
    return {forbidden_cause({}, fmt::format("must not nest deeper than {}", kObjectDepthMax))};
  }
  if (before != nullptr && !nests_within(*before, kObjectDepthMax)) before = nullptr;
  const Validation input{.schema = schema, .now = now, .before = before};
  std::vector<Cause> causes = validate_values(input);
  if (schema.embedded_inside) append(causes, validate_embedded(input));
  if (schema.lists_inside) {
    // An object that was stored with duplicates may go on having them.
    const bool had =
        before != nullptr && !validate_lists(Validation{.schema = schema, .now = *before}).empty();
    if (!had) append(causes, validate_lists(input));
  }
  if (!schema.rules_inside) return causes;
  if (std::ranges::any_of(causes, keeps_rules_from_running)) {
    causes.push_back(invalid_cause({}, nullptr,
                                   "some validation rules were not checked because the object was "
                                   "invalid; correct the existing errors to complete validation"));
    return causes;
  }
  append(causes, validate_rules(input, true));
  return causes;
}

}  // namespace amdahl::local
