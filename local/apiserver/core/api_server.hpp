// The embedded API server without I/O: a Call and the time in, a Reply or a stream out.
//
// Writes take effect at once; the front journals take_mutations(), says committed() and only then
// sends the replies that wait for that version. Thread: one. Lifetime: outlives its streams; the
// rules outlive it. Failure: handle() always answers; load() refuses what it cannot read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "local/apiserver/core/kind_rules.hpp"
#include "local/apiserver/core/message.hpp"
#include "local/apiserver/core/object_table.hpp"
#include "local/apiserver/core/restore.hpp"
#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

class ApiServer {
 public:
  ApiServer(KindRules& rules, Rng rng, Options options = {});
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  Reply handle(const Call& call, WallTime now);
  // Time passes: bookmarks, timeouts, garbage. True: call again soon, work is left.
  bool tick(WallTime now);

  std::vector<Mutation> take_mutations() { return state_.table.take_mutations(); }
  void committed(std::uint64_t version) { state_.table.committed(version); }
  // Before the first call. `last_version` is the newest ever given out, also of what is gone.
  Result<void> load(std::vector<Restored> objects, std::uint64_t last_version);
  // Forgets events up to a version, as etcd's compaction does; for tests and simulation.
  void compact(std::uint64_t version) { state_.table.compact(version); }

  std::uint64_t version() const { return state_.table.version(); }
  std::uint64_t durable() const { return state_.table.durable(); }
  const ObjectTable& table() const { return state_.table; }

 private:
  Outcome<Reply> answer(const Call& call);
  Outcome<Reply> answer_resource(Request& request);
  Reply metrics() const;

  ServerState state_;
};

}  // namespace amdahl::local
