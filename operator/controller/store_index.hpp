// A secondary index of a Store: from a value to the objects that have it.
//
// Thread, lifetime: those of its Store, the only one that changes it.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::controller {

template <class T>
class StoreIndex {
 public:
  using Ptr = std::shared_ptr<const T>;
  using ValuesOf = std::function<std::vector<std::string>(const T&)>;

  explicit StoreIndex(ValuesOf values_of) : values_of_(std::move(values_of)) {}

  const std::vector<Ptr>& find(std::string_view value) const {
    static const std::vector<Ptr> nobody;
    const auto found = entries_.find(value);
    return found == entries_.end() ? nobody : found->second;
  }

  void replace(const Ptr& before, const Ptr& now) {
    if (before) remove(before);
    if (now) add(now);
  }

  void rebuild(const auto& objects) {
    entries_.clear();
    for (const Ptr& object : objects) add(object);
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void add(const Ptr& object) {
    for (std::string& value : values_of_(*object)) entries_[std::move(value)].push_back(object);
  }

  void remove(const Ptr& object) {
    for (const std::string& value : values_of_(*object)) {
      const auto found = entries_.find(value);
      if (found == entries_.end()) continue;
      std::erase(found->second, object);
      if (found->second.empty()) entries_.erase(found);
    }
  }

  ValuesOf values_of_;
  boost::unordered_flat_map<std::string, std::vector<Ptr>, Hash, std::equal_to<>> entries_;
};

}  // namespace amdahl::controller
