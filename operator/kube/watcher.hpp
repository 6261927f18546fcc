// Keeps one sink equal to what the API server has of one kind: lists, watches, resumes, for ever.
//
// The rules are in watch_step.hpp; this is the loop that has the socket and the clock. Thread: one.
// Lifetime: outlives run(); client and sink outlive the watcher. Failure: none that ends it; each
// problem goes to WatcherOptions::on_problem and is retried with backoff. Ends only by
// cancellation. An object that cannot be read keeps no other object from being seen: the sink gets
// what can be read of it, and a list goes on without an object of which nothing can be read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/raw_object.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/watch_frames.hpp"
#include "operator/kube/watch_step.hpp"

namespace amdahl::kube {

// Who receives the objects. Calls come in order, from one task (L10).
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // Reads an object and holds it until the next call; the view is its resourceVersion.
  virtual Result<std::string_view> decode(RawObject object) = 0;
  // The same for an object that decode() refused: at least its identity. By default nothing.
  virtual Result<std::string_view> decode_parts(RawObject object);
  virtual void begin_stage() = 0;                      // a list begins: empty the private set
  virtual void stage() = 0;                            // what was decoded joins the private set
  virtual void publish(std::string_view version) = 0;  // the private set replaces everything
  virtual void apply(EventKind kind) = 0;              // what was decoded changes the store
  virtual void advance(std::string_view version) = 0;  // a bookmark: nothing changed up to here
};

struct WatcherOptions {
  Resource resource = {};
  std::string ns = {};  // empty: all namespaces
  std::string labels = {};
  std::string fields = {};
  Shape shape = {};
  std::uint32_t page_size = 500;
  std::function<void(const Error&)> on_problem = {};  // optional; for log and metrics
};

struct WatcherCounts {
  std::uint64_t opened = 0;
  std::uint64_t lists = 0;
  std::uint64_t events = 0;
  std::uint64_t undecodable = 0;  // events that led to a new list
  std::uint64_t unreadable = 0;   // objects of which a part, or everything, was left out
  std::uint64_t rewinds = 0;
};

class Watcher {
 public:
  Watcher(Client& client, Rng rng, WatcherOptions options, ObjectSink& sink);

  Task<void> run();

  const WatcherCounts& counts() const { return counts_; }
  // When the server was last heard; how stale the sink may be.
  Monotonic last_heard() const { return last_heard_; }
  const WatchState& state() const { return state_; }

 private:
  // Each returns how long to wait before the next round; kCancelled ends the loop.
  using Round = Task<Result<std::chrono::milliseconds>>;
  Round stream_round();
  Round list_round();
  Round audit_round();
  Result<std::chrono::milliseconds> failed(const Error& error);

  // True: go on reading this stream. False: the round is over and delay_ is set.
  bool on_frame(std::string_view frame, Encoding encoding);
  bool on_object(const WatchFrame& frame);
  Result<std::string_view> decode(RawObject object);
  bool is_listing() const { return !std::holds_alternative<Watching>(state_.phase); }
  void unreadable(RawObject object, const Error& error);
  bool on_bookmark(const WatchFrame& frame);
  bool on_error_event(const WatchFrame& frame);
  bool undecodable(const Error& error);
  bool feed(const WatchInput& input);
  void broke(const Error& error);
  void report(const Error& error);
  std::string described() const;

  Client& client_;
  Clock& clock_;
  Rng rng_;
  WatcherOptions options_;
  ObjectSink& sink_;
  WatchState state_;
  WatcherCounts counts_;
  std::chrono::milliseconds delay_{0};
  Monotonic last_heard_{};
  Monotonic last_audit_{};
  std::optional<Monotonic> last_unreadable_;  // when one was reported
  bool broke_ = false;  // the last stream ended badly, and no audit has passed since
};

}  // namespace amdahl::kube
