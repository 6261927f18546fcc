#include <catch2/catch.hpp>

#include "local/apiserver/core/test_server.hpp"

namespace amdahl::local {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPod = "/api/v1/namespaces/default/pods/p";
const std::string kWidgets = "/apis/example.com/v1/namespaces/default/widgets";
const std::string kMerge = "application/merge-patch+json";
const std::string kJsonPatch = "application/json-patch+json";
const std::string kStrategic = "application/strategic-merge-patch+json";
const std::string kApply = "application/apply-patch+yaml";

}  // namespace

TEST_CASE("patch changes an object in three ways") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  CHECK(test.call("PATCH", kMaps + "/a", R"({"data":{"m":"1"}})", kMerge).body["data"]["m"] == "1");
  CHECK(test.call("PATCH", kMaps + "/a", R"({"data":{"s":"1"}})", kStrategic).status == 200);
  const Got json =
      test.call("PATCH", kMaps + "/a", R"([{"op":"remove","path":"/data/k"}])", kJsonPatch);
  CHECK(json.body["data"] == Json::parse(R"({"m":"1","s":"1"})"));
  const std::uint64_t before = test.server.version();
  CHECK(test.call("PATCH", kMaps + "/a", R"({"data":{"m":"1"}})", kMerge).status == 200);
  CHECK(test.server.version() == before);
}

TEST_CASE("patch refuses what does not fit") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  test.call("POST", kWidgets,
            R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})");
  struct Row {
    std::string target;
    std::string body;
    std::string type;
    int code;
  };
  const std::vector<Row> rows = {
      {kMaps + "/b", "{}", kMerge, 404},
      {kMaps + "/a", "{}", "application/json", 415},
      {kWidgets + "/w", "{}", kStrategic, 415},
      {kMaps + "/a", "{", kMerge, 400},
      {kMaps + "/a", R"({"metadata":{"resourceVersion":"1"}})", kMerge, 409},
      {kMaps + "/a", R"({"metadata":{"uid":"x"}})", kMerge, 422},
      {kMaps + "/a", R"({"metadata":{"name":"x"}})", kMerge, 400},
      {kMaps + "/a", R"({"metadata":null})", kMerge, 400},
      {kMaps + "/a", R"({"metadata":{"labels":5}})", kMerge, 422},
      {kMaps + "/a", R"([{"op":"test","path":"/x","value":1}])", kJsonPatch, 422},
      {kMaps + "/a?force=true", "{}", kMerge, 422},
      {kMaps + "/a", "{}", kApply, 422},
      {kMaps + "/a?fieldManager=m&fieldValidation=Strict",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"bogus":1})", kApply, 500},
  };
  const std::uint64_t before = test.server.version();
  for (const Row& row : rows) {
    INFO(row.target << " " << row.body);
    CHECK(test.call("PATCH", row.target, row.body, row.type).status == row.code);
  }
  CHECK(test.server.version() == before);
}

TEST_CASE("Patches can build neither depths nor giants") {
  TestServer test;
  test.make("namespaces/default/configmaps", R"({"metadata":{"name":"a"},"data":{}})");
  std::string deep = "{}";
  for (int level = 0; level < 200; ++level) deep = R"({"d":)" + deep + "}";
  CHECK(test.call("PATCH", kMaps + "/a", R"({"data":)" + deep + "}", kMerge).status == 200);
  const std::string copy = R"([{"op":"add","path":"/more","value":{}},
      {"op":"copy","from":"/data","path":"/more/x"},{"op":"copy","from":"/more","path":"/data/y"},
      {"op":"move","from":"/data","path":"/more/x)";
  std::string path;
  for (int level = 0; level < 200; ++level) path += "/d";
  CHECK(test.call("PATCH", kMaps + "/a", copy + path + R"("}])", kJsonPatch).status == 422);
  const std::string big = R"({"data":{"k":")" + std::string(2 << 20, 'x') + R"("}})";
  CHECK(test.call("PATCH", kMaps + "/a", big, kMerge).status == 413);
  CHECK(test.server.version() == 4);
}

TEST_CASE("apply creates, changes and repeats") {
  TestServer test;
  const std::string config =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
  const std::string path = kMaps + "/a?fieldManager=me";
  const Got made = test.call("PATCH", path, config, kApply);
  CHECK(made.status == 201);
  CHECK(made.body["metadata"]["managedFields"][0]["manager"] == "me");
  CHECK(made.body["metadata"].contains("uid"));
  const Got again = test.call("PATCH", path, config, kApply);
  CHECK(again.status == 200);
  CHECK(again.body == made.body);
  const Got json = test.call("PATCH", path,
                             R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"w"},
                                 "metadata":{"name":"a"}})",
                             kApply);
  CHECK(json.body["data"]["k"] == "w");
  const Got twice = test.call("PATCH", kMaps + "/a?fieldValidation=Strict",
                              R"({"data":{"k":"1","k":"2"}})", kMerge);
  CHECK(twice.status == 422);
  CHECK(twice.body["details"]["causes"][0]["field"] == "patch");
  CHECK(twice.message().ends_with("strict decoding error: duplicate field \"data.k\""));
}

TEST_CASE("scale shows and moves the replicas") {
  TestServer test;
  test.call("POST", kWidgets, R"({"apiVersion":"example.com/v1","kind":"Widget",
      "metadata":{"name":"w"},"spec":{"replicas":2}})");
  const Got scale = test.get(kWidgets + "/w/scale");
  CHECK(scale.body["kind"] == "Scale");
  CHECK(scale.body["spec"]["replicas"] == 2);
  CHECK(scale.body["status"]["replicas"] == 0);
  Json wanted = scale.body;
  wanted["spec"]["replicas"] = 5;
  CHECK(test.call("PUT", kWidgets + "/w/scale", wanted.dump()).body["spec"]["replicas"] == 5);
  CHECK(test.call("PUT", kWidgets + "/w/scale", wanted.dump()).status == 409);
  CHECK(test.call("PATCH", kWidgets + "/w/scale", R"({"spec":{"replicas":7}})", kMerge).status ==
        200);
  CHECK(test.get(kWidgets + "/w").body["spec"]["replicas"] == 7);
  CHECK(test.call("PATCH", kWidgets + "/w/scale", R"({"spec":{"replicas":-7}})", kMerge).status ==
        422);
  CHECK(test.get(kMaps + "/w/scale").status == 404);
  test.call("POST", kWidgets, R"({"apiVersion":"example.com/v1","kind":"Widget",
      "metadata":{"name":"none"}})");
  const Got none = test.get(kWidgets + "/none/scale");
  CHECK(none.status == 500);
  CHECK(none.message() ==
        "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist");
}

TEST_CASE("binding puts a pod on a node once") {
  TestServer test;
  test.make("namespaces/default/pods", R"({"metadata":{"name":"p"}})");
  const std::string body =
      R"({"metadata":{"name":"p","annotations":{"x":"y"}},"target":{"kind":"Node","name":"n"}})";
  const Got bound = test.call("POST", kPod + "/binding", body);
  CHECK(bound.status == 201);
  CHECK(bound.body["status"] == "Success");
  const Json pod = test.get(kPod).body;
  CHECK(pod["spec"]["nodeName"] == "n");
  CHECK(pod["metadata"]["annotations"]["x"] == "y");
  CHECK(pod["status"]["conditions"][0]["type"] == "PodScheduled");
  const Got twice = test.call("POST", kPod + "/binding", body);
  CHECK(twice.status == 409);
  CHECK(twice.message() ==
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already "
        "assigned to node \"n\"");
  CHECK(test.call("POST", kPod + "/binding", R"({"metadata":{"name":"q"}})").status == 400);
  CHECK(test.call("POST", kPod + "/binding", R"({"metadata":{"name":"p"}})").status == 500);
}

TEST_CASE("eviction deletes with a reason") {
  TestServer test;
  test.make("namespaces/default/pods", R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})");
  const Got refused =
      test.call("POST", kPod + "/eviction",
                R"({"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"x"}}})");
  CHECK(refused.status == 409);
  CHECK(test.server.version() == 3);
  CHECK(test.call("POST", kPod + "/eviction", R"({"metadata":{"name":"p"}})").status == 201);
  const Json pod = test.get(kPod).body;
  CHECK(pod["status"]["conditions"][0]["reason"] == "EvictionByEvictionAPI");
  CHECK(pod["metadata"].contains("deletionTimestamp"));
}

}  // namespace amdahl::local
