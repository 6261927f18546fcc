// Pages of a listing as servers may give them, and as they should not.
//
// Pure. Thread: any. Lifetime: values only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace amdahl::checkpoint {

enum class FakeListing : std::uint8_t {
  kSorted,
  kReversed,       // within pages and across them
  kShuffled,       // the same
  kRepeated,       // each entry twice on its page, and the last one on the next page again
  kEmptyPages,     // before every page with entries, and at the end
  kLeadsToSelf,    // the second page names itself as the next
  kLeadsBack,      // the third page names the second
  kEndless,        // always another page, without entries
  kContradicting,  // each entry twice, with two sizes
  kUnasked,        // an entry that does not begin with the prefix
};

struct FakeListPage {
  struct Entry {
    std::string key = {};
    std::size_t bytes = 0;
  };
  std::vector<Entry> entries = {};
  std::string next = {};  // empty: the last page
};

// `all`: sizes by key, those that begin with the prefix. Entries that come or go between pages
// change nothing for the others: a page goes on behind a key, whether it is there or not.
FakeListPage fake_list(const std::map<std::string, std::size_t>& all, const std::string& after,
                       std::size_t page_max, FakeListing how);

}  // namespace amdahl::checkpoint
