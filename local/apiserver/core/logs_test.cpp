#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <utility>

#include "local/apiserver/core/pod_logs.hpp"
#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

const std::string kPods = "/api/v1/namespaces/default/pods/";

// Tells in its text what it was asked for.
class EchoLogs final : public PodLogs {
 public:
  Outcome<std::unique_ptr<WatchStream>> open(const LogQuery& query) override {
    if (query.previous) return bad_request("there was no container before");
    return std::unique_ptr<WatchStream>(std::make_unique<Text>(described(query)));
  }

 private:
  class Text final : public WatchStream {
   public:
    explicit Text(std::string text) : text_(std::move(text)) {}
    Next next() override {
      if (text_.empty()) return {.ready = Ready::kEnd};
      return {.ready = Ready::kFrame, .bytes = std::exchange(text_, {})};
    }

   private:
    std::string text_;
  };
  static std::string described(const LogQuery& query) {
    std::string text = query.ns + "/" + query.pod + "/" + query.container;
    if (query.uid.empty()) text += " without a UID";
    if (query.follow) text += " follow";
    if (query.timestamps) text += " timestamps";
    if (query.tail_lines) text += fmt::format(" tail={}", *query.tail_lines);
    if (query.limit_bytes) text += fmt::format(" limit={}", *query.limit_bytes);
    if (query.since) text += " since=" + format_time(*query.since);
    return text;
  }
};

void make_pods(TestServer& test) {
  test.make(
      "namespaces/default/pods",
      R"({"metadata":{"name":"one"},"spec":{"nodeName":"n","containers":[{"name":"main"}]}})");
  test.make("namespaces/default/pods",
            R"({"metadata":{"name":"two"},"spec":{"nodeName":"n","initContainers":[{"name":"i"}],
                "containers":[{"name":"a"},{"name":"b"}],"ephemeralContainers":[{"name":"e"}]}})");
  test.make("namespaces/default/pods",
            R"({"metadata":{"name":"waiting"},"spec":{"containers":[{"name":"main"}]}})");
  test.make("namespaces/default/pods", R"({"metadata":{"name":"empty"},"spec":{"nodeName":"n"}})");
}

}  // namespace

TEST_CASE("Logs are asked for as the query says") {
  EchoLogs logs;
  TestServer test({.pod_logs = &logs});
  make_pods(test);
  const auto text = [&](const std::string& path) {
    const Got got = test.get(kPods + path);
    INFO(got.reply.body);
    CHECK(got.status == 200);
    CHECK(got.reply.content_type == "text/plain");
    REQUIRE(got.reply.stream);
    return got.reply.stream->next().bytes;
  };
  CHECK(text("one/log") == "default/one/main");
  CHECK(text("one/log?follow=true&timestamps=true&tailLines=0&limitBytes=1") ==
        "default/one/main follow timestamps tail=0 limit=1");
  CHECK(text("one/log?follow=false&timestamps=0") == "default/one/main");
  CHECK(text("two/log?container=b") == "default/two/b");
  CHECK(text("two/log?container=i") == "default/two/i");
  CHECK(text("two/log?container=e") == "default/two/e");
  CHECK(text("one/log?sinceSeconds=60") == "default/one/main since=2023-11-14T22:12:20Z");
  CHECK(text("one/log?sinceSeconds=9223372036854775807") ==
        "default/one/main since=1923-12-09T22:13:20Z");
  CHECK(text("one/log?sinceTime=2026-11-16T08:00:00Z") ==
        "default/one/main since=2026-11-16T08:00:00Z");
}

TEST_CASE("Logs are refused with the texts of Kubernetes") {
  EchoLogs logs;
  TestServer test({.pod_logs = &logs});
  make_pods(test);
  struct Row {
    std::string path = {};
    int status = 0;
    std::string message = {};
  };
  const std::vector<Row> rows = {
      {"none/log", 404, "pods \"none\" not found"},
      {"one/log?container=x", 400, "container x is not valid for pod one"},
      {"two/log", 400, "a container name must be specified for pod two, choose one of: [i a b e]"},
      {"empty/log", 400, "a container name must be specified for pod empty"},
      {"one/log?tailLines=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"one/log?sinceTime=x", 400, "\"x\" is not an RFC 3339 time"},
      {"one/log?previous=true", 400, "there was no container before"},
      {"one/log?tailLines=-1", 422,
       "PodLogOptions \"one\" is invalid: tailLines: Invalid value: -1: must be greater than or "
       "equal to 0"},
      {"one/log?limitBytes=0", 422,
       "PodLogOptions \"one\" is invalid: limitBytes: Invalid value: 0: must be greater than 0"},
      {"one/log?sinceSeconds=0", 422,
       "PodLogOptions \"one\" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0"},
      {"one/log?stream=Stdout", 422,
       "PodLogOptions \"one\" is invalid: stream: Forbidden: may not be specified"},
      {"one/log?sinceSeconds=1&sinceTime=2026-11-16T08:00:00Z", 422,
       "PodLogOptions \"one\" is invalid: []: Forbidden: at most one of `sinceTime` or "
       "`sinceSeconds` may be specified"},
  };
  for (const Row& row : rows) {
    const Got got = test.get(kPods + row.path);
    INFO(row.path);
    CHECK(got.status == row.status);
    CHECK(got.message() == row.message);
  }
  CHECK(test.call("POST", kPods + "one/log").status == 405);
}

TEST_CASE("A pod without a node has no log, and a server without containers has none at all") {
  TestServer test;
  make_pods(test);
  const Got waiting = test.get(kPods + "waiting/log");
  CHECK(waiting.status == 204);
  CHECK(waiting.reply.body.empty());
  const Got none = test.get(kPods + "one/log");
  CHECK(none.status == 501);
  CHECK(none.message() == "pod default/one has no log: this server runs no containers");
}

}  // namespace amdahl::local
