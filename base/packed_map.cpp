#include "base/packed_map.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.hpp"

namespace amdahl {
namespace {

constexpr std::size_t kHeaderWords = 2;

const char* text_of(const std::uint32_t* block) {
  return reinterpret_cast<const char*>(block + kHeaderWords + 2 * std::size_t{block[0]});
}

// Ends are counted from the start of the text, keys and values alternating, so that each piece
// starts where the one before it ends.
std::string_view piece(const std::uint32_t* block, std::size_t index) {
  const std::uint32_t start = index == 0 ? 0 : block[kHeaderWords + index - 1];
  return {text_of(block) + start, block[kHeaderWords + index] - start};
}

}  // namespace

PackedMap::PackedMap(std::initializer_list<value_type> entries) {
  Builder builder;
  for (const auto& [key, value] : entries) builder.add(key, value);
  *this = builder.build();
}

PackedMap::PackedMap(const PackedMap& other) {
  *this = other;
}

PackedMap& PackedMap::operator=(const PackedMap& other) {
  if (this == &other) return *this;
  if (!other.block_) {
    block_.reset();
    return *this;
  }
  const std::size_t words = other.block_[1] / sizeof(std::uint32_t);
  auto copy = std::make_unique_for_overwrite<std::uint32_t[]>(words);
  std::memcpy(copy.get(), other.block_.get(), other.block_[1]);
  block_ = std::move(copy);
  return *this;
}

PackedMap::value_type PackedMap::at(std::size_t index) const {
  AMDAHL_CHECK(index < size());
  return {piece(block_.get(), 2 * index), piece(block_.get(), 2 * index + 1)};
}

std::optional<std::string_view> PackedMap::find(std::string_view key) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const int order = piece(block_.get(), 2 * middle).compare(key);
    if (order == 0) return piece(block_.get(), 2 * middle + 1);
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return std::nullopt;
}

bool PackedMap::operator==(const PackedMap& other) const {
  if (!block_ || !other.block_) return !block_ && !other.block_;
  return block_[1] == other.block_[1] &&
         std::memcmp(block_.get(), other.block_.get(), block_[1]) == 0;
}

void PackedMap::Builder::add(const PackedMap& map) {
  for (const auto& [key, value] : map) add(key, value);
}

void PackedMap::Builder::sort_keep_last() {
  // What Go writes is already sorted; then this is one pass.
  if (!std::is_sorted(entries_.begin(), entries_.end()))
    std::sort(entries_.begin(), entries_.end());
  auto out = entries_.begin();
  for (auto in = entries_.begin(); in != entries_.end(); ++in) {
    if (out != entries_.begin() && std::prev(out)->key == in->key)
      *std::prev(out) = *in;
    else
      *out++ = *in;
  }
  entries_.erase(out, entries_.end());
}

PackedMap PackedMap::Builder::build() {
  PackedMap map;
  if (entries_.empty()) return map;
  sort_keep_last();
  std::size_t text_size = 0;
  for (const Entry& entry : entries_) text_size += entry.key.size() + entry.value.size();
  const std::size_t text_words = (text_size + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
  const std::size_t words = kHeaderWords + 2 * entries_.size() + text_words;
  AMDAHL_CHECK(words <= std::numeric_limits<std::uint32_t>::max() / sizeof(std::uint32_t));
  map.block_ = std::make_unique_for_overwrite<std::uint32_t[]>(words);
  std::uint32_t* block = map.block_.get();
  block[words - 1] = 0;  // the bytes after the text take part in operator==
  block[0] = static_cast<std::uint32_t>(entries_.size());
  block[1] = static_cast<std::uint32_t>(words * sizeof(std::uint32_t));
  char* const text = const_cast<char*>(text_of(block));
  std::uint32_t end = 0;
  std::uint32_t* ends = block + kHeaderWords;
  const auto put = [&](std::string_view part) {
    if (!part.empty()) std::memcpy(text + end, part.data(), part.size());
    end += static_cast<std::uint32_t>(part.size());
    *ends++ = end;
  };
  for (const Entry& entry : entries_) {
    put(entry.key);
    put(entry.value);
  }
  entries_.clear();
  return map;
}

}  // namespace amdahl
