#include "operator/report/endpoint.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <vector>

#include "base/test_http_site.hpp"

namespace amdahl::report {
namespace {
namespace asio = boost::asio;
using namespace std::chrono_literals;

class Notes final : public ReportSink {
 public:
  api::ReportReply take(const JobPod& pod, api::Report report) override {
    pods.push_back(pod);
    reports.push_back(std::move(report));
    return {.request = api::ReportRequest::kPause, .deadline_seconds = 120};
  }
  void take_progress(const JobPod& pod, const Progress& one) override {
    pods.push_back(pod);
    progress.push_back(one);
  }

  std::vector<JobPod> pods;
  std::vector<api::Report> reports;
  std::vector<Progress> progress;
};

Task<Result<kube::UserInfo>> review(int& reviews, std::string token) {
  ++reviews;
  if (token == "down") co_return fail(Errc::kUnavailable, "no answer");
  if (!token.starts_with("pod-")) co_return fail(Errc::kUnauthorized, "who is that");
  co_return kube::UserInfo{
      .username = "system:serviceaccount:research:default",
      .extra = {{"authentication.kubernetes.io/pod-name", {token.substr(4)}},
                {"authentication.kubernetes.io/pod-uid", {"uid-" + token.substr(4)}}}};
}

std::optional<JobPod> find_pod(const kube::ObjectKey& key) {
  if (key.name != "llama-2-3") return std::nullopt;
  return JobPod{.pod_uid = "uid-llama-2-3",
                .job = {.ns = "research", .name = "llama"},
                .job_uid = "job-uid",
                .attempt = 2,
                .rank = 3};
}

struct Site {
  Site()
      : endpoint(
            io.get_executor(), clock, registry,
            {.http = {},
             .find = find_pod,
             .review = [this](std::string token) { return review(reviews, std::move(token)); }},
            notes) {
    REQUIRE(run_until_complete(io, endpoint.start()));
  }
  ~Site() { (void)run_until_complete(io, endpoint.stop(clock.monotonic() + 5s)); }

  std::string send(std::string_view method, std::string_view path, std::string_view token,
                   std::string_view body) {
    RawClient client(io, endpoint.port());
    const std::string who =
        token.empty() ? std::string() : fmt::format("Authorization: Bearer {}\r\n", token);
    return client.ask(
        fmt::format("{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}"
                    "Content-Length: {}\r\n\r\n{}",
                    method, path, who, body.size(), body));
  }
  std::string report(std::string_view token, std::string_view body) {
    return send("POST", "/v1/report", token, body);
  }

  asio::io_context io;
  RealClock clock;
  MetricsRegistry registry;
  int reviews = 0;
  Notes notes;
  ReportEndpoint endpoint;
};

constexpr std::string_view kGood =
    R"({"job":"other/one","jobUid":"lie","podUid":"lie","attempt":2,"rank":3,"sequence":1,
        "phase":"Train","step":17})";

bool is(const std::string& answer, int status) {
  INFO(answer);
  return answer.starts_with(fmt::format("HTTP/1.1 {} ", status));
}

TEST_CASE("ReportEndpoint takes a report, as the pod that its token belongs to") {
  Site site;
  const std::string answer = site.report("pod-llama-2-3", kGood);
  CHECK(is(answer, 200));
  CHECK(answer.find(R"({"deadlineSeconds":120,"request":"Pause"})") != std::string::npos);
  REQUIRE(site.notes.reports.size() == 1);
  CHECK(site.notes.reports[0].step == 17);
  CHECK(site.notes.reports[0].job == "research/llama");
  CHECK(site.notes.reports[0].job_uid == "job-uid");
  CHECK(site.notes.reports[0].pod_uid == "uid-llama-2-3");
  CHECK(site.notes.pods[0].rank == 3);
  CHECK(site.registry.render().find(R"(amdahl_reports_total{result="taken"} 1)") !=
        std::string::npos);
}

TEST_CASE("ReportEndpoint takes Kubeflow's progress") {
  Site site;
  CHECK(is(site.send("POST", "/v1/progress", "pod-llama-2-3", R"({"progressPercentage":5})"), 200));
  REQUIRE(site.notes.progress.size() == 1);
  CHECK(site.notes.progress[0].percent == 5);
}

TEST_CASE("ReportEndpoint refuses strangers, and asks about each token once") {
  Site site;
  CHECK(is(site.report("", kGood), 401));
  CHECK(is(site.report("wrong", kGood), 401));
  CHECK(is(site.report("wrong", kGood), 401));
  CHECK(is(site.report("pod-other-1-0", kGood), 403));
  CHECK(is(site.report("pod-llama-2-3", kGood), 200));
  CHECK(is(site.report("pod-llama-2-3", kGood), 200));
  CHECK(site.reviews == 3);
  CHECK(is(site.report("down", kGood), 503));
  CHECK(is(site.report("down", kGood), 503));  // a failed review is not remembered
  CHECK(site.reviews == 5);
}

TEST_CASE("ReportEndpoint takes nothing of a report that is wrong") {
  Site site;
  const std::string large(api::kReportBytesMax + 1, ' ');
  CHECK(is(site.report("pod-llama-2-3", "{"), 400));
  CHECK(is(site.report("pod-llama-2-3", large), 413));
  CHECK(is(site.report("pod-llama-2-3",
                       R"({"job":"a/b","attempt":2,"rank":3,"sequence":-1,"phase":"Train"})"),
           400));
  CHECK(is(site.report("pod-llama-2-3",
                       R"({"job":"a/b","attempt":1,"rank":3,"sequence":1,"phase":"Train"})"),
           400));
  CHECK(is(site.send("GET", "/v1/report", "pod-llama-2-3", ""), 405));
  CHECK(is(site.send("POST", "/v2/report", "pod-llama-2-3", kGood), 404));
  CHECK(site.notes.pods.empty());
}

TEST_CASE("ReportEndpoint slows down a pod that reports without end") {
  Site site;
  int taken = 0;
  int slowed = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string answer = site.report("pod-llama-2-3", kGood);
    taken += answer.starts_with("HTTP/1.1 200") ? 1 : 0;
    slowed += answer.starts_with("HTTP/1.1 429") ? 1 : 0;
  }
  CHECK(taken >= static_cast<int>(kReportsBurst));
  CHECK(slowed > 0);
  CHECK(taken + slowed == 30);
}

}  // namespace
}  // namespace amdahl::report
