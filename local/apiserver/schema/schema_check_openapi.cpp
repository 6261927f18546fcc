#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "local/apiserver/schema/cel/rule.hpp"
#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_checks.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"

namespace amdahl::local {
namespace {

struct Place {
  const Schema* compiled = nullptr;  // null: rules are not looked into here
  std::string path = {};
  std::string defaults_forbidden = {};  // why; "" when defaults may be set
  std::string uncorrelated = {};        // the place below which old values cannot be found
  bool inside_meta = false;
  bool is_root = false;

  Place child(std::string where, const Schema* schema) const {
    Place next = *this;
    next.compiled = compiled == nullptr ? nullptr : schema;
    next.path = std::move(where);
    next.is_root = false;
    return next;
  }
};

bool has_newline(std::string_view text) {
  return text.find_first_of("\n\r") != std::string_view::npos;
}

// What Go prints of the entry: its own type has no JSON names.
Json printed_rule(const Json& rule) {
  const auto or_null = [&](std::string_view name) {
    const Json* value = keyword(rule, name);
    return value == nullptr ? Json() : *value;
  };
  return Json{{"Rule", text_of(rule, "rule")},
              {"Message", text_of(rule, "message")},
              {"MessageExpression", text_of(rule, "messageExpression")},
              {"Reason", or_null("reason")},
              {"FieldPath", text_of(rule, "fieldPath")},
              {"OptionalOldSelf", or_null("optionalOldSelf")}};
}

class OpenApiCheck {
 public:
  std::vector<Cause> schema_causes = {};
  std::vector<Cause> rule_causes = {};

  void node(const Json& schema, const Place& place) {
    if (schema_causes.size() + rule_causes.size() >= kCausesMax) return;
    const std::size_t before = schema_causes.size();
    standard(schema, place);
    others(schema, place);
    properties(schema, place);
    junctors(schema, place);
    items(schema, place);
    check_list_types(schema, place.path, schema_causes);
    rules(schema, place, before);
  }

 private:
  void required(const std::string& path, std::string_view detail) {
    schema_causes.push_back(required_cause(path, detail));
  }
  void forbidden(const std::string& path, std::string_view detail) {
    schema_causes.push_back(forbidden_cause(path, detail));
  }
  void invalid(const std::string& path, const Json& value, std::string_view detail) {
    schema_causes.push_back(invalid_cause(path, value, detail));
  }
  void unsupported(const std::string& path, const Json& value, std::vector<std::string> names) {
    schema_causes.push_back(not_supported_cause(path, value, names));
  }

  void standard(const Json& schema, const Place& place) {
    const auto at = [&](std::string_view name) { return path_child(place.path, name); };
    static const std::vector<std::string> types{"array",  "boolean", "integer",
                                                "number", "object",  "string"};
    const std::string_view type = text_of(schema, "type");
    if (!type.empty() && std::ranges::find(types, type) == types.end()) {
      unsupported(at("type"), type, types);
    }
    if (keyword(schema, "default") != nullptr && !place.defaults_forbidden.empty()) {
      forbidden(at("default"), "must not be set " + place.defaults_forbidden);
    }
    if (!text_of(schema, "id").empty()) forbidden(at("id"), "id is not supported");
    for (const std::string_view name :
         {"additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      const Json* value = keyword(schema, name);
      if (value == nullptr || (value->is_object() && value->empty() && name != "dependencies")) {
        continue;
      }
      forbidden(at(name), fmt::format("{} is not supported", name));
    }
    if (type == "null") {
      forbidden(at("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if (!nodes_of(schema, "items").empty()) {
      forbidden(at("items"), "items must be a schema object and not an array");
    }
    if (place.inside_meta && flag_of(schema, "x-kubernetes-embedded-resource")) {
      forbidden(at("x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
    }
    if (flag_of(schema, "uniqueItems")) {
      forbidden(at("uniqueItems"),
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    const Json* preserve = keyword(schema, "x-kubernetes-preserve-unknown-fields");
    if (preserve != nullptr && *preserve == Json(false)) {
      invalid(at("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined");
    }
  }

  void others(const Json& schema, const Place& place) {
    const Json* value = keyword(schema, "additionalProperties");
    if (value == nullptr) return;
    const std::string at = path_child(place.path, "additionalProperties");
    if (!fields_of(schema, "properties").empty() && *value != Json(true)) {
      forbidden(at, "additionalProperties and properties are mutual exclusive");
    }
    if (!value->is_object()) return;
    Place next = place.child(at, place.compiled == nullptr ? nullptr : place.compiled->other.get());
    if (place.inside_meta) {
      next.defaults_forbidden = "inside additionalProperties applying to object metadata";
    }
    node(*value, next);
  }

  void properties(const Json& schema, const Place& place) {
    const bool is_resource = place.is_root || flag_of(schema, "x-kubernetes-embedded-resource");
    for (const auto& [key, field] : fields_of(schema, "properties").items()) {
      const Schema* compiled = place.compiled == nullptr ? nullptr : place.compiled->child(key);
      Place next = place.child(path_key(path_child(place.path, "properties"), key), compiled);
      if (is_resource && (key == "metadata" || key == "kind" || key == "apiVersion")) {
        next.inside_meta = true;
        if (place.is_root) next.defaults_forbidden = "in top-level " + key;
      }
      node(field, next);
    }
  }

  void junctors(const Json& schema, const Place& place) {
    if (const Json* no = keyword(schema, "not")) {
      node(*no, place.child(path_child(place.path, "not"), nullptr));
    }
    for (const std::string_view name : {"allOf", "oneOf", "anyOf"}) {
      const Json& list = nodes_of(schema, name);
      for (std::size_t i = 0; i < list.size(); ++i) {
        Place next = place.child(path_index(path_child(place.path, name), i), nullptr);
        node(list[i], next);
      }
    }
  }

  void items(const Json& schema, const Place& place) {
    const Json* items = item_schema_of(schema);
    if (items == nullptr) return;
    Place next = place.child(path_child(place.path, "items"),
                             place.compiled == nullptr ? nullptr : place.compiled->items.get());
    if (text_of(schema, "x-kubernetes-list-type") != "map" && next.uncorrelated.empty()) {
      next.uncorrelated = place.path;
    }
    node(*items, next);
  }

  void rules(const Json& schema, const Place& place, std::size_t before);
  void rule_texts(const Json& rule, const Json& schema, const std::string& path);
  void rule_program(const Json& rule, const cel::Rule& compiled, const Place& place,
                    const std::string& path);
};

void OpenApiCheck::rules(const Json& schema, const Place& place, std::size_t before) {
  const Json& rules = nodes_of(schema, "x-kubernetes-validations");
  if (rules.empty()) return;
  const std::string at = path_child(place.path, "x-kubernetes-validations");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rule_texts(rules[i], schema, path_index(at, i));
  }
  // A broken schema makes errors about its rules that nobody can act on.
  if (schema_causes.size() != before || place.compiled == nullptr) return;
  for (std::size_t i = 0; i < rules.size() && i < place.compiled->rules.size(); ++i) {
    rule_program(rules[i], *place.compiled->rules[i], place, path_index(at, i));
  }
}

void OpenApiCheck::rule_texts(const Json& rule, const Json& schema, const std::string& path) {
  const std::string_view message = text_of(rule, "message");
  const std::string_view expression = text_of(rule, "messageExpression");
  const std::string_view field_path = text_of(rule, "fieldPath");
  const std::string_view source = go_trimmed(text_of(rule, "rule"));
  const std::string message_path = path_child(path, "message");
  if (source.empty()) {
    required(path_child(path, "rule"), "rule is not specified");
  } else if (!message.empty() && go_trimmed(message).empty()) {
    invalid(message_path, message, "must be non-empty if specified");
  } else if (has_newline(go_trimmed(message))) {
    invalid(message_path, message, "must not contain line breaks");
  } else if (has_newline(source) && go_trimmed(message).empty()) {
    required(message_path, "message must be specified if rule contains line breaks");
  }
  if (!expression.empty() && go_trimmed(expression).empty()) {
    required(path_child(path, "messageExpression"),
             "messageExpression must be non-empty if specified");
  }
  static const std::vector<std::string> reasons{"FieldValueDuplicate", "FieldValueForbidden",
                                                "FieldValueInvalid", "FieldValueRequired"};
  if (const Json* reason = keyword(rule, "reason");
      reason != nullptr && std::ranges::find(reasons, text_of(rule, "reason")) == reasons.end()) {
    unsupported(path_child(path, "reason"), *reason, reasons);
  }
  if (field_path.empty()) return;
  const std::string at = path_child(path, "fieldPath");
  if (go_trimmed(field_path).empty()) invalid(at, field_path, "must be non-empty if specified");
  if (has_newline(field_path)) invalid(at, field_path, "must not contain line breaks");
  if (!cel::normalized_field_path(field_path, schema)) {
    invalid(at, field_path, "must be a valid path");
  }
}

void OpenApiCheck::rule_program(const Json& rule, const cel::Rule& compiled, const Place& place,
                                const std::string& path) {
  const auto refuse = [&](std::string_view field, const Json& value, std::string_view detail) {
    rule_causes.push_back(invalid_cause(path_child(path, field), value, detail));
  };
  if (!compiled.error.empty()) refuse("rule", printed_rule(rule), compiled.error);
  if (!compiled.message_error.empty()) {
    refuse("messageExpression", printed_rule(rule), compiled.message_error);
  }
  if (compiled.uses_old_self && !place.uncorrelated.empty()) {
    refuse("rule", compiled.rule,
           "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
               place.uncorrelated);
  }
  const Json* optional = keyword(rule, "optionalOldSelf");
  if (!compiled.uses_old_self && optional != nullptr) {
    refuse("optionalOldSelf", *optional, "may not be set if oldSelf is not used in rule");
  }
}

}  // namespace

std::vector<Cause> check_openapi(const Json& schema, const Schema* compiled,
                                 const CrdSchemaOptions& options) {
  OpenApiCheck check;
  check.node(schema, Place{.compiled = compiled, .path = options.prefix, .is_root = true});
  std::ranges::move(check.rule_causes, std::back_inserter(check.schema_causes));
  return std::move(check.schema_causes);
}

}  // namespace amdahl::local
