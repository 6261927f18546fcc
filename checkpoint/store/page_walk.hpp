// The way through the pages of a listing whose server is not trusted: it ends, and an answer to
// another question is found out.
//
// Servers may give entries in any order and repeat them, and pages without entries that lead on;
// what they may not do is lead back to a page or lead on for ever. A page that belongs to another
// prefix would make a collector believe that what it asked for is gone.
//
// Pure. Thread: one. Failure: kCorrupt for a server that does not keep to that, kTooLarge for more
// pages than a listing may have.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kListTokenBytesMax = 8192;

class PageWalk {
 public:
  explicit PageWalk(std::size_t pages_max = kListPagesMax) : pages_max_(pages_max) {}
  // Before the page that `token` leads to is asked for; empty: the first.
  Result<void> enter(const std::string& token);

 private:
  std::size_t pages_max_;
  std::set<std::string> entered_;
};

// Every object was asked for.
Result<void> check_page(const ListPage& page, std::string_view prefix);
// By name, each once. The same name with two sizes is kCorrupt: objects do not change.
Result<void> sort_listed(std::vector<StoredObject>& objects);

}  // namespace amdahl::checkpoint
