// Which ranks of this node have ended while the trainer's command still runs.
//
// torchrun keeps a node whose ranks have returned until all other nodes are done, and says nothing
// meanwhile: a rank that waits for one that has left would look like one that works. Ranks are
// known as World knows them, and one has ended when no process of the trainer has it any more.
// A process that was a rank stays one as long as it lives, also when its environment can no longer
// be read: it became another user's, or wrote its title over it. Workers that a launcher started
// again, also as a world of another size, are other processes, and those before them are forgotten.
// Pure. Thread: one. Lifetime: that of the run. Failure: none; what cannot be seen has not ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "runtime/launch/settings.hpp"

namespace amdahl::launch {

class EndedRanks {
 public:
  static constexpr std::chrono::seconds kLook{1};
  // The environment of a process: no text when it has ended; kForbidden when it may not be read.
  using ReadEnvironment = std::function<Result<std::string>(pid_t)>;

  explicit EndedRanks(const Settings& settings);

  // There are ranks to look for: a world of more than one.
  bool wanted() const { return size_ > 1; }
  // All ranks of the node run in the processes that they ran in before. Costs little.
  bool unchanged(const ReadEnvironment& read) const;
  // `family`: the processes of the trainer, parents before their children.
  void look(std::span<const pid_t> family, const ReadEnvironment& read, Monotonic now);

  std::vector<std::int64_t> ranks() const;
  // Since when any of them has been seen to have ended.
  std::optional<Monotonic> since() const { return since_; }

 private:
  struct Seen {
    std::optional<std::int64_t> rank = {};  // of this world
    bool elsewhere = false;                 // a rank of another world
    bool mute = false;                      // it runs and says nothing
  };
  Seen see(pid_t process, const ReadEnvironment& read) const;

  std::int64_t size_ = 0;
  std::size_t here_ = 0;                // processes on this node
  std::map<std::int64_t, pid_t> runs_;  // a rank and its first process
  std::set<std::int64_t> seen_;         // of these workers, at most kReportEndedRanksMax
  std::set<pid_t> elsewhere_;           // processes that are ranks of other worlds
  std::optional<Monotonic> since_;
};

}  // namespace amdahl::launch
