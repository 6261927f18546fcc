// Whether a save of several ranks can still be completed, from the store alone: a rank writes its
// saves in order, so one that has a receipt of a later step and none of this one skipped it or
// failed, and will never write it.
//
// Relied on: within an attempt the steps of a rank grow (engine.hpp), and one process writes for
// it. While a trainer and an agent that lost each other both write for one rank, a save of theirs
// may be given up that one of them would still have written; the next one is not. Looking takes a
// listing of all receipts, so it is done seldom, and what the store cannot say is no reason to give
// anything up. Thread: one at a time. Lifetime: of one wait; store and clock outlive it. Failure:
// none; a look that failed has seen nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "checkpoint/engine/save_id.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

// Between two looks: doubled from one to the other.
inline constexpr std::chrono::seconds kLookPauseMin{1};
inline constexpr std::chrono::seconds kLookPauseMax{16};

// A rank that is beyond a save.
struct WentOn {
  std::int32_t rank = 0;
  std::int64_t step = 0;     // its later one
  bool wrote_first = false;  // it had written the save, too
};

class LaterSaves {
 public:
  // An empty attempt: nothing is ever seen.
  LaterSaves(Store& store, Clock& clock, std::string attempt, SaveKey save);

  // Nothing if it is too early to look. A rank without a receipt of the save and with a later one;
  // the receipt was looked for after the later one was seen.
  std::optional<WentOn> look(std::int32_t world_size, const StoreCall& call);
  // The same, or else rank 0 with a later receipt. It commits before it goes on: whoever reads the
  // manifest after this knows whether there will be one.
  std::optional<WentOn> look_for_commit(std::int32_t world_size, const StoreCall& call);

 private:
  struct Seen;
  std::optional<Seen> see(std::int32_t world_size, const StoreCall& call);
  std::optional<WentOn> without_receipt(const Seen& seen, const StoreCall& call);

  Store& store_;
  Clock& clock_;
  std::string attempt_;
  SaveKey save_;
  std::chrono::nanoseconds pause_ = kLookPauseMin;
  Monotonic next_;
};

// "rank 1 has gone on to step 30 without writing it".
std::string describe(const WentOn& went_on);

}  // namespace amdahl::checkpoint
