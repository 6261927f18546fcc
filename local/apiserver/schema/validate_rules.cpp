#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/schema/cel/eval.hpp"
#include "local/apiserver/schema/cel/limits.hpp"
#include "local/apiserver/schema/cel/rule.hpp"
#include "local/apiserver/schema/correlate.hpp"
#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {
namespace {

// What a value was before, twice: for rules that ask, and for forgiving what did not change.
struct Spot {
  const Schema& schema;
  const Json& now;
  const Json* old_self = nullptr;
  const Json* before = nullptr;  // null: nothing correlates
  const Spot* parent = nullptr;  // the nearest one that does
  std::string path = {};
  bool resource = false;
  bool updates = false;
};

bool did_not_change(const Spot& spot) {
  for (const Spot* at = &spot; at != nullptr; at = at->parent) {
    if (at->before != nullptr) return unchanged(at->schema, at->now, *at->before);
  }
  return false;
}

class RuleValidator {
 public:
  std::vector<Cause> causes = {};

  // False when the budget is spent: nothing more is run.
  bool value(const Spot& spot) {
    if (!spot.schema.rules_inside || spot.now.is_null()) return true;
    if (!spot.schema.rules.empty() && !rules(spot)) return false;
    if (spot.now.is_array()) return items(spot);
    return !spot.now.is_object() || fields(spot);
  }

 private:
  bool items(const Spot& spot) {
    if (spot.schema.items == nullptr || !spot.schema.items->rules_inside) return true;
    const ListMapIndex old(spot.schema, spot.old_self);
    const ListMapIndex before(spot.schema, spot.before);
    for (std::size_t i = 0; i < spot.now.size(); ++i) {
      if (!value(Spot{.schema = *spot.schema.items,
                      .now = spot.now[i],
                      .old_self = old.find(spot.now[i]),
                      .before = before.find(spot.now[i]),
                      .parent = &spot,
                      .path = path_index(spot.path, i),
                      .resource = spot.schema.items->embedded_resource,
                      .updates = spot.updates})) {
        return false;
      }
    }
    return true;
  }

  bool fields(const Spot& spot) {
    for (const auto& [key, item] : spot.now.items()) {
      const auto known = spot.schema.properties.find(key);
      const bool declared = known != spot.schema.properties.end();
      const Schema* child = declared ? known->second.get() : spot.schema.other.get();
      if (child == nullptr || !child->rules_inside) continue;
      if (!value(Spot{.schema = *child,
                      .now = item,
                      .old_self = field_of(spot.old_self, key),
                      .before = field_of(spot.before, key),
                      .parent = &spot,
                      .path = declared ? path_child(spot.path, key) : path_key(spot.path, key),
                      .resource = child->embedded_resource,
                      .updates = spot.updates})) {
        return false;
      }
    }
    return true;
  }

  static const Json* field_of(const Json* object, const std::string& key) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(key);
    return found == object->end() ? nullptr : &*found;
  }

  bool rules(const Spot& spot) {
    const Json* old =
        spot.old_self != nullptr && !spot.old_self->is_null() ? spot.old_self : nullptr;
    for (const RulePtr& rule : spot.schema.rules) {
      if (rule->program == nullptr) continue;
      if (rule->uses_old_self && old == nullptr && !rule->optional_old_self) continue;
      if (causes.size() >= kCausesMax) return false;
      auto activation = activate(spot, old, *rule);
      if (!activation) {
        refuse(spot, activation.error().context + " evaluating rule: " + rule->shown());
        continue;
      }
      if (!run(spot, *rule, *activation)) return false;
    }
    return true;
  }

  static Result<cel::Activation> activate(const Spot& spot, const Json* old,
                                          const cel::Rule& rule) {
    TRY(cel::Value self, cel::value_of(spot.now, &spot.schema, spot.resource));
    cel::Activation activation{.self = std::move(self)};
    if (old != nullptr) {
      TRY(cel::Value value, cel::value_of(*old, &spot.schema, spot.resource));
      activation.old_self = std::move(value);
    }
    if (!rule.optional_old_self) return activation;
    cel::Optional optional;
    if (activation.old_self) {
      optional.value = std::make_shared<const cel::Value>(std::move(*activation.old_self));
    }
    activation.old_self = cel::Value{std::move(optional)};
    return activation;
  }

  bool run(const Spot& spot, const cel::Rule& rule, const cel::Activation& activation) {
    if (budget_ <= 0) {
      refuse(spot, kOutOfBudget);
      return false;
    }
    const std::int64_t allowed = std::min(budget_, cel::kRuleStepsMax);
    cel::Steps steps(allowed);
    const auto result = cel::evaluate(*rule.program, activation, steps);
    budget_ -= allowed - std::max<std::int64_t>(steps.left(), 0);
    if (!result) return failed(spot, rule, result.error());
    const bool* held = result->as<bool>();
    if (held != nullptr && *held) return true;
    const bool forgiven = !rule.uses_old_self && spot.updates && did_not_change(spot);
    if (!forgiven) causes.push_back(broken(spot, rule, message(rule, activation)));
    return true;
  }

  bool failed(const Spot& spot, const cel::Rule& rule, const Error& error) {
    const std::string shown = rule.shown();
    if (error.code == Errc::kTooLarge) {
      refuse(spot, fmt::format("'{}': no further validation rules will be run due to call cost "
                               "exceeds limit for rule: {}",
                               error.context, shown));
      return false;
    }
    if (error.context.starts_with("no such overload")) {
      refuse(spot,
             fmt::format("'{}': call arguments did not match a supported operator, function or "
                         "macro signature for rule: {}",
                         error.context, shown));
    } else {
      refuse(spot, fmt::format("{} evaluating rule: {}", error.context, shown));
    }
    return true;
  }

  // messageExpression when it gives one good line, else message, else the rule itself.
  std::string message(const cel::Rule& rule, const cel::Activation& activation) {
    if (rule.message_program != nullptr) {
      const std::int64_t allowed = std::clamp<std::int64_t>(budget_, 0, cel::kRuleStepsMax);
      cel::Steps steps(allowed);
      const auto result = cel::evaluate(*rule.message_program, activation, steps);
      budget_ -= allowed - std::max<std::int64_t>(steps.left(), 0);
      const auto* text = result ? result->as<std::string>() : nullptr;
      const std::string line(text == nullptr ? std::string_view() : go_trimmed(*text));
      if (!line.empty() && line.size() <= cel::kMessageBytesMax &&
          line.find('\n') == std::string::npos) {
        return line;
      }
    }
    return rule.message.empty() ? "failed rule: " + rule.shown()
                                : std::string(go_trimmed(rule.message));
  }

  static Cause broken(const Spot& spot, const cel::Rule& rule, const std::string& detail) {
    const std::string path =
        rule.field_path.empty() ? spot.path : path_child(spot.path, rule.field_path);
    if (rule.reason == kCauseForbidden) return forbidden_cause(path, detail);
    if (rule.reason == kCauseRequired) return required_cause(path, detail);
    if (rule.reason == kCauseDuplicate) return duplicate_cause(path, shown_type(spot));
    return invalid_cause(path, shown_type(spot), detail);
  }

  // A kube-apiserver shows the type where other errors show the value.
  static std::string shown_type(const Spot& spot) { return std::string(name(spot.schema.type)); }

  void refuse(const Spot& spot, std::string_view detail) {
    causes.push_back(invalid_cause(spot.path, shown_type(spot), detail));
  }

  static constexpr std::string_view kOutOfBudget =
      "validation failed due to running out of cost budget, no further validation rules will be "
      "run";
  std::int64_t budget_ = cel::kObjectStepsMax;
};

}  // namespace

std::vector<Cause> validate_rules(const Validation& input, bool resource_root) {
  RuleValidator validator;
  validator.value(Spot{.schema = input.schema,
                       .now = input.now,
                       .old_self = input.before,
                       .before = input.before,
                       .path = input.path,
                       .resource = resource_root || input.schema.embedded_resource,
                       .updates = input.before != nullptr});
  return std::move(validator.causes);
}

}  // namespace amdahl::local
