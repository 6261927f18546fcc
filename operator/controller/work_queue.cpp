#include "operator/controller/work_queue.hpp"

#include <algorithm>
#include <functional>

#include "base/check.hpp"

namespace amdahl::controller {
namespace {

constexpr double kBackoffJitter = 0.2;  // a retry may come up to this share early
constexpr std::uint16_t kFailuresMax = 60'000;

std::chrono::nanoseconds backoff(const WorkQueueOptions& options, std::uint32_t failures) {
  std::chrono::nanoseconds delay = options.backoff_min;
  for (std::uint32_t i = 1; i < failures && delay < options.backoff_max; ++i) delay *= 2;
  return std::min(delay, options.backoff_max);
}

}  // namespace

std::size_t WorkQueue::ItemHash::operator()(const ItemKey& key) const {
  return std::hash<std::string_view>{}(key.name) + key.tenant * std::size_t{0x9e3779b97f4a7c15U};
}

WorkQueue::WorkQueue(boost::asio::any_io_executor executor, Clock& clock, Rng rng,
                     WorkQueueOptions options, WorkQueueObserver* observer)
    : clock_(clock),
      rng_(rng),
      options_(options),
      observer_(observer),
      retry_bucket_(options.retries_per_second, options.retries_burst, clock.monotonic()),
      index_(0, ItemHash{this}, ItemEqual{this}),
      changed_(std::move(executor)) {}

void WorkQueue::add(const ObjectKey& key, Priority priority) {
  const std::uint32_t at = find_or_make(key);
  if (at != kNone) make_ready(at, priority);
}

void WorkQueue::add_after(const ObjectKey& key, std::chrono::nanoseconds delay, Priority priority) {
  if (delay <= std::chrono::nanoseconds::zero()) return add(key, priority);
  const std::uint32_t at = find_or_make(key);
  if (at == kNone) return;
  Item& item = items_[at];
  if (item.place == Place::kQueued || item.place == Place::kDirty) return;  // runs sooner anyway
  const bool delayed = item.place == Place::kDelayed;
  item.priority = delayed ? std::max(item.priority, priority) : priority;
  const Monotonic due = clock_.monotonic() + delay;
  if (delayed && item.when <= due) return;
  if (delayed) cancel_delay(at);
  delay_until(at, due);
}

void WorkQueue::add_rate_limited(const ObjectKey& key, Priority priority) {
  const std::uint32_t at = find_or_make(key);
  if (at == kNone) return;
  Item& item = items_[at];
  item.failures = std::min<std::uint16_t>(item.failures + 1, kFailuresMax);
  const std::chrono::nanoseconds own = backoff(options_, item.failures);
  // Jitter makes a retry earlier, never later, so that backoff_max stays the longest silence.
  const std::chrono::nanoseconds early = rng_.jitter(own, kBackoffJitter) - own;
  const auto bucket = retry_bucket_.reserve(clock_.monotonic(), options_.backoff_max);
  if (observer_ != nullptr) observer_->on_retry();
  add_after(key, std::max(own - early, bucket), priority);
}

void WorkQueue::forget(const ObjectKey& key) {
  const std::uint32_t at = find(key);
  if (at != kNone) items_[at].failures = 0;
}

std::optional<ObjectKey> WorkQueue::try_pop() {
  promote_due();
  const std::optional<std::size_t> priority = next_priority();
  if (!priority) return std::nullopt;
  const std::uint32_t tenant = rings_[*priority].head;
  const std::uint32_t at = tenants_[tenant].queues[*priority].head;
  dequeue(at);
  if (!tenants_[tenant].queues[*priority].empty()) {  // the next turn is another namespace's
    rings_[*priority].erase(tenant, tenant_link(*priority));
    rings_[*priority].push_back(tenant, tenant_link(*priority));
  }
  Item& item = items_[at];
  item.place = Place::kIdle;
  item.running = true;
  if (observer_ != nullptr) observer_->on_pop(depth_, clock_.monotonic() - item.when);
  return ObjectKey{.ns = tenants_[tenant].ns, .name = item.name};
}

Task<Result<ObjectKey>> WorkQueue::pop() {
  for (;;) {
    if (closed_) co_return fail(Errc::kCancelled, "the work queue is closed");
    if (auto key = try_pop()) co_return *std::move(key);
    auto waited = co_await changed_.wait(clock_, next_due());
    if (!waited && waited.error().code != Errc::kTimeout)
      co_return std::unexpected<Error>(std::move(waited).error());
  }
}

void WorkQueue::done(const ObjectKey& key) {
  const std::uint32_t at = find(key);
  AMDAHL_CHECK(at != kNone && items_[at].running);
  items_[at].running = false;
  if (items_[at].place == Place::kDirty) enqueue(at);
  release_if_idle(at);
}

void WorkQueue::close() {
  closed_ = true;
  changed_.notify_all();
}

Monotonic WorkQueue::next_due() const {
  return delayed_.empty() ? Monotonic::max() : items_[delayed_.front()].when;
}

std::uint32_t WorkQueue::failures(const ObjectKey& key) const {
  const std::uint32_t at = find(key);
  return at == kNone ? 0 : items_[at].failures;
}

std::uint32_t WorkQueue::find(const ObjectKey& key) const {
  const auto tenant = tenant_index_.find(key.ns);
  if (tenant == tenant_index_.end()) return kNone;
  const auto found = index_.find(ItemKey{.tenant = tenant->second, .name = key.name});
  return found == index_.end() ? kNone : *found;
}

std::uint32_t WorkQueue::find_or_make(const ObjectKey& key) {
  if (const std::uint32_t at = find(key); at != kNone) return at;
  if (index_.size() >= options_.keys_max) {
    if (observer_ != nullptr) observer_->on_refused();
    return kNone;
  }
  std::uint32_t at = static_cast<std::uint32_t>(items_.size());
  if (free_items_.empty()) {
    items_.emplace_back();
  } else {
    at = free_items_.back();
    free_items_.pop_back();
  }
  const std::uint32_t tenant = tenant_of(key.ns);
  ++tenants_[tenant].items;
  items_[at] = Item{.name = key.name, .tenant = tenant};
  index_.insert(at);
  return at;
}

std::uint32_t WorkQueue::tenant_of(const std::string& ns) {
  if (const auto found = tenant_index_.find(ns); found != tenant_index_.end()) return found->second;
  std::uint32_t at = static_cast<std::uint32_t>(tenants_.size());
  if (free_tenants_.empty()) {
    tenants_.emplace_back();
  } else {
    at = free_tenants_.back();
    free_tenants_.pop_back();
  }
  tenants_[at] = Tenant{.ns = ns};
  tenant_index_.emplace(ns, at);
  return at;
}

void WorkQueue::release_if_idle(std::uint32_t at) {
  if (items_[at].place != Place::kIdle || items_[at].running) return;
  const std::uint32_t tenant = items_[at].tenant;
  index_.erase(at);
  items_[at] = Item{};
  free_items_.push_back(at);
  if (--tenants_[tenant].items > 0) return;
  tenant_index_.erase(tenants_[tenant].ns);
  tenants_[tenant] = Tenant{};
  free_tenants_.push_back(tenant);
}

void WorkQueue::make_ready(std::uint32_t at, Priority priority) {
  Item& item = items_[at];
  const Place was = item.place;
  const bool raised = priority > item.priority;
  if (was == Place::kIdle || raised) {
    if (was == Place::kQueued) dequeue(at);
    item.priority = priority;
  }
  if (was == Place::kDelayed) cancel_delay(at);
  if (was == Place::kDirty || (was == Place::kQueued && !raised)) return;
  if (was != Place::kQueued) item.when = clock_.monotonic();
  if (item.running) {
    item.place = Place::kDirty;
  } else {
    enqueue(at);
  }
}

void WorkQueue::enqueue(std::uint32_t at) {
  Item& item = items_[at];
  const auto priority = static_cast<std::size_t>(item.priority);
  Tenant& tenant = tenants_[item.tenant];
  if (tenant.queues[priority].empty())
    rings_[priority].push_back(item.tenant, tenant_link(priority));
  tenant.queues[priority].push_back(at, item_link());
  item.place = Place::kQueued;
  ++depth_;
  if (observer_ != nullptr) observer_->on_add(depth_);
  changed_.notify_all();
}

void WorkQueue::dequeue(std::uint32_t at) {
  Item& item = items_[at];
  const auto priority = static_cast<std::size_t>(item.priority);
  Tenant& tenant = tenants_[item.tenant];
  tenant.queues[priority].erase(at, item_link());
  if (tenant.queues[priority].empty()) rings_[priority].erase(item.tenant, tenant_link(priority));
  --depth_;
}

void WorkQueue::delay_until(std::uint32_t at, Monotonic due) {
  items_[at].when = due;
  items_[at].place = Place::kDelayed;
  delayed_.push(at, due_first(), heap_place());
  if (delayed_.front() == at) changed_.notify_all();  // somebody may sleep for too long
}

void WorkQueue::cancel_delay(std::uint32_t at) {
  delayed_.erase(at, due_first(), heap_place());
  items_[at].place = Place::kIdle;
}

void WorkQueue::promote_due() {
  const Monotonic now = clock_.monotonic();
  while (!delayed_.empty() && items_[delayed_.front()].when <= now) {
    const std::uint32_t at = delayed_.front();
    make_ready(at, items_[at].priority);
  }
}

std::optional<std::size_t> WorkQueue::next_priority() {
  std::size_t chosen = kPriorities;
  for (std::size_t priority = 0; priority < kPriorities; ++priority)
    if (!rings_[priority].empty()) chosen = priority;
  if (chosen == kPriorities) return std::nullopt;
  for (std::size_t lower = chosen; lower-- > 0;)
    if (!rings_[lower].empty() && passed_over_[lower] >= kPassedOverMax) chosen = lower;
  passed_over_[chosen] = 0;
  for (std::size_t lower = 0; lower < chosen; ++lower)
    if (!rings_[lower].empty()) ++passed_over_[lower];
  return chosen;
}

}  // namespace amdahl::controller
