// One entry of x-kubernetes-validations, compiled against the schema it stands in.
//
// Immutable once compiled; shared between threads. Failure: `error` and `message_error` hold what a
// CRD is refused with; a rule with an error is never evaluated.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl::local {
struct Schema;
}  // namespace amdahl::local

namespace amdahl::local::cel {

struct Expr;

inline constexpr std::size_t kRuleBytesMax = 16U << 10U;

struct Rule {
  std::string rule = {};
  std::string message = {};
  std::string reason = {};      // "" means FieldValueInvalid
  std::string field_path = {};  // as a field error writes it; "" means the place of the rule
  bool optional_old_self = false;
  bool uses_old_self = false;
  std::shared_ptr<const Expr> program = {};
  std::shared_ptr<const Expr> message_program = {};
  std::string error = {};          // "compilation failed: ..."
  std::string message_error = {};  // of messageExpression

  std::string shown() const;  // the message, or else the rule: how errors name it
};

// `rule` is the entry, `node` the schema (as JSON) it stands in, `self` the same compiled.
std::shared_ptr<const Rule> compile_rule(const nlohmann::json& rule, const nlohmann::json& node,
                                         const Schema& self, bool resource_root);

// ".spec['a.b']" as "spec.a.b", or nothing when the schema has no such place.
std::optional<std::string> normalized_field_path(std::string_view path, const nlohmann::json& node);

}  // namespace amdahl::local::cel
