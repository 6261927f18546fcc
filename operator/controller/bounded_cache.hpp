// A map of at most `capacity` entries that forgets the least recently used one first.
//
// Thread: one. Lifetime: references it gives out live until the next insertion. Failure: none.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.hpp"

namespace amdahl::controller {

template <class Value>
class BoundedCache {
 public:
  explicit BoundedCache(std::size_t capacity) : capacity_(capacity) { AMDAHL_CHECK(capacity > 0); }

  // Null when unknown; otherwise the entry becomes the most recently used.
  Value* find(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->second;
  }

  Value& put(std::string key, Value value) {
    if (Value* known = find(key)) return *known = std::move(value);
    if (order_.size() >= capacity_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(std::move(key), std::move(value));
    index_.emplace(order_.front().first, order_.begin());  // list nodes never move
    return order_.front().second;
  }

  void erase(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    const auto place = found->second;
    index_.erase(found);
    order_.erase(place);
  }

  std::size_t size() const { return order_.size(); }

 private:
  using Order = std::list<std::pair<const std::string, Value>>;
  std::size_t capacity_;
  Order order_;  // most recently used first
  std::unordered_map<std::string_view, typename Order::iterator> index_;
};

}  // namespace amdahl::controller
