// A JSON tree into structs through their field tables (base/fields.hpp), strictly: a name that no
// table has and a null are refused, where base/json_decode.hpp skips them. What a checkpoint says
// is either understood whole or not used.
//
// Thread: any. Failure: Errc::kInvalid, and the text begins with the path: "tensors[3].dtype: ...".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {

namespace tree_detail {

// The first fault, with a path that is put together on the way out.
struct Fault {
  std::string path = {};
  std::string what = {};
  bool say(std::string text) {
    what = std::move(text);
    return false;
  }
  bool inside(const std::string& step) {
    path = step + (path.empty() || path.starts_with('[') ? "" : ".") + path;
    return false;
  }
};

template <class T>
bool read(const Json& from, T& into, Fault& fault);

// Gives every field of a table its member of the object, and counts them.
struct TakeMembers : FieldVisitor {
  const Json& object;
  Fault& fault;
  std::size_t taken = 0;
  bool ok = true;
  TakeMembers(const Json& from, Fault& first_fault) : object(from), fault(first_fault) {}

  template <class T>
  void required(std::string_view name, T& member, const FieldRules& = {}) {
    if (ok && !take(name, member)) {
      ok = fault.say("required field is missing");
      fault.inside(std::string(name));
    }
  }
  template <class T>
  void optional(std::string_view name, T& member, const FieldRules& = {}) {
    if (ok) take(name, member);
  }

 private:
  template <class T>
  bool take(std::string_view name, T& member) {
    const auto found = object.find(name);
    if (found == object.end()) return false;
    ++taken;
    ok = read(*found, member, fault);
    if (!ok) fault.inside(std::string(name));
    return true;
  }
};

struct ForgetKnown : FieldVisitor {
  Json::object_t& object;
  explicit ForgetKnown(Json::object_t& members) : object(members) {}
  template <class T>
  void required(std::string_view name, T&, const FieldRules& = {}) {
    object.erase(std::string(name));
  }
  template <class T>
  void optional(std::string_view name, T&, const FieldRules& = {}) {
    object.erase(std::string(name));
  }
};

template <HasFields T>
bool read_table(const Json& from, T& into, Fault& fault) {
  if (!from.is_object()) return fault.say("expected an object");
  TakeMembers take(from, fault);
  fields(take, into);
  if (!take.ok || take.taken == from.size()) return take.ok;
  auto left = from.get<Json::object_t>();
  ForgetKnown forget(left);
  fields(forget, into);
  return fault.say("unknown field " + shown(left.begin()->first));
}

template <class T>
bool read_list(const Json& from, std::vector<T>& into, Fault& fault) {
  if (!from.is_array()) return fault.say("expected an array");
  into.resize(from.size());
  for (std::size_t i = 0; i < into.size(); ++i)
    if (!read(from[i], into[i], fault)) return fault.inside("[" + std::to_string(i) + "]");
  return true;
}

template <class T>
bool read_map(const Json& from, std::map<std::string, T>& into, Fault& fault) {
  if (!from.is_object()) return fault.say("expected an object");
  for (const auto& [name, value] : from.items())
    if (!read(value, into[name], fault)) return fault.inside("[" + shown(name) + "]");
  return true;
}

template <IntegerField T>
bool read_integer(const Json& from, T& into, Fault& fault) {
  if (!from.is_number_integer()) return fault.say("expected an integer");
  const auto number = from.get<std::int64_t>();
  if (!std::in_range<T>(number)) return fault.say("integer out of range");
  into = static_cast<T>(number);
  return true;
}

bool read_text(const Json& from, std::string& into, Fault& fault);
bool read_time(const Json& from, WallTime& into, Fault& fault);

template <NamedEnum E>
bool read_enum(const Json& from, E& into, Fault& fault) {
  std::string text;
  if (!read_text(from, text, fault)) return false;
  const auto value = parse_enum<E>(text);
  if (!value) return fault.say(shown(text) + " is not " + enum_choices<E>());
  into = *value;
  return true;
}

template <class T>
bool read(const Json& from, T& into, Fault& fault) {
  if constexpr (std::same_as<T, std::string>) {
    return read_text(from, into, fault);
  } else if constexpr (IntegerField<T>) {
    return read_integer(from, into, fault);
  } else if constexpr (std::same_as<T, WallTime>) {
    return read_time(from, into, fault);
  } else if constexpr (std::same_as<T, Json>) {
    into = from;
    return true;
  } else if constexpr (OptionalField<T>) {
    return read(from, into.emplace(), fault);
  } else if constexpr (ListField<T>) {
    return read_list(from, into, fault);
  } else if constexpr (MapField<T>) {
    return read_map(from, into, fault);
  } else if constexpr (NamedEnum<T>) {
    return read_enum(from, into, fault);
  } else {
    static_assert(HasFields<T>, "not a type that the tables of this folder hold");
    return read_table(from, into, fault);
  }
}

}  // namespace tree_detail

template <HasFields T>
Result<T> from_tree(const Json& tree) {
  T object{};
  tree_detail::Fault fault;
  if (tree_detail::read(tree, object, fault)) return object;
  return fail(Errc::kInvalid, "{}{}{}", fault.path, fault.path.empty() ? "" : ": ", fault.what);
}

}  // namespace amdahl::checkpoint
