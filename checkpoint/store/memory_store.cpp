#include "checkpoint/store/memory_store.hpp"

#include <cstring>

namespace amdahl::checkpoint {

Result<void> MemoryStore::create(std::string_view name, std::span<const Bytes> pieces,
                                 const StoreCall&) {
  std::string content;
  for (const Bytes piece : pieces) content += text_of(piece);
  const std::scoped_lock lock(mutex_);
  if (!objects_.try_emplace(std::string(name), std::move(content)).second)
    return fail(Errc::kAlreadyExists, "create {} in memory: it is there", name);
  return {};
}

Result<std::int64_t> MemoryStore::size(std::string_view name, const StoreCall&) {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(name);
  if (found == objects_.end())
    return fail(Errc::kNotFound, "size of {} in memory: not there", name);
  return static_cast<std::int64_t>(found->second.size());
}

Result<void> MemoryStore::read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                               const StoreCall&) {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(name);
  if (found == objects_.end()) return fail(Errc::kNotFound, "read {} in memory: not there", name);
  const auto from = static_cast<std::size_t>(begin);
  if (from > found->second.size() || found->second.size() - from < into.size())
    return fail(Errc::kCorrupt, "read {} in memory: it ends at byte {}, before byte {}", name,
                found->second.size(), from + into.size());
  if (!into.empty()) std::memcpy(into.data(), found->second.data() + from, into.size());
  return {};
}

Result<ListPage> MemoryStore::list(std::string_view prefix, std::string_view next,
                                   const StoreCall&) {
  const std::scoped_lock lock(mutex_);
  ListPage page;
  auto at = next.empty() ? objects_.lower_bound(prefix) : objects_.upper_bound(next);
  for (; at != objects_.end() && at->first.starts_with(prefix); ++at) {
    if (page.objects.size() == kListPageMax) {
      page.next = page.objects.back().name;
      break;
    }
    page.objects.push_back(
        {.name = at->first, .bytes = static_cast<std::int64_t>(at->second.size())});
  }
  return page;
}

Result<void> MemoryStore::remove(std::string_view name, const StoreCall&) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = objects_.find(name); found != objects_.end()) objects_.erase(found);
  return {};
}

Result<std::int64_t> MemoryStore::remove_leftovers(WallTime, const StoreCall&) {
  return 0;
}

std::map<std::string, std::string, std::less<>> MemoryStore::objects() const {
  const std::scoped_lock lock(mutex_);
  return objects_;
}

void MemoryStore::replace(std::string_view name, std::string content) {
  const std::scoped_lock lock(mutex_);
  objects_.insert_or_assign(std::string(name), std::move(content));
}

}  // namespace amdahl::checkpoint
