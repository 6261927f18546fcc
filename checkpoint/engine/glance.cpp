#include "checkpoint/engine/glance.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/canonical_text.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/verify.hpp"
#include "checkpoint/store/page_walk.hpp"

namespace amdahl::checkpoint {
namespace {

// What a kept object takes beside the characters of its name.
constexpr std::size_t kNameMemory = sizeof(StoredObject) + 24;

// The objects of all receipts so far; several threads add to it.
class Names {
 public:
  Names(Glance& into, std::size_t bytes_max) : into_(into), bytes_max_(bytes_max) {}

  void add(std::string_view name, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    const std::size_t more = name.size() + kNameMemory;
    if (held_ + more > bytes_max_) {
      into_.all_named = false;
      return;
    }
    held_ += more;
    into_.objects.push_back({.name = std::string(name), .bytes = bytes});
  }

 private:
  std::mutex mutex_;
  Glance& into_;
  std::size_t bytes_max_;
  std::size_t held_ = 0;
};

// The whole object, which has `bytes` bytes. kCorrupt: it has another size.
Result<std::string> read_sized(Store& store, const std::string& name, std::int64_t bytes,
                               const StoreCall& call) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  TRY(store.read(name, 0, std::as_writable_bytes(std::span(text)), call));
  return text;
}

Result<ReadManifest> see_manifest(Store& store, std::int64_t step, ReadBudget& budget,
                                  const StoreCall& call) {
  const std::string name = manifest_name(step);
  TRY(const std::int64_t bytes, store.size(name, call));
  if (std::cmp_greater(bytes, kManifestBytesMax))
    return fail(Errc::kTooLarge, "{}: {} bytes, a manifest has at most {}", name, bytes,
                kManifestBytesMax);
  auto hold = budget.take(static_cast<std::size_t>(bytes) * kManifestMemoryFactor, call);
  if (!hold) return wrap(std::move(hold).error(), "{} ({} bytes)", name, bytes);
  TRY(const std::string text, read_sized(store, name, bytes, call));
  return read_manifest(name, text);
}

struct ReceiptPlace {
  std::string name = {};
  const ReceiptReference& wanted;
};

Result<void> see_receipt(Store& store, const ReceiptPlace& place, ReadBudget& budget, Names& names,
                         const StoreCall& call) {
  const std::int64_t bytes = place.wanted.bytes;
  if (std::cmp_greater(bytes, kReceiptBytesMax))
    return fail(Errc::kTooLarge, "{}: its manifest says {} bytes, a receipt has at most {}",
                place.name, bytes, kReceiptBytesMax);
  TRY(const std::int64_t found, store.size(place.name, call));
  if (found != bytes)
    return fail(Errc::kCorrupt, "{} has {} bytes instead of {}", place.name, found, bytes);
  auto hold = budget.take(static_cast<std::size_t>(bytes), call);
  if (!hold) return wrap(std::move(hold).error(), "{}", place.name);
  TRY(const std::string text, read_sized(store, place.name, bytes, call));
  if (hex(sha256(text)) != place.wanted.sha256)
    return fail(Errc::kCorrupt, "{}: its SHA-256 is not the one that the manifest has", place.name);
  TRY(const OpenedDocument document, open_document(text, kReceiptBytesMax));
  const auto keep = [&](std::string_view name, std::int64_t size) { names.add(name, size); };
  if (!each_object(document.body_line, keep))
    return fail(Errc::kInvalid, "{}: its list of objects is not in canonical form", place.name);
  return {};
}

Result<void> see_receipts(Store& store, const Manifest& manifest, ReadBudget& budget, Names& names,
                          const StoreCall& call) {
  const int readers = manifest.receipts.size() > 1 ? kReceiptReadersMax : 1;
  return run_on_workers(manifest.receipts.size(), readers, [&](std::size_t rank) -> Result<void> {
    const ReceiptPlace place{.name = write_name({.kind = ObjectKind::kReceipt,
                                                 .step = manifest.step,
                                                 .save_id = manifest.save_id,
                                                 .rank = static_cast<std::int32_t>(rank)}),
                             .wanted = manifest.receipts[rank]};
    return see_receipt(store, place, budget, names, call);
  });
}

}  // namespace

Result<Glance> glance_at(Store& store, std::int64_t step, const GlanceOptions& options,
                         const StoreCall& call) {
  Glance glance{.step = step};
  Names names(glance, options.names_bytes_max);
  std::optional<Manifest> above;
  for (std::optional<std::int64_t> next = step; next;) {
    TRY(ReadManifest read, see_manifest(store, *next, options.budget, call));
    if (above) {
      TRY(verify_parent(*above, read));
    } else {
      glance.sha256 = read.sha256;
      glance.bytes = read.manifest.bytes;
      glance.committed_at = read.manifest.committed_at;
    }
    above = std::move(read.manifest);
    TRY(see_receipts(store, *above, options.budget, names, call));
    next = above->parent ? std::optional(above->parent->step) : std::nullopt;
  }
  std::ranges::sort(glance.objects, {}, &StoredObject::name);
  return glance;
}

Result<void> list_each(Store& store, std::string_view prefix, OnObject on_object,
                       const StoreCall& call) {
  PageWalk walk(kGlancePagesMax);
  std::string next;
  do {
    if (auto entered = walk.enter(next); !entered)
      return wrap(std::move(entered).error(), "list {}{}", store.describe(), prefix);
    TRY(const ListPage page, store.list(prefix, next, call));
    for (const StoredObject& object : page.objects) on_object(object);
    next = page.next;
  } while (!next.empty());
  return {};
}

Result<std::vector<std::int64_t>> newest_steps(Store& store, std::size_t count,
                                               const StoreCall& call) {
  std::set<std::int64_t> steps;
  const auto keep = [&](const StoredObject& object) {
    const auto name = parse_name(object.name);
    if (!name || name->kind != ObjectKind::kManifest) return;
    steps.insert(name->step);
    if (steps.size() > count) steps.erase(steps.begin());
  };
  TRY(list_each(store, "manifests/", keep, call));
  return std::vector<std::int64_t>(steps.rbegin(), steps.rend());
}

}  // namespace amdahl::checkpoint
