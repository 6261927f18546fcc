// Writes and deletes whose answer depends on more than one part of the server.
#include <algorithm>

#include "local/apiserver/rules/test_cluster.hpp"

namespace amdahl::local {
namespace {

const std::string kJobs = "/apis/example.com/v1/namespaces/default/jobs";
const std::string kJobCrd = R"({"metadata":{"name":"jobs.example.com"},"spec":{
  "group":"example.com","scope":"Namespaced","names":{"plural":"jobs","kind":"Job"},
  "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
    "type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

std::string message_of(const TestCluster::Got& got) {
  return text_at(got.body, "message");
}

TEST_CASE("ServedKinds: what only the kind can refuse passes the check of an apply") {
  TestCluster cluster;
  const auto applied = cluster.patch(
      "/api/v1/namespaces/default/services/s?fieldManager=one", "application/apply-patch+yaml",
      "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
      "spec: {clusterIP: None, ports: [{port: 1, targetPort: []}]}\n");
  CHECK(applied.status == 500);
  CHECK(message_of(applied).starts_with(
      "failed to convert new object (/s; /v1, Kind=Service) to proper version: unable to convert "
      "unstructured object to /v1, Kind=Service: json: cannot unmarshal array into Go "));
}

TEST_CASE("ServedKinds: a finalizer of nobody's is worth a warning, once") {
  TestCluster cluster;
  cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kJobCrd);
  const std::string job = R"({"apiVersion":"example.com/v1","kind":"Job",)";
  const auto warnings = [&](Call call) {
    call.user_agent = "test/1";
    const Reply reply = cluster.server.handle(call, cluster.now);
    CHECK(reply.status < 300);
    return std::ranges::count(reply.headers, "Warning",
                              &decltype(reply.headers)::value_type::first);
  };
  CHECK(warnings({.method = "POST",
                  .target = kJobs,
                  .content_type = "application/json",
                  .body = job + R"("metadata":{"name":"j","finalizers":["a"]}})"}) == 1);
  const auto patch = [&](std::string body) {
    return warnings({.method = "PATCH",
                     .target = kJobs + "/j",
                     .content_type = "application/merge-patch+json",
                     .body = std::move(body)});
  };
  CHECK(patch(R"({"metadata":{"finalizers":["a","x/y"]}})") == 0);
  CHECK(patch(R"({"metadata":{"finalizers":["a","b"]}})") == 1);
}

TEST_CASE("ServedKinds: a refused delete names the kind that is stored") {
  TestCluster cluster;
  cluster.create(
      "/api/v1/namespaces/default/events",
      R"({"metadata":{"name":"e"},"involvedObject":{"name":"p","namespace":"default"}})");
  const auto refused = cluster.call({.method = "DELETE",
                                     .target = "/apis/events.k8s.io/v1/namespaces/default/events/e",
                                     .content_type = "application/json",
                                     .body = R"({"preconditions":{"resourceVersion":"1"}})"});
  CHECK(refused.status == 409);
  CHECK(message_of(refused).starts_with("Operation cannot be fulfilled on Event \"e\": "));
  CHECK_FALSE(refused.body["details"].contains("group"));
}

TEST_CASE("ServedKinds: a service takes its endpoints along") {
  TestCluster cluster;
  const std::string root = "/api/v1/namespaces/default/";
  const auto remove = [&](const std::string& target) {
    return cluster.call({.method = "DELETE", .target = root + target}).status;
  };
  const auto make = [&](const std::string& name, const std::string& more) {
    cluster.create(root + "services",
                   R"({"metadata":{"name":")" + name + R"("},"spec":{"clusterIP":"None"}})");
    cluster.create(root + "endpoints", R"({"metadata":{"name":")" + name + "\"" + more + "}}");
  };
  make("a", "");
  make("b", R"(,"finalizers":["x/y"])");
  CHECK(remove("services/a?dryRun=All") == 200);
  CHECK(cluster.get(root + "endpoints/a").status == 200);
  CHECK(remove("services/a") == 200);
  CHECK(cluster.get(root + "endpoints/a").status == 404);
  CHECK(remove("services") == 200);
  CHECK(cluster.get(root + "endpoints/b").body["metadata"].contains("deletionTimestamp"));
}

}  // namespace
}  // namespace amdahl::local
