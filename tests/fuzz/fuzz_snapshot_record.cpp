// What lies in an arena beside a snapshot: what is accepted lies in the arena and is written back
// to the same text. Inputs are tried as they are, and as bodies whose seal fits.
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "checkpoint/engine/snapshot_record.hpp"
#include "checkpoint/format/seal.hpp"

namespace {

void try_text(const std::string& text) {
  namespace checkpoint = amdahl::checkpoint;
  constexpr std::int64_t kArenaBytes = 1 << 20;
  const auto record = checkpoint::read_snapshot_record(text, kArenaBytes);
  if (!record) return;
  for (const auto& object : record->objects)
    AMDAHL_CHECK(object.role == checkpoint::SnapshotRole::kStored ||
                 object.begin + object.record.bytes <= kArenaBytes);
  AMDAHL_CHECK(checkpoint::write_snapshot_record(*record) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_text(text);
  try_text(amdahl::checkpoint::seal_document(text.substr(0, text.find('\n'))));
  return 0;
}
