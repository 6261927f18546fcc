#include "checkpoint/store/store.hpp"

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

Result<std::vector<StoredObject>> list_all(Store& store, std::string_view prefix,
                                           const StoreCall& call) {
  std::vector<StoredObject> all;
  std::string next;
  do {
    TRY(ListPage page, store.list(prefix, next, call));
    if (all.size() + page.objects.size() > kListedMax)
      return fail(Errc::kTooLarge, "{}{}: more than {} objects; is this a prefix of one job?",
                  store.describe(), prefix, kListedMax);
    for (StoredObject& object : page.objects) all.push_back(std::move(object));
    next = std::move(page.next);
  } while (!next.empty());
  return all;
}

}  // namespace amdahl::checkpoint
