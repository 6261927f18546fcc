// The smaller form of a snapshot: bf16 in planes, and as the difference to an earlier snapshot
// where there is one. What would not become smaller stays plain.
//
// Thread: any. Lifetime: the result holds its own bytes, and views of the snapshot's. Failure: that
// of lay_out().
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "checkpoint/engine/snapshot_record.hpp"

namespace amdahl::checkpoint {

// Plain tensors of an earlier snapshot, which the caller keeps as they are.
class BaseTensors {
 public:
  BaseTensors() = default;
  BaseTensors(const SnapshotRecord& record, std::span<const Bytes> objects);
  Bytes find(const TensorRecord& tensor) const;  // empty: none

 private:
  using Key = std::tuple<std::string, Dtype, Shape, Shape, Shape>;
  static Key key(const TensorRecord& tensor);
  std::map<Key, Bytes> tensors_;
};

struct EncodedSnapshot {
  SnapshotRecord record = {};
  std::vector<Bytes> bytes = {};       // for each object
  std::deque<std::string> owned = {};  // of those that were encoded
  bool has_deltas = false;
};
Result<EncodedSnapshot> encode_snapshot(const SnapshotRecord& record,
                                        std::span<const Bytes> objects, const BaseTensors& base);

}  // namespace amdahl::checkpoint
