#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/prune.hpp"
#include "local/apiserver/schema/schema_checks.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {
namespace {

class DefaultsCheck {
 public:
  std::vector<Cause> causes = {};

  void node(const Schema& schema, const std::string& path) {
    if (!schema.defaults_inside || causes.size() >= kCausesMax) return;
    if (schema.default_value) value(schema, path_child(path, "default"));
    if (schema.items != nullptr) node(*schema.items, path_child(path, "items"));
    if (schema.other != nullptr) node(*schema.other, path_child(path, "additionalProperties"));
    const std::string properties = path_child(path, "properties");
    for (const auto& [key, child] : schema.properties) node(*child, path_key(properties, key));
  }

 private:
  void value(const Schema& schema, const std::string& path) {
    const Json& given = *schema.default_value;
    if (!nests_within(given, kObjectDepthMax)) {
      causes.push_back(forbidden_cause(path, "nests too deeply"));
      return;
    }
    Json pruned = given;
    prune(schema, pruned, schema.embedded_resource);
    if (pruned != given) {
      causes.push_back(invalid_cause(path, given, "must not have unknown fields"));
    }
    const Validation input{.schema = schema, .now = given, .path = path};
    auto more = validate_embedded(input);
    if (more.empty()) more = validate_values(input);
    if (more.empty() && schema.rules_inside) more = rules(schema, given, path);
    for (Cause& cause : more) causes.push_back(std::move(cause));
  }

  // A default has to pass as something new and as something that stays.
  static std::vector<Cause> rules(const Schema& schema, const Json& given,
                                  const std::string& path) {
    auto staying =
        validate_rules(Validation{schema, given, &given, path}, schema.embedded_resource);
    if (!staying.empty()) return staying;
    return validate_rules(Validation{schema, given, nullptr, path}, schema.embedded_resource);
  }
};

}  // namespace

std::vector<Cause> check_defaults(const Schema& schema, const std::string& prefix) {
  DefaultsCheck check;
  check.node(schema, prefix);
  return std::move(check.causes);
}

}  // namespace amdahl::local
