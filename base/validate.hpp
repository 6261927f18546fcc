// Checks the rules of the field tables on an object: ranges, lengths, counts, patterns, keys.
//
// What the API server enforces from the CRD schema, for objects that did not come through it.
// Failure: Errc::kInvalid with the path, "spec.nodes: 0 is less than 1". The first fault is
// reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/fields.hpp"
#include "base/list_keys.hpp"
#include "base/result.hpp"

namespace amdahl {

namespace validate_detail {

// Where we are, and the first fault. Every check returns whether all is well so far.
class Walk {
 public:
  bool ok() const { return !failed_; }
  Result<void> result() const;
  void number(std::int64_t value, const FieldRules& rules);
  void number(double value, const FieldRules& rules);
  void text(std::string_view value, const FieldRules& rules);
  void count(std::size_t items, const FieldRules& rules);
  void open(const Json& value, const FieldRules& rules);
  void fault(std::string_view what);

  // Runs `check` with a step added to the path.
  template <class Check>
  void inside(std::string step, Check check) {
    if (!ok()) return;
    const std::size_t before = path_.size();
    path_ += step;
    check();
    if (ok()) path_.resize(before);  // a fault keeps its path
  }
  std::string member(std::string_view name) const {
    return path_.empty() ? std::string(name) : "." + std::string(name);
  }

 private:
  bool failed_ = false;
  std::string path_;
  std::string what_;
};

template <class T>
void check(Walk& walk, const T& value, const FieldRules& rules);

struct CheckMembers : FieldVisitor {
  Walk& walk;
  explicit CheckMembers(Walk& shared) : walk(shared) {}
  template <class T>
  void required(std::string_view name, T& member, const FieldRules& rules = {}) {
    walk.inside(walk.member(name), [&] { check(walk, std::as_const(member), rules); });
  }
  template <class T>
  void optional(std::string_view name, T& member, const FieldRules& rules = {}) {
    // What would not be written is absent, and absent is valid.
    if constexpr (std::same_as<T, std::string> || ListField<T> || MapField<T> ||
                  std::same_as<T, PackedMap>)
      if (member.empty()) return;
    required(name, member, rules);
  }
  template <class T, class D>
  void defaulted(std::string_view name, T& member, const D&, const FieldRules& rules = {}) {
    required(name, member, rules);
  }
};

template <class T>
void check_list(Walk& walk, const T& list, const FieldRules& rules) {
  walk.count(list.size(), rules);
  std::size_t index = 0;
  for (const auto& item : list) {
    walk.inside("[" + std::to_string(index++) + "]",
                [&] { check(walk, static_cast<const typename T::value_type&>(item), rules); });
  }
  if constexpr (HasFields<typename T::value_type>) {
    if (rules.list_map_key.empty()) return;
    const auto repeated = repeated_key(list, rules.list_map_key);
    if (!repeated) return;
    walk.inside("[" + std::to_string(*repeated) + "]." + std::string(rules.list_map_key),
                [&] { walk.fault("an earlier item has the same"); });
  }
}

template <class T>
void check_map(Walk& walk, const T& map, const FieldRules& rules) {
  walk.count(map.size(), rules);
  for (const auto& [key, item] : map)
    walk.inside("[\"" + std::string(key) + "\"]", [&] { check(walk, item, rules); });
}

template <class T>
void check(Walk& walk, const T& value, const FieldRules& rules) {
  if constexpr (requires { FieldCodec<T>::fault(value, rules); }) {
    if (const std::string what = FieldCodec<T>::fault(value, rules); !what.empty())
      walk.fault(what);
  } else if constexpr (IntegerField<T>) {
    walk.number(std::int64_t{value}, rules);
  } else if constexpr (std::same_as<T, double>) {
    walk.number(value, rules);
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    walk.text(value, rules);
  } else if constexpr (std::same_as<T, Json>) {
    walk.open(value, rules);
  } else if constexpr (OptionalField<T>) {
    if (value) check(walk, *value, rules);
  } else if constexpr (ListField<T>) {
    check_list(walk, value, rules);
  } else if constexpr (MapField<T> || std::same_as<T, PackedMap>) {
    check_map(walk, value, rules);
  } else if constexpr (NamedEnum<T>) {
    if (enum_name(value).empty()) walk.fault("not " + enum_choices<T>());
  } else if constexpr (HasFields<T>) {
    CheckMembers members(walk);
    fields(members, const_cast<T&>(value));  // a table only names members
  }
}

}  // namespace validate_detail

template <HasFields T>
Result<void> validate(const T& object) {
  validate_detail::Walk walk;
  validate_detail::check(walk, object, {});
  return walk.result();
}

}  // namespace amdahl
