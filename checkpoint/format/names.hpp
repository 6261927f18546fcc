// What objects of a checkpoint prefix are called, relative to it.
//
// Every name has one spelling. What parse_name() refuses is not ours: it is neither read nor
// deleted. Plain values; thread any; failure: none but "not ours".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl::checkpoint {

inline constexpr std::int64_t kStepMax = (std::int64_t{1} << 53) - 1;  // exact in every JSON reader
inline constexpr std::int32_t kRanksMax = 65'536;
inline constexpr std::int32_t kPartsMax = 65'536;  // data objects of one rank in one save
inline constexpr std::size_t kNameBytesMax = 128;
inline constexpr std::size_t kSaveIdDigits = 16;
inline constexpr std::size_t kBlobDigits = 64;

enum class ObjectKind : std::uint8_t {
  kOwner,     // owner.jsonl
  kData,      // data/STEP-SAVE-RANK-PART.safetensors
  kEncoded,   // data/STEP-SAVE-RANK-PART.amdahl
  kBlob,      // blobs/SHA256.safetensors
  kReceipt,   // receipts/STEP-SAVE-RANK.jsonl
  kManifest,  // manifests/STEP.jsonl
  kPin,       // pins/STEP
};

// Members that a kind has no use for stay as they are here.
struct ObjectName {
  ObjectKind kind = ObjectKind::kOwner;
  std::int64_t step = 0;
  std::string save_id = {};  // 16 hexadecimal digits, random, of one try to save
  std::int32_t rank = 0;
  std::int32_t part = 0;
  std::string sha256 = {};  // of a blob's bytes
  bool operator==(const ObjectName&) const = default;
};

// The name must be one that parse_name() gives back; another one is a bug.
std::string write_name(const ObjectName& name);
std::optional<ObjectName> parse_name(std::string_view text);

std::string manifest_name(std::int64_t step);
// Whether objects of ours lie below this folder: "manifests", "pins" and so on.
bool is_folder_of_ours(std::string_view name);
inline bool holds_tensors(ObjectKind kind) {
  return kind == ObjectKind::kData || kind == ObjectKind::kEncoded || kind == ObjectKind::kBlob;
}

}  // namespace amdahl::checkpoint
