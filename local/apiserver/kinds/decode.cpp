#include "local/apiserver/kinds/decode.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/text_forms.hpp"

namespace amdahl::local {

namespace {

// One step from the root to the value being read; lives on the stack of the reading functions.
struct Step {
  const Step* up = nullptr;
  std::string_view name = {};       // of a field or key; "" for a list's item
  std::size_t index = 0;            // of a list's item
  const TypeNode* owner = nullptr;  // the struct whose field this is
  int depth = 0;
};

std::string path_of(const Step* step) {
  if (step == nullptr || step->up == nullptr) return {};
  std::string path = path_of(step->up);
  if (step->name.empty()) return path + "[" + std::to_string(step->index) + "]";
  if (!path.empty()) path += '.';
  return path + std::string(step->name);
}

// Go's path has no indexes and no keys of maps.
std::string go_path(const Step* step) {
  if (step == nullptr || step->up == nullptr) return {};
  std::string path = go_path(step->up);
  if (step->owner == nullptr) return path;
  if (!path.empty()) path += '.';
  return path + std::string(step->name);
}

const TypeNode* owner_of(const Step* step) {
  while (step != nullptr && step->owner == nullptr) step = step->up;
  return step == nullptr ? nullptr : step->owner;
}

std::string_view json_name(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  return "number";
}

class Decoder {
 public:
  Result<void> value(const TypeNode& type, Json& value, const Step& step) {
    if (step.depth > kStructureDepthMax) {
      return fail(Errc::kInvalid, "the body is nested deeper than {}", kStructureDepthMax);
    }
    switch (type.primitive) {
      case Primitive::kAny:
        return {};
      case Primitive::kStruct:
        return structure(type, value, step);
      case Primitive::kMap:
        return map(type, value, step);
      case Primitive::kList:
        return list(type, value, step);
      default:
        return scalar(type, value, step);
    }
  }

  // What is always written, also when the body does not say it.
  static void fill(const TypeNode& type, Json& object, int depth = 0) {
    for (const FieldType& field : type.fields) {
      if (!field.has_absent && !field.struct_value) continue;
      if (object.contains(field.name) || depth > kStructureDepthMax) continue;
      Json& value = object[field.name];
      if (field.struct_value) {
        value = Json::object();
        fill(*field.type, value, depth + 1);
      } else {
        value = field.absent;
      }
    }
  }

  std::vector<std::string> unknown;

 private:
  static std::unexpected<Error> wrong_type(const TypeNode& type, std::string_view found,
                                           const Step& step) {
    const TypeNode* owner = owner_of(&step);
    if (owner == nullptr) {
      return fail(Errc::kInvalid, "json: cannot unmarshal {} into Go value of type {}", found,
                  type.go_name);
    }
    const std::string_view go_name = owner->go_name;
    return fail(Errc::kInvalid, "json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                found, go_name.substr(go_name.rfind('.') + 1), go_path(&step), type.go_name);
  }

  Result<void> structure(const TypeNode& type, Json& object, const Step& step) {
    if (!object.is_object()) return wrong_type(type, json_name(object), step);
    for (auto at = object.begin(); at != object.end();) {
      const FieldType* field = type.field(at.key());
      const Step next{.up = &step, .name = at.key(), .owner = &type, .depth = step.depth + 1};
      if (field == nullptr) {
        if (unknown.size() < kUnknownFieldsMax) unknown.push_back(path_of(&next));
      } else if (!at->is_null()) {
        TRY(value(*field->type, *at, next));
      }
      if (field == nullptr || at->is_null() || is_left_out(*field, *at)) {
        at = object.erase(at);
      } else {
        ++at;
      }
    }
    fill(type, object);
    return {};
  }

  static bool is_left_out(const FieldType& field, const Json& value) {
    if (field.keep_zero || field.has_absent) return false;
    switch (field.type->primitive) {
      case Primitive::kList:
      case Primitive::kMap:
        return value.empty();
      case Primitive::kString:
      case Primitive::kBytes:
        return value == "";
      case Primitive::kInt32:
      case Primitive::kInt64:
        return value == 0;
      case Primitive::kBool:
        return value == false;
      default:
        return false;
    }
  }

  Result<void> map(const TypeNode& type, Json& object, const Step& step) {
    if (!object.is_object()) return wrong_type(type, json_name(object), step);
    for (auto at = object.begin(); at != object.end(); ++at) {
      const Step next{.up = &step, .name = at.key(), .depth = step.depth + 1};
      TRY(element(*type.item, *at, next));
    }
    return {};
  }

  Result<void> list(const TypeNode& type, Json& items, const Step& step) {
    if (!items.is_array()) return wrong_type(type, json_name(items), step);
    std::size_t index = 0;
    for (Json& item : items) {
      const Step next{.up = &step, .index = index++, .depth = step.depth + 1};
      TRY(element(*type.item, item, next));
    }
    return {};
  }

  // A null in a list or map is the type's zero value there.
  Result<void> element(const TypeNode& type, Json& element, const Step& step) {
    if (element.is_null()) {
      if (type.primitive == Primitive::kStruct) element = Json::object();
      if (type.primitive == Primitive::kString || type.primitive == Primitive::kBytes) element = "";
      if (type.primitive == Primitive::kQuantity) element = "0";
      if (element.is_null()) return {};
    }
    return value(type, element, step);
  }

  static Result<void> integer(const TypeNode& type, Json& value, const Step& step) {
    if (!value.is_number()) return wrong_type(type, json_name(value), step);
    const bool narrow = type.primitive != Primitive::kInt64;
    bool fits = value.is_number_integer();
    if (value.is_number_unsigned()) {
      fits = value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    }
    if (fits && narrow) {
      const auto number = value.get<std::int64_t>();
      fits = number >= std::numeric_limits<std::int32_t>::min() &&
             number <= std::numeric_limits<std::int32_t>::max();
    }
    if (!fits) return wrong_type(type, "number " + value.dump(), step);
    return {};
  }

  static Result<void> scalar(const TypeNode& type, Json& value, const Step& step) {
    static const TypeNode text_type{.primitive = Primitive::kString, .go_name = "string"};
    static const TypeNode number_type{.primitive = Primitive::kInt32, .go_name = "int32"};
    switch (type.primitive) {
      case Primitive::kString:
        if (!value.is_string()) return wrong_type(type, json_name(value), step);
        return {};
      case Primitive::kBool:
        if (!value.is_boolean()) return wrong_type(type, json_name(value), step);
        return {};
      case Primitive::kFloat:
        if (!value.is_number()) return wrong_type(type, json_name(value), step);
        return {};
      case Primitive::kBytes:
        if (!value.is_string()) return wrong_type(type, json_name(value), step);
        return check_base64(value.get_ref<const std::string&>());
      case Primitive::kQuantity:
        return canonical_quantity(value);
      case Primitive::kTime:
      case Primitive::kMicroTime:
        if (!value.is_string()) return wrong_type(text_type, json_name(value), step);
        return canonical_time(value, type.primitive == Primitive::kMicroTime);
      case Primitive::kIntOrString:
        if (value.is_string()) return {};
        return integer(number_type, value, step);
      default:
        return integer(type, value, step);
    }
  }
};

}  // namespace

Result<Decoded> decode(const TypeNode& type, Json body) {
  Decoder decoder;
  TRY(decoder.value(type, body, Step{}));
  return Decoded{.object = std::move(body), .unknown_fields = std::move(decoder.unknown)};
}

// NOLINTNEXTLINE(misc-no-recursion) as deep as decode() allowed
void forget_empty_lists(const TypeNode& type, Json& value) {
  if (!type.forgetful) return;
  if (type.item != nullptr) {
    for (Json& item : value) forget_empty_lists(*type.item, item);
    return;
  }
  for (const FieldType& field : type.fields) {
    if (!field.forgets_empty() && !field.type->forgetful) continue;
    Json* found = member(value, field.name);
    if (found == nullptr || found->is_null()) continue;
    if (field.forgets_empty() && found->empty())
      *found = nullptr;
    else
      forget_empty_lists(*field.type, *found);
  }
}

std::string strict_error(const std::vector<std::string>& unknown_fields) {
  std::string text = "strict decoding error: ";
  for (const std::string& field : unknown_fields) {
    if (!text.ends_with(": ")) text += ", ";
    text += "unknown field \"" + field + "\"";
  }
  return text;
}

}  // namespace amdahl::local
