#include "base/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <set>

#include "base/check.hpp"

namespace amdahl {
namespace {

constexpr std::string_view kOverflow = "overflow";

bool is_snake_case(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::ranges::all_of(text, fits);
}

// Prometheus counts in seconds and bytes; anything else gets divided wrongly by somebody.
bool has_base_units(std::string_view name) {
  for (const std::string_view part :
       {"_ms", "_millis", "_milliseconds", "_us", "_microseconds", "_ns", "_nanoseconds",
        "_minutes", "_hours", "_kb", "_mb", "_gb", "_kib", "_mib", "_gib", "_percent"}) {
    std::string_view stem = name;
    if (stem.ends_with("_total")) stem.remove_suffix(6);
    if (stem.ends_with(part)) return false;
  }
  return true;
}

prometheus::Labels merged(const MetricInfo& info, const LabelPairs& labels) {
  prometheus::Labels all;
  for (const LabelPairs& part : {info.constant_labels, labels})
    for (const auto& [label, value] : part) {
      AMDAHL_CHECK(is_snake_case(label));
      AMDAHL_CHECK(all.emplace(label, value).second);
    }
  return all;
}

bool by_labels(const prometheus::ClientMetric& left, const prometheus::ClientMetric& right) {
  return std::ranges::lexicographical_compare(
      left.label, right.label, [](const auto& one, const auto& other) {
        return std::tie(one.name, one.value) < std::tie(other.name, other.value);
      });
}

}  // namespace

void Counter::increment(double by) const {
  metric_->Increment(by);
}
double Counter::value() const {
  return metric_->Value();
}
void Gauge::set(double value) const {
  metric_->Set(value);
}
void Gauge::add(double by) const {
  metric_->Increment(by);
}
double Gauge::value() const {
  return metric_->Value();
}
void Histogram::observe(double value) const {
  metric_->Observe(value);
}
std::uint64_t Histogram::count() const {
  return metric_->Collect().histogram.sample_count;
}
double Histogram::sum() const {
  return metric_->Collect().histogram.sample_sum;
}

Buckets latency_buckets() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
}

Buckets size_buckets() {
  return {256, 1024, 4096, 16'384, 65'536, 262'144, 1'048'576, 4'194'304, 16'777'216};
}

struct MetricsRegistry::Families {
  struct Name {
    Kind kind = Kind::kCounter;
    std::string help;
    std::set<prometheus::Labels> label_sets;
    std::set<LabelPairs> owners;  // constant labels of who declared it
  };
  prometheus::Registry registry;
  std::map<std::string, Name> names;
  std::vector<std::function<void()>> refreshers;
  struct Sampled {
    Kind kind = Kind::kGauge;
    MetricInfo info;
    std::function<std::vector<Sample>()> samples;
  };
  std::vector<Sampled> sampled;
  static prometheus::MetricFamily collected(const Sampled& one);

  template <class Metric, class Builder, class... Args>
  Metric& add(Builder builder, const MetricInfo& info, const LabelPairs& labels,
              const Args&... args) {
    auto& family = builder.Name(info.name).Help(info.help).Register(registry);
    prometheus::Labels all = merged(info, labels);
    std::set<prometheus::Labels>& known = names.at(info.name).label_sets;
    if (!known.contains(all) && known.size() >= kLabelSetsMax)
      for (auto& [label, value] : all) value = kOverflow;
    else
      known.insert(all);
    return family.Add(all, args...);
  }
};

MetricsRegistry::MetricsRegistry() : families_(std::make_unique<Families>()) {}
MetricsRegistry::~MetricsRegistry() = default;

void MetricsRegistry::declare(Kind kind, const MetricInfo& info) {
  AMDAHL_CHECK(is_snake_case(info.name));
  AMDAHL_CHECK(has_base_units(info.name));
  AMDAHL_CHECK(info.name.ends_with("_total") == (kind == Kind::kCounter));
  AMDAHL_CHECK(!info.help.empty());
  const auto [place, is_new] =
      families_->names.try_emplace(info.name, Families::Name{kind, info.help, {}, {}});
  AMDAHL_CHECK(place->second.kind == kind && place->second.help == info.help);
  AMDAHL_CHECK(place->second.owners.insert(info.constant_labels).second);
}

prometheus::Counter& MetricsRegistry::add_counter(const MetricInfo& info,
                                                  const LabelPairs& labels) {
  return families_->add<prometheus::Counter>(prometheus::BuildCounter(), info, labels);
}

prometheus::Gauge& MetricsRegistry::add_gauge(const MetricInfo& info, const LabelPairs& labels) {
  return families_->add<prometheus::Gauge>(prometheus::BuildGauge(), info, labels);
}

prometheus::Histogram& MetricsRegistry::add_histogram(const MetricInfo& info,
                                                      const LabelPairs& labels,
                                                      const Buckets& buckets) {
  AMDAHL_CHECK(!buckets.empty() && std::ranges::is_sorted(buckets));
  return families_->add<prometheus::Histogram>(prometheus::BuildHistogram(), info, labels, buckets);
}

Counter MetricsRegistry::counter(const MetricInfo& info) {
  declare(Kind::kCounter, info);
  return Counter(add_counter(info, {}));
}

Gauge MetricsRegistry::gauge(const MetricInfo& info) {
  declare(Kind::kGauge, info);
  return Gauge(add_gauge(info, {}));
}

Histogram MetricsRegistry::histogram(const MetricInfo& info, Buckets buckets) {
  declare(Kind::kHistogram, info);
  return Histogram(add_histogram(info, {}, buckets));
}

void MetricsRegistry::gauges_at_render(const MetricInfo& info,
                                       std::function<std::vector<Sample>()> samples) {
  declare(Kind::kGauge, info);
  families_->sampled.push_back({Kind::kGauge, info, std::move(samples)});
}

void MetricsRegistry::counters_at_render(const MetricInfo& info,
                                         std::function<std::vector<Sample>()> samples) {
  declare(Kind::kCounter, info);
  families_->sampled.push_back({Kind::kCounter, info, std::move(samples)});
}

prometheus::MetricFamily MetricsRegistry::Families::collected(const Sampled& one) {
  const bool counter = one.kind == Kind::kCounter;
  prometheus::MetricFamily family{
      .name = one.info.name,
      .help = one.info.help,
      .type = counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
      .metric = {}};
  for (const Sample& sample : one.samples()) {
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : merged(one.info, sample.labels))
      metric.label.push_back({name, value});
    (counter ? metric.counter.value : metric.gauge.value) = sample.value;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

void MetricsRegistry::before_render(std::function<void()> refresh) {
  families_->refreshers.push_back(std::move(refresh));
}

std::string MetricsRegistry::render() const {
  for (const auto& refresh : families_->refreshers) refresh();
  std::vector<prometheus::MetricFamily> collected = families_->registry.Collect();
  for (const Families::Sampled& one : families_->sampled)
    collected.push_back(Families::collected(one));
  std::ranges::sort(collected, {}, &prometheus::MetricFamily::name);
  for (prometheus::MetricFamily& family : collected) std::ranges::sort(family.metric, by_labels);
  return prometheus::TextSerializer().Serialize(collected);
}

}  // namespace amdahl
