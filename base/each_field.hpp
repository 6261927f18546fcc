// Calls one function for every member of an object's field table, whatever its presence rule is.
//
//   each_field(spec, [](std::string_view name, auto& member, const FieldRules& rules) { ... });
//
// Visits one level; the function calls each_field again for members that are tables. Pure.
#pragma once

#include <string_view>

#include "base/fields.hpp"

namespace amdahl {

namespace each_field_detail {

template <class Visit>
struct Visitor : FieldVisitor {
  Visit& visit;
  explicit Visitor(Visit& function) : visit(function) {}

  template <class T>
  void required(std::string_view name, T& member, const FieldRules& rules = {}) {
    visit(name, member, rules);
  }
  template <class T>
  void optional(std::string_view name, T& member, const FieldRules& rules = {}) {
    visit(name, member, rules);
  }
  template <class T, class D>
  void defaulted(std::string_view name, T& member, const D&, const FieldRules& rules = {}) {
    visit(name, member, rules);
  }
};

}  // namespace each_field_detail

template <HasFields T, class Visit>
void each_field(T& object, Visit visit) {
  each_field_detail::Visitor<Visit> visitor(visit);
  fields(visitor, object);
}

}  // namespace amdahl
