#include "base/schema.hpp"

#include <fmt/format.h>

#include <limits>

namespace amdahl::schema_detail {
namespace {

// Rules about strings and numbers belong to the items of a list or map.
Json& scalar_part(Json& type) {
  Json* part = &type;
  while (part->contains("items") || part->contains("additionalProperties"))
    part = part->contains("items") ? &(*part)["items"] : &(*part)["additionalProperties"];
  return *part;
}

void decorate_scalar(Json& type, const FieldRules& rules) {
  // A string with a range has a codec that knows what the range means.
  const bool number = type.value("type", "") != "string";
  if (rules.min && number) type["minimum"] = *rules.min;
  if (rules.max && number) type["maximum"] = *rules.max;
  if (rules.length_min != 0) type["minLength"] = rules.length_min;
  if (rules.length_max != 0) type["maxLength"] = rules.length_max;
  if (!rules.pattern.empty()) type["pattern"] = std::string(rules.pattern);
  if (!rules.format.empty()) type["format"] = std::string(rules.format);
}

void decorate_list(Json& type, const FieldRules& rules) {
  if (rules.items_min != 0) type["minItems"] = rules.items_min;
  if (rules.items_max != 0) type["maxItems"] = rules.items_max;
  // Without a list type, server-side apply would fight over whole lists.
  std::string_view kind = "atomic";
  if (rules.list_set) kind = "set";
  if (!rules.list_map_key.empty()) {
    kind = "map";
    type["x-kubernetes-list-map-keys"] = Json::array({std::string(rules.list_map_key)});
  }
  type["x-kubernetes-list-type"] = std::string(kind);
}

void decorate_map(Json& type, const FieldRules& rules) {
  if (rules.items_min != 0) type["minProperties"] = rules.items_min;
  if (rules.items_max != 0) type["maxProperties"] = rules.items_max;
}

std::string escape_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

}  // namespace

void add_validation(Json& type, const CelRule& rule) {
  Json entry = {{"rule", std::string(rule.rule)}};
  if (!rule.message.empty()) entry["message"] = std::string(rule.message);
  if (!rule.field.empty()) entry["fieldPath"] = std::string(rule.field);
  type["x-kubernetes-validations"].push_back(std::move(entry));
}

void decorate(Json& type, std::string_view name, const FieldRules& rules) {
  if (!rules.doc.empty()) type["description"] = std::string(rules.doc);
  decorate_scalar(scalar_part(type), rules);
  if (type.contains("items")) decorate_list(type, rules);
  if (type.contains("additionalProperties")) decorate_map(type, rules);
  if (rules.immutable) {
    const std::string message = fmt::format("{} is immutable", name);
    add_validation(type, {.rule = "self == oldSelf", .message = message});
  }
  for (const CelRule& rule : rules.cel) add_validation(type, rule);
}

Json integer_schema(bool is_32_bit, bool is_unsigned) {
  Json type = {{"type", "integer"}, {"format", is_32_bit && !is_unsigned ? "int32" : "int64"}};
  if (is_unsigned) {
    type["minimum"] = 0;
    type["maximum"] = std::numeric_limits<std::uint32_t>::max();
  }
  return type;
}

Json open_enum_schema() {
  constexpr int kNameMax = 64;
  return {{"type", "string"}, {"maxLength", kNameMax}};
}

Json open_schema(const FieldRules& rules) {
  Json type = {{"x-kubernetes-preserve-unknown-fields", true}};
  if (!rules.any_type) type["type"] = "object";
  return type;
}

std::string range_text(const FieldRules& rules) {
  if (rules.min && rules.max) return fmt::format(", {} to {}", *rules.min, *rules.max);
  if (rules.min) return fmt::format(", at least {}", *rules.min);
  if (rules.max) return fmt::format(", at most {}", *rules.max);
  return "";
}

std::string length_text(const FieldRules& rules) {
  return rules.length_max == 0 ? "" : fmt::format(", up to {} characters", rules.length_max);
}

void WriteReference::row(std::string_view name, std::string_view type, std::string_view fallback,
                         const FieldRules& rules) {
  std::string text = escape_cell(rules.doc);
  if (rules.immutable) text += text.empty() ? "Immutable." : " Immutable.";
  rows += fmt::format("| `{}` | {} | {} | {} |\n", name, escape_cell(type), escape_cell(fallback),
                      text);
}

std::string WriteReference::page() const {
  return fmt::format(
      "### {}\n\n| field | type | default | description |\n| --- | --- | --- | --- |\n{}{}", title,
      rows, nested);
}

}  // namespace amdahl::schema_detail
