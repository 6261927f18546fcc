#include <catch2/catch.hpp>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

const std::string kMap = "/api/v1/namespaces/default/configmaps/a";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kPod = kPods + "/p";

void make_map(TestServer& test, const std::string& more = "") {
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a")" + more + "}}");
}

// On a node, so that its deletion takes time.
void make_pod(TestServer& test) {
  test.make(
      "namespaces/default/pods",
      R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":20}})");
}

}  // namespace

TEST_CASE("delete answers with a Status or the object") {
  TestServer test;
  make_map(test);
  const std::string uid = test.get(kMap).body["metadata"]["uid"];
  const Got got = test.call("DELETE", kMap);
  CHECK(got.status == 200);
  CHECK(got.body == Json::parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},
      "status":"Success","details":{"name":"a","kind":"configmaps","uid":")" +
                                uid + R"("}})"));
  CHECK(test.call("DELETE", kMap).status == 404);
}

TEST_CASE("delete keeps to its preconditions") {
  TestServer test;
  make_map(test);
  const Got uid = test.call("DELETE", kMap, R"({"preconditions":{"uid":"x"}})");
  CHECK(uid.status == 409);
  CHECK(uid.message().starts_with(
      "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (x) does not "
      "match the UID in record ("));
  const Got version = test.call("DELETE", kMap, R"({"preconditions":{"resourceVersion":"1"}})");
  CHECK(version.status == 409);
  CHECK(version.message() ==
        "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the precondition "
        "(1) does not match the ResourceVersion in record (3). The object might have been "
        "modified");
  CHECK(test.call("DELETE", kMap, R"({"preconditions":{"resourceVersion":"3"}})").status == 200);
}

TEST_CASE("delete options are checked") {
  TestServer test;
  make_map(test);
  CHECK(test.call("DELETE", kMap, R"({"propagationPolicy":"x"})").status == 422);
  CHECK(test.call("DELETE", kMap + "?propagationPolicy=x").status == 422);
  CHECK(test.call("DELETE", kMap, R"({"propagationPolicy":"Orphan","orphanDependents":true})")
            .status == 422);
  CHECK(test.call("DELETE", kMap, R"({"gracePeriodSeconds":"1"})").status == 400);
  CHECK(test.call("DELETE", kMap, R"({"preconditions":5})").status == 400);
  CHECK(test.call("DELETE", kMap, R"({"dryRun":["no"]})").status == 422);
  CHECK(test.call("DELETE", kMap, "[]").status == 400);
  CHECK(test.get(kMap).status == 200);
}

TEST_CASE("Finalizers hold an object until the last one goes") {
  TestServer test;
  make_map(test, R"(,"finalizers":["x/y"])");
  const Got marked = test.call("DELETE", kMap);
  CHECK(marked.status == 200);
  CHECK(marked.body["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:20Z");
  CHECK(marked.body["metadata"]["deletionGracePeriodSeconds"] == 0);
  const std::uint64_t before = test.server.version();
  CHECK(test.call("DELETE", kMap).status == 200);
  CHECK(test.server.version() == before);
  Json object = test.get(kMap).body;
  object["metadata"]["finalizers"] = {"x/y", "z/w"};
  const Got added = test.call("PUT", kMap, object.dump());
  CHECK(added.status == 422);
  CHECK(added.message() ==
        "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
        "added if the object is being deleted, found new finalizers []string{\"z/w\"}");
  object["metadata"].erase("deletionTimestamp");
  object["metadata"]["finalizers"] = Json::array();
  CHECK(test.call("POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})")
            .message() == "object is being deleted: configmaps \"a\" already exists");
  CHECK(test.call("PUT", kMap, object.dump()).status == 200);
  CHECK(test.get(kMap).status == 404);
}

TEST_CASE("A pod on a node is given its grace") {
  TestServer test;
  make_pod(test);
  const Got first = test.call("DELETE", kPod);
  CHECK(first.body["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:40Z");
  CHECK(first.body["metadata"]["deletionGracePeriodSeconds"] == 20);
  CHECK(first.body["metadata"]["generation"] == 2);
  const std::uint64_t marked = test.server.version();
  CHECK(test.call("DELETE", kPod, R"({"gracePeriodSeconds":25})").body["kind"] == "Pod");
  CHECK(test.server.version() == marked);
  const Got shorter = test.call("DELETE", kPod, R"({"gracePeriodSeconds":5})");
  CHECK(shorter.body["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:25Z");
  CHECK(shorter.body["metadata"]["deletionGracePeriodSeconds"] == 5);
  CHECK(shorter.body["metadata"]["generation"] == 2);
  const Got last = test.call("DELETE", kPod + "?gracePeriodSeconds=0");
  CHECK(last.status == 200);
  CHECK(last.body["metadata"]["name"] == "p");
  CHECK(test.get(kPod).status == 404);
}

TEST_CASE("A pod that nobody runs goes at once") {
  TestServer test;
  test.make("namespaces/default/pods", R"({"metadata":{"name":"p"}})");
  CHECK(test.call("DELETE", kPod).status == 200);
  CHECK(test.get(kPod).status == 404);
}

TEST_CASE("deletecollection deletes what is selected") {
  TestServer test;
  for (const char* name : {"a", "b", "c"})
    test.make("namespaces/default/configmaps", R"({"metadata":{"name":")" + std::string(name) +
                                                   R"(","labels":{"n":")" + name + R"("}}})");
  const Got got =
      test.call("DELETE", "/api/v1/namespaces/default/configmaps?labelSelector=n%20in%20(a,b)");
  CHECK(got.status == 200);
  CHECK(TestServer::names(got.body) == std::vector<std::string>{"default/a", "default/b"});
  CHECK(TestServer::names(test.get("/api/v1/configmaps").body) ==
        std::vector<std::string>{"default/c"});
}

TEST_CASE("A namespace goes after its content") {
  TestServer test;
  test.make("namespaces/other/configmaps", R"({"metadata":{"name":"a"}})");
  test.make("namespaces/other/configmaps", R"({"metadata":{"name":"b","finalizers":["x/y"]}})");
  const std::string path = "/api/v1/namespaces/other";
  const Got marked = test.call("DELETE", path);
  CHECK(marked.status == 200);
  CHECK(marked.body["status"]["phase"] == "Terminating");
  CHECK(marked.body["metadata"].contains("deletionTimestamp"));
  test.server.tick(test.now);
  CHECK(TestServer::names(test.get("/api/v1/configmaps").body) ==
        std::vector<std::string>{"other/b"});
  CHECK(test.get(path).status == 200);
  Json held = test.get(path + "/configmaps/b").body;
  held["metadata"].erase("finalizers");
  CHECK(test.call("PUT", path + "/configmaps/b", held.dump()).status == 200);
  test.server.tick(test.now);
  CHECK(test.get(path).status == 404);
  const Got kept = test.call("DELETE", "/api/v1/namespaces/default");
  CHECK(kept.status == 403);
  CHECK(kept.message() == "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

TEST_CASE("finalize changes nothing but spec.finalizers") {
  TestServer test;
  const std::string path = "/api/v1/namespaces/other";
  Json object = test.get(path).body;
  object["spec"]["finalizers"] = {"kubernetes", "mine/x"};
  object["metadata"]["labels"] = {{"a", "b"}};
  const Got got = test.call("PUT", path + "/finalize", object.dump());
  CHECK(got.body["spec"]["finalizers"] == Json::parse(R"(["kubernetes","mine/x"])"));
  CHECK_FALSE(got.body["metadata"].contains("labels"));
  test.call("DELETE", path);
  test.server.tick(test.now);
  object = test.get(path).body;
  CHECK(object["spec"]["finalizers"] == Json::parse(R"(["mine/x"])"));
  object["spec"]["finalizers"] = Json::array();
  CHECK(test.call("PUT", path + "/finalize", object.dump()).status == 200);
  CHECK(test.get(path).status == 404);
}

}  // namespace amdahl::local
