#include "local/apiserver/rules/served_kinds.hpp"

#include "local/apiserver/rules/test_cluster.hpp"

namespace amdahl::local {
namespace {

const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kJobs = "/apis/example.com/v1/namespaces/default/jobs";
const std::string kJobCrd = R"({"metadata":{"name":"jobs.example.com"},"spec":{
  "group":"example.com","scope":"Namespaced",
  "names":{"plural":"jobs","singular":"job","kind":"Job","listKind":"JobList"},
  "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
    "additionalPrinterColumns":[{"name":"Nodes","type":"integer","jsonPath":".spec.nodes"}],
    "schema":{"openAPIV3Schema":{"type":"object","properties":{
      "spec":{"type":"object","required":["nodes"],"properties":{
        "nodes":{"type":"integer","minimum":1},
        "cancel":{"type":"boolean","default":false}},
        "x-kubernetes-validations":[{"rule":"!oldSelf.cancel || self.cancel",
          "message":"cancel cannot be taken back"}]},
      "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";
const std::string kPod =
    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"busybox:1"}]}})";

std::string message_of(const TestCluster::Got& got) {
  return text_at(got.body, "message");
}

TEST_CASE("ServedKinds: a pod gets Kubernetes' defaults and is shown as kubectl shows it") {
  TestCluster cluster;
  const Json pod = cluster.create("/api/v1/namespaces/default/pods", kPod);
  CHECK(pod["spec"]["restartPolicy"] == "Always");
  CHECK(pod["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent");
  CHECK(pod["status"]["phase"] == "Pending");
  CHECK(pod["metadata"]["managedFields"][0]["manager"] == "test");
  const auto table = cluster.get("/api/v1/namespaces/default/pods",
                                 "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  REQUIRE(table.body["kind"] == "Table");
  CHECK(table.body["columnDefinitions"][1]["name"] == "Ready");
  CHECK(table.body["rows"][0]["cells"][2] == "Pending");
  const auto selected =
      cluster.get("/api/v1/pods?fieldSelector=status.phase%3DPending,spec.nodeName%3D");
  CHECK(selected.body["items"].size() == 1);
}

TEST_CASE("ServedKinds: a wrong pod is refused with every cause") {
  TestCluster cluster;
  const auto typed = cluster.post("/api/v1/namespaces/default/pods",
                                  R"({"metadata":{"name":"p"},"spec":{"containers":"x"}})");
  CHECK(typed.status == 400);
  CHECK(message_of(typed).find("cannot be handled as a Pod") != std::string::npos);
  const auto invalid = cluster.post("/api/v1/namespaces/default/pods",
                                    R"({"metadata":{"name":"P!"},"spec":{"containers":[]}})");
  CHECK(invalid.status == 422);
  CHECK(invalid.body["details"]["causes"].size() >= 2);
  const auto strict = cluster.post("/api/v1/namespaces/default/configmaps?fieldValidation=Strict",
                                   R"({"metadata":{"name":"c"},"bogus":1})");
  CHECK(strict.status == 400);
  CHECK(message_of(strict).find("unknown field \"bogus\"") != std::string::npos);
}

TEST_CASE("ServedKinds: a definition adds its kind, with schema, rules, columns and discovery") {
  TestCluster cluster;
  CHECK(cluster.get(kJobs).status == 404);
  const Json crd = cluster.create(kCrds, kJobCrd);
  CHECK(crd["status"]["conditions"].size() == 2);
  CHECK(cluster.get("/apis/example.com/v1").body["resources"].size() == 2);
  CHECK(cluster.get("/openapi/v3/apis/example.com/v1").status == 200);

  const Json job = cluster.create(
      kJobs,
      R"({"apiVersion":"example.com/v1","kind":"Job","metadata":{"name":"j"},"spec":{"nodes":2,"x":1}})");
  CHECK(job["spec"] == Json::parse(R"({"nodes":2,"cancel":false})"));
  CHECK(job["metadata"]["generation"] == 1);
  const auto wrong = cluster.post(
      kJobs,
      R"({"apiVersion":"example.com/v1","kind":"Job","metadata":{"name":"k"},"spec":{"nodes":0}})");
  CHECK(wrong.status == 422);
  CHECK(message_of(wrong).find("spec.nodes in body should be greater than or equal to 1") !=
        std::string::npos);

  const std::string merge = "application/merge-patch+json";
  CHECK(cluster.patch(kJobs + "/j", merge, R"({"spec":{"cancel":true}})").status == 200);
  const auto back = cluster.patch(kJobs + "/j", merge, R"({"spec":{"cancel":false}})");
  CHECK(back.status == 422);
  CHECK(message_of(back).find("cancel cannot be taken back") != std::string::npos);

  const auto table = cluster.get(kJobs, "application/json;as=Table;v=v1;g=meta.k8s.io");
  CHECK(table.body["rows"][0]["cells"] == Json::parse(R"(["j",2])"));

  CHECK(cluster.call({.method = "DELETE", .target = kCrds + "/jobs.example.com"}).status == 200);
  for (int turn = 0; turn < 10 && cluster.server.tick(cluster.now); ++turn) continue;
  CHECK(cluster.get(kJobs).status == 404);
}

TEST_CASE("ServedKinds: a definition with a bad schema is refused and serves nothing") {
  TestCluster cluster;
  std::string bad = kJobCrd;
  bad.replace(bad.find("!oldSelf.cancel"), 15, "!oldSelf.missing");
  const auto refused = cluster.post(kCrds, bad);
  CHECK(refused.status == 422);
  CHECK(message_of(refused).find("spec.validation.openAPIV3Schema") != std::string::npos);
  CHECK(cluster.get(kJobs).status == 404);
}

TEST_CASE("ServedKinds: patches of every type reach the object by the kind's own shape") {
  TestCluster cluster;
  cluster.create("/api/v1/namespaces/default/pods", kPod);
  const std::string pod = "/api/v1/namespaces/default/pods/p";
  const auto strategic = cluster.patch(
      pod, "application/strategic-merge-patch+json",
      R"({"spec":{"containers":[{"name":"c","image":"busybox:2"}]},"metadata":{"labels":{"a":"b"}}})");
  REQUIRE(strategic.status == 200);
  CHECK(strategic.body["spec"]["containers"].size() == 1);
  CHECK(strategic.body["spec"]["containers"][0]["image"] == "busybox:2");
  const auto json = cluster.patch(pod, "application/json-patch+json",
                                  R"([{"op":"test","path":"/metadata/labels/a","value":"z"}])");
  CHECK(json.status == 422);
  CHECK(message_of(json) == "the server rejected our request due to an error in our request");
}

TEST_CASE("ServedKinds: server-side apply knows owners and conflicts") {
  TestCluster cluster;
  const std::string map = "/api/v1/namespaces/default/configmaps/m";
  const std::string type = "application/apply-patch+yaml";
  const auto made =
      cluster.patch(map + "?fieldManager=one", type,
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '1'}\n");
  CHECK(made.status == 201);
  const std::string other =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '2'}\n";
  const auto conflict = cluster.patch(map + "?fieldManager=two", type, other);
  CHECK(conflict.status == 409);
  CHECK(message_of(conflict).find("conflict with \"one\"") != std::string::npos);
  CHECK(cluster.patch(map + "?fieldManager=two&force=true", type, other).status == 200);
  const auto undeclared = cluster.patch(map + "?fieldManager=two", type, other + "bogus: 1\n");
  CHECK(undeclared.status == 500);
  CHECK(message_of(undeclared) ==
        "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .bogus: field not declared "
        "in schema");
}

TEST_CASE("ServedKinds: reviews answer for who asks") {
  TestCluster cluster;
  const std::string root = "/apis/authentication.k8s.io/v1/tokenreviews";
  const auto good = cluster.post(root, R"({"spec":{"token":"good"}})");
  CHECK(good.body["status"]["user"]["username"] == "somebody");
  const auto unknown = cluster.post(root, R"({"spec":{"token":"x"}})");
  CHECK(unknown.body["status"] == Json::parse(R"({"user":{},"error":"invalid bearer token"})"));
  const auto allowed =
      cluster.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                   R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})");
  CHECK(allowed.body["status"]["allowed"] == true);
  cluster.create("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"sa"}})");
  const auto token =
      cluster.post("/api/v1/namespaces/default/serviceaccounts/sa/token", R"({"spec":{}})");
  CHECK(token.body["status"]["token"] == std::string("default:sa:::") + kApiAudience);
}

TEST_CASE("ServedKinds: a token is bound to its pod and valid for its audiences only") {
  TestCluster cluster;
  const std::string root = "/apis/authentication.k8s.io/v1/tokenreviews";
  const auto ours = cluster.post(root, R"({"spec":{"token":"good","audiences":["x","reports"]}})");
  CHECK(ours.body["status"]["audiences"] == Json::array({"reports"}));
  CHECK(ours.body["status"]["authenticated"] == true);
  const auto others = cluster.post(root, R"({"spec":{"token":"good","audiences":["x"]}})");
  CHECK_FALSE(others.body["status"].contains("authenticated"));
  CHECK(others.body["status"]["error"].get<std::string>().find("target audiences [\"x\"]") !=
        std::string::npos);
  cluster.create("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"sa"}})");
  const auto bound = cluster.post("/api/v1/namespaces/default/serviceaccounts/sa/token",
                                  R"({"spec":{"audiences":["reports"],"boundObjectRef":
                                      {"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}}})");
  CHECK(bound.body["status"]["token"] == "default:sa:p:u:reports");
}

TEST_CASE("ServedKinds: events are one storage under two groups") {
  TestCluster cluster;
  cluster.create("/api/v1/namespaces/default/events",
                 R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p",
                     "namespace":"default"},"reason":"Started","type":"Normal","message":"hello"})");
  const auto other = cluster.get("/apis/events.k8s.io/v1/namespaces/default/events/e");
  REQUIRE(other.status == 200);
  CHECK(other.body["note"] == "hello");
  CHECK(other.body["regarding"]["name"] == "p");
}

TEST_CASE("ServedKinds: discovery, OpenAPI and the version are there") {
  TestCluster cluster;
  for (const char* path :
       {"/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version", "/openapi/v2",
        "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1"}) {
    CAPTURE(path);
    CHECK(cluster.get(path).status == 200);
  }
  const auto aggregated =
      cluster.get("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  CHECK(aggregated.body["kind"] == "APIGroupDiscoveryList");
  CHECK(cluster.get("/apis/none.example/v1").status == 404);
}

TEST_CASE("ServedKinds: an update of what is not there creates it, unless it names a uid") {
  TestCluster cluster;
  const std::string path = "/api/v1/namespaces/default/endpoints/e";
  const auto put = [&](std::string body) {
    return cluster.call({.method = "PUT",
                         .target = path,
                         .content_type = "application/json",
                         .user_agent = "test/1",
                         .body = std::move(body)});
  };
  const auto other = put(R"({"metadata":{"name":"e","uid":"x"}})");
  CHECK(other.status == 409);
  CHECK(message_of(other) ==
        "Operation cannot be fulfilled on endpoints \"e\": StorageError: invalid object, Code: 4, "
        "Key: /registry/services/endpoints/default/e, ResourceVersion: 0, AdditionalErrorMsg: "
        "Precondition failed: UID in precondition: x, UID in object meta: ");
  CHECK(put(R"({"metadata":{"name":"e","resourceVersion":"7"}})").status == 201);
}

TEST_CASE("ServedKinds: events are selected by the field names of both groups") {
  TestCluster cluster;
  cluster.create(
      "/api/v1/namespaces/default/events",
      R"({"metadata":{"name":"e"},"involvedObject":{"name":"p","namespace":"default"}})");
  for (const char* query : {"/api/v1/events?fieldSelector=involvedObject.name%3Dp",
                            "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp"})
    CHECK(cluster.get(query).body["items"].size() == 1);
  CHECK(cluster.get("/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dq")
            .body["items"]
            .empty());
}

TEST_CASE("ServedKinds: reviews that ask nothing, or about nobody, are refused") {
  TestCluster cluster;
  const std::string root = "/apis/authorization.k8s.io/v1/";
  CHECK(cluster.post(root + "selfsubjectaccessreviews", R"({"spec":{}})").status == 422);
  CHECK(
      cluster.post(root + "subjectaccessreviews", R"({"spec":{"resourceAttributes":{}}})").status ==
      422);
  const auto good = cluster.post(root + "subjectaccessreviews",
                                 R"({"spec":{"user":"u","resourceAttributes":{}}})");
  CHECK(good.body["status"] == Json::parse(R"({"allowed":true})"));
}

}  // namespace
}  // namespace amdahl::local
