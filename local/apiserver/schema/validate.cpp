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

bool too_deep(const Json& object, std::vector<Cause>& causes) {
  if (nests_within(object, kObjectDepthMax)) return false;
  causes.push_back(
      forbidden_cause({}, fmt::format("must not nest deeper than {}", kObjectDepthMax)));
  return true;
}

const Json* status_of(const Json& object) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find("status");
  return found == object.end() ? nullptr : &*found;
}

void add_duplicates(const Validation& input, std::vector<Cause>& causes) {
  if (!input.schema.lists_inside) return;
  std::vector<Cause> found = validate_lists(input);
  if (found.empty()) return;
  // An object that was stored with duplicates may go on having them.
  const bool had =
      input.before != nullptr &&
      !validate_lists(Validation{.schema = input.schema, .now = *input.before}).empty();
  if (!had) append(causes, std::move(found));
}

void add_rules(const Validation& input, std::vector<Cause>& causes) {
  if (!input.schema.rules_inside) return;
  if (std::ranges::any_of(causes, keeps_rules_from_running)) {
    causes.push_back(invalid_cause({}, nullptr,
                                   "some validation rules were not checked because the object was "
                                   "invalid; correct the existing errors to complete validation"));
    return;
  }
  append(causes, validate_rules(input, true));
}

}  // namespace

std::vector<Cause> validate(const Schema& schema, const Json& now, const Json* before,
                            CallersCauses found) {
  std::vector<Cause> causes = std::move(found.of_metadata);
  if (too_deep(now, causes)) return causes;
  if (before != nullptr && !nests_within(*before, kObjectDepthMax)) before = nullptr;
  const Validation input{.schema = schema, .now = now, .before = before};
  append(causes, validate_values(input));
  append(causes, std::move(found.of_scale));
  if (schema.embedded_inside) append(causes, validate_embedded(input));
  add_duplicates(input, causes);
  add_rules(input, causes);
  return causes;
}

std::vector<Cause> validate_status(const Schema& schema, const Json& now, const Json& before,
                                   CallersCauses found) {
  std::vector<Cause> causes = std::move(found.of_metadata);
  if (too_deep(now, causes) || too_deep(before, causes)) return causes;
  const auto known = schema.properties.find("status");
  const Json* status = status_of(now);
  if (known != schema.properties.end() && status != nullptr) {
    append(causes, validate_values(Validation{.schema = *known->second,
                                              .now = *status,
                                              .before = status_of(before),
                                              .path = "status"}));
  }
  append(causes, std::move(found.of_scale));
  const Validation input{.schema = schema, .now = now, .before = &before};
  add_duplicates(input, causes);
  add_rules(input, causes);
  return causes;
}

}  // namespace amdahl::local
