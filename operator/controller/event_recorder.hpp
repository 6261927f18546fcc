// Tells users what happened, as events.k8s.io/v1 Events (E8).
//
// record() only puts a line into a bounded queue; run() writes it when it can. Nothing waits for an
// event and nothing fails by one.
//
// Thread: one. Lifetime: client outlives it; run() has ended before it dies. Failure: events that
// cannot be written are dropped and counted.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/controller/event_aggregator.hpp"
#include "operator/controller/metrics.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::controller {

inline constexpr std::size_t kEventQueueMax = 1000;
inline constexpr std::uint32_t kEventTriesMax = 12;
inline constexpr std::chrono::seconds kEventRetry{10};

struct EventSource {
  std::string controller{};  // "amdahl.dev/operator"
  std::string instance{};    // the pod
};

template <class T>
EventSubject event_subject(const T& object) {
  return {.api_version = T::resource().api_version(),
          .kind = T::resource().kind,
          .key = {.ns = object.metadata.ns, .name = object.metadata.name},
          .uid = object.metadata.uid};
}

class EventRecorder {
 public:
  EventRecorder(boost::asio::any_io_executor executor, kube::Client& client, Rng rng,
                EventSource source, EventMetrics& metrics);

  // Credentials are taken out of the note, and it is cut at kNoteBytesMax.
  void record(EventReport report);

  Task<void> run();  // until cancelled
  // True when everything was written or dropped by the deadline.
  Task<bool> flush(Monotonic deadline);
  std::size_t waiting() const { return queue_.size(); }

 private:
  Task<bool> deliver(EventWrite write);  // false: stopped
  Task<Result<void>> send(const EventWrite& write);
  Result<kube::Request> request_for(const EventWrite& write, bool create) const;

  kube::Client& client_;
  Clock& clock_;
  Rng rng_;
  EventSource source_;
  EventMetrics& metrics_;
  EventAggregator aggregator_;
  std::deque<EventWrite> queue_;
  Notify changed_;
};

}  // namespace amdahl::controller
