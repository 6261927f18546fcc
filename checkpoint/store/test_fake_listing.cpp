#include "checkpoint/store/test_fake_listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace amdahl::checkpoint {
namespace {

// Before the token of a page that has entries, where those without come between.
constexpr char kMark = '~';

// The place of a key in the order of a listing. It follows from the key alone.
std::uint64_t place_of(const std::string& key, FakeListing how) {
  if (how != FakeListing::kShuffled) return 0;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

bool is_before(const std::string& a, const std::string& b, FakeListing how) {
  if (how == FakeListing::kReversed) return b < a;
  return std::tuple(place_of(a, how), a) < std::tuple(place_of(b, how), b);
}

// Some entries after a key, and whether there are more.
FakeListPage ordered_page(const std::map<std::string, std::size_t>& all, const std::string& after,
                          std::size_t page_max, FakeListing how) {
  FakeListPage page;
  for (const auto& [key, bytes] : all)
    if (after.empty() || is_before(after, key, how)) page.entries.push_back({key, bytes});
  std::ranges::sort(page.entries,
                    [&](const auto& a, const auto& b) { return is_before(a.key, b.key, how); });
  if (page.entries.size() <= page_max) return page;
  page.entries.resize(page_max);
  page.next = page.entries.back().key;
  return page;
}

FakeListPage with_empty_pages(const std::map<std::string, std::size_t>& all,
                              const std::string& after, std::size_t page_max) {
  if (!after.starts_with(kMark)) return {.next = kMark + after};
  FakeListPage page = ordered_page(all, after.substr(1), page_max, FakeListing::kEmptyPages);
  // The last entries lead on as well: to two pages without any.
  if (!page.entries.empty()) page.next = page.entries.back().key;
  return page;
}

FakeListPage without_end(const std::map<std::string, std::size_t>& all, const std::string& after,
                         FakeListing how) {
  FakeListPage page;
  for (const auto& [key, bytes] : all) page.entries.push_back({key, bytes});
  if (how == FakeListing::kLeadsToSelf) page.next = "second";
  if (how == FakeListing::kLeadsBack) page.next = after == "second" ? "third" : "second";
  if (how != FakeListing::kEndless) return page;
  return {.next = fmt::format("{}", after.empty() ? 1 : std::stoi(after) + 1)};
}

}  // namespace

FakeListPage fake_list(const std::map<std::string, std::size_t>& all, const std::string& after,
                       std::size_t page_max, FakeListing how) {
  using enum FakeListing;
  if (how == kEmptyPages) return with_empty_pages(all, after, page_max);
  if (how == kLeadsToSelf || how == kLeadsBack || how == kEndless)
    return without_end(all, after, how);
  FakeListPage page = ordered_page(all, after, page_max, how);
  if (how == kUnasked) page.entries.push_back({.key = "some/prefix/unasked", .bytes = 1});
  if (how != kRepeated && how != kContradicting) return page;
  for (std::size_t i = page.entries.size(); i > 0; --i) {
    page.entries.push_back(page.entries[i - 1]);
    if (how == kContradicting) ++page.entries.back().bytes;
  }
  if (const auto last = all.find(after); last != all.end())
    page.entries.push_back({last->first, last->second});
  return page;
}

}  // namespace amdahl::checkpoint
