#include "operator/report/kubeflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

namespace amdahl::report {
namespace {

TEST_CASE("read_kubeflow reads what Hugging Face posts") {
  const auto progress = read_kubeflow(R"({"trainerStatus":{
      "lastUpdatedTime":"2026-01-02T03:04:05Z","progressPercentage":45,
      "estimatedRemainingSeconds":795,"metrics":[{"name":"current_step","value":"120"},
      {"name":"total_steps","value":"266.0"},{"name":"loss","value":"NaN"}]}})");
  REQUIRE(progress);
  CHECK(progress->step == 120);
  CHECK(progress->total_steps == 266);
  CHECK(progress->percent == 45);
  CHECK(progress->remaining_seconds == 795);
  CHECK(progress->metrics == std::vector<api::ReportMetric>{{.name = "loss", .value = "NaN"}});
}

TEST_CASE("read_kubeflow takes the status without its wrapping, and an empty one") {
  CHECK(read_kubeflow(R"({"progressPercentage":7})")->percent == 7);
  CHECK(*read_kubeflow("{}") == Progress{});
}

TEST_CASE("read_kubeflow refuses what is no progress") {
  const std::string long_name(64, 'x');
  for (const std::string& body :
       {std::string(), std::string("[]"), std::string("{"), std::string("null"),
        std::string(R"({"trainerStatus":{"progressPercentage":101}})"),
        std::string(R"({"trainerStatus":{"progressPercentage":-1}})"),
        std::string(R"({"trainerStatus":{"progressPercentage":"x"}})"),
        std::string(R"({"trainerStatus":{"metrics":[{"value":"1"}]}})"),
        fmt::format(R"({{"metrics":[{{"name":"{}","value":"1"}}]}})", long_name)}) {
    INFO(body);
    CHECK_FALSE(read_kubeflow(body));
  }
}

TEST_CASE("read_kubeflow keeps a few metrics, and steps only if they are numbers") {
  std::string metrics = R"({"name":"current_step","value":"many"})";
  for (int i = 0; i < 20; ++i) metrics += fmt::format(R"(,{{"name":"m{}","value":"{}"}})", i, i);
  const auto progress = read_kubeflow(R"({"metrics":[)" + metrics + "]}");
  REQUIRE(progress);
  CHECK_FALSE(progress->step);
  CHECK(progress->metrics.size() == api::kReportMetricsMax);
}

TEST_CASE("read_kubeflow: of metrics with one name the last counts", "[A8]") {
  const auto progress = read_kubeflow(
      R"({"metrics":[{"name":"loss","value":"3"},{"name":"current_step","value":"7"},)"
      R"({"name":"rate","value":"1"},{"name":"loss","value":"2"},)"
      R"({"name":"current_step","value":"8"}]})");
  REQUIRE(progress);
  CHECK(progress->step == 8);
  std::vector<std::string> names;
  for (const api::ReportMetric& metric : progress->metrics)
    names.push_back(metric.name + "=" + metric.value);
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"loss=2", "rate=1"});
}

}  // namespace
}  // namespace amdahl::report
