#include "checkpoint/format/manifest.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/format/digest.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/state.hpp"

namespace amdahl::checkpoint {
namespace {

bool is_image_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  return text.starts_with(kPrefix) && is_hex(text.substr(kPrefix.size()), 64);
}

Result<void> check_receipts(const Manifest& manifest) {
  for (std::size_t rank = 0; rank < manifest.receipts.size(); ++rank) {
    const ReceiptReference& receipt = manifest.receipts[rank];
    if (!is_hex(receipt.sha256, 64) || !is_hex(receipt.root, 64))
      return fail(Errc::kInvalid, "receipts[{}]: a digest is not 64 hexadecimal digits", rank);
  }
  if (checkpoint_root(manifest.receipts) != manifest.root)
    return fail(Errc::kInvalid, "root: does not fit the roots of the receipts");
  return {};
}

// A tree of JSON takes memory for every value: `{},{},` costs thirty times its text. What we write
// has one value in 40 bytes, so a text that is much denser is refused before it is parsed.
Result<void> check_density(std::string_view body) {
  constexpr std::size_t kBytesPerValueMin = 24;
  constexpr std::size_t kValuesAlwaysMax = 4096;  // names of metrics may have commas
  const auto values = static_cast<std::size_t>(
      std::ranges::count_if(body, [](char c) { return c == ',' || c == '{' || c == '['; }));
  if (values <= kValuesAlwaysMax + body.size() / kBytesPerValueMin) return {};
  return fail(Errc::kTooLarge, "{} values in {} bytes: a manifest has not so many", values,
              body.size());
}

}  // namespace

std::string checkpoint_root(const std::vector<ReceiptReference>& receipts) {
  Sha256 root;
  root.add(std::string_view("amdahl-checkpoint-1\n"));
  root.add_u64(receipts.size());
  for (const ReceiptReference& receipt : receipts)
    root.add(Bytes(digest_of_hex(receipt.root).value_or(Sha256Digest{})));
  return hex(root.finish());
}

Result<void> check_manifest(const Manifest& manifest) {
  if (!is_hex(manifest.save_id, kSaveIdDigits))
    return fail(Errc::kInvalid, "saveId: not {} hexadecimal digits", kSaveIdDigits);
  if (!manifest.image_digest.empty() && !is_image_digest(manifest.image_digest))
    return fail(Errc::kInvalid, "imageDigest: not sha256: and 64 hexadecimal digits");
  if (const auto& parent = manifest.parent) {
    if (parent->step >= manifest.step)
      return fail(Errc::kInvalid, "parent.step: {} is not before {}", parent->step, manifest.step);
    if (!is_hex(parent->sha256, 64))
      return fail(Errc::kInvalid, "parent.sha256: not 64 hexadecimal digits");
  }
  for (const auto& [name, value] : manifest.metrics) {
    if (name.empty() || name.size() > kMetricNameMax)
      return fail(Errc::kInvalid, "metrics: {}: a name has 1 to {} bytes", shown(name),
                  kMetricNameMax);
    if (!is_float_text(value))
      return fail(Errc::kInvalid, "metrics: {}: {} is not a float", shown(name), shown(value));
  }
  return check_receipts(manifest);
}

std::string write_manifest(const Manifest& manifest) {
  return seal_document(write_body(manifest));
}

Result<ReadManifest> read_manifest(std::string_view name, std::string_view text) {
  const auto read = [&]() -> Result<ReadManifest> {
    TRY(const OpenedDocument document, open_document(text, kManifestBytesMax));
    TRY(check_density(document.body_line));
    TRY(Manifest manifest, read_body<Manifest>(document.body_line));
    TRY(check_manifest(manifest));
    if (manifest_name(manifest.step) != name)
      return fail(Errc::kInvalid, "its content is that of {}", manifest_name(manifest.step));
    return ReadManifest{.manifest = std::move(manifest),
                        .bytes = static_cast<std::int64_t>(text.size()),
                        .sha256 = hex(sha256(text)),
                        .signature = document.seal.signature};
  };
  auto manifest = read();
  if (!manifest) return wrap(std::move(manifest).error(), "manifest {}", shown(name));
  return manifest;
}

}  // namespace amdahl::checkpoint
