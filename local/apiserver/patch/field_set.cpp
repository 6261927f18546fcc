#include "local/apiserver/patch/field_set.hpp"

#include <algorithm>

#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {

// NOLINTBEGIN(misc-no-recursion): sets are built from values and FieldsV1 that are at most
// kDepthMax deep.
namespace {

// The members of a place before what is below them, as Kubernetes lists them.
void collect(const FieldSet& set, FieldPath& path, std::vector<FieldPath>& found) {
  for (const auto& [element, child] : set.below()) {
    if (!child.here()) continue;
    found.push_back(path);
    found.back().push_back(element);
  }
  for (const auto& [element, child] : set.below()) {
    path.push_back(element);
    collect(child, path, found);
    path.pop_back();
  }
}

Result<FieldSet> read_node(const Json& json) {
  if (!json.is_object()) return fail(Errc::kCorrupt, "FieldsV1: a field is not an object");
  FieldSet set;
  for (const auto& [key, value] : json.items()) {
    if (key == ".") {
      set.set_here();
      continue;
    }
    TRY(auto element, canonical_element(key));
    if (!element) continue;
    TRY(FieldSet child, read_node(value));
    const FieldSet* const known = set.child(*element);
    set.attach(*element, known == nullptr ? std::move(child) : child.united(*known));
  }
  if (set.below().empty()) set.set_here();
  return set;
}

Json written_node(const FieldSet& set) {
  Json json = Json::object();
  if (set.here() && !set.below().empty()) json["."] = Json::object();
  for (const auto& [element, child] : set.below()) json[element] = written_node(child);
  return json;
}

}  // namespace

FieldSet FieldSet::of(std::initializer_list<std::initializer_list<std::string_view>> paths) {
  FieldSet set;
  for (const auto& names : paths) {
    FieldPath path;
    for (const std::string_view name : names) path.push_back(member_element(name));
    set.insert(path);
  }
  return set;
}

Result<FieldSet> FieldSet::from_fields_v1(const Json& fields) {
  TRY(check_depth(fields, "fieldsV1"));
  TRY(FieldSet set, read_node(fields));
  set.here_ = false;
  return set;
}

Json FieldSet::to_fields_v1() const {
  Json json = written_node(*this);
  json.erase(".");
  return json;
}

bool FieldSet::has(const FieldPath& path) const {
  const FieldSet* at = this;
  for (const std::string& element : path) {
    at = at->child(element);
    if (at == nullptr) return false;
  }
  return at != this && at->here_;
}

bool FieldSet::contains(const FieldSet& other) const {
  return other.without(*this).empty();
}

void FieldSet::insert(const FieldPath& path) {
  if (path.empty()) return;
  FieldSet* at = this;
  for (const std::string& element : path) at = &at->below_[element];
  at->here_ = true;
}

std::vector<FieldPath> FieldSet::paths() const {
  std::vector<FieldPath> found;
  FieldPath path;
  collect(*this, path, found);
  return found;
}

FieldSet FieldSet::united(const FieldSet& other) const {
  FieldSet result = *this;
  result.add(other);
  return result;
}

FieldSet FieldSet::intersected(const FieldSet& other) const {
  FieldSet result;
  result.here_ = here_ && other.here_;
  for (const auto& [element, ours] : below_)
    if (const FieldSet* const theirs = other.child(element))
      result.attach(element, ours.intersected(*theirs));
  return result;
}

FieldSet FieldSet::without(const FieldSet& other) const {
  FieldSet result = *this;
  result.remove(other);
  return result;
}

FieldSet FieldSet::without_trees(const FieldSet& other) const {
  FieldSet result = *this;
  result.remove_trees(other);
  return result;
}

void FieldSet::add(FieldSet other) {
  here_ = here_ || other.here_;
  below_.merge(other.below_);
  for (auto& [element, theirs] : other.below_) below_.find(element)->second.add(std::move(theirs));
}

void FieldSet::remove(const FieldSet& other) {
  here_ = here_ && !other.here_;
  for (const auto& [element, theirs] : other.below_) {
    const auto ours = below_.find(element);
    if (ours == below_.end()) continue;
    ours->second.remove(theirs);
    if (ours->second.empty()) below_.erase(ours);
  }
}

void FieldSet::remove_trees(const FieldSet& other) {
  here_ = here_ && !other.here_;
  for (const auto& [element, theirs] : other.below_) {
    const auto ours = below_.find(element);
    if (ours == below_.end()) continue;
    if (!theirs.here_) ours->second.remove_trees(theirs);
    if (theirs.here_ || ours->second.empty()) below_.erase(ours);
  }
}

bool FieldSet::operator==(const FieldSet& other) const {
  return here_ == other.here_ && below_ == other.below_;
}

const FieldSet* FieldSet::child(std::string_view element) const {
  const auto found = below_.find(element);
  return found == below_.end() ? nullptr : &found->second;
}

void FieldSet::attach(std::string element, FieldSet child) {
  if (!child.empty()) below_.insert_or_assign(std::move(element), std::move(child));
}

// NOLINTEND(misc-no-recursion)

}  // namespace amdahl::local
