#include "local/apiserver/schema/cel/value.hpp"

#include <array>
#include <limits>

#include "local/apiserver/schema/cel/meta_names.hpp"

namespace amdahl::local::cel {
namespace {

Result<Value> text_value(const std::string& text, const Schema* schema) {
  switch (schema == nullptr ? Format::kNone : schema->checks.format) {
    case Format::kDuration: {
      const auto duration = parse_duration(text);
      if (!duration) return fail(Errc::kInvalid, "Invalid duration {}", text);
      return Value{*duration};
    }
    case Format::kDate: {
      const auto date = parse_date(text);
      if (!date) return fail(Errc::kInvalid, "Invalid date formatted string {}", text);
      return Value{*date};
    }
    case Format::kDateTime: {
      const auto instant = parse_date_time(text);
      if (!instant) return fail(Errc::kInvalid, "Invalid date-time formatted string {}", text);
      return Value{*instant};
    }
    default:
      return Value{text};
  }
}

Result<Value> number_value(const Json& json, const Schema* schema) {
  const bool big = json.is_number_unsigned() &&
                   json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  const bool integer = json.is_number_integer() && !big;
  const SchemaType type = schema == nullptr ? SchemaType::kNone : schema->type;
  if (type == SchemaType::kNumber || (type == SchemaType::kNone && !integer)) {
    return Value{json.get<double>()};
  }
  if (!integer) return fail(Errc::kInvalid, "invalid data, expected int, got float64");
  return Value{json.get<std::int64_t>()};
}

const Schema* field_schema(const JsonView& view, const std::string& key) {
  if (view.resource) {
    if (const Schema* known = meta_names(key)) return known;
  }
  return view.schema == nullptr ? nullptr : view.schema->child(key);
}

bool has_declared_fields(const JsonView& view) {
  return view.resource || (view.schema != nullptr && !view.schema->properties.empty());
}

Result<std::optional<Value>> view_find(const JsonView& view, const std::string& name) {
  std::string key = name;
  const bool declared = has_declared_fields(view);
  if (declared) {
    auto plain = unescaped(name);
    if (!plain) return std::optional<Value>();
    key = std::move(*plain);
  }
  const auto found = view.json->find(key);
  if (found == view.json->end() || (declared && found->is_null())) return std::optional<Value>();
  const Schema* schema = field_schema(view, key);
  if (schema == nullptr) return std::optional<Value>();  // what the schema leaves open stays hidden
  TRY(auto value, value_of(*found, schema, schema->embedded_resource));
  return std::optional(std::move(value));
}

}  // namespace

bool Value::is_list() const {
  const auto* view = as<JsonView>();
  return as<ListPtr>() != nullptr || (view != nullptr && view->json->is_array());
}

bool Value::is_map() const {
  const auto* view = as<JsonView>();
  return as<MapPtr>() != nullptr || (view != nullptr && view->json->is_object());
}

std::unexpected<Error> no_overload() {
  return fail(Errc::kInvalid, "no such overload");
}
std::unexpected<Error> too_costly() {
  return fail(Errc::kTooLarge, "operation cancelled: actual cost limit exceeded");
}

std::string_view type_name(const Value& value) {
  if (value.is_list()) return "list";
  if (value.is_map()) return "map";
  constexpr std::array<std::string_view, 15> kNames{"null_type",
                                                    "bool",
                                                    "int",
                                                    "uint",
                                                    "double",
                                                    "string",
                                                    "bytes",
                                                    "list",
                                                    "map",
                                                    "map",
                                                    "google.protobuf.Timestamp",
                                                    "google.protobuf.Duration",
                                                    "kubernetes.Quantity",
                                                    "type",
                                                    "optional_type"};
  return kNames.at(value.data.index());
}

Result<Value> value_of(const Json& json, const Schema* schema, bool resource) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value{json.get<bool>()};
    case Json::value_t::string:
      return text_value(json.get_ref<const std::string&>(), schema);
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return number_value(json, schema);
    case Json::value_t::object:
    case Json::value_t::array:
      return Value{JsonView{&json, schema, resource}};
    case Json::value_t::null:
      if (schema == nullptr || schema->nullable) return Value{Null{}};
      return fail(Errc::kInvalid, "invalid data, got null for schema with nullable=false");
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return fail(Errc::kInvalid, "invalid data");
}

std::size_t list_size(const Value& list) {
  if (const auto* made = list.as<ListPtr>()) return (*made)->size();
  const auto* view = list.as<JsonView>();
  return view == nullptr ? 0 : view->json->size();
}

Result<Value> list_item(const Value& list, std::size_t index) {
  if (const auto* made = list.as<ListPtr>()) return (**made)[index];
  const auto* view = list.as<JsonView>();
  if (view == nullptr) return no_overload();
  const Schema* items = view->schema == nullptr ? nullptr : view->schema->items.get();
  return value_of((*view->json)[index], items, items != nullptr && items->embedded_resource);
}

std::size_t map_size(const Value& map) {
  if (const auto* made = map.as<MapPtr>()) return (*made)->size();
  const auto* view = map.as<JsonView>();
  return view == nullptr ? 0 : view->json->size();
}

Result<std::optional<Value>> map_find(const Value& map, const Value& key) {
  if (const auto* view = map.as<JsonView>()) {
    const auto* name = key.as<std::string>();
    if (name == nullptr || !view->json->is_object()) return no_overload();
    return view_find(*view, *name);
  }
  const auto* made = map.as<MapPtr>();
  if (made == nullptr) return no_overload();
  for (const auto& [name, value] : **made) {
    Steps free(1'000);  // keys are scalars
    TRY(const bool same, equal(name, key, free));
    if (same) return std::optional(value);
  }
  return std::optional<Value>();
}

Result<List> map_keys(const Value& map) {
  List keys;
  if (const auto* made = map.as<MapPtr>()) {
    for (const auto& [name, value] : **made) keys.push_back(name);
    return keys;
  }
  const auto* view = map.as<JsonView>();
  if (view == nullptr || !view->json->is_object()) return no_overload();
  for (const auto& [name, value] : view->json->items()) {
    if (field_schema(*view, name) != nullptr) keys.push_back(Value{field_name(*view, name)});
  }
  return keys;
}

std::string field_name(const JsonView& view, const std::string& key) {
  return has_declared_fields(view) ? escaped(key).value_or(key) : key;
}

Result<int> compare(const Value& a, const Value& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  const auto number = [](const Value& value) -> std::optional<long double> {
    if (const auto* i = value.as<std::int64_t>()) return static_cast<long double>(*i);
    if (const auto* u = value.as<std::uint64_t>()) return static_cast<long double>(*u);
    if (const auto* d = value.as<double>()) return static_cast<long double>(*d);
    return std::nullopt;
  };
  if (const auto x = number(a), y = number(b); x && y) {
    if (*x != *x || *y != *y) return fail(Errc::kInvalid, "NaN values cannot be ordered");
    return order(*x, *y);
  }
  if (a.data.index() != b.data.index()) return no_overload();
  if (const auto* x = a.as<bool>()) return order(*x, *b.as<bool>());
  if (const auto* x = a.as<std::string>()) return order(*x, *b.as<std::string>());
  if (const auto* x = a.as<Bytes>()) return order(x->data, b.as<Bytes>()->data);
  if (const auto* x = a.as<Instant>()) return order(*x, *b.as<Instant>());
  if (const auto* x = a.as<std::chrono::nanoseconds>()) {
    return order(*x, *b.as<std::chrono::nanoseconds>());
  }
  if (const auto* x = a.as<Quantity>()) return order(x->nanos, b.as<Quantity>()->nanos);
  return no_overload();
}

}  // namespace amdahl::local::cel
