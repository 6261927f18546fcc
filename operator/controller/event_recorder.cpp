#include "operator/controller/event_recorder.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/redact.hpp"
#include "operator/controller/writer.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::controller {
namespace {

constexpr double kRetryJitter = 0.5;
// Events about objects without a namespace live here.
constexpr std::string_view kClusterEventsNamespace = "default";

kube::Event event_from(const EventWrite& write, const EventSource& source) {
  const EventReport& report = write.report;
  const EventSubject& subject = report.subject;
  kube::Event event;
  event.metadata.name = write.name;
  event.metadata.ns = subject.key.ns.empty() ? kClusterEventsNamespace : subject.key.ns;
  event.time = write.first;
  event.controller = source.controller;
  event.instance = source.instance;
  event.action = report.action;
  event.reason = report.reason;
  event.regarding.kind = subject.kind;
  event.regarding.ns = subject.key.ns;
  event.regarding.name = subject.key.name;
  event.regarding.uid = subject.uid;
  event.regarding.api_version = subject.api_version;
  event.note = report.note;
  event.type = name(report.type);
  if (write.count > 1) event.series = {.count = write.count, .last_observed = write.last};
  return event;
}

// What another try cannot mend: the namespace is going, we may not, the object is refused.
bool is_final(Errc code) {
  return code == Errc::kForbidden || code == Errc::kInvalid || code == Errc::kNotFound ||
         code == Errc::kFenced || code == Errc::kTooLarge || code == Errc::kConflict;
}

}  // namespace

EventRecorder::EventRecorder(boost::asio::any_io_executor executor, kube::Client& client, Rng rng,
                             EventSource source, EventMetrics& metrics)
    : client_(client),
      clock_(client.clock()),
      rng_(rng),
      source_(std::move(source)),
      metrics_(metrics),
      changed_(std::move(executor)) {}

void EventRecorder::record(EventReport report) {
  report.note = redact(report.note);
  auto write = aggregator_.take(std::move(report), clock_.wall(), clock_.monotonic());
  if (!write) return metrics_.dropped.at(EventDrop::kLimited).increment();
  if (queue_.size() >= kEventQueueMax) return metrics_.dropped.at(EventDrop::kFull).increment();
  queue_.push_back(*std::move(write));
  changed_.notify_all();
}

Task<void> EventRecorder::run() {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    while (!queue_.empty()) {
      const EventWrite next = queue_.front();  // stays there until it is settled, for flush()
      if (!co_await deliver(next)) co_return;
      queue_.pop_front();
      changed_.notify_all();
    }
    const auto woken = co_await changed_.wait(clock_, Monotonic::max());
    if (!woken) co_return;
  }
}

Task<bool> EventRecorder::flush(Monotonic deadline) {
  while (!queue_.empty()) {
    const auto woken = co_await changed_.wait(clock_, deadline);
    if (!woken) break;
  }
  co_return queue_.empty();
}

Task<bool> EventRecorder::deliver(EventWrite write) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    const auto sent = co_await send(write);
    if (sent) {
      metrics_.written.increment();
      co_return true;
    }
    if (sent.error().code == Errc::kCancelled) co_return false;
    if (is_final(sent.error().code) || attempt >= kEventTriesMax) {
      metrics_.dropped.at(EventDrop::kFailed).increment();
      co_return true;
    }
    if (!co_await clock_.sleep_for(rng_.jitter(kEventRetry, kRetryJitter))) co_return false;
  }
}

Task<Result<void>> EventRecorder::send(const EventWrite& write) {
  CO_TRY(kube::Request request, request_for(write, write.create));
  auto sent = co_await client_.send(std::move(request));
  // A series whose first event has expired begins anew.
  if (!write.create && !sent && sent.error().code == Errc::kNotFound) {
    CO_TRY(kube::Request again, request_for(write, true));
    sent = co_await client_.send(std::move(again));
  }
  if (sent) co_return Result<void>{};
  // The answer to an earlier try was lost.
  if (sent.error().code == Errc::kAlreadyExists) co_return Result<void>{};
  co_return std::unexpected<Error>(std::move(sent).error());
}

Result<kube::Request> EventRecorder::request_for(const EventWrite& write, bool create) const {
  const kube::Event event = event_from(write, source_);
  if (create)
    return kube::create_request(kube::kEvents, event.metadata.ns, event.metadata.name,
                                to_body(kube::to_manifest(event)));
  const Json change = {{"series", encode(*event.series)}};
  return kube::patch_request(
      kube::kEvents, event.metadata.key(), to_body(change),
      {.kind = kube::PatchKind::kMerge, .field_manager = "", .force = false, .subresource = ""});
}

}  // namespace amdahl::controller
