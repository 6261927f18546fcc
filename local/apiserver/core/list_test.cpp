#include <catch2/catch.hpp>

#include "local/apiserver/core/continue_token.hpp"
#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

using Names = std::vector<std::string>;

const std::string kMaps = "/api/v1/configmaps";

void fill(TestServer& test) {
  for (const char* name : {"a", "b", "c"})
    test.make("namespaces/default/configmaps", R"({"metadata":{"name":")" + std::string(name) +
                                                   R"(","labels":{"n":")" + name + R"("}}})");
  test.make("namespaces/other/configmaps", R"({"metadata":{"name":"a"}})");
}

}  // namespace

TEST_CASE("list shows what was asked for, in order") {
  TestServer test;
  fill(test);
  struct Row {
    std::string target;
    Names names;
  };
  const std::vector<Row> rows = {
      {kMaps, {"default/a", "default/b", "default/c", "other/a"}},
      {"/api/v1/namespaces/other/configmaps", {"other/a"}},
      {"/api/v1/namespaces/oth/configmaps", {}},
      {kMaps + "?labelSelector=n%20in%20(a,c)", {"default/a", "default/c"}},
      {kMaps + "?labelSelector=!n", {"other/a"}},
      {kMaps + "?fieldSelector=metadata.name%3Da", {"default/a", "other/a"}},
      {kMaps + "?fieldSelector=metadata.namespace!%3Ddefault", {"other/a"}},
      {kMaps + "?resourceVersion=0", {"default/a", "default/b", "default/c", "other/a"}},
      {kMaps + "?resourceVersion=4&resourceVersionMatch=Exact", {"default/a", "default/b"}},
      {kMaps + "?resourceVersion=4&resourceVersionMatch=NotOlderThan",
       {"default/a", "default/b", "default/c", "other/a"}},
      {kMaps + "?resourceVersion=4&limit=9", {"default/a", "default/b"}},
  };
  for (const Row& row : rows) {
    INFO(row.target);
    const Got got = test.get(row.target);
    CHECK(got.status == 200);
    CHECK(got.body["kind"] == "ConfigMapList");
    CHECK(TestServer::names(got.body) == row.names);
    CHECK_FALSE(got.body["metadata"].contains("continue"));
  }
  CHECK(test.get(kMaps).body["metadata"]["resourceVersion"] == "6");
}

TEST_CASE("list refuses what it cannot show") {
  TestServer test;
  fill(test);
  struct Row {
    std::string query;
    int code;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"fieldSelector=spec.x%3D1", 400,
       "\"spec.x\" is not a known field selector: only \"metadata.name\", "
       "\"metadata.namespace\""},
      {"labelSelector=a%3D%3D%3Db", 400, ""},
      {"resourceVersion=99", 504, "Timeout: Too large resource version: 99, current: 6"},
      {"resourceVersion=x", 400,
       "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: "
       "parsing \"x\": invalid syntax"},
      {"watch=1&resourceVersion=x", 422,
       "configmaps \"\" is invalid: resourceVersion: Invalid value: \"x\": strconv.ParseUint: "
       "parsing \"x\": invalid syntax"},
      {"continue=x", 400, "invalid continue token: continue key is not valid"},
      {"continue=" + encode({.version = 3, .start = "../x"}), 400,
       "invalid continue token: continue key is not valid"},
      {"continue=" + encode({.version = 0, .start = "x"}), 400,
       "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion "
       "(version "
       "meta.k8s.io/v1)"},
      {"resourceVersion=3&continue=" + encode({.version = 3, .start = "x"}), 400,
       "specifying resource version is not allowed when using continue"},
  };
  for (const Row& row : rows) {
    INFO(row.query);
    const Got got = test.get(kMaps + "?" + row.query);
    CHECK(got.status == row.code);
    if (!row.message.empty()) CHECK(got.message() == row.message);
  }
}

TEST_CASE("Pages show one snapshot") {
  TestServer test;
  fill(test);
  const Got first = test.get(kMaps + "?limit=2");
  CHECK(TestServer::names(first.body) == Names{"default/a", "default/b"});
  CHECK(first.body["metadata"]["remainingItemCount"] == 2);
  test.call("DELETE", "/api/v1/namespaces/default/configmaps/c");
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"d"}})");
  test.call("PUT", "/api/v1/namespaces/other/configmaps/a",
            R"({"metadata":{"name":"a"},"data":{"new":"1"}})");
  const std::string token = first.body["metadata"]["continue"];
  const Got second = test.get(kMaps + "?limit=2&continue=" + token);
  CHECK(TestServer::names(second.body) == Names{"default/c", "other/a"});
  CHECK(second.body["metadata"]["resourceVersion"] == "6");
  CHECK_FALSE(second.body["items"][1].contains("data"));
  CHECK_FALSE(second.body["metadata"].contains("continue"));
  const Got filtered = test.get(kMaps + "?limit=1&labelSelector=n");
  CHECK_FALSE(filtered.body["metadata"].contains("remainingItemCount"));
  CHECK(filtered.body["metadata"].contains("continue"));
}

TEST_CASE("A forgotten page says how to go on") {
  TestServer test;
  fill(test);
  const std::string token = test.get(kMaps + "?limit=2").body["metadata"]["continue"];
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"bb"}})");
  test.server.compact(test.server.version());
  const Got gone = test.get(kMaps + "?limit=2&continue=" + token);
  CHECK(gone.status == 410);
  CHECK(gone.reason() == "Expired");
  CHECK(
      gone.message().starts_with("The provided continue parameter is too old to display a "
                                 "consistent list result."));
  const std::string rest = gone.body["metadata"]["continue"];
  const Got more = test.get(kMaps + "?continue=" + rest);
  CHECK(TestServer::names(more.body) == Names{"default/bb", "default/c", "other/a"});
  const Got old = test.get(kMaps + "?resourceVersion=3&resourceVersionMatch=Exact");
  CHECK(old.status == 410);
  CHECK(old.message() == "The resourceVersion for the provided list is too old.");
}

TEST_CASE("Namespaces whose names start alike stay apart and in etcd's order") {
  TestServer test;
  test.make("namespaces", R"({"metadata":{"name":"a"}})");
  test.make("namespaces", R"({"metadata":{"name":"a-b"}})");
  test.make("namespaces/a/configmaps", R"({"metadata":{"name":"x"}})");
  test.make("namespaces/a-b/configmaps", R"({"metadata":{"name":"x"}})");
  CHECK(TestServer::names(test.get(kMaps).body) == Names{"a-b/x", "a/x"});
  CHECK(TestServer::names(test.get("/api/v1/namespaces/a/configmaps").body) == Names{"a/x"});
}

}  // namespace amdahl::local
