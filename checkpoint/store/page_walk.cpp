#include "checkpoint/store/page_walk.hpp"

#include <algorithm>
#include <tuple>

#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {

Result<void> PageWalk::enter(const std::string& token) {
  if (token.size() > kListTokenBytesMax)
    return fail(Errc::kCorrupt, "a page that is named by {} bytes, more than {}", token.size(),
                kListTokenBytesMax);
  if (entered_.contains(token))
    return fail(Errc::kCorrupt, "page {} leads back to one that was read", entered_.size());
  if (entered_.size() == pages_max_)
    return fail(Errc::kTooLarge, "more than {} pages; is this a prefix of one job?", pages_max_);
  entered_.insert(token);
  return {};
}

Result<void> check_page(const ListPage& page, std::string_view prefix) {
  for (const StoredObject& object : page.objects)
    if (!object.name.starts_with(prefix))
      return fail(Errc::kCorrupt, "{} is listed, which was not asked for", shown(object.name));
  return {};
}

Result<void> sort_listed(std::vector<StoredObject>& objects) {
  std::ranges::sort(objects, {},
                    [](const StoredObject& object) { return std::tie(object.name, object.bytes); });
  const auto [end, last] = std::ranges::unique(objects);
  objects.erase(end, last);
  const auto twice = std::ranges::adjacent_find(objects, {}, &StoredObject::name);
  if (twice == objects.end()) return {};
  return fail(Errc::kCorrupt, "{} is listed with {} and with {} bytes", shown(twice->name),
              twice->bytes, std::next(twice)->bytes);
}

}  // namespace amdahl::checkpoint
