// The manifest of a step: its creation, only if absent, is the commit.
//
// Plain values; thread any. Failure: Errc::kCorrupt, kInvalid or kTooLarge; the text names the
// manifest and the field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/seal.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kManifestBytesMax = std::size_t{16} << 20U;
inline constexpr std::int64_t kTotalBytesMax = (std::int64_t{1} << 53) - 1;
inline constexpr std::int32_t kChainMax = 16;  // parents behind a checkpoint of deltas
inline constexpr std::uint32_t kMetricsMax = 32;
inline constexpr std::uint32_t kMetricNameMax = 63;
inline constexpr std::uint32_t kMetricTextMax = 32;
inline constexpr std::uint32_t kImageDigestMax = 71;  // sha256:HEX

struct ReceiptReference {
  std::int64_t bytes = 0;
  std::string sha256 = {};
  std::string root = {};
  bool operator==(const ReceiptReference&) const = default;
};
template <class V>
constexpr void fields(V& v, ReceiptReference& receipt) {
  v.required("bytes", receipt.bytes, {.doc = "Size of its text.", .min = 1, .max = kTotalBytesMax});
  v.required("sha256", receipt.sha256,
             {.doc = "SHA-256 of its text, hexadecimal.", .length_max = 64});
  v.required("root", receipt.root, {.doc = "Its root, hexadecimal.", .length_max = 64});
}

struct Parent {
  std::int64_t step = 0;
  std::string sha256 = {};
  std::int32_t chain = 1;
  bool operator==(const Parent&) const = default;
};
template <class V>
constexpr void fields(V& v, Parent& parent) {
  v.required("step", parent.step,
             {.doc = "Step of the checkpoint that deltas are against: an earlier one.",
              .min = 0,
              .max = kStepMax});
  v.required("sha256", parent.sha256,
             {.doc = "SHA-256 of its manifest's text, hexadecimal.", .length_max = 64});
  v.required(
      "chain", parent.chain,
      {.doc = "How many parents there are up to one without deltas.", .min = 1, .max = kChainMax});
}

struct Manifest {
  std::int32_t format = kFormatVersion;
  std::string job_uid = {};
  std::int64_t step = 0;
  std::string save_id = {};
  WallTime committed_at = {};
  std::string image_digest = {};
  std::vector<ReceiptReference> receipts = {};  // by rank
  std::int64_t bytes = 0;
  std::string root = {};
  std::optional<Parent> parent = {};
  std::map<std::string, std::string> metrics = {};
  bool operator==(const Manifest&) const = default;
};
template <class V>
constexpr void fields(V& v, Manifest& manifest) {
  v.required("format", manifest.format,
             {.doc = "Version of this format.", .min = kFormatVersion, .max = kFormatVersion});
  v.required("jobUid", manifest.job_uid,
             {.doc = "UID of the job.", .length_min = 1, .length_max = kUidMax});
  v.required("step", manifest.step, {.doc = "Step that was saved.", .min = 0, .max = kStepMax});
  v.required(
      "saveId", manifest.save_id,
      {.doc = "16 hexadecimal digits of the try that succeeded.", .length_max = kSaveIdDigits});
  v.required("committedAt", manifest.committed_at,
             {.doc = "When, by the clock of who committed; nothing is decided by it."});
  v.optional("imageDigest", manifest.image_digest,
             {.doc = "Of the trainer's image, sha256:HEX; a signed manifest has it.",
              .length_max = kImageDigestMax});
  v.required("receipts", manifest.receipts,
             {.doc = "One for each rank, in order; so many ranks there are.",
              .items_min = 1,
              .items_max = kRanksMax});
  v.required("bytes", manifest.bytes,
             {.doc = "Of all objects of all receipts; a blob counts once for each receipt.",
              .min = 0,
              .max = kTotalBytesMax});
  v.required("root", manifest.root, {.doc = "Root over all ranks, hexadecimal.", .length_max = 64});
  v.optional("parent", manifest.parent,
             {.doc = "What deltas are against; absent when there are none."});
  v.optional("metrics", manifest.metrics,
             {.doc = "Values at this step, as text like `$float` of a state.",
              .length_min = 1,
              .length_max = kMetricTextMax,
              .items_max = kMetricsMax});
}

// SHA-256( "amdahl-checkpoint-1\n"  u64 ranks  (32 bytes: root) for each rank ). It follows from
// the bytes of the tensors and how they are cut alone: equal states have equal roots.
std::string checkpoint_root(const std::vector<ReceiptReference>& receipts);
// Everything that can be said of a manifest without another object.
Result<void> check_manifest(const Manifest& manifest);

struct ReadManifest {
  Manifest manifest = {};
  std::int64_t bytes = 0;                   // of its text
  std::string sha256 = {};                  // of its text, hexadecimal
  std::optional<Signature> signature = {};  // as found: signature.hpp judges it
};
std::string write_manifest(const Manifest& manifest);
// Refuses a manifest that is not the one its name says.
Result<ReadManifest> read_manifest(std::string_view name, std::string_view text);

}  // namespace amdahl::checkpoint
