// The metrics of requests to the API server; docs/reference/metrics.md explains each.
//
// Thread: one. Lifetime: the registry outlives it; make it once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/metrics.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::kube {

// What became of a request, as a label.
enum class AnswerClass : std::uint8_t { kNone, k2xx, k3xx, k4xx, k5xx };
inline std::string_view name(AnswerClass answer) {
  constexpr std::array<std::string_view, 5> kNames{"none", "2xx", "3xx", "4xx", "5xx"};
  return kNames.at(static_cast<std::size_t>(answer));
}

struct RequestMetrics {
  explicit RequestMetrics(MetricsRegistry& registry)
      : requests(registry.counter_family<Verb, AnswerClass>(
            {"amdahl_api_requests_total", "Requests to the API server, by their answers.", {}},
            {"verb", "code"})),
        seconds(registry.histogram_family<Verb>(
            {"amdahl_api_request_duration_seconds", "Time from a request to its answer.", {}},
            {"verb"})) {}

  CounterFamily<Verb, AnswerClass> requests;
  HistogramFamily<Verb> seconds;
};

}  // namespace amdahl::kube
