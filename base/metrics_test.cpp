#include "base/metrics.hpp"

#include <catch2/catch.hpp>

#include "base/result.hpp"
#include "base/test_death.hpp"

namespace amdahl {
namespace {
using namespace std::chrono_literals;

enum class Verb : std::uint8_t { kGet, kList };
std::string_view name(Verb verb) {
  return verb == Verb::kGet ? "get" : "list";
}

enum class Many : std::uint16_t {};
std::vector<std::string>& many_names() {
  static std::vector<std::string> names;
  while (names.size() < 1000) names.push_back("v" + std::to_string(names.size()));
  return names;
}
std::string_view name(Many many) {
  return many_names()[static_cast<std::size_t>(many)];
}

TEST_CASE("MetricsRegistry renders the text format, sorted") {
  MetricsRegistry registry;
  const Gauge depth = registry.gauge({.name = "queue_depth",
                                      .help = "Keys that wait.",
                                      .constant_labels = {{"queue", "trainjob"}}});
  const Gauge other = registry.gauge({.name = "queue_depth",
                                      .help = "Keys that wait.",
                                      .constant_labels = {{"queue", "a \"b\"\n"}}});
  auto calls = registry.counter_family<Verb, Errc>(
      {.name = "calls_total", .help = "Calls by verb and outcome."}, {"verb", "code"});
  const Histogram took =
      registry.histogram({.name = "call_seconds", .help = "Time of a call."}, {0.5, 2});
  depth.set(3);
  depth.add(-1);
  other.set(0.5);
  calls.at(Verb::kList, Errc::kGone).increment();
  calls.at(Verb::kGet, Errc::kTimeout).increment(2);
  calls.at(Verb::kGet, Errc::kTimeout).increment();
  took.observe(250ms);
  took.observe(1.0);
  took.observe(1h);
  CHECK(registry.render() == R"(# HELP call_seconds Time of a call.
# TYPE call_seconds histogram
call_seconds_count 3
call_seconds_sum 3601.25
call_seconds_bucket{le="0.5"} 1
call_seconds_bucket{le="2"} 2
call_seconds_bucket{le="+Inf"} 3
# HELP calls_total Calls by verb and outcome.
# TYPE calls_total counter
calls_total{code="gone",verb="list"} 1
calls_total{code="timeout",verb="get"} 3
# HELP queue_depth Keys that wait.
# TYPE queue_depth gauge
queue_depth{queue="a \"b\"\n"} 0.5
queue_depth{queue="trainjob"} 2
)");
  CHECK(took.count() == 3);
  CHECK(took.sum() == 3601.25);
  CHECK(calls.at(Verb::kGet, Errc::kTimeout).value() == 3);
}

TEST_CASE("MetricsRegistry brings gauges up to date before it renders") {
  MetricsRegistry registry;
  const Gauge size = registry.gauge({.name = "store_objects", .help = "Objects in the store."});
  registry.before_render([&] { size.set(42); });
  CHECK(registry.render().ends_with("store_objects 42\n"));
}

TEST_CASE("MetricsRegistry bounds the series of one name") {
  MetricsRegistry registry;
  auto family = registry.counter_family<Many>({.name = "odd_total", .help = "Too many."}, {"many"});
  for (std::uint16_t i = 0; i < 1000; ++i) family.at(Many{i}).increment();
  const std::string text = registry.render();
  CHECK(std::ranges::count(text, '\n') == 2 + static_cast<int>(MetricsRegistry::kLabelSetsMax) + 1);
  const auto at = text.find("odd_total{many=\"overflow\"} 488");
  CHECK(at != text.npos);
}

TEST_CASE("MetricsRegistry refuses names without base units, without help, and twice") {
  const auto dies = [](auto act) {
    return !death_message([&] {
              MetricsRegistry registry;
              act(registry);
            }).empty();
  };
  for (const char* bad : {"", "Calls_total", "calls", "call_ms_total", "9_total", "a-b_total"})
    CHECK(dies([&](auto& registry) { registry.counter({.name = bad, .help = "x"}); }));
  for (const char* bad : {"took_milliseconds", "size_mib", "busy_percent", "calls_total"})
    CHECK(dies([&](auto& registry) { registry.gauge({.name = bad, .help = "x"}); }));
  CHECK(dies([](auto& registry) { registry.gauge({.name = "depth"}); }));
  CHECK(dies([](auto& registry) {
    registry.gauge({.name = "depth", .help = "x"});
    registry.gauge({.name = "depth", .help = "x"});
  }));
  CHECK(dies([](auto& registry) {
    registry.gauge({.name = "depth", .help = "x"});
    registry.gauge({.name = "depth", .help = "y", .constant_labels = {{"a", "b"}}});
  }));
  CHECK(dies([](auto& r) { r.histogram({.name = "t_seconds", .help = "x"}, {2, 1}); }));
  CHECK_FALSE(dies([](auto& registry) { registry.gauge({.name = "depth", .help = "x"}); }));
}

}  // namespace
}  // namespace amdahl
