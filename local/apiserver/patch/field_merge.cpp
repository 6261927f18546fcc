#include "local/apiserver/patch/field_merge.hpp"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {

// NOLINTBEGIN(misc-no-recursion): values are at most kDepthMax deep.
namespace {

Json merged_members(Json live, const Json& configuration, const MergeShape* shape) {
  for (const auto& [name, value] : configuration.items()) {
    const auto met = live.find(name);
    if (met == live.end())
      live[name] = value;
    else
      *met = merged(std::move(*met), value, member_shape(shape, name));
  }
  return live;
}

// Where each element stands in the object's list. Elements that are twice there stand nowhere:
// which of them is meant cannot be known, so the configuration's item replaces all of them.
using Places = std::unordered_map<std::string_view, std::optional<std::size_t>>;

Places places_of(const std::vector<std::string>& elements) {
  Places places;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto [place, added] = places.emplace(elements[i], i);
    if (!added) place->second.reset();
  }
  return places;
}

// Merges two lists whose elements are known: `left` is the object's, `right` the configuration's.
class ListMerge {
 public:
  ListMerge(const MergeShape& shape, Json live, const Json& configuration)
      : shape_(shape), live_(std::move(live)), right_(configuration) {}

  std::optional<Json> run() {
    auto left = item_elements(shape_, live_);
    auto right = item_elements(shape_, right_);
    if (!left || !right) return std::nullopt;
    left_elements_ = std::move(*left);
    right_elements_ = std::move(*right);
    left_places_ = places_of(left_elements_);
    right_places_ = places_of(right_elements_);
    find_next_shared(0);
    while (l_ < left_elements_.size() || r_ < right_elements_.size()) step();
    return std::move(out_);
  }

 private:
  // The next element of the configuration, from `at` on, that the object has too.
  void find_next_shared(std::size_t at) {
    while (at < right_elements_.size() && !left_places_.contains(right_elements_[at])) ++at;
    shared_ = at;
  }

  void step() {
    const bool has_left = l_ < left_elements_.size();
    const bool has_right = r_ < right_elements_.size();
    if (has_left && !right_places_.contains(left_elements_[l_])) {
      out_.push_back(std::move(live_[l_++]));
      return;
    }
    const bool equal = has_left && has_right && left_elements_[l_] == right_elements_[r_];
    if (has_left && has_right && !equal && shared_ < right_elements_.size() &&
        right_elements_[shared_] != left_elements_[l_]) {
      ++l_;  // it comes, or came, at its place in the configuration
      return;
    }
    if (has_left && (equal || right_places_.at(left_elements_[l_]) < r_)) ++l_;
    if (has_right) take_right();
  }

  void take_right() {
    const Json& item = right_[r_];
    const auto met = left_places_.find(right_elements_[r_]);
    if (met == left_places_.end() || !met->second)
      out_.push_back(item);
    else
      out_.push_back(merged(std::move(live_[*met->second]), item, shape_.item.get()));
    if (shared_ == r_) find_next_shared(r_ + 1);
    ++r_;
  }

  const MergeShape& shape_;
  Json live_;
  const Json& right_;
  std::vector<std::string> left_elements_;
  std::vector<std::string> right_elements_;
  Places left_places_;
  Places right_places_;
  std::size_t l_ = 0;
  std::size_t r_ = 0;
  std::size_t shared_ = 0;
  Json out_ = Json::array();
};

// What is left of one child; nothing when all of it goes.
std::optional<Json> remaining(Json& child, const FieldSet* gone, const MergeShape* shape) {
  if (gone == nullptr) return std::move(child);
  if (gone->here()) return std::nullopt;
  return without_fields(std::move(child), *gone, shape);
}

}  // namespace

Json merged(Json live, const Json& configuration, const MergeShape* shape) {
  const Form form = form_of(shape, live);
  const bool full = form != Form::kLeaf && !live.empty();
  if (full && configuration.is_null()) return live;
  if (!full || form != form_of(shape, configuration)) return configuration;
  if (form == Form::kMembers) return merged_members(std::move(live), configuration, shape);
  if (auto list = ListMerge(*shape, std::move(live), configuration).run()) return std::move(*list);
  return configuration;
}

Json without_fields(Json value, const FieldSet& gone, const MergeShape* shape) {
  const Form form = form_of(shape, value);
  if (form == Form::kLeaf || gone.below().empty()) return value;
  if (form == Form::kMembers) {
    Json object = Json::object();
    for (auto& [name, child] : value.items()) {
      const FieldSet* const part = gone.child(member_element(name));
      if (auto rest = remaining(child, part, member_shape(shape, name)))
        object[name] = std::move(*rest);
    }
    return object;
  }
  const auto elements = item_elements(*shape, value);
  if (!elements) return value;
  Json list = Json::array();
  for (std::size_t i = 0; i < elements->size(); ++i)
    if (auto rest = remaining(value[i], gone.child((*elements)[i]), shape->item.get()))
      list.push_back(std::move(*rest));
  return list;
}

// NOLINTEND(misc-no-recursion)

}  // namespace amdahl::local
