#include "operator/controller/controller.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

#include "base/check.hpp"
#include "base/deadline.hpp"

namespace amdahl::controller {
namespace {

constexpr std::chrono::milliseconds kSyncPoll{50};
// The cache's own events wake a key that waits for them; this is for bookmarks.
constexpr std::chrono::milliseconds kGateRetry{100};
constexpr std::chrono::milliseconds kRequeueMin{1};  // a mistake must not become a hot loop
constexpr std::size_t kWorkersMax = 256;
constexpr std::size_t kKeysPerTurn = 16;
constexpr double kFullPassJitter = 1.0;

std::string words_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "of an unknown type";
  }
}

}  // namespace

Controller::Controller(Runtime runtime, Rng rng, ControllerOptions options, Reconciler& reconciler)
    : runtime_(std::move(runtime)),
      clock_(runtime_.client.clock()),
      rng_(rng),
      options_(std::move(options)),
      reconciler_(reconciler),
      log_(runtime_.log.with({{"controller", options_.name}})),
      queue_metrics_(runtime_.metrics, options_.name),
      metrics_(runtime_.metrics, options_.name),
      queue_(runtime_.executor, clock_, rng_.split(), {}, &queue_metrics_) {
  AMDAHL_CHECK(options_.workers > 0 && options_.workers <= kWorkersMax);
}

void Controller::subscribe(Source& source, ChangeHandler handler) {
  if (std::ranges::find(sources_, &source) == sources_.end()) sources_.push_back(&source);
  source.subscribe(std::move(handler));
}

void Controller::reconciles(Source& primary) {
  AMDAHL_CHECK(primary_ == nullptr);
  primary_ = &primary;
  subscribe(primary, [this](const Change& change) {
    if (change.type == ChangeType::kUpdated && !change.relevant) return;
    queue_.add(change.key, change.is_initial ? Priority::kLow : Priority::kHigh);
  });
}

void Controller::owns(Source& children) {
  watches(children, [this](const Change& change) {
    const bool ours = change.controller && change.controller->kind == primary_->kind();
    return ours ? std::vector<ObjectKey>{{.ns = change.key.ns, .name = change.controller->name}}
                : std::vector<ObjectKey>{};
  });
}

void Controller::watches(Source& other, MapToKeys map_to_keys) {
  subscribe(other, [this, map = std::move(map_to_keys)](const Change& change) {
    for (const ObjectKey& key : map(change))
      queue_.add(key, change.is_initial ? Priority::kLow : Priority::kNormal);
  });
}

bool Controller::synced() const {
  return std::ranges::all_of(sources_, [](const Source* source) { return source->synced(); });
}

Task<Result<void>> Controller::run(Epoch epoch) {
  AMDAHL_CHECK(primary_ != nullptr);
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  epoch_ = epoch;
  while (!synced() && !stopping_)
    if (!co_await clock_.sleep_for(kSyncPoll))
      co_return fail(Errc::kCancelled, "{} stopped", name());
  TaskGroup workers(runtime_.executor);
  for (std::size_t i = 0; i < options_.workers; ++i)
    workers.spawn(fmt::format("{} worker {}", options_.name, i), work());
  const bool ended = co_await workers.join(clock_, Monotonic::max());
  if (!ended) {  // cancelled: so are the reconciles
    stop();
    workers.stop();
    co_await boost::asio::this_coro::reset_cancellation_state();
    (void)co_await workers.join(clock_, Monotonic::max());
    co_return fail(Errc::kCancelled, "{} stopped", name());
  }
  if (fenced_) co_return std::unexpected<Error>(*fenced_);
  co_return Result<void>{};
}

void Controller::stop() {
  stopping_ = true;
  queue_.close();
}

Task<void> Controller::work() {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  for (std::size_t worked = 1;; ++worked) {
    const auto key = co_await queue_.pop();
    if (!key) co_return;
    co_await process(*key);
    queue_.done(*key);
    // Reconciles that never wait would keep the loop to themselves: watches stand still, and what
    // Asio frees only between turns piles up for as many keys as a first list has.
    if (worked % kKeysPerTurn == 0) co_await boost::asio::post(boost::asio::use_awaitable);
  }
}

Task<void> Controller::process(ObjectKey key) {
  bool caches_unproven = false;
  if (!gate_allows(key, caches_unproven)) co_return;
  Writer writer(runtime_.client, gate_, key,
                {.field_manager = options_.field_manager, .epoch = epoch_});
  const Monotonic start = clock_.monotonic();
  metrics_.active.add(1);
  const auto result = co_await guarded(key, {.writer = writer,
                                             .now = clock_.wall(),
                                             .steady = clock_.monotonic(),
                                             .caches_unproven = caches_unproven});
  metrics_.active.add(-1);
  const std::chrono::nanoseconds took = clock_.monotonic() - start;
  metrics_.seconds.observe(took);
  finish(key, result, took);
}

Task<Result<Outcome>> Controller::guarded(ObjectKey key, Reconcile context) {
  std::exception_ptr thrown;
  try {
    co_return co_await with_deadline(clock_, clock_.monotonic() + options_.reconcile_deadline,
                                     reconciler_.reconcile(key, context),
                                     fmt::format("reconcile {}", to_string(key)));
  } catch (...) {
    thrown = std::current_exception();
  }
  if (is_cancellation(thrown)) std::rethrow_exception(thrown);
  Error error{
      .code = Errc::kTerminal,
      .context = fmt::format("reconcile {}: exception: {}", to_string(key), words_of(thrown))};
  metrics_.exceptions.increment();
  reconciler_.on_exception(key, error);
  co_return std::unexpected<Error>(std::move(error));
}

bool Controller::gate_allows(const ObjectKey& key, bool& caches_unproven) {
  const auto version = [this](std::string_view kind) { return cache_version(kind); };
  switch (gate_.check(key, version, clock_.monotonic())) {
    case GateVerdict::kReady:
      return true;
    case GateVerdict::kWait:
      metrics_.gate_waits.increment();
      queue_.add_after(key, kGateRetry);
      return false;
    case GateVerdict::kLiveRead:
      metrics_.gate_live_reads.increment();
      caches_unproven = true;
      return true;
  }
  return true;
}

std::optional<std::string> Controller::cache_version(std::string_view kind) const {
  for (const Source* source : sources_)
    if (source->kind() == kind) return source->version();
  return std::nullopt;
}

void Controller::finish(const ObjectKey& key, const Result<Outcome>& result,
                        std::chrono::nanoseconds took) {
  if (result) {
    succeeded(key, *result);
  } else {
    failed(key, result.error(), took);
  }
}

void Controller::succeeded(const ObjectKey& key, const Outcome& outcome) {
  queue_.forget(key);
  if (outcome.requeue_after)
    queue_.add_after(key, std::max<std::chrono::nanoseconds>(*outcome.requeue_after, kRequeueMin));
  if (primary_->contains(key))
    queue_.add_after(key, rng_.jitter(options_.full_pass, kFullPassJitter), Priority::kLow);
}

void Controller::failed(const ObjectKey& key, const Error& error, std::chrono::nanoseconds took) {
  metrics_.errors.at(error.code).increment();
  if (error.code == Errc::kTimeout && took >= options_.reconcile_deadline)
    metrics_.timeouts.increment();
  if (error.code == Errc::kCancelled && stopping_) return;
  if (error.code == Errc::kFenced) {
    log_.critical("a write was refused: this process may no longer lead",
                  {{"object", key}, {"error", error}});
    fenced_ = error;
    stop();
    return;
  }
  if (error.code == Errc::kTerminal) {
    log_.warning("reconcile failed for good", {{"object", key}, {"error", error}});
    queue_.forget(key);
    if (primary_->contains(key))
      queue_.add_after(key, rng_.jitter(options_.full_pass, kFullPassJitter), Priority::kLow);
    return;
  }
  log_.warning("reconcile failed",
               {{"object", key}, {"error", error}, {"failures", queue_.failures(key) + 1}});
  queue_.add_rate_limited(key);
}

}  // namespace amdahl::controller
