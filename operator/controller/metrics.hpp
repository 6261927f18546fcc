// The metrics of this folder; docs/reference/metrics.md explains each.
//
// Thread: one. Lifetime: the registry outlives the handles; make each struct once for each owner.
#pragma once

#include <chrono>
#include <string>

#include "base/metrics.hpp"
#include "base/result.hpp"
#include "operator/controller/work_queue.hpp"

namespace amdahl::controller {

// One controller's queue.
class QueueMetrics final : public WorkQueueObserver {
 public:
  QueueMetrics(MetricsRegistry& registry, const std::string& controller)
      : depth_(registry.gauge({"amdahl_workqueue_depth",
                               "Keys ready to be reconciled.",
                               {{"controller", controller}}})),
        adds_(registry.counter({"amdahl_workqueue_adds_total",
                                "Keys that became ready.",
                                {{"controller", controller}}})),
        waited_(registry.histogram({"amdahl_workqueue_wait_seconds",
                                    "How long a ready key waited for a worker.",
                                    {{"controller", controller}}})),
        retries_(registry.counter({"amdahl_workqueue_retries_total",
                                   "Keys put back after a failed reconcile.",
                                   {{"controller", controller}}})),
        refused_(registry.counter({"amdahl_workqueue_refused_total",
                                   "Keys refused because the queue was full.",
                                   {{"controller", controller}}})) {}

  void on_add(std::size_t depth) override {
    depth_.set(static_cast<double>(depth));
    adds_.increment();
  }
  void on_pop(std::size_t depth, std::chrono::nanoseconds waited) override {
    depth_.set(static_cast<double>(depth));
    waited_.observe(waited);
  }
  void on_retry() override { retries_.increment(); }
  void on_refused() override { refused_.increment(); }

 private:
  Gauge depth_;
  Counter adds_;
  Histogram waited_;
  Counter retries_;
  Counter refused_;
};

// One controller's reconciles.
struct ReconcileMetrics {
  ReconcileMetrics(MetricsRegistry& registry, const std::string& controller)
      : seconds(registry.histogram({"amdahl_reconcile_seconds",
                                    "Duration of a reconcile.",
                                    {{"controller", controller}}})),
        errors(registry.counter_family<Errc>({"amdahl_reconcile_errors_total",
                                              "Reconciles that ended in an error, by code.",
                                              {{"controller", controller}}},
                                             {"code"})),
        timeouts(registry.counter({"amdahl_reconcile_timeouts_total",
                                   "Reconciles cut off at their deadline.",
                                   {{"controller", controller}}})),
        exceptions(registry.counter({"amdahl_reconcile_exceptions_total",
                                     "Reconciles that threw; their objects are left alone.",
                                     {{"controller", controller}}})),
        gate_waits(registry.counter({"amdahl_write_gate_waits_total",
                                     "Reconciles put off until a cache has seen our own writes.",
                                     {{"controller", controller}}})),
        gate_live_reads(registry.counter({"amdahl_write_gate_live_reads_total",
                                          "Reconciles for which the caches could prove nothing.",
                                          {{"controller", controller}}})),
        active(registry.gauge({"amdahl_reconcile_active",
                               "Workers inside a reconcile.",
                               {{"controller", controller}}})) {}

  Histogram seconds;
  CounterFamily<Errc> errors;
  Counter timeouts;
  Counter exceptions;
  Counter gate_waits;
  Counter gate_live_reads;
  Gauge active;
};

struct LeaderMetrics {
  explicit LeaderMetrics(MetricsRegistry& registry)
      : leader(registry.gauge({"amdahl_leader", "1 while this process holds the lease.", {}})),
        epoch(registry.gauge({"amdahl_leader_epoch", "Lease transitions of our term.", {}})),
        renewals(registry.counter(
            {"amdahl_lease_renewals_total", "Renewals that the server confirmed.", {}})),
        failures(registry.counter(
            {"amdahl_lease_failures_total", "Lease requests that failed or conflicted.", {}})) {}

  Gauge leader;
  Gauge epoch;
  Counter renewals;
  Counter failures;
};

enum class EventDrop : std::uint8_t { kLimited, kFull, kFailed };
constexpr std::string_view name(EventDrop why) {
  return why == EventDrop::kLimited ? "limited" : why == EventDrop::kFull ? "full" : "failed";
}

struct EventMetrics {
  explicit EventMetrics(MetricsRegistry& registry)
      : written(registry.counter(
            {"amdahl_events_written_total", "Events created or counted up on the server.", {}})),
        dropped(registry.counter_family<EventDrop>(
            {"amdahl_events_dropped_total", "Events that were not written, by reason.", {}},
            {"reason"})) {}

  Counter written;
  CounterFamily<EventDrop> dropped;
};

struct LoopMetrics {
  explicit LoopMetrics(MetricsRegistry& registry)
      : lag(registry.histogram(
            {"amdahl_event_loop_lag_seconds", "How much later than asked a timer fired.", {}})) {}

  Histogram lag;
};

}  // namespace amdahl::controller
