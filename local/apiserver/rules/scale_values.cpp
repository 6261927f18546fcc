#include "local/apiserver/rules/scale_values.hpp"

#include <fmt/format.h>

#include <limits>

#include "local/apiserver/patch/strategic_list.hpp"
#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local {
namespace {

constexpr std::int64_t kReplicasMax = std::numeric_limits<std::int32_t>::max();

std::string_view go_type(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean:
      return "bool";
    case Json::value_t::string:
      return "string";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "int64";
    case Json::value_t::number_float:
      return "float64";
    case Json::value_t::array:
      return "[]interface {}";
    case Json::value_t::object:
      return "map[string]interface {}";
    default:
      return "<nil>";
  }
}

std::string shown(const Json& value) {
  if (value.is_null()) return "<nil>";
  return value.is_number_float() ? go_float(value.get<double>()) : go_text(value);
}

std::string accessor_error(std::string_view path, const Json& value, std::string_view expected) {
  return fmt::format("{} accessor error: {} is of the type {}, expected {}", path, shown(value),
                     go_type(value), expected);
}

// What stands at ".spec.replicas". `why` says what is in its way; null without it: nothing is
// there.
const Json* value_at(const Json& object, std::string_view path, std::string& why) {
  const Json* here = &object;
  std::size_t at = path.starts_with('.') ? 1 : 0;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    if (here->is_null()) return nullptr;
    if (!here->is_object()) {
      why = accessor_error(path.substr(0, end), *here, "map[string]interface{}");
      return nullptr;
    }
    const auto found = here->find(path.substr(at, end - at));
    if (found == here->end()) return nullptr;
    here = &*found;
    at = end + 1;
  }
  return here;
}

void check_replicas(const std::string& path, const Json& object, std::vector<Cause>& causes) {
  if (path.empty()) return;
  std::string why;
  const Json* value = value_at(object, path, why);
  if (value != nullptr && !value->is_number_integer()) why = accessor_error(path, *value, "int64");
  if (!why.empty()) {
    causes.push_back(invalid_cause(path, 0, why));
    return;
  }
  const std::int64_t replicas = value == nullptr ? 0 : value->get<std::int64_t>();
  if (replicas < 0) {
    causes.push_back(invalid_cause(path, replicas, "should be a non-negative integer"));
  } else if (replicas > kReplicasMax) {
    causes.push_back(invalid_cause(
        path, replicas, fmt::format("should be less than or equal to {}", kReplicasMax)));
  }
}

}  // namespace

std::vector<Cause> scale_spec_causes(const ScalePaths& paths, const Json& object) {
  std::vector<Cause> causes;
  check_replicas(paths.spec_replicas, object, causes);
  return causes;
}

std::vector<Cause> scale_status_causes(const ScalePaths& paths, const Json& object) {
  std::vector<Cause> causes;
  check_replicas(paths.status_replicas, object, causes);
  if (paths.label_selector.empty()) return causes;
  std::string why;
  const Json* selector = value_at(object, paths.label_selector, why);
  if (selector != nullptr && !selector->is_string())
    why = accessor_error(paths.label_selector, *selector, "string");
  if (!why.empty()) causes.push_back(invalid_cause(paths.label_selector, "", why));
  return causes;
}

}  // namespace amdahl::local
