#include "operator/report/endpoint.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "base/test_http_site.hpp"
#include "operator/report/test_pod_token.hpp"
#include "operator/report/token_claims.hpp"

namespace amdahl::report {
namespace {
namespace asio = boost::asio;
using namespace std::chrono_literals;

class Notes final : public ReportSink {
 public:
  Result<api::ReportReply> take(const JobPod& pod, api::Report report) override {
    if (full) return fail(Errc::kUnavailable, "no place");
    pods.push_back(pod);
    reports.push_back(std::move(report));
    return api::ReportReply{.request = api::ReportRequest::kPause, .deadline_seconds = 120};
  }
  void take_progress(const JobPod& pod, const Progress& one) override {
    pods.push_back(pod);
    progress.push_back(one);
  }

  bool full = false;
  std::vector<JobPod> pods;
  std::vector<api::Report> reports;
  std::vector<Progress> progress;
};

TokenPod pod_named(std::string_view name) {
  return {.ns = "research", .pod = std::string(name), .pod_uid = fmt::format("uid-{}", name)};
}
const std::string kPod = pod_token(pod_named("llama-2-3"));
const std::string kOtherPod = pod_token(pod_named("other-1-0"));
const std::string kWrong = pod_token(pod_named("llama-2-3"), "wrong");
const std::string kDown = pod_token(pod_named("llama-2-3"), "down");

Task<Result<kube::UserInfo>> review(int& reviews, std::string token) {
  ++reviews;
  if (token.ends_with(".down")) co_return fail(Errc::kUnavailable, "no answer");
  if (token.ends_with(".wrong")) co_return fail(Errc::kUnauthorized, "wrong signature");
  const TokenPod pod = unverified_claims(token)->pod;
  co_return kube::UserInfo{.username = "system:serviceaccount:research:default",
                           .extra = {{"authentication.kubernetes.io/pod-name", {pod.pod}},
                                     {"authentication.kubernetes.io/pod-uid", {pod.pod_uid}}}};
}

Result<JobPod> find_pod(const kube::ObjectKey& key) {
  if (key.name != "llama-2-3")
    return fail(Errc::kForbidden, "pod {} belongs to no TrainingJob", to_string(key));
  return JobPod{.pod_uid = "uid-llama-2-3",
                .job = {.ns = "research", .name = "llama"},
                .job_uid = "job-uid",
                .attempt = 2,
                .rank = 3};
}

struct Site {
  Site()
      : endpoint(io.get_executor(), clock, registry,
                 {.http = {},
                  .find = find_pod,
                  .knows =
                      [](const TokenPod& pod) {
                        return pod.pod.starts_with("unknown") ? PodKnown::kNo : PodKnown::kMade;
                      },
                  .review = [this](std::string token) { return review(reviews, std::move(token)); },
                  .accepting = [this] { return leading; }},
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
  bool leading = true;
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
  const std::string answer = site.report(kPod, kGood);
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
  CHECK(is(site.send("POST", "/v1/progress", kPod, R"({"progressPercentage":5})"), 200));
  REQUIRE(site.notes.progress.size() == 1);
  CHECK(site.notes.progress[0].percent == 5);
}

TEST_CASE("ReportEndpoint refuses strangers, and asks about each token once") {
  Site site;
  CHECK(is(site.report("", kGood), 401));
  CHECK(is(site.report(kWrong, kGood), 401));
  CHECK(is(site.report(kWrong, kGood), 401));
  CHECK(is(site.report(kOtherPod, kGood), 403));
  CHECK(is(site.report(kPod, kGood), 200));
  CHECK(is(site.report(kPod, kGood), 200));
  CHECK(site.reviews == 3);
  CHECK(is(site.report(kDown, kGood), 503));
  CHECK(is(site.report(kDown, kGood), 503));  // a failed review is not remembered
  CHECK(site.reviews == 5);
}

TEST_CASE("ReportEndpoint takes nothing of a report that is wrong") {
  Site site;
  const std::string large(api::kReportBytesMax + 1, ' ');
  CHECK(is(site.report(kPod, "{"), 400));
  CHECK(is(site.report(kPod, large), 413));
  CHECK(is(site.report(kPod, R"({"job":"a/b","attempt":2,"rank":3,"sequence":-1,"phase":"Train"})"),
           400));
  CHECK(is(site.report(kPod, R"({"job":"a/b","attempt":1,"rank":3,"sequence":1,"phase":"Train"})"),
           400));
  CHECK(is(site.send("GET", "/v1/report", kPod, ""), 405));
  CHECK(is(site.send("POST", "/v2/report", kPod, kGood), 404));
  CHECK(site.notes.pods.empty());
}

TEST_CASE("ReportEndpoint does not ask about tokens that name no pod of ours", "[A5]") {
  Site site;
  for (const std::string& junk :
       {std::string("junk"), pod_token(pod_named("unknown")), std::string(9'000, 'x'),
        pod_token(pod_named("llama-2-3"), "c2ln", "https://kubernetes.default.svc")})
    CHECK(is(site.report(junk, kGood), 401));
  CHECK(site.reviews == 0);
}

TEST_CASE("ReportEndpoint says when it has no place for a job, and counts it", "[A7]") {
  Site site;
  site.notes.full = true;
  const std::string answer = site.report(kPod, kGood);
  CHECK(is(answer, 503));
  CHECK(answer.find("Retry-After: 5") != std::string::npos);
  CHECK(site.registry.render().find(R"(amdahl_reports_total{result="full"} 1)") !=
        std::string::npos);
}

TEST_CASE("ReportEndpoint of a replica that waits sends reports elsewhere", "[B5]") {
  Site site;
  site.leading = false;
  CHECK(is(site.report(kPod, kGood), 503));
  CHECK(site.reviews == 0);
  CHECK(site.registry.render().find(R"(amdahl_reports_total{result="not_leading"} 1)") !=
        std::string::npos);
}

TEST_CASE("ReportEndpoint keeps as many connections of a pod as it needs, and no more", "[A6]") {
  Site site;
  std::vector<std::unique_ptr<RawClient>> kept;
  for (std::size_t i = 0; i < 3 * kConnectionsOfAPodMax; ++i) {
    kept.push_back(std::make_unique<RawClient>(site.io, site.endpoint.port()));
    // A pod that reports too often is slowed down, and known all the same.
    kept.back()->send(
        fmt::format("POST /v1/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    kPod, kGood.size(), kGood));
    kept.back()->receive_until("\r\n\r\n");
  }
  for (std::size_t i = 0; i < 2 * kConnectionsOfAPodMax; ++i)
    CHECK(turn_until(site.io, [&] { return kept[i]->closed(); }));
  for (std::size_t i = 2 * kConnectionsOfAPodMax; i < kept.size(); ++i)
    CHECK_FALSE(kept[i]->closed());
}

TEST_CASE("ReportEndpoint slows down a pod that reports without end") {
  Site site;
  int taken = 0;
  int slowed = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string answer = site.report(kPod, kGood);
    taken += answer.starts_with("HTTP/1.1 200") ? 1 : 0;
    slowed += answer.starts_with("HTTP/1.1 429") ? 1 : 0;
  }
  CHECK(taken >= static_cast<int>(kReportsBurst));
  CHECK(slowed > 0);
  CHECK(taken + slowed == 30);
}

}  // namespace
}  // namespace amdahl::report
