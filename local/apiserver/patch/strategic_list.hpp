// Lists in a strategic merge patch: what is the same item, which order the result has.
//
// Inside of strategic_merge.cpp only. Pure, any thread. Failure: as strategic_merge.hpp says.
#pragma once

#include <string>
#include <unordered_map>

#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

inline constexpr const char* kDirective = "$patch";

// Tells items of one list apart: by the value itself, or by the value of a member.
class ItemIdentity {
 public:
  explicit ItemIdentity(std::string merge_key) : merge_key_(std::move(merge_key)) {}
  const std::string& merge_key() const { return merge_key_; }
  // kTerminal when the item has no merge key.
  Result<std::string> of(const Json& item) const;

 private:
  std::string merge_key_;  // empty: scalars
};

// Where an identity first stands in a list.
using ItemOrder = std::unordered_map<std::string, std::size_t>;
Result<ItemOrder> order_of(const Json& list, const ItemIdentity& identity);

// Items that `wanted` names take that order; all others stay where they were
// relative to each other, and before the first named item that was behind them on the server.
Result<Json> reordered(Json items, const ItemIdentity& identity, const ItemOrder& wanted,
                       const ItemOrder& server);

// All items are objects, or all are scalars of one kind. `scalars` is false for an empty list.
struct ListContent {
  bool scalars = false;
  bool empty = true;
};
Result<ListContent> content_of(const Json& first, const Json& second);

// As Go prints a value with %v, shortened: kube-apiserver's texts show objects so.
std::string go_text(const Json& value);

}  // namespace amdahl::local
