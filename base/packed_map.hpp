// A sorted string-to-string map in one heap block, for the labels and annotations of cached
// objects.
//
// Reading is a binary search; changing means building a new one. An empty map owns no memory, the
// handle is one pointer. Thread: like std::string. Failure: none; the block stays under 4 GiB,
// which is checked.
//
//   block:  count | size | (key end, value end) x count | key bytes, value bytes, ...
#pragma once

#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace amdahl {

class PackedMap {
 public:
  using value_type = std::pair<std::string_view, std::string_view>;
  class Builder;
  class Iterator;

  PackedMap() noexcept = default;
  // Entries in any order; of equal keys the last one stays.
  PackedMap(std::initializer_list<value_type> entries);
  PackedMap(const PackedMap& other);
  PackedMap(PackedMap&& other) noexcept = default;
  PackedMap& operator=(const PackedMap& other);
  PackedMap& operator=(PackedMap&& other) noexcept = default;
  ~PackedMap() = default;

  std::optional<std::string_view> find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key).has_value(); }
  std::size_t size() const { return block_ ? block_[0] : 0; }
  bool empty() const { return !block_; }
  std::size_t heap_bytes() const { return block_ ? block_[1] : 0; }
  value_type at(std::size_t index) const;

  Iterator begin() const;
  Iterator end() const;
  bool operator==(const PackedMap& other) const;

 private:
  friend class Builder;
  std::unique_ptr<std::uint32_t[]> block_;
};

class PackedMap::Iterator {
 public:
  using value_type = PackedMap::value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using reference = value_type;

  Iterator() = default;
  Iterator(const PackedMap& map, std::size_t index) : map_(&map), index_(index) {}
  value_type operator*() const { return map_->at(index_); }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  Iterator operator++(int) {
    Iterator old = *this;
    ++index_;
    return old;
  }
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  const PackedMap* map_ = nullptr;
  std::size_t index_ = 0;
};

// Collects views and packs them once. The viewed text must live until build().
class PackedMap::Builder {
 public:
  void add(std::string_view key, std::string_view value) {
    entries_.push_back({key, value, static_cast<std::uint32_t>(entries_.size())});
  }
  void add(const PackedMap& map);
  // Of equal keys the one added last stays.
  PackedMap build();

 private:
  struct Entry {
    std::string_view key = {};
    std::string_view value = {};
    std::uint32_t order = 0;
    auto operator<=>(const Entry& other) const {
      return std::pair(key, order) <=> std::pair(other.key, other.order);
    }
    bool operator==(const Entry&) const = default;
  };
  void sort_keep_last();

  static constexpr std::size_t kInlineEntries = 24;
  boost::container::small_vector<Entry, kInlineEntries> entries_;
};

inline PackedMap::Iterator PackedMap::begin() const {
  return {*this, 0};
}
inline PackedMap::Iterator PackedMap::end() const {
  return {*this, size()};
}

}  // namespace amdahl
