#include "operator/controller/manager.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/check.hpp"

namespace amdahl::controller {
namespace {

constexpr std::chrono::seconds kBeatInterval{1};
constexpr std::chrono::seconds kBeatLateMax{30};  // a loop that turns this rarely serves nobody
constexpr std::chrono::seconds kEventFlush{2};
constexpr std::chrono::seconds kCancelWait{10};
constexpr std::chrono::seconds kServerStop{2};

}  // namespace

Manager::Manager(Runtime runtime, Rng rng, ManagerOptions options)
    : runtime_(std::move(runtime)),
      clock_(runtime_.client.clock()),
      options_(std::move(options)),
      log_(runtime_.log),
      leader_metrics_(runtime_.metrics),
      event_metrics_(runtime_.metrics),
      loop_metrics_(runtime_.metrics),
      events_(runtime_.executor, runtime_.client, rng.split(), options_.event_source,
              event_metrics_),
      status_(
          runtime_.executor, clock_, runtime_.metrics, options_.status,
          {.not_live = [this] { return not_live(); }, .not_ready = [this] { return not_ready(); }}),
      background_tasks_(runtime_.executor),
      leadership_task_(runtime_.executor),
      worker_tasks_(runtime_.executor),
      changed_(runtime_.executor) {
  if (!options_.election) return;
  election_ = std::make_unique<LeaderElection>(runtime_.client, rng.split(), *options_.election,
                                               leader_metrics_, log_);
  // From the first moment: a follower's write is as wrong as a late leader's.
  runtime_.client.transport().set_fence(election_.get());
}

Manager::~Manager() {
  if (election_) runtime_.client.transport().set_fence(nullptr);
}

void Manager::add_source(Source& source, Run run) {
  feeds_.push_back({.source = &source, .run = std::move(run)});
}

void Manager::add(Controller& controller) {
  controllers_.push_back(&controller);
}

void Manager::add_background(std::string name, Run run) {
  backgrounds_.push_back({.name = std::move(name), .run = std::move(run)});
}

Task<Result<void>> Manager::run() {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  beat_at_ = clock_.monotonic();
  CO_TRY(co_await status_.start());
  log_.info("probes and metrics are served", {{"port", probe_port()}});
  start_background();
  leadership_task_.spawn("leadership", lead());
  while (!stop_asked_) {
    const auto woken = co_await changed_.wait(clock_, Monotonic::max());
    if (!woken) stop_asked_ = true;  // whoever runs us was cancelled: the same as stop()
  }
  co_await boost::asio::this_coro::reset_cancellation_state();
  co_await shut_down();
  if (lost_) co_return std::unexpected<Error>(*lost_);
  co_return Result<void>{};
}

void Manager::stop() {
  stop_asked_ = true;
  changed_.notify_all();
}

void Manager::start_background() {
  background_tasks_.spawn("heartbeat", beat());
  background_tasks_.spawn("events", events_.run());
  for (const Background& background : backgrounds_)
    background_tasks_.spawn(background.name, background.run());
  for (const Feed& feed : feeds_)
    background_tasks_.spawn(std::string(feed.source->kind()), feed.run());
}

Task<void> Manager::beat() {
  for (;;) {
    const Monotonic due = clock_.monotonic() + kBeatInterval;
    if (!co_await clock_.sleep_until(due)) co_return;
    beat_at_ = clock_.monotonic();
    loop_metrics_.lag.observe(beat_at_ - due);
  }
}

Task<void> Manager::lead() {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  Epoch epoch;
  if (election_) {
    const auto acquired = co_await election_->acquire();
    if (!acquired || stop_asked_) co_return;
    epoch = *acquired;
  }
  leading_ = true;
  for (Controller* controller : controllers_)
    worker_tasks_.spawn(controller->name(), work(*controller, epoch));
  if (!election_) co_return;
  const Error why = co_await election_->hold();
  if (why.code != Errc::kCancelled) lost(why);
}

Task<void> Manager::work(Controller& controller, Epoch epoch) {
  const auto ended = co_await controller.run(epoch);
  if (!ended && ended.error().code == Errc::kFenced) lost(ended.error());
}

void Manager::lost(const Error& why) {
  if (lost_) return;
  lost_ = why;
  leading_ = false;
  log_.critical("leadership is lost; this process ends", {{"error", why}});
  if (options_.on_lost) options_.on_lost(why);
  worker_tasks_.stop();  // also when they were being drained
  stop();
}

Task<void> Manager::shut_down() {
  co_await drain_workers();
  if (!lost_) (void)co_await events_.flush(clock_.monotonic() + kEventFlush);
  co_await give_up_lease();
  background_tasks_.stop();
  (void)co_await background_tasks_.join(clock_, clock_.monotonic() + kCancelWait);
  const auto stopped = co_await status_.stop(clock_.monotonic() + kServerStop);
  if (!stopped) log_.warning("a connection was cut off", {{"error", stopped.error()}});
}

Task<void> Manager::drain_workers() {
  // A leader that lost the lease has nothing left to finish: it may not write any more.
  for (Controller* controller : controllers_) controller->stop();
  const bool drained =
      !lost_ && co_await worker_tasks_.join(clock_, clock_.monotonic() + options_.drain);
  if (drained) co_return;
  if (!lost_) log_.warning("workers did not end in time and are stopped");
  worker_tasks_.stop();
  (void)co_await worker_tasks_.join(clock_, clock_.monotonic() + kCancelWait);
}

Task<void> Manager::give_up_lease() {
  leadership_task_.stop();
  (void)co_await leadership_task_.join(clock_, clock_.monotonic() + kCancelWait);
  leading_ = false;
  if (!election_ || lost_) co_return;
  const auto released = co_await election_->release();
  if (!released) log_.warning("the lease could not be released", {{"error", released.error()}});
}

std::string Manager::not_ready() const {
  std::string waiting;
  for (const Feed& feed : feeds_) {
    if (feed.source->synced()) continue;
    waiting += waiting.empty() ? "waiting for the first list of " : ", ";
    waiting += feed.source->kind();
  }
  return waiting;
}

std::string Manager::not_live() const {
  const Monotonic now = clock_.monotonic();
  if (now - beat_at_ > kBeatLateMax) return "the event loop has not turned for a long time";
  if (leading_ && election_ && now >= election_->valid_until())
    return "leading, but the lease was not renewed in time";
  return {};
}

}  // namespace amdahl::controller
