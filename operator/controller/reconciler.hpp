// What a controller calls for each key: observe, decide, apply.
//
// A Reconciler is called for one key at a time, for different keys at once. It may be called too
// often and must not mind; it may be stopped at every co_await and must not mind that either.
// Thread: one. Lifetime: outlives its controller. Failure, by Errc (Q5):
//   kTerminal             nothing but a change of the spec can help: not tried again before that
//   kCancelled, kFenced   stop; nothing is tried again by this process
//   anything else         tried again with backoff, whatever the outcome asked for
// An exception is a mistake of the Reconciler. It ends the work on its key, as kTerminal does, and
// not the process: one object must not stop the work on all others. AMDAHL_CHECK still does.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/writer.hpp"

namespace amdahl::controller {

// Waiting is not an error: look again after this time, unless something happens before.
struct Outcome {
  std::optional<std::chrono::nanoseconds> requeue_after{};
};

// What comes with a call. The writer lives as long as the call.
struct Reconcile {
  Writer& writer;
  WallTime now{};
  Monotonic steady{};  // the same moment, for what must not mind that a clock is set
  // The caches could not prove that they have seen our own writes (W2).
  bool caches_unproven = false;
};

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual Task<Result<Outcome>> reconcile(ObjectKey key, Reconcile context) = 0;
  // A reconcile of this key threw. The controller has counted and logged it, and leaves the key
  // alone as after kTerminal; this is for telling the object's user.
  virtual void on_exception(const ObjectKey& /*key*/, const Error& /*error*/) {}
};

// The shape of every reconciler here: decide() is pure, apply() is the only writer.
template <class Observed, class Plan>
class ObserveDecideApply : public Reconciler {
 public:
  // From Stores only; nullopt when the object is gone.
  virtual Result<std::optional<Observed>> observe(const ObjectKey& key) = 0;
  virtual Plan decide(const Observed& seen, WallTime now) const = 0;
  virtual Task<Result<Outcome>> apply(Plan plan, Writer& writer) = 0;

  Task<Result<Outcome>> reconcile(ObjectKey key, Reconcile context) final {
    CO_TRY(std::optional<Observed> seen, observe(key));
    if (!seen) co_return Outcome{};
    co_return co_await apply(decide(*seen, context.now), context.writer);
  }
};

}  // namespace amdahl::controller
