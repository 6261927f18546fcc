#include "local/apiserver/core/watch.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

using Events = std::vector<std::string>;
using Ready = WatchStream::Ready;

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

std::unique_ptr<WatchStream> open(TestServer& test, const std::string& target) {
  Got got = test.get(target);
  INFO(got.reply.body);
  REQUIRE(got.status == 200);
  REQUIRE(got.reply.stream);
  return std::move(got.reply.stream);
}

void make_map(TestServer& test, const std::string& name, const std::string& label = "x") {
  test.make("namespaces/default/configmaps",
            R"({"metadata":{"name":")" + name + R"(","labels":{"l":")" + label + R"("}}})");
}

void label_map(TestServer& test, const std::string& name, const std::string& label) {
  const Got got =
      test.call("PATCH", kMaps + "/" + name, R"({"metadata":{"labels":{"l":")" + label + R"("}}})",
                "application/merge-patch+json");
  REQUIRE(got.status == 200);
}

}  // namespace

TEST_CASE("watch starts where it is told to") {
  TestServer test;
  make_map(test, "a");  // 3
  make_map(test, "b");  // 4
  struct Row {
    std::string query;
    Events events;
  };
  const std::vector<Row> rows = {
      {"watch=1", {"ADDED a@3", "ADDED b@4"}},
      {"watch=1&resourceVersion=0", {"ADDED a@3", "ADDED b@4"}},
      {"watch=1&resourceVersion=3", {"ADDED b@4"}},
      {"watch=1&resourceVersion=4", {}},
      {"watch=1&resourceVersion=2&fieldSelector=metadata.name%3Da", {"ADDED a@3"}},
      {"watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
       {"ADDED a@3", "ADDED b@4"}},
      {"watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
       {"ADDED a@3", "ADDED b@4", "BOOKMARK @4"}},
      {"watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", {}},
  };
  for (const Row& row : rows) {
    INFO(row.query);
    CHECK(TestServer::short_events(*open(test, kMaps + "?" + row.query)) == row.events);
  }
  CHECK(TestServer::short_events(*open(test, kMaps + "/b?watch=1")) == Events{"ADDED b@4"});
  CHECK(TestServer::short_events(*open(test, "/api/v1/watch/namespaces/default/configmaps/b")) ==
        Events{"ADDED b@4"});
  CHECK(
      TestServer::short_events(*open(test, "/api/v1/namespaces/other/configmaps?watch=1")).empty());
}

TEST_CASE("The end of the initial events is marked") {
  TestServer test;
  auto stream = open(test, kMaps +
                               "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                               "resourceVersionMatch=NotOlderThan");
  const std::vector<Json> events = TestServer::drain(*stream);
  REQUIRE(events.size() == 1);
  CHECK(events[0] == Json::parse(R"({"type":"BOOKMARK","object":{"kind":"ConfigMap",
      "apiVersion":"v1","metadata":{"resourceVersion":"2",
      "annotations":{"k8s.io/initial-events-end":"true"}}}})"));
}

TEST_CASE("watch follows changes") {
  TestServer test;
  auto stream = open(test, kMaps + "?watch=1");
  CHECK(stream->next().ready == Ready::kNothingYet);
  make_map(test, "a");
  label_map(test, "a", "y");
  test.call("DELETE", kMaps + "/a");
  test.make("namespaces/other/configmaps", R"({"metadata":{"name":"elsewhere"}})");
  CHECK(TestServer::short_events(*stream) == Events{"ADDED a@3", "MODIFIED a@4", "DELETED a@5"});
  CHECK(stream->next().ready == Ready::kNothingYet);
}

TEST_CASE("Entering and leaving a selection are ADDED and DELETED") {
  TestServer test;
  make_map(test, "a", "in");
  make_map(test, "b", "out");
  auto stream = open(test, kMaps + "?watch=1&labelSelector=l%3Din");
  CHECK(TestServer::short_events(*stream) == Events{"ADDED a@3"});
  label_map(test, "b", "in");
  label_map(test, "a", "out");
  label_map(test, "a", "out2");
  test.call("DELETE", kMaps + "/a");
  const std::vector<Json> events = TestServer::drain(*stream);
  REQUIRE(events.size() == 2);
  CHECK(events[0]["type"] == "ADDED");
  CHECK(events[0]["object"]["metadata"]["name"] == "b");
  CHECK(events[1]["type"] == "DELETED");
  CHECK(events[1]["object"]["metadata"]["resourceVersion"] == "6");
  CHECK(events[1]["object"]["metadata"]["labels"]["l"] == "in");
}

TEST_CASE("Selectable fields make transitions too") {
  TestServer test;
  test.make("namespaces/default/pods", R"({"metadata":{"name":"p"}})");
  auto stream = open(test, "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn");
  CHECK(TestServer::drain(*stream).empty());
  test.call("POST", "/api/v1/namespaces/default/pods/p/binding",
            R"({"metadata":{"name":"p"},"target":{"name":"n"}})");
  CHECK(TestServer::short_events(*stream) == Events{"ADDED p@4"});
}

TEST_CASE("A watch shows only what is durable") {
  TestServer test;
  auto live = open(test, kMaps + "?watch=1");
  CHECK(TestServer::drain(*live).empty());
  test.durable = false;
  make_map(test, "a");
  make_map(test, "b");
  auto late = open(test, kMaps + "?watch=1");
  CHECK(live->next().ready == Ready::kNothingYet);
  CHECK(late->next().ready == Ready::kNothingYet);
  test.server.committed(3);
  CHECK(TestServer::short_events(*live) == Events{"ADDED a@3"});
  CHECK(late->next().ready == Ready::kNothingYet);
  test.server.committed(4);
  CHECK(TestServer::short_events(*live) == Events{"ADDED b@4"});
  CHECK(TestServer::short_events(*late) == Events{"ADDED a@3", "ADDED b@4"});
}

TEST_CASE("A version that is forgotten is an ERROR event") {
  TestServer test;
  make_map(test, "a");
  auto slow = open(test, kMaps + "?watch=1&resourceVersion=2");
  make_map(test, "b");
  test.server.compact(4);
  bool ended = false;
  const std::vector<Json> events = TestServer::drain(*slow, &ended);
  REQUIRE(events.size() == 1);
  CHECK(events[0]["type"] == "ERROR");
  CHECK(events[0]["object"]["code"] == 410);
  CHECK(events[0]["object"]["reason"] == "Expired");
  CHECK(events[0]["object"]["message"] == "too old resource version: 2 (4)");
  CHECK(ended);
  auto late = open(test, kMaps + "?watch=1&resourceVersion=3");
  CHECK(TestServer::drain(*late)[0]["object"]["message"] == "too old resource version: 3 (4)");
  CHECK(TestServer::drain(*open(test, kMaps + "?watch=1&resourceVersion=4")).empty());
}

TEST_CASE("A reader that never reads is cut off, and an idle one is not") {
  TestServer test(Options{.history = {.events_max = 10}});
  auto stuck = open(test, kMaps + "?watch=1&resourceVersion=2");
  auto idle = open(test, "/api/v1/nodes?watch=1&resourceVersion=2");
  for (int at = 0; at < 20; ++at) {
    make_map(test, "m" + std::to_string(at));
    CHECK(idle->next().ready == Ready::kNothingYet);
  }
  CHECK(TestServer::drain(*stuck)[0]["type"] == "ERROR");
  CHECK(test.server.table().history().size() == 10);
  test.make("nodes", R"({"metadata":{"name":"n"}})");
  CHECK(TestServer::short_events(*idle) == Events{"ADDED n@23"});
}

TEST_CASE("The history is bounded by bytes") {
  TestServer test(Options{.history = {.bytes_max = 50'000}});
  for (int at = 0; at < 20; ++at)
    test.make("namespaces/default/configmaps", R"({"metadata":{"name":"m)" + std::to_string(at) +
                                                   R"("},"data":{"k":")" + std::string(5'000, 'x') +
                                                   R"("}})");
  CHECK(test.server.table().history().bytes() <= 50'000);
  CHECK(test.server.table().history().size() >= 5);
}

TEST_CASE("A watch from the future waits for it") {
  TestServer test;
  auto stream = open(test, kMaps + "?watch=1&resourceVersion=4&allowWatchBookmarks=true");
  make_map(test, "a");  // 3
  make_map(test, "b");  // 4
  CHECK(TestServer::drain(*stream).empty());
  make_map(test, "c");  // 5
  CHECK(TestServer::short_events(*stream) == Events{"ADDED c@5"});
  auto list = open(test, kMaps +
                             "?watch=1&resourceVersion=99&sendInitialEvents=true&"
                             "resourceVersionMatch=NotOlderThan");
  const std::vector<Json> events = TestServer::drain(*list);
  REQUIRE(events.size() == 1);
  CHECK(events[0]["object"]["code"] == 504);
}

TEST_CASE("Bookmarks come each minute with the newest version") {
  TestServer test;
  auto stream = open(test, kMaps + "?watch=1&allowWatchBookmarks=true");
  auto quiet = open(test, kMaps + "?watch=1");
  test.make("nodes", R"({"metadata":{"name":"n"}})");
  CHECK(TestServer::drain(*stream).empty());
  test.now += std::chrono::seconds{61};
  test.server.tick(test.now);
  CHECK(TestServer::short_events(*stream) == Events{"BOOKMARK @3"});
  CHECK(TestServer::drain(*stream).empty());
  CHECK(TestServer::drain(*quiet).empty());
}

TEST_CASE("timeoutSeconds ends a watch") {
  TestServer test;
  auto stream = open(test, kMaps + "?watch=1&timeoutSeconds=5");
  auto endless = open(test, kMaps + "?watch=1");
  test.now += std::chrono::seconds{4};
  test.server.tick(test.now);
  CHECK(stream->next().ready == Ready::kNothingYet);
  test.now += std::chrono::seconds{1};
  test.server.tick(test.now);
  CHECK(stream->next().ready == Ready::kEnd);
  CHECK(endless->next().ready == Ready::kNothingYet);
  test.now += std::chrono::hours{1};
  test.server.tick(test.now);
  CHECK(endless->next().ready == Ready::kEnd);
}

TEST_CASE("Initial events come in pages and from one snapshot") {
  TestServer test;
  for (int at = 0; at < 450; ++at) make_map(test, "m" + std::to_string(1000 + at));
  auto stream = open(test, kMaps + "?watch=1");
  WatchStream::Next first = stream->next();
  CHECK(std::ranges::count(first.bytes, '\n') == 200);
  test.call("DELETE", kMaps + "/m1449");
  make_map(test, "zz");
  const Events rest = TestServer::short_events(*stream);
  CHECK(rest.size() == 252);
  CHECK(rest[249] == "ADDED m1449@452");
  CHECK(rest[250] == "DELETED m1449@453");
  CHECK(rest[251] == "ADDED zz@454");
}

TEST_CASE("A watch can carry Tables and metadata") {
  TestServer test;
  make_map(test, "a");
  const auto ask = [&](const std::string& as) {
    return test.call({.method = "GET",
                      .target = kMaps + "?watch=1&resourceVersion=0",
                      .accept = "application/json;as=" + as + ";v=v1;g=meta.k8s.io"});
  };
  Got table = ask("Table");
  make_map(test, "b");
  std::vector<Json> events = TestServer::drain(*table.reply.stream);
  REQUIRE(events.size() == 2);
  CHECK(events[0]["object"]["kind"] == "Table");
  CHECK(events[0]["object"]["columnDefinitions"].size() == 1);
  CHECK(events[1]["object"]["columnDefinitions"].empty());
  CHECK(events[1]["object"]["rows"][0]["object"]["metadata"]["name"] == "b");
  Got meta = ask("PartialObjectMetadata");
  events = TestServer::drain(*meta.reply.stream);
  CHECK(events[0]["object"]["kind"] == "PartialObjectMetadata");
}

}  // namespace amdahl::local
