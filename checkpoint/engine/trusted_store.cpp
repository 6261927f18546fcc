#include "checkpoint/engine/trusted_store.hpp"

#include "checkpoint/engine/signing.hpp"
#include "checkpoint/format/names.hpp"

namespace amdahl::checkpoint {

Result<void> TrustedStore::read(std::string_view name, std::int64_t begin,
                                std::span<std::byte> into, const StoreCall& call) {
  TRY(within_->read(name, begin, into, call));
  const auto parsed = parse_name(name);
  if (!parsed || parsed->kind != ObjectKind::kManifest) return {};
  // Nobody reads a part of a manifest; of one, no signature holds.
  const std::string_view text = begin == 0 ? text_of(into) : std::string_view();
  TRY(const ReadManifest manifest, read_manifest(name, text));
  auto trusted = check_signature(text, manifest, {.keys = keys_, .job_uid = job_uid_});
  if (!trusted && trusted.error().code == Errc::kForbidden)
    return fail(Errc::kCorrupt, "{}", trusted.error().context);
  return trusted;
}

// Data is checked by who reads it, against sums that a signature covers; a manifest is checked
// here.
Result<void> TrustedStore::read_through(std::string_view name, StoreRange range, Scratch& scratch,
                                        const TakePiece& take, const StoreCall& call) {
  const auto parsed = parse_name(name);
  if (parsed && holds_tensors(parsed->kind))
    return within_->read_through(name, range, scratch, take, call);
  return Store::read_through(name, range, scratch, take, call);
}

Result<std::unique_ptr<Store>> trusting(std::unique_ptr<Store> store, const std::string& keys_file,
                                        std::string job_uid) {
  if (keys_file.empty()) return store;
  TRY(auto keys, read_public_keys(keys_file));
  return std::make_unique<TrustedStore>(std::move(store), std::move(keys), std::move(job_uid));
}

}  // namespace amdahl::checkpoint
