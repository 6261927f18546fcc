// A set of field paths: who owns what in metadata.managedFields.
//
// A path is a sequence of elements written as FieldsV1 has them: "f:name" a member,
// `k:{"name":"x"}` an item of a keyed list, `v:"x"` an item of a set, "i:3" an index. Owning a path
// says nothing about the paths above and below it. A value type; any thread. Failure:
// from_fields_v1() refuses what does not parse (kCorrupt) and what is too deep (kTooLarge).
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"
#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

using FieldPath = std::vector<std::string>;  // elements, outermost first

class FieldSet {
 public:
  using Children = std::map<std::string, FieldSet, std::less<>>;

  // From paths of plain member names: of({{"status"}, {"metadata", "labels"}}).
  static FieldSet of(std::initializer_list<std::initializer_list<std::string_view>> paths);
  // Elements come out in canonical form; kinds of elements we do not know are left out.
  static Result<FieldSet> from_fields_v1(const Json& fields);
  Json to_fields_v1() const;

  bool empty() const { return !here_ && below_.empty(); }
  bool has(const FieldPath& path) const;  // is exactly this path a member?
  bool contains(const FieldSet& other) const;
  void insert(const FieldPath& path);
  std::vector<FieldPath> paths() const;  // each member once, parents first

  FieldSet united(const FieldSet& other) const;
  FieldSet intersected(const FieldSet& other) const;
  FieldSet without(const FieldSet& other) const;
  // Also without everything below a path of `other`.
  FieldSet without_trees(const FieldSet& other) const;
  // The same in place.
  void add(FieldSet other);
  void remove(const FieldSet& other);
  void remove_trees(const FieldSet& other);
  bool operator==(const FieldSet& other) const;

  // For walks that build a set from the leaves up. The root is the object and is never a member.
  bool here() const { return here_; }
  void set_here() { here_ = true; }
  const Children& below() const { return below_; }
  const FieldSet* child(std::string_view element) const;  // null: nothing there
  void attach(std::string element, FieldSet child);       // an empty child is dropped

 private:
  bool here_ = false;
  Children below_;  // no empty sets
};

}  // namespace amdahl::local
