// The CRD schema and the reference page of a type, from its field table.
//
// schema<T>() is a structural OpenAPI v3 schema as apiextensions.k8s.io/v1 wants it. An enum that
// may meet unknown names is a short string there, so that an older schema lets newer names through;
// the page lists the names. A plain nested
// table that has defaults and nothing required gets the default {}, so that the API server fills in
// the same values as our own reader does. Recursive types have no schema. Failure: none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/json_encode.hpp"

namespace amdahl {

template <HasFields T>
Json schema();

// "### title", a Markdown table with one row a field, then the same for nested tables.
template <HasFields T>
std::string reference_table(std::string_view title);

namespace schema_detail {

// Adds what the rules say to the schema of a field.
void decorate(Json& type, std::string_view name, const FieldRules& rules);
Json integer_schema(bool is_32_bit, bool is_unsigned);
Json open_schema(const FieldRules& rules);
void add_validation(Json& type, const CelRule& rule);
Json open_enum_schema();

template <class T>
Json type_schema(const FieldRules& rules) {
  if constexpr (HasFieldCodec<T>) {
    Json type = Json::object();
    if constexpr (requires { FieldCodec<T>::describe(type, rules); })
      FieldCodec<T>::describe(type, rules);
    else
      FieldCodec<T>::describe(type);
    return type;
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (IntegerField<T>) {
    return integer_schema(sizeof(T) == sizeof(std::int32_t), std::is_unsigned_v<T>);
  } else if constexpr (std::same_as<T, double>) {
    return {{"type", "number"}, {"format", "double"}};
  } else if constexpr (std::same_as<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (std::same_as<T, WallTime>) {
    return {{"type", "string"}, {"format", "date-time"}};
  } else if constexpr (std::same_as<T, Json>) {
    return open_schema(rules);
  } else if constexpr (OptionalField<T>) {
    return type_schema<typename T::value_type>(rules);
  } else if constexpr (ListField<T>) {
    return {{"type", "array"}, {"items", type_schema<typename T::value_type>(rules)}};
  } else if constexpr (MapField<T>) {
    return {{"type", "object"},
            {"additionalProperties", type_schema<typename T::mapped_type>(rules)}};
  } else if constexpr (std::same_as<T, PackedMap>) {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  } else if constexpr (OpenEnum<T>) {
    return open_enum_schema();
  } else if constexpr (NamedEnum<T>) {
    Json names = Json::array();
    for (const auto& entry : enum_names(T{})) names.push_back(std::string(entry.name));
    return {{"type", "string"}, {"enum", std::move(names)}};
  } else {
    return schema<T>();
  }
}

// Whether a table has something required, and whether it has defaults, nested ones included.
struct SurveyDefaults : FieldVisitor {
  bool has_required = false;
  bool has_defaults = false;
  template <class T>
  void required(std::string_view, T&, const FieldRules& = {}) {
    has_required = true;
  }
  template <class T>
  void optional(std::string_view, T& member, const FieldRules& = {}) {
    if constexpr (HasFields<T>) {
      SurveyDefaults nested;
      fields(nested, member);
      has_defaults = has_defaults || (nested.has_defaults && !nested.has_required);
    }
  }
  template <class T, class D>
  void defaulted(std::string_view, T&, const D&, const FieldRules& = {}) {
    has_defaults = true;
  }
};

struct DescribeObject {
  Json object = {{"type", "object"}};

  template <class T>
  void required(std::string_view name, T&, const FieldRules& rules = {}) {
    add<T>(name, rules);
    object["required"].push_back(std::string(name));
  }
  template <class T>
  void optional(std::string_view name, T& member, const FieldRules& rules = {}) {
    Json& type = add<T>(name, rules);
    if constexpr (HasFields<T>) {
      SurveyDefaults survey;
      fields(survey, member);
      if (survey.has_defaults && !survey.has_required) type["default"] = Json::object();
    }
  }
  template <class T, class D>
  void defaulted(std::string_view name, T&, const D& fallback, const FieldRules& rules = {}) {
    T value{};
    assign_default(value, fallback);
    add<T>(name, rules)["default"] = encode(value, rules);
  }
  void rule(const CelRule& rule) { add_validation(object, rule); }

 private:
  template <class T>
  Json& add(std::string_view name, const FieldRules& rules) {
    Json& type = object["properties"][std::string(name)] = type_schema<T>(rules);
    decorate(type, name, rules);
    return type;
  }
};

// Words for the type column.
std::string range_text(const FieldRules& rules);
std::string length_text(const FieldRules& rules);

template <class T>
std::string type_text(const FieldRules& rules) {
  if constexpr (requires { FieldCodec<T>::type_name(rules); })
    return FieldCodec<T>::type_name(rules);
  else if constexpr (HasFieldCodec<T>)
    return std::string(FieldCodec<T>::type_name());
  else if constexpr (std::same_as<T, bool>)
    return "boolean";
  else if constexpr (IntegerField<T>)
    return "integer" + range_text(rules);
  else if constexpr (std::same_as<T, double>)
    return "number" + range_text(rules);
  else if constexpr (std::same_as<T, std::string>)
    return "string" + length_text(rules);
  else if constexpr (std::same_as<T, WallTime>)
    return "time";
  else if constexpr (OptionalField<T>)
    return type_text<typename T::value_type>(rules);
  else if constexpr (ListField<T>)
    return "list of " + type_text<typename T::value_type>(rules);
  else if constexpr (MapField<T>)
    return "map of " + type_text<typename T::mapped_type>(rules);
  else if constexpr (std::same_as<T, PackedMap>)
    return "map of string";
  else if constexpr (NamedEnum<T>)
    return enum_choices<T>();
  else
    return "object";
}

struct WriteReference : FieldVisitor {
  std::string title;
  std::string rows;
  std::string nested;

  explicit WriteReference(std::string_view section) : title(section) {}

  template <class T>
  void required(std::string_view name, T&, const FieldRules& rules = {}) {
    add<T>(name, "required", rules);
  }
  template <class T>
  void optional(std::string_view name, T&, const FieldRules& rules = {}) {
    add<T>(name, "", rules);
  }
  template <class T, class D>
  void defaulted(std::string_view name, T&, const D& fallback, const FieldRules& rules = {}) {
    T value{};
    assign_default(value, fallback);
    add<T>(name, "`" + encode(value, rules).dump() + "`", rules);
  }
  std::string page() const;

 private:
  void row(std::string_view name, std::string_view type, std::string_view fallback,
           const FieldRules& rules);

  template <class T>
  void add(std::string_view name, std::string_view fallback, const FieldRules& rules) {
    row(name, type_text<T>(rules), fallback, rules);
    descend<T>(title + "." + std::string(name));
  }
  template <class T>
  void descend(const std::string& path) {
    if constexpr (HasFieldCodec<T>)
      return;
    else if constexpr (OptionalField<T>)
      descend<typename T::value_type>(path);
    else if constexpr (ListField<T>)
      descend<typename T::value_type>(path + "[]");
    else if constexpr (MapField<T>)
      descend<typename T::mapped_type>(path + "[]");
    else if constexpr (HasFields<T>)
      nested += "\n" + reference_table<T>(path);
  }
};

}  // namespace schema_detail

template <HasFields T>
Json schema() {
  schema_detail::DescribeObject describe;
  T object{};
  fields(describe, object);
  return std::move(describe.object);
}

template <HasFields T>
std::string reference_table(std::string_view title) {
  schema_detail::WriteReference writer(title);
  T object{};
  fields(writer, object);
  return writer.page();
}

}  // namespace amdahl
