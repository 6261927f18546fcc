// Prometheus metrics as typed handles.
//
// Each folder declares one struct of handles in its metrics.hpp, made from a MetricsRegistry and
// given by constructor. Label values come from enums (or are constants of the owner), so nothing a
// user writes can become a time series. Thread: one; reading and rendering too. Lifetime: the
// registry outlives its handles. Failure: a bad name, missing help or a second registration is a
// bug and stops the process at start.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace amdahl {

class Counter {
 public:
  explicit Counter(prometheus::Counter& metric) : metric_(&metric) {}
  void increment(double by = 1) const;
  double value() const;

 private:
  prometheus::Counter* metric_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge& metric) : metric_(&metric) {}
  void set(double value) const;
  void add(double by) const;  // may be negative
  double value() const;

 private:
  prometheus::Gauge* metric_;
};

class Histogram {
 public:
  explicit Histogram(prometheus::Histogram& metric) : metric_(&metric) {}
  void observe(double value) const;
  void observe(std::chrono::duration<double> took) const { observe(took.count()); }
  std::uint64_t count() const;
  double sum() const;

 private:
  prometheus::Histogram* metric_;
};

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

struct MetricInfo {
  std::string name{};  // "amdahl_reconciles_total": base units, _total for counters
  std::string help{};  // one sentence
  LabelPairs
      constant_labels{};  // of this owner, known when it starts: {{"controller", "trainjob"}}
};

// One series of a metric, with what its labels and its value are now.
struct Sample {
  LabelPairs labels = {};
  double value = 0;
  bool operator==(const Sample&) const = default;
};

// Of an enum with names of its own (base/fields.hpp), or with name(value).
template <class E>
constexpr std::string_view label_of(E value) {
  if constexpr (requires { enum_names(value); }) {
    for (const auto& entry : enum_names(value))
      if (entry.value == value) return entry.name;
    return "";
  } else {
    return name(value);
  }
}

// One metric per combination of enum values, each of which has a label_of(value).
template <class Metric, class... Enums>
class MetricFamily {
  static_assert(sizeof...(Enums) > 0 && (std::is_enum_v<Enums> && ...), "labels come from enums");

 public:
  using Make = std::function<Metric(const std::array<std::string_view, sizeof...(Enums)>&)>;
  explicit MetricFamily(Make make) : make_(std::move(make)) {}

  const Metric& at(Enums... values) {
    const std::tuple<Enums...> key(values...);
    const auto place = metrics_.find(key);
    if (place != metrics_.end()) return place->second;
    return metrics_.emplace(key, make_({label_of(values)...})).first->second;
  }

 private:
  Make make_;
  std::map<std::tuple<Enums...>, Metric> metrics_;
};
template <class... Enums>
using CounterFamily = MetricFamily<Counter, Enums...>;
template <class... Enums>
using GaugeFamily = MetricFamily<Gauge, Enums...>;
template <class... Enums>
using HistogramFamily = MetricFamily<Histogram, Enums...>;

// Upper bounds of the buckets, growing.
using Buckets = std::vector<double>;
Buckets latency_buckets();  // 1 ms to 60 s
Buckets size_buckets();     // 256 bytes to 16 MiB

class MetricsRegistry {
 public:
  static constexpr std::size_t kLabelSetsMax = 512;  // per name; more are counted as "overflow"

  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  Counter counter(const MetricInfo& info);
  Gauge gauge(const MetricInfo& info);
  Histogram histogram(const MetricInfo& info, Buckets buckets = latency_buckets());

  // registry.counter_family<Verb, Errc>({...}, {"verb", "code"})
  template <class... Enums>
  CounterFamily<Enums...> counter_family(const MetricInfo& info,
                                         std::array<std::string, sizeof...(Enums)> labels) {
    declare(Kind::kCounter, info);
    return CounterFamily<Enums...>([this, info, labels](const auto& values) {
      return Counter(add_counter(info, pairs(labels, values)));
    });
  }
  template <class... Enums>
  GaugeFamily<Enums...> gauge_family(const MetricInfo& info,
                                     std::array<std::string, sizeof...(Enums)> labels) {
    declare(Kind::kGauge, info);
    return GaugeFamily<Enums...>([this, info, labels](const auto& values) {
      return Gauge(add_gauge(info, pairs(labels, values)));
    });
  }
  template <class... Enums>
  HistogramFamily<Enums...> histogram_family(const MetricInfo& info,
                                             std::array<std::string, sizeof...(Enums)> labels,
                                             Buckets buckets = latency_buckets()) {
    declare(Kind::kHistogram, info);
    return HistogramFamily<Enums...>([this, info, labels, buckets](const auto& values) {
      return Histogram(add_histogram(info, pairs(labels, values), buckets));
    });
  }

  // Series that are worked out anew for each rendering, such as one for each living object: what
  // is not given any more is gone. The info's name is declared here; more than kLabelSetsMax
  // series are the caller's responsibility, because only he knows which to fold.
  void gauges_at_render(const MetricInfo& info, std::function<std::vector<Sample>()> samples);
  void counters_at_render(const MetricInfo& info, std::function<std::vector<Sample>()> samples);
  // Called before each rendering, to bring gauges up to date.
  void before_render(std::function<void()> refresh);
  // The text format, version 0.0.4; sorted, so that equal values give equal text.
  std::string render() const;

 private:
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram };
  struct Families;

  template <std::size_t N>
  static LabelPairs pairs(const std::array<std::string, N>& labels,
                          const std::array<std::string_view, N>& values) {
    LabelPairs result;
    for (std::size_t i = 0; i < N; ++i) result.emplace_back(labels[i], values[i]);
    return result;
  }
  void declare(Kind kind, const MetricInfo& info);
  prometheus::Counter& add_counter(const MetricInfo& info, const LabelPairs& labels);
  prometheus::Gauge& add_gauge(const MetricInfo& info, const LabelPairs& labels);
  prometheus::Histogram& add_histogram(const MetricInfo& info, const LabelPairs& labels,
                                       const Buckets& buckets);

  std::unique_ptr<Families> families_;
};

}  // namespace amdahl
