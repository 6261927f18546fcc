#include "checkpoint/store/store.hpp"

#include <algorithm>
#include <iterator>

#include "base/function_ref.hpp"
#include "checkpoint/store/page_walk.hpp"

namespace amdahl::checkpoint {

Result<void> Store::read_through(std::string_view name, StoreRange range, Scratch& scratch,
                                 const TakePiece& take, const StoreCall& call) {
  const auto bytes = static_cast<std::size_t>(range.bytes);
  if (scratch.size() < bytes) scratch.resize(bytes);
  TRY(read(name, range.begin, std::span(scratch).first(bytes), call));
  take(Bytes(scratch).first(bytes));
  return {};
}

Result<std::string> read_whole(Store& store, std::string_view name, std::size_t bytes_max,
                               const StoreCall& call) {
  TRY(const std::int64_t bytes, store.size(name, call));
  if (static_cast<std::uint64_t>(bytes) > bytes_max)
    return fail(Errc::kTooLarge, "{} in {}: {} bytes, at most {} are read", name, store.describe(),
                bytes, bytes_max);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  TRY(store.read(name, 0, std::as_writable_bytes(std::span(text)), call));
  return text;
}

namespace {

using OnOdd = function_ref<Result<void>(std::string_view)>;

Result<std::vector<StoredObject>> list_pages(Store& store, std::string_view prefix,
                                             const StoreCall& call, OnOdd on_odd) {
  const auto of_prefix = [&](Error error) {
    return wrap(std::move(error), "list {}{}", store.describe(), prefix);
  };
  std::vector<StoredObject> all;
  PageWalk walk;
  std::string next;
  do {
    if (auto entered = walk.enter(next); !entered) return of_prefix(std::move(entered).error());
    TRY(ListPage page, store.list(prefix, next, call));
    if (!page.odd.empty()) TRY(on_odd(page.odd));
    if (all.size() + page.objects.size() > kListedMax)
      return fail(Errc::kTooLarge, "{}{}: more than {} objects; is this a prefix of one job?",
                  store.describe(), prefix, kListedMax);
    std::ranges::move(page.objects, std::back_inserter(all));
    next = std::move(page.next);
  } while (!next.empty());
  if (auto sorted = sort_listed(all); !sorted) return of_prefix(std::move(sorted).error());
  return all;
}

}  // namespace

Result<std::vector<StoredObject>> list_all(Store& store, std::string_view prefix,
                                           const StoreCall& call) {
  return list_pages(store, prefix, call, [](std::string_view) { return Result<void>(); });
}

Result<std::vector<StoredObject>> list_complete(Store& store, std::string_view prefix,
                                                const StoreCall& call) {
  const auto refuse = [&](std::string_view name) -> Result<void> {
    return fail(Errc::kInvalid,
                "{}: {} is a symbolic link or an entry of another wrong type; replace it with the "
                "file or folder that belongs there, and try again",
                store.describe(), name);
  };
  return list_pages(store, prefix, call, refuse);
}

}  // namespace amdahl::checkpoint
