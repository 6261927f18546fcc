// The keys a controller has to look at, each at most once, in a fair order.
//
//            add                 try_pop              done
//   (idle) ---------> queued ----------------> running ------> (idle, forgotten)
//      \  add_after     ^  due or add             |  \ add while running: dirty,
//       `-------> delayed                         |   `------ queued again by done (Q1)
//
// Order: higher priority first (Q4), round robin over namespaces within a priority so that one
// tenant's thousands of keys do not delay another's, first in first out within a namespace. A
// priority that was passed over kPassedOverMax times gets the next turn, so nothing starves.
// Time: a delayed key keeps its earliest deadline, and an immediate add overrides the delay (Q3).
// Retries: 5 ms doubled up to 2 min for each key, and one bucket for all of them (Q2).
// Memory: about 160 bytes for each known key; the number of keys is that of the objects in the
// caches that feed the queue, and beyond kQueueKeysMax new ones are refused and counted.
// Cost: O(1) for add, pop and done; O(log n) with a delay.
//
// Thread: one. Lifetime: outlives every task in pop(). Failure: pop() returns Errc::kCancelled
// after close() or when its task is cancelled.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/controller/index_list.hpp"
#include "operator/controller/token_bucket.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::controller {

using kube::ObjectKey;

enum class Priority : std::uint8_t {
  kLow,     // first lists and periodic passes
  kNormal,  // what children did, retries, timers
  kHigh,    // what a user did
};
inline constexpr std::size_t kPriorities = 3;
inline constexpr std::uint32_t kPassedOverMax = 16;
inline constexpr std::size_t kQueueKeysMax = 1'000'000;

struct WorkQueueOptions {
  std::chrono::nanoseconds backoff_min = std::chrono::milliseconds{5};
  std::chrono::nanoseconds backoff_max = std::chrono::minutes{2};
  double retries_per_second = 10;
  double retries_burst = 100;
  std::size_t keys_max = kQueueKeysMax;
};

// Hooks for metrics; called inline.
class WorkQueueObserver {
 public:
  virtual ~WorkQueueObserver() = default;
  virtual void on_add(std::size_t depth) = 0;
  virtual void on_pop(std::size_t depth, std::chrono::nanoseconds waited) = 0;
  virtual void on_retry() = 0;
  virtual void on_refused() = 0;
};

class WorkQueue {
 public:
  WorkQueue(boost::asio::any_io_executor executor, Clock& clock, Rng rng,
            WorkQueueOptions options = {}, WorkQueueObserver* observer = nullptr);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Now. A key that waits keeps its place unless the priority is higher than the one it has.
  void add(const ObjectKey& key, Priority priority = Priority::kNormal);
  void add_after(const ObjectKey& key, std::chrono::nanoseconds delay,
                 Priority priority = Priority::kNormal);
  // After the key's own backoff, and not faster than the bucket for all retries allows.
  void add_rate_limited(const ObjectKey& key, Priority priority = Priority::kNormal);
  void forget(const ObjectKey& key);  // the next retry starts at backoff_min again

  // The caller works on the key until done(); nobody else gets it before.
  std::optional<ObjectKey> try_pop();
  Task<Result<ObjectKey>> pop();
  void done(const ObjectKey& key);
  void close();  // pop() ends for everybody, whatever is still queued

  Monotonic next_due() const;                   // Monotonic::max() when nothing is delayed
  std::size_t depth() const { return depth_; }  // ready to be popped
  std::size_t known() const { return index_.size(); }
  std::uint32_t failures(const ObjectKey& key) const;

 private:
  enum class Place : std::uint8_t { kIdle, kDelayed, kQueued, kDirty };

  struct Item {
    std::string name{};
    Monotonic when{};  // delayed: due at; queued: since
    Link link{};
    std::uint32_t tenant = kNone;
    std::uint32_t heap_at = kNone;
    std::uint16_t failures = 0;
    Priority priority = Priority::kLow;
    Place place = Place::kIdle;
    bool running = false;
  };
  // One namespace with at least one key.
  struct Tenant {
    std::string ns{};
    std::array<IndexList, kPriorities> queues{};
    std::array<Link, kPriorities> rings{};
    std::uint32_t items = 0;
  };

  struct ItemKey {
    std::uint32_t tenant = kNone;
    std::string_view name{};
    bool operator==(const ItemKey&) const = default;
  };
  // Lets the index hold bare positions and still be searched by key.
  struct ItemHash {
    using is_transparent = void;
    const WorkQueue* queue = nullptr;
    std::size_t operator()(const ItemKey& key) const;
    std::size_t operator()(std::uint32_t at) const { return (*this)(queue->item_key(at)); }
  };
  struct ItemEqual {
    using is_transparent = void;
    const WorkQueue* queue = nullptr;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(const ItemKey& a, std::uint32_t b) const { return a == queue->item_key(b); }
    bool operator()(std::uint32_t a, const ItemKey& b) const { return queue->item_key(a) == b; }
  };

  ItemKey item_key(std::uint32_t at) const { return {items_[at].tenant, items_[at].name}; }
  std::uint32_t find(const ObjectKey& key) const;    // kNone when unknown
  std::uint32_t find_or_make(const ObjectKey& key);  // kNone when full
  std::uint32_t tenant_of(const std::string& ns);
  void release_if_idle(std::uint32_t at);
  void make_ready(std::uint32_t at, Priority priority);
  void enqueue(std::uint32_t at);
  void dequeue(std::uint32_t at);
  void delay_until(std::uint32_t at, Monotonic due);
  void cancel_delay(std::uint32_t at);
  void promote_due();
  std::optional<std::size_t> next_priority();

  // How index_list.hpp reaches the links inside the slabs.
  auto item_link() {
    return [this](std::uint32_t at) -> Link& { return items_[at].link; };
  }
  auto tenant_link(std::size_t priority) {
    return [this, priority](std::uint32_t at) -> Link& { return tenants_[at].rings[priority]; };
  }
  auto due_first() const {
    return [this](std::uint32_t a, std::uint32_t b) { return items_[a].when < items_[b].when; };
  }
  auto heap_place() {
    return [this](std::uint32_t at) -> std::uint32_t& { return items_[at].heap_at; };
  }

  Clock& clock_;
  Rng rng_;
  WorkQueueOptions options_;
  WorkQueueObserver* observer_;
  TokenBucket retry_bucket_;
  std::deque<Item> items_;
  std::vector<std::uint32_t> free_items_;
  boost::unordered_flat_set<std::uint32_t, ItemHash, ItemEqual> index_;
  std::deque<Tenant> tenants_;
  std::vector<std::uint32_t> free_tenants_;
  std::unordered_map<std::string, std::uint32_t> tenant_index_;
  std::array<IndexList, kPriorities> rings_;  // the tenants that have something queued
  std::array<std::uint32_t, kPriorities> passed_over_{};
  IndexHeap delayed_;
  std::size_t depth_ = 0;
  bool closed_ = false;
  Notify changed_;
};

}  // namespace amdahl::controller
